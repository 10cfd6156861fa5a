"""What reading a table took away or changed: said, and kept with the table."""

import sys
import warnings

from ...errors import TableNote

PACKAGE = __name__.partition(".")[0]


class Changes:
    """Changes of one table, in their order.

    Parameters
    ----------
    label : str
        Name of the table in messages.
    table : pandas.DataFrame
        The table as it was opened, with what is already known of it in ``attrs``.

    Attributes
    ----------
    entries : list of dict
        Plain values, for ``attrs["reading"]`` and the record of a fit.
    """

    def __init__(self, label, table):
        self.label, self.entries = label, list(table.attrs.get("reading", []))
        for said in table.attrs.get("said", []):
            self.add("source", said, what=said)

    def add(self, option, said, **details):
        """Keep a change that an option, or the table itself, made and say it."""
        self.entries.append({"option": option, **details})
        tell(f"{self.label}: {said}", TableNote)


def tell(message, category):
    """Warn at the line, outside the package, that had a table read."""
    level, frame = 1, sys._getframe()
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == PACKAGE:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def with_origin(table, name, changes):
    """Return a table indexed from 0 that says where it is from and what reading changed."""
    table = table.reset_index(drop=True)
    table.attrs = {"source": name} | ({"reading": changes.entries} if changes.entries else {})
    return table
