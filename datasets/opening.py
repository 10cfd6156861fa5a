"""A user's own table opened: its columns under the names of its kind, the rows that are wanted."""

from .columns import Called, renamed
from .reading import selection
from .reading.changes import Changes
from .reading.formats import open_table


def opened(source, columns, where, drop_missing, *, needed, optional, text, aliases, hint=None):
    """Open a table for the reader of its kind.

    Parameters
    ----------
    source : path or pandas.DataFrame
    columns : mapping of str to str, or None
    where : str or None
    drop_missing : bool
        As the reader is given them.
    needed, optional, text : sequence of str
        Columns that must be there, those that may, and those of them that are text as it is written.
    aliases : mapping of str to str
        As for `renamed`.
    hint : callable, optional
        Given the table as it was opened and `columns`, says what else may mend one that lacks a column.

    Returns
    -------
    table : pandas.DataFrame
        Rows indexed as `open_table` does it.
    name : str
        Of the source.
    changes : Changes
    names : dict of str to object
        From `renamed`.
    """
    columns = columns or {}
    given, label, name = open_table(source, text=Called(text, columns, aliases))
    said = hint(given, columns) if hint else ""
    table, names = renamed(given, columns, needed=needed, optional=optional, label=label, aliases=aliases, hint=said)
    changes = Changes(label, table)
    if where is not None:
        table = selection.where(table, where, changes, known=selection.by_both_names(given, table))
    if drop_missing:
        table = selection.without_missing(table, needed, changes)
    return table, name, changes, names
