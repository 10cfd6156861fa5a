"""Schemas of all tables, and their failures as messages of one line."""

import functools

import numpy as np

from ..errors import InputError
from .checks import LEFT_OUT, Fault, refuse
from .columns import SETTINGS, SIZES, setting_aside
from .wording import quoted

BENCHMARKS = ("wt103", "wt2", "ptb")
SPLITS = ("id", "ood", "ood100")
CORPORA = ("C4", "RedPajama", "RefinedWeb")
PALOMA = ("c4", "redpajama", "refinedweb", "ptb", "code")
COUNT_WHOLE = ("train_digits", "length_a", "length_b", "correct", "total")
COUNT_POSITIVE = ("layers", "recurrences", "d_model", "k_max", "parameters", "samples", "flop")
NEEDED = (*SIZES, "loss", "perplexity")
CONFIDENCES = ("Confident", "Likely", "Speculative", "Unknown")
DROPPING = ("runs", "evaluations", "counts", "scores", "horizons", "values")  # kinds whose reader can leave rows out


def check(frame, kind, *, label, names=None, faults=()):
    """Check a frame against the schema of its kind.

    Parameters
    ----------
    frame : pandas.DataFrame
        Rows indexed as `open_table` does it.
    kind : str
        Name of a built-in table, or ``"runs"`` for a user's table of runs.
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
    """Return the Pandera schema of a built-in table, or of a user's table of runs.

    Parameters
    ----------
    kind : str
        Name of a built-in table, or ``"runs"``, which checks whichever of the recognised columns are there and lets
        every other column pass.

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

    def text(*allowed, nullable=False):
        return pa.Column(str, [pa.Check.isin(allowed)] if allowed else None, nullable=nullable)

    def date():
        return pa.Column("datetime64[ns]", coerce=True)

    if kind == "runs":
        checks = dict.fromkeys(
            [*SIZES, "loss", "d_model", "vocabulary", "parameters_nonembedding", "unique_tokens", *SETTINGS], positive
        )
        checks |= {"loss_halfwidth": nonnegative, "perplexity": above_one}
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
    if kind == "values":
        columns = {"value": number(finite)}
        limits = {"low": finite, "high": finite, "halfwidth": nonnegative}
        columns |= {name: pa.Column("float64", of, nullable=True, required=False) for name, of in limits.items()}
        return pa.DataFrameSchema(columns)
    of_a_model = {
        "date": date(),
        "year": number(positive),
        "family": text(),
        "training_compute_flop": number(positive, nullable=True),
        "compute_confidence": text(*CONFIDENCES, nullable=True),
    }
    small_lm = {
        **dict.fromkeys([*SIZES, "loss"], number(positive)),
        **dict.fromkeys(["d_model", "vocabulary", "parameters_nonembedding"], number(positive)),
        **dict.fromkeys(["loss_se", "loss_oracle"], number(positive)),
        "excess": number(finite),
        "excess_se": number(positive),
        **dict.fromkeys(["layers", "context"], whole(positive)),
        "schedule": text("constant", "cosine"),
        **dict.fromkeys(["learning_rate_peak", "budget_fraction", "annealed"], number(positive)),
        "seed": whole(nonnegative),
        **dict.fromkeys(["scheme", "run"], text()),
        **dict.fromkeys(["irreducible_loss", "irreducible_loss_se"], number(positive)),
    }
    sums = {
        **dict.fromkeys(["run", "embedding", "architecture"], text()),
        **dict.fromkeys(["layers", "recurrences", "d_model", "k_max"], number(positive)),
        **dict.fromkeys(["train_digits", "length", "total"], whole(positive)),
        **dict.fromkeys(["seed", "offset", "correct"], whole(nonnegative)),
    }
    columns = {
        "chinchilla_runs": {
            **dict.fromkeys([*SIZES, "loss"], number(positive)),
            "loss_halfwidth": number(nonnegative),
            **dict.fromkeys(["d_model", "vocabulary", "parameters_nonembedding"], number(positive)),
            "parameters_digitised": number(positive),
        },
        "chinchilla_models": dict.fromkeys(["parameters", "parameters_millions", "d_model"], number(positive)),
        "small_lm_runs": small_lm,
        "small_lm_rates": small_lm | {"batch_tokens": number(positive)},
        "data_constrained_runs": {
            **dict.fromkeys([*SIZES, "loss", "unique_tokens"], number(positive)),
            "run": text(),
            "kind": text("base", "seed", "dedup", "opt"),
            "seed": number(positive, nullable=True),
            "in_published_fit": whole(flag),
            "scalebench_split": text("train", "test", nullable=True),
        },
        "overtraining_runs": {
            **dict.fromkeys([*SIZES, "loss", "loss_lower95", "loss_upper95"], number(positive)),
            "corpus": text(*CORPORA),
            "run": text(),
            "token_multiplier": whole(positive),
            "parameters_nonembedding": number(positive),
            **dict.fromkeys([f"loss_paloma_{part}" for part in PALOMA], number(positive)),
            **dict.fromkeys(["error_17_tasks", "error_46_tasks"], number(share)),
        },
        "gemstones": {
            **dict.fromkeys([*SIZES, "loss"], number(positive)),
            "run": text(),
            "series": text("hot", "cooldown", "half learning rate"),
            "shape": text(),
            **dict.fromkeys(["width", "depth"], whole(positive)),
        },
        "lm_progress": {
            "system": text(),
            "paper_id": whole(positive),
            "paper": text(),
            "publication_date": date(),
            "year": number(positive),
            "benchmark": text(*BENCHMARKS),
            **dict.fromkeys(["parameters", "dataset_tokens"], number(positive)),
            **dict.fromkeys(["epochs", "vocabulary", "training_compute_flop"], number(positive, nullable=True)),
            "transformer": whole(flag),
            "perplexity": number(above_one),
            "evidence": text("exact", "solved", "estimated"),
        },
        "attribution_systems": {
            "system": text(),
            "publication_date": date(),
            **dict.fromkeys(["parameters", "dataset_tokens"], number(positive)),
            "transformer": whole(flag),
        },
        "arithmetic_runs": {
            **dict.fromkeys(["run", "arm", "task", "embedding", "architecture"], text()),
            **dict.fromkeys(["layers", "recurrences", "d_model", "k_max"], number(positive)),
            "train_digits": whole(positive),
            "seed": whole(nonnegative),
            **dict.fromkeys(["parameters", "samples", "flop"], number(positive)),
            **dict.fromkeys(["length_a", "length_b"], whole(positive)),
            "correct": whole(nonnegative),
            "total": whole(positive),
            "split": text(*SPLITS),
        },
        **dict.fromkeys(["arithmetic_offsets", "arithmetic_equals"], sums),
        "eci_scores": {
            **dict.fromkeys(["model", "benchmark", "version"], text()),
            "score": number(share),
            "score_source": text(nullable=True),
            **of_a_model,
            "organization": text(nullable=True),
        },
        "eci_models": {
            "model": text(),
            **of_a_model,
            "organization": text(nullable=True),
            "accessibility": text(),
            "eci": number(finite),
            **dict.fromkeys(["eci_low", "eci_high"], number(finite, nullable=True)),
        },
        "rosetta_scores": {
            **dict.fromkeys(["model", "benchmark"], text()),
            "score": number(share),
            **dict.fromkeys(["optimized", "is_math", "is_coding"], whole(flag)),
            **of_a_model,
            "model_name": text(nullable=True),
        },
        "rosetta_models": {
            "model": text(),
            "model_name": text(nullable=True),
            **of_a_model,
            "compute_2025_flop": number(positive, nullable=True),
            "compute_2025_confidence": text(nullable=True),
            "distilled": whole(flag),
            "distilled_confidence": text("high", "medium", "low", nullable=True),
        },
        "weirdml": {
            **dict.fromkeys(["model", "task", "task_family", "time_source"], text()),
            "date": date(),
            "year": number(positive),
            "threshold": whole(positive),
            "minutes": number(positive),
            "estimated_minutes": number(positive, nullable=True),
            **dict.fromkeys(["successes", "runs"], number(nonnegative)),
        },
        "weirdml_models": {"model": text(), "date": date(), "year": number(positive)},
        "weirdml_times": {
            "task": text(),
            "threshold": whole(positive),
            "task_family": text(),
            "minutes": number(positive),
            "estimated_minutes": number(positive, nullable=True),
            "time_source": text(),
        },
        "training_compute": {
            "model": text(),
            "date": date(),
            "year": number(positive),
            "value": number(positive),
            "organization": text(),
            "accessibility": text(nullable=True),
            "compute_confidence": text(*CONFIDENCES),
            "larger_before": whole(nonnegative),
        },
        "published": {
            "quantity": text(),
            "estimate": number(finite),
            **dict.fromkeys(["low", "high"], number(finite, nullable=True)),
            "unit": text(nullable=True),
            "source": text(),
            "note": text(nullable=True),
        },
    }
    return pa.DataFrameSchema(columns[kind], strict=True)
