"""A user's own table of scores of models on benchmarks, read and checked."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..errors import InputError
from . import storing
from .columns import Called
from .evaluations import days, fractional_years
from .opening import opened
from .reading.alike import refuse_differences
from .reading.cells import as_numbers
from .reading.changes import with_origin
from .reading.faults import Fault, place
from .reading.names import nameless, names
from .schemas import CONFIDENCES, check
from .wording import listed, quoted, unknown

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

    import pandas as pd

NEEDED = ("model", "benchmark", "score")
OF_A_MODEL = ("date", "training_compute_flop", "compute_confidence", "family")
TEXT = ("model", "benchmark", "compute_confidence", "family")
UNITS = {"share": 1.0, "percent": 0.01}
ALIASES = {
    "model": "modelname modelid llm system",
    "benchmark": "benchmarkname benchmarkid task taskname eval evalname evaluation",
    "score": "scores accuracy acc result scorepercent scorepct accuracypercent accuracypct performance",
    "date": "releasedate modelreleasedate",
    "training_compute_flop": "trainingcompute trainingflop trainingflops trainflop trainflops traincompute",
    "compute_confidence": "trainingcomputeconfidence",
    "family": "modelfamily",
}
PERCENT = re.compile("%|percent(?!ile)|pct")


def read_scores(
    source: str | PathLike[str] | pd.DataFrame,
    *,
    columns: Mapping[str, str] | None = None,
    unit: Mapping[str, float | str] | None = None,
    where: str | None = None,
    drop_missing: bool = False,
) -> pd.DataFrame:
    """Read a table of scores of models on benchmarks and check it.

    Parameters
    ----------
    source : path or pandas.DataFrame
        As for `read`, a row a model and benchmark. Needed are the columns ``model``, ``benchmark`` and ``score``, from
        0 to 1. Of a model, the same in each of its rows and blank where it is not known: ``date`` (YYYY-MM-DD) of its
        release; ``training_compute_flop``; ``compute_confidence`` (Confident, Likely, Speculative or Unknown; a blank
        is Likely where there is a compute); and ``family``, models of one kind but for their sizes. Common names are
        recognised, such as ``Model name``, ``Task``, ``Accuracy`` or ``Release date``; a column that bears a name of
        the result exactly goes before others. The benchmark file of Epoch AI's Benchmarking Hub is read unchanged; its
        ``performance`` is the score.
    columns : mapping of str to str, optional
        Column of the result to the column of the table that holds it. A column of the table whose name is so taken by
        another is left out.
    unit : mapping of str to str, optional
        ``{"score": "percent"}`` for scores from 0 to 100, where the header does not say so (``Accuracy (%)``).
    where : str, optional
    drop_missing : bool
        Rows to keep, as for `read`.

    Returns
    -------
    pandas.DataFrame
        The table, in the order of its rows, indexed from 0; with a ``date`` also ``year``, in fractional years.

    Raises
    ------
    InputError
        If the table cannot be read or used, in one line with the file, the line, the column, the value and the mend.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"model": ["a", "b"], "benchmark": "quiz", "score": [0.25, 0.8], "date": "2024-07-01"})
    >>> round(float(read_scores(table)["year"][0]), 2)
    2024.5
    """
    factor = _factor(unit or {})
    parts = {"needed": NEEDED, "optional": OF_A_MODEL, "text": TEXT, "aliases": ALIASES, "hint": _hint}
    table, name, changes, headers = opened(source, columns, where, drop_missing, **parts)
    label = changes.label
    in_header = not unit and PERCENT.search(str(headers["score"]).lower())
    factor = UNITS["percent"] if in_header else factor
    numbers = [column for column in ("score", "training_compute_flop") if column in table]
    read, faults = as_numbers(table, numbers)
    named = [column for column in TEXT if column in table]
    faults += [f for column in named for f in nameless(table[column], optional=column in OF_A_MODEL)]
    read |= {column: names(table[column]) for column in named}
    if "compute_confidence" in table:
        read["compute_confidence"], strange = _confidences(read["compute_confidence"])
        faults += strange
    if "date" in table:
        read["date"], undated = days(table["date"], blank=True)
        faults += undated
    if in_header and read["score"].max() <= 1:
        raise InputError(
            f"{label}: column {quoted(headers['score'])} says percent but holds nothing above 1; say which it is with "
            'unit={"score": "share"} or "percent" (--unit score=share)'
        )
    faults += _above(read["score"], 1 / factor)
    read["score"] = factor * read["score"]
    table = check(table.assign(**read), "scores", label=label, faults=faults)
    if factor != 1:
        changes.add("unit", "scores are read as percent", of="score", unit="percent", factor=factor)
    refuse_differences(table, "model", OF_A_MODEL, label)
    _refuse_duplicates(table, label)
    if "date" in table:
        table = table.assign(year=fractional_years(table["date"]))
    storing.note_names(table, changes)
    return with_origin(table, name, changes)


def _hint(table, columns):
    """Say what to do with a table whose columns are benchmarks."""
    named = any(name in Called(("benchmark", "score"), columns, ALIASES) for name in table)
    if named or len(table.select_dtypes("number").columns) < 2:
        return ""
    model = next((name for name in table if name in Called(("model",), columns, ALIASES)), "model")
    melted = f'table.melt({quoted(model)}, var_name="benchmark", value_name="score").dropna()'
    return f"; or, where the columns are benchmarks, make a row of each score, in pandas {melted}"


def _factor(unit):
    for column in unit:
        if column != "score":
            mend = '{"score": "percent"} (--unit score=percent)'
            raise InputError(f"unit: {quoted(column)} has none in a table of scores; write {mend}")
    found = unit.get("score", "share")
    if found not in UNITS:
        raise InputError(unknown("unit of score:", found, UNITS))
    return UNITS[found]


def _above(scores, most):
    may_be_percent = most == 1 and scores.max() <= 100
    mend = "correct it or delete the row"
    if may_be_percent:
        mend = 'give shares from 0 to 1, or say unit={"score": "percent"} (--unit score=percent)'
    fault = f"which is above {most:g}"
    return [
        Fault(row, "score", f"found {quoted(score)}, {fault}", mend) for row, score in scores.items() if score > most
    ]


def _confidences(cells):
    known = {name.lower(): name for name in CONFIDENCES}
    found = cells.map(lambda cell: known.get(cell.strip().lower(), cell), na_action="ignore").astype(object)
    strange = found[found.notna() & ~found.isin(CONFIDENCES)]
    fault = f"which is none of {listed(CONFIDENCES)}"
    return found, [
        Fault(row, cells.name, f"found {quoted(cell)}, {fault}", "correct it or leave it blank")
        for row, cell in strange.items()
    ]


def _refuse_duplicates(table, label):
    wrong = table.duplicated(["model", "benchmark"])
    if wrong.any():
        row = wrong.idxmax()
        model, benchmark = (quoted(table.at[row, name]) for name in ("model", "benchmark"))
        raise InputError(
            f"{label}, {place(table, row)}: model {model} has a score on {benchmark} before; keep one of them or give "
            "the models names of their own"
        )
