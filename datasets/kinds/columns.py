"""Tables of any columns, which a formula names."""

import re

import pandas as pd

from ..checks import blank
from ..notation import parsed
from ..panels import MORE_STEPS, melted, spelled
from ..selection import drop_missing_rows, select_rows
from .kind import Kind, register_kind

NAMED_SIZE = re.compile(r"([A-Za-z]*)[_=: -]*(\d+(?:\.\d+)?[kKmMbBtT])(?![A-Za-z])")


def parse(table, changes, columns, where, drop_missing):
    """Return a table whose columns of numbers are float64 and whose others are text; blank cells stay."""
    table = table.rename(columns={column: name for name, column in columns.items()})
    table = _last_of_runs(table.rename(columns=str), changes)
    table = select_rows(table, where, changes)
    for name in table:
        table[name] = _as_numbers(table[name])
    numbers = table.select_dtypes("number").columns
    return drop_missing_rows(table, numbers, changes) if drop_missing else table


def _last_of_runs(table, changes):
    """Return the last reading of each run of a panel, with the sizes that the names of runs state."""
    steps = [name for name in table if spelled(name) in MORE_STEPS]
    if "run" not in table or len(steps) != 1 or not table["run"].duplicated().any():
        return table
    sizes = [NAMED_SIZE.search(str(run)) for run in table["run"]]
    last = table.loc[table.groupby("run", sort=False)[steps[0]].idxmax()]
    if not all(sizes) or len({match[1].lower() for match in sizes}) > 1:
        return table
    name = sizes[0][1] or "size"
    changes.add("last_of", f"the last of the readings of each of {len(last)} runs is read", value="run")
    changes.add("from_name", f"{name} is what the names of runs state", value="run")
    values = pd.Series([parsed(match[2])[0] for match in sizes], table.index)
    return last.assign(**{name: values})


def _as_numbers(cells):
    """Return a column as float64 where every cell that is not blank is a number, unchanged otherwise."""
    if pd.api.types.is_bool_dtype(cells):
        return cells.astype(str)
    missing = cells.map(blank)
    numbers = pd.to_numeric(cells.where(~missing), errors="coerce")
    return cells if (numbers.isna() & ~missing).any() or missing.all() else numbers.astype("float64")


COLUMNS = Kind(
    name="columns",
    dimension="row",
    parse=parse,
    recognisers=(str,),
    form=lambda frame, label, columns: melted(frame, label),
)
register_kind(COLUMNS)
