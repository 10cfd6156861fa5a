"""Which rows of a table are kept."""

import numpy as np
import pandas as pd

from ...errors import InputError
from ..wording import listed, quoted, suggestion
from .expressions import holds


def where(table, expression, changes, *, known=None):
    """Keep the rows for which an expression holds.

    Parameters
    ----------
    table : pandas.DataFrame
    expression : str or None
        See `expressions.holds`; None keeps every row.
    changes : Changes
    known : pandas.DataFrame, optional
        Columns that the expression may name, by default those of the table.

    Returns
    -------
    pandas.DataFrame
    """
    if expression is None:
        return table
    kept = holds(expression, table if known is None else known, changes.label)
    if not kept.any():
        raise InputError(
            f"{changes.label}: where {quoted(expression)}: it holds for none of the {len(table)} rows; change it"
        )
    return _kept(table, kept, changes, "where", expression, f"where {expression}")


def by_both_names(given, table):
    """Columns of a table by their names in the file, `given`, and by those that they have now."""
    return pd.DataFrame(dict(given.items()) | dict(table.items()))


def without_missing(table, needed, changes, *, kept=False):
    """Keep the rows that have a value in every needed column, and those that are `kept` for another reason."""
    lacking = table[[name for name in needed if name in table]].isna() & ~np.broadcast_to(kept, len(table))[:, None]
    kept, lacking = ~lacking.any(axis=1), lacking.sum()
    lacking = {name: int(count) for name, count in lacking.items() if count}
    if not kept.any():
        raise InputError(f"{changes.label}: every row lacks a value in {listed(lacking)}; drop_missing leaves none")
    reasons = ", ".join(f"{count} lack {name}" for name, count in lacking.items())
    return _kept(table, kept, changes, "drop_missing", True, "drop_missing" + (f" ({reasons})" if reasons else ""))


def last_of(runs, columns, changes, *, known=None):
    """Keep the last row of each value of columns: that of most tokens, or where none is known the last in the table.

    `known` has further columns that may be named, by index as in `runs`.
    """
    columns, values = _columns(columns, runs, known, "last_of", changes.label)
    order = runs.assign(**{"the order": range(len(runs))}).sort_values(
        ["tokens", "the order"], na_position="first", kind="stable"
    )
    last = order.groupby([x.loc[order.index] for x in values], dropna=False, sort=False).tail(1).index
    return _kept(runs, runs.index.isin(last), changes, "last_of", columns, f"last_of {', '.join(map(str, columns))}")


def best_of(runs, columns, changes, *, known=None):
    """Keep the row of least loss of each value of columns, the first of several; parameters as for `last_of`."""
    columns, values = _columns(columns, runs, known, "best_of", changes.label)
    order = runs.sort_values("loss", kind="stable")
    best = order.groupby([x.loc[order.index] for x in values], dropna=False, sort=False).head(1).index
    return _kept(runs, runs.index.isin(best), changes, "best_of", columns, f"best_of {', '.join(map(str, columns))}")


def without_highest(runs, number, changes):
    """Leave out a number of rows of highest loss."""
    if isinstance(number, bool) or not isinstance(number, int) or number < 0:
        raise InputError(f"drop_highest must be a number of rows, 0 or more, not {number!r}")
    if number == 0:
        return runs
    if number >= len(runs):
        raise InputError(
            f"{changes.label}: drop_highest={number} leaves none of the {len(runs)} rows; give a lower one"
        )
    kept = runs.index.isin(runs.sort_values("loss", kind="stable").index[:-number])
    return _kept(runs, kept, changes, "drop_highest", number, f"drop_highest {number}")


def names_in(given):
    """Names of columns, given as a sequence or as text with commas between them."""
    return [name.strip() for name in given.split(",")] if isinstance(given, str) else list(given)


def _columns(given, runs, known, option, label):
    """Names of columns and their values: of the table that is read, or else by the names that its file gives them."""
    known = runs if known is None else known
    columns = [given] if isinstance(given, str) and given in known else names_in(given)
    for name in columns:
        if name not in runs and name not in known:
            raise InputError(
                f"{label}: {option}: there is no column {quoted(name)}{suggestion(name, runs.columns)}; the columns "
                f"are {listed(runs.columns)}"
            )
    if not columns or len(set(columns)) < len(columns):
        raise InputError(f"{label}: {option} is {given!r}; name one or more columns, each once")
    return columns, [runs[name] if name in runs else known[name] for name in columns]


def _kept(table, kept, changes, option, value, said):
    left_out = len(table) - int(kept.sum())
    changes.add(
        option,
        f"{said}: {left_out} of {len(table)} rows left out",
        value=value,
        rows_before=len(table),
        rows_left_out=left_out,
    )
    return table[kept]
