"""What holds for every row of a run, or of a model, holds for all of its rows."""

import numpy as np
import pandas as pd

from ...errors import InputError
from ..wording import quoted
from .faults import owned, place
from .names import blank


def refuse_differences(table, group, columns, label):
    """Refuse a table in which rows of one run or model differ in what is one for all of them.

    Parameters
    ----------
    table : pandas.DataFrame
        Rows indexed as `open_table` does it.
    group : str
        Column of names, such as ``"run"``.
    columns : sequence of str
        Columns of what is one for each name; those that are not there are passed over.
    label : str
        Name of the table in messages.

    Raises
    ------
    InputError
        Naming the first row that differs from one before, and what was found there.
    """
    number, _ = pd.factorize(table[group])
    _, earliest = np.unique(number, return_index=True)
    for column in columns:
        if column not in table:
            continue
        cells = table[column]
        first = cells.iloc[earliest[number]].set_axis(cells.index)
        # Arrays in cells have no one answer to whether they are equal.
        wrong = cells != first if cells.dtype != object else cells.map(repr) != first.map(repr)
        wrong &= ~(cells.isna() & first.isna())
        if wrong.any():
            row = wrong.idxmax()
            found, before = ("nothing" if blank(x) else quoted(x) for x in (table.at[row, column], first[row]))
            raise InputError(
                f"{label}, {place(table, row)}, column {quoted(owned(table, column))}: found {found} where "
                f"{group} {quoted(table.at[row, group])} had {before} before; give each {group} its own name"
            )
