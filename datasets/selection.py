"""Rows of a table that options leave out."""

import numpy as np
import pandas as pd
from pandas.api.types import is_hashable

from ..errors import InputError
from .expressions import evaluate_condition
from .wording import listed, quoted, shown, suggestion

FEW = 4  # kinds of cells in a message


def select_rows(table, expression, changes, *, columns=None):
    """Return the rows for which an expression holds, of `columns` or of those of the table; None selects every row."""
    if expression is None:
        return table
    rows = evaluate_condition(expression, table if columns is None else columns, changes.label)
    if not rows.any():
        raise InputError(
            f"{changes.label}: where {quoted(expression)}: it holds for none of the {len(table)} rows; change it"
        )
    return _leave_out(table, rows, changes, "where", expression, f"where {expression}")


def join_names(opened, table):
    """Return columns of a table by their names in the file, `opened`, and by those that they have now."""
    return pd.DataFrame(dict(opened.items()) | dict(table.items()))


def drop_missing_rows(table, needed, changes, *, spared=False, unusable=None):
    """Leave out the rows that lack a value in a needed column, except those that are `spared`.

    `unusable` has further rows to leave out, by the kind of their cells.
    """
    lacking = table[[name for name in needed if name in table]].isna() & ~np.broadcast_to(spared, len(table))[:, None]
    unusable = {kind: table.index.isin(rows) for kind, rows in (unusable or {}).items()}
    rows, lacking = ~lacking.any(axis=1) & ~sum(unusable.values(), np.zeros(len(table), bool)), lacking.sum()
    lacking = {name: int(count) for name, count in lacking.items() if count}
    counts = {kind: int(present.sum()) for kind, present in unusable.items() if present.any()}
    if not rows.any():
        names = [*lacking, *counts]
        raise InputError(
            f"{changes.label}: every row lacks a value in {listed(names, FEW)}; drop_missing leaves none: write "
            "the cells as plain numbers"
        )
    more = f", and {len(counts) - FEW} more kinds" if len(counts) > FEW else ""
    counts = dict(list(counts.items())[:FEW])
    reasons = [f"{count} lack {name}" for name, count in lacking.items()]
    reasons = ", ".join([*reasons, *(f"{count} with {kind}" for kind, count in counts.items())]) + more
    return _leave_out(table, rows, changes, "drop_missing", True, "drop_missing" + (f" ({reasons})" if reasons else ""))


def take_last(runs, columns, changes, *, more=None, needed=("tokens",)):
    """Return the last row of each value of columns: that of most tokens, or without tokens the last in the table.

    `more` has further columns that may be named, by index as in `runs`. Where tokens are `needed`, rows without them
    stay, for a check to refuse: they may be the last.
    """
    counted = "tokens" in runs and pd.api.types.is_numeric_dtype(runs["tokens"])
    tokens = runs["tokens"] if counted else pd.Series(range(len(runs)), index=runs.index)
    order = tokens.sort_values(na_position="first", kind="stable")
    return _take_one_of_each(runs, columns, changes, more, "last_of", order, "tokens" in needed)


def take_best(runs, columns, changes, *, more=None):
    """Return the row of least loss of each value of columns, the first of several; parameters as for `take_last`."""
    order = runs["loss"][::-1].sort_values(ascending=False, na_position="first", kind="stable")
    return _take_one_of_each(runs, columns, changes, more, "best_of", order, True)


def _take_one_of_each(runs, columns, changes, more, option, order, whole):
    """Return the last row of each value of columns in an order of the rows, and, if `whole`, those without a place."""
    names, values = _find_columns(columns, runs, runs if more is None else more, option, changes.label)
    groups = order.groupby([hashable(x.loc[order.index]) for x in values], dropna=False, sort=False)
    rows = runs.index.isin(groups.tail(1).index) | (whole & order.isna().loc[runs.index].to_numpy())
    return _leave_out(runs, rows, changes, option, names, f"{option} {', '.join(map(str, names))}")


def hashable(cells):
    """Return cells that can be keys: text in place of lists and dictionaries."""
    return cells.map(lambda cell: cell if is_hashable(cell) else repr(cell)) if cells.dtype == object else cells


def drop_highest_losses(runs, number, changes):
    """Leave out a number of rows of highest loss, none of them without a loss."""
    if isinstance(number, bool) or not isinstance(number, int) or number < 0:
        raise InputError(f"drop_highest must be a number of rows, 0 or more, not {shown(number)}")
    if number == 0:
        return runs
    if number >= len(runs):
        raise InputError(
            f"{changes.label}: drop_highest={number} leaves none of the {len(runs)} rows; give a lower one"
        )
    rows = runs.index.isin(runs.sort_values("loss", kind="stable", na_position="first").index[:-number])
    return _leave_out(runs, rows, changes, "drop_highest", number, f"drop_highest {number}")


def split_names(names):
    """Return names of columns as a list, from a sequence or from text with commas between them."""
    return [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)


def _find_columns(columns, runs, more, option, label):
    """Return names of columns and their values: those of the result, or else those of the file."""
    names = [columns] if isinstance(columns, str) and columns in more else split_names(columns)
    for name in names:
        if name not in runs and name not in more:
            raise InputError(
                f"{label}: {option}: there is no column {quoted(name)}{suggestion(name, runs.columns)}; the columns "
                f"are {listed(runs.columns)}"
            )
    if not names or len(set(names)) < len(names):
        raise InputError(f"{label}: {option} is {shown(columns)}; name one or more columns, each once")
    return names, [runs[name] if name in runs else more[name] for name in names]


def _leave_out(table, rows, changes, option, value, reason):
    count = len(table) - int(rows.sum())
    sentence = f"{reason}: {count} of {len(table)} rows left out"
    changes.add(option, sentence, value=value, rows_before=len(table), rows_left_out=count)
    return table[rows]
