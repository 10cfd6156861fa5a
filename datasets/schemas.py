"""Schemas of tables of users, and their failures as messages of one line."""

import functools

import numpy as np

from ..errors import InputError
from .checks import LEFT_OUT, Fault, refuse
from .columns import SETTINGS, SIZES
from .fixes import setting_aside
from .wording import quoted

BENCHMARKS = ("wt103", "wt2", "ptb")
SPLITS = ("id", "ood", "ood100")
COUNT_WHOLE = ("train_digits", "length_a", "length_b", "correct", "total")
COUNT_POSITIVE = ("layers", "recurrences", "d_model", "k_max", "parameters", "samples", "flop")
NEEDED = (*SIZES, "loss", "perplexity")
CONFIDENCES = ("Confident", "Likely", "Speculative", "Unknown")
DROPPING = (
    "runs",
    "evaluations",
    "counts",
    "scores",
    "horizons",
    "values",
    "curves",
)  # kinds whose reader can leave rows out


def check(frame, kind, *, label, names=None, faults=()):
    """Check a frame against the schema of its kind.

    Parameters
    ----------
    frame : pandas.DataFrame
        Rows indexed as `open_table` does it.
    kind : str
        Name of a kind, such as ``"runs"``.
    label : str
        Name of the table in messages.
    names : mapping of str to object, optional
        Canonical name of a column to its name in the file, for messages.
    faults : sequence of Fault
        Earlier faults, which are reported together with the others; their cells are not checked again.

    Returns
    -------
    pandas.DataFrame
        The frame with the types of the schema.

    Raises
    ------
    InputError
        For the cells that fail, naming the place, the column, the value and the fix of the first ten.
    """
    import pandera.errors

    checked, faults = None, list(faults)
    try:
        checked = schema(kind).validate(frame, lazy=True)
    except pandera.errors.SchemaErrors as error:
        failures = error.failure_cases
        located = failures[failures["index"].notna()]
        faults = _together(faults, _faults(located, frame, kind, names or {}), names)
    refuse(faults, frame, label)
    if checked is None:
        failure = failures.iloc[0]
        raise InputError(
            f"{label}: failed {failure['check']} with {quoted(failure['failure_case'])}; correct its columns"
        )
    return checked


def _together(earlier, later, names):
    """Join earlier faults and later ones, each cell once and without faults that follow from others of the row."""
    cells = {(fault.row, fault.column) for fault in earlier}
    faults = [*earlier, *(fault for fault in later if (fault.row, fault.column) not in cells)]
    if names is None:
        return faults
    in_file = [fault for fault in faults if fault.column in names.values()]
    blamed = {fault.row for fault in in_file}
    return in_file + [fault for fault in faults if fault not in in_file and fault.row not in blamed]


def _faults(located, frame, kind, names):
    position = {column: number for number, column in enumerate(frame.columns)}
    faults = {}
    for failure in located.assign(order=located["column"].map(position)).sort_values("order").itertuples():
        row, column = failure.index, failure.column
        name = names.get(column, column)
        if failure.check == "not_nullable":
            fault, fix = "nothing (a blank or NaN)", "fill it in"
        else:
            fault, fix = f"{quoted(frame.at[row, column])}, which is not {failure.check}", "correct it"
        aside = " or delete the row"
        if kind == "runs" and column not in NEEDED:
            aside = f", delete the row, or leave the column out with {setting_aside(name)}"
        elif kind != "runs" and not schema(kind).columns[column].required:
            aside = " or delete the row or the column"
        if kind in DROPPING and (failure.check == "not_nullable" or (kind == "runs" and column in NEEDED)):
            aside += f"; {LEFT_OUT}"
        faults.setdefault((row, column), Fault(row, name, f"found {fault}", f"{fix}{aside}"))
    return list(faults.values())


@functools.cache
def schema(kind):
    """Return the Pandera schema of a kind, which checks the columns that the kind names and lets others pass.

    Parameters
    ----------
    kind : str
        Name of a kind, such as ``"runs"``.

    Returns
    -------
    pandera.DataFrameSchema
    """
    import pandera.pandas as pa

    positive = pa.Check(lambda x: np.isfinite(x) & (x > 0), error="a positive finite number")
    nonnegative = pa.Check(lambda x: np.isfinite(x) & (x >= 0), error="a finite number of at least 0")
    above_one = pa.Check(lambda x: np.isfinite(x) & (x > 1), error="a finite number above 1, as a perplexity is")
    finite = pa.Check(np.isfinite, error="a finite number")
    flag = pa.Check.isin([0, 1], error="0 or 1")
    share = pa.Check(lambda x: np.isfinite(x) & (x >= 0) & (x <= 1), error="a number from 0 to 1")

    def number(check, *, nullable=False):
        return pa.Column("float64", check, nullable=nullable, coerce=True)

    def whole(check, *, required=True):
        return pa.Column("int64", check, coerce=True, required=required)

    if kind == "runs":
        checks = dict.fromkeys(
            [*SIZES, "loss", "d_model", "vocabulary", "parameters_nonembedding", "unique_tokens", *SETTINGS], positive
        )
        checks |= {"loss_halfwidth": nonnegative, "perplexity": above_one, "error": share}
        columns = {name: pa.Column("float64", check, required=False) for name, check in checks.items()}
        return pa.DataFrameSchema(columns)
    if kind == "evaluations":
        columns = dict.fromkeys(["parameters", "dataset_tokens"], number(positive))
        columns |= {"perplexity": number(above_one), "transformer": number(flag)}
        optional = ["epochs", "vocabulary", "training_compute_flop", "paper_id"]
        columns |= {name: pa.Column("float64", positive, nullable=True, required=False) for name in optional}
        return pa.DataFrameSchema(columns)
    if kind == "counts":
        columns = {name: whole(positive) for name in COUNT_WHOLE} | {"correct": whole(nonnegative)}
        columns |= {name: pa.Column("float64", positive, required=False) for name in COUNT_POSITIVE}
        columns["offset"] = whole(nonnegative, required=False)
        columns["split"] = pa.Column(object, pa.Check.isin(SPLITS, error=f"one of {', '.join(SPLITS)}"), required=False)
        return pa.DataFrameSchema(columns)
    if kind == "scores":
        columns = {"score": number(share)}
        columns["training_compute_flop"] = pa.Column("float64", positive, nullable=True, required=False)
        several = pa.Check.ge(2, error="at least 2")
        columns["items"] = pa.Column("float64", several, nullable=True, required=False)
        return pa.DataFrameSchema(columns)
    if kind == "horizons":
        columns = {"minutes": number(positive), "successes": number(nonnegative), "runs": number(positive)}
        columns["estimated_minutes"] = pa.Column("float64", positive, nullable=True, required=False)
        return pa.DataFrameSchema(columns)
    if kind == "curves":
        columns = {"loss": number(positive)}
        columns |= {name: pa.Column("float64", nonnegative, required=False) for name in ("step", "tokens", "rate")}
        return pa.DataFrameSchema(columns)
    columns = {"value": number(finite)}
    limits = {"low": finite, "high": finite, "halfwidth": nonnegative}
    columns |= {name: pa.Column("float64", of, nullable=True, required=False) for name, of in limits.items()}
    return pa.DataFrameSchema(columns)
