"""A user's own table of published evaluations, read and checked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from . import storing
from .columns import ALIASES as OF_RUNS
from .opening import opened
from .reading.cells import as_numbers
from .reading.changes import with_origin
from .reading.faults import Fault
from .reading.names import blank
from .schemas import BENCHMARKS, check
from .wording import listed, quoted

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

NEEDED = ("publication_date", "benchmark", "parameters", "dataset_tokens", "transformer", "perplexity")
OPTIONAL = ("epochs", "vocabulary", "training_compute_flop", "paper_id")
ALIASES = {
    "publication_date": "date published datepublished",
    "parameters": OF_RUNS["parameters"],
    "dataset_tokens": OF_RUNS["tokens"],
    "transformer": "istransformer",
    "perplexity": OF_RUNS["perplexity"],
    "vocabulary": OF_RUNS["vocabulary"],
    "training_compute_flop": OF_RUNS["training_flop"],
}
DAYS = 365
FIRST_YEAR, LAST_YEAR = 1700, 2200  # within what nanoseconds since 1970 can say


def read_evaluations(
    source: str | PathLike[str] | pd.DataFrame,
    *,
    columns: Mapping[str, str] | None = None,
    where: str | None = None,
    drop_missing: bool = False,
) -> pd.DataFrame:
    """Read a table of language-model evaluations and check it.

    Parameters
    ----------
    source : path or pandas.DataFrame
        As for `read`. Needed are the columns ``publication_date`` (YYYY-MM-DD), ``benchmark`` (wt103, wt2 or ptb),
        ``parameters``, ``dataset_tokens``, ``transformer`` (0 or 1) and ``perplexity``; ``epochs``, ``vocabulary``,
        ``training_compute_flop`` and ``paper_id`` are used where there are. Common names of columns are recognised as
        `read` does it; a column that bears a name of the result exactly goes before others.
    columns : mapping of str to str, optional
        Column of the result to the column of the table that holds it. A column of the table whose name is so taken by
        another is left out.
    where : str, optional
    drop_missing : bool
        Rows to keep, as for `read`.

    Returns
    -------
    pandas.DataFrame
        The table with ``year`` added (the date in fractional years) and, where there is none, a ``paper_id`` a row.

    Raises
    ------
    InputError
        If the table cannot be read or used, in one line with the file, the line, the column, the value and the mend.

    Examples
    --------
    >>> import pandas as pd
    >>> row = {"publication_date": ["2019-02-14"], "benchmark": "wt103", "parameters": 1.5e9, "dataset_tokens": 3e9}
    >>> round(read_evaluations(pd.DataFrame(row | {"transformer": 1, "perplexity": 17.5}))["year"].item(), 2)
    2019.12
    """
    parts = {"needed": NEEDED, "optional": OPTIONAL, "text": (), "aliases": ALIASES}
    table, name, changes, _ = opened(source, columns, where, drop_missing, **parts)
    label = changes.label
    names = [column for column in (*NEEDED, *OPTIONAL) if column in table and column not in TEXT]
    read, faults = as_numbers(table, names)
    dates, undated = days(table["publication_date"])
    faults += undated + _unknown_benchmarks(table["benchmark"])
    result = table.assign(**read, publication_date=dates)
    result["year"] = fractional_years(dates)
    if "paper_id" not in result:
        result["paper_id"] = np.arange(1.0, len(result) + 1)
    result = check(result, "evaluations", label=label, faults=faults).astype({"transformer": "int64"})
    storing.note_names(result, changes)
    return with_origin(result, name, changes)


def fractional_years(dates):
    """Years of a Series of dates, with the days of each as their fraction.

    Examples
    --------
    >>> float(fractional_years(pd.Series(pd.to_datetime(["2019-01-01"]))).iloc[0])
    2019.0
    """
    return dates.dt.year + (dates.dt.day_of_year - 1) / DAYS


TEXT = ("publication_date", "benchmark")


def days(cells, *, blank=False):
    """Days of cells, and the faults of those that are none; a blank is no fault where it may be `blank`."""
    dates = cells.map(_date, na_action="ignore" if blank else None)
    faults = [
        Fault(row, cells.name, f"found {quoted(cells[row])}, {wrong}", "write it as 2019-02-14")
        for row, wrong in dates.items()
        if isinstance(wrong, str)
    ]
    found = [pd.NaT if isinstance(date, str) else date for date in dates]
    return pd.Series(found, index=cells.index).astype("datetime64[ns]"), faults


def _date(cell):
    """Day of a cell, or what is wrong with it."""
    text = str(cell)
    try:
        date = pd.to_datetime(text, format="ISO8601") if text.isascii() else pd.NaT
    except (ValueError, OverflowError):
        date = pd.NaT
    if date is pd.NaT:
        return "which is no date"
    if date.tzinfo is not None:
        return "which has a time zone"
    return date if FIRST_YEAR <= date.year <= LAST_YEAR else f"which is not of {FIRST_YEAR} to {LAST_YEAR}"


def _unknown_benchmarks(cells):
    strange = cells[~cells.isin(BENCHMARKS)]
    fault = f"which is none of {listed(BENCHMARKS)}"
    found = {row: "nothing (a blank)" if blank(cell) else f"{quoted(cell)}, {fault}" for row, cell in strange.items()}
    return [Fault(row, cells.name, f"found {text}", "correct it or delete the row") for row, text in found.items()]
