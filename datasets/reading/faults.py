"""Faults of a table's cells, all told in one line."""

from dataclasses import dataclass

from ...errors import InputError
from ..wording import quoted

SHOWN = 10
HEADERS = "headers"  # in a table's attrs: names that its owner gave its columns, by those that they have now


@dataclass(frozen=True)
class Fault:
    """What is wrong in one cell.

    Parameters
    ----------
    row : object
        Label of the row in the index of the table.
    column : object
        Name of the column, the owner's or that of the table.
    found : str
        What was found, ``found 0, which is not a positive finite number``.
    mend : str
    """

    row: object
    column: object
    found: str
    mend: str


def place(frame, row):
    """Say where the row with index `row` stands."""
    if frame.index.name == "place":
        return row
    return f"line {row}" if frame.index.name == "line" else f"row {row} (counting from 0)"


def owned(frame, column):
    """Name that the owner of a table gave a column."""
    return frame.attrs.get(HEADERS, {}).get(column, column)


def refuse(faults, frame, label):
    """Raise one error for all faults, if there are any: the first ten in the order of the rows, then a count.

    Parameters
    ----------
    faults : sequence of Fault
    frame : pandas.DataFrame
        The table, with rows indexed as `open_table` does it.
    label : str
        Name of the table in messages.

    Raises
    ------
    InputError
    """
    if not faults:
        return
    position = {row: number for number, row in enumerate(frame.index)}
    ordered = sorted(faults, key=lambda fault: position[fault.row])
    shown = ordered[:SHOWN]
    told = [f"{place(frame, fault.row)}, column {quoted(owned(frame, fault.column))}: {fault.found}" for fault in shown]
    mends = "; ".join(dict.fromkeys(fault.mend for fault in shown))
    if len(told) == 1:
        raise InputError(f"{label}, {told[0]}; {mends}")
    listed = " ".join(f"({number}) {one}" for number, one in enumerate(told, 1))
    more = f" and {len(faults) - SHOWN} more" if len(faults) > SHOWN else ""
    raise InputError(f"{label}: {len(faults)} cells cannot be used: {listed}{more}; {mends}")
