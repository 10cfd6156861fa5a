"""What holds for every row of a run, or of a model, holds for all of its rows."""

from ...errors import InputError
from ..wording import quoted
from .faults import place


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
    for column in columns:
        if column not in table:
            continue
        first = table.groupby(group)[column].transform(lambda cells: cells.iloc[0])
        wrong = (table[column] != first) & ~(table[column].isna() & first.isna())
        if wrong.any():
            row = wrong.idxmax()
            found, before = ("nothing" if x != x else quoted(x) for x in (table.at[row, column], first[row]))
            raise InputError(
                f"{label}, {place(table, row)}, column {quoted(column)}: found {found} where "
                f"{group} {quoted(table.at[row, group])} had {before} before; give each {group} its own name"
            )
