"""Tables of any columns, which a formula names."""

import pandas as pd

from ..checks import blank
from ..selection import drop_missing_rows, select_rows
from .kind import Kind, register_kind


def parse(table, changes, columns, where, drop_missing):
    """Return a table whose columns of numbers are float64 and whose others are text; blank cells stay."""
    table = table.rename(columns={column: name for name, column in columns.items()})
    table = table.rename(columns=str)
    table = select_rows(table, where, changes)
    for name in table:
        table[name] = _as_numbers(table[name])
    numbers = table.select_dtypes("number").columns
    return drop_missing_rows(table, numbers, changes) if drop_missing else table


def _as_numbers(cells):
    """Return a column as float64 where every cell that is not blank is a number, unchanged otherwise."""
    if pd.api.types.is_bool_dtype(cells):
        return cells.astype(str)
    missing = cells.map(blank)
    numbers = pd.to_numeric(cells.where(~missing), errors="coerce")
    return cells if (numbers.isna() & ~missing).any() or missing.all() else numbers.astype("float64")


COLUMNS = Kind(name="columns", dimension="row", parse=parse, recognisers=(str,))
register_kind(COLUMNS)
