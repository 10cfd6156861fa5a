"""How results are printed, in a terminal and in a notebook: sentences, a short table, sentences."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

import pandas as pd


@dataclass(frozen=True)
class Text:
    """Sentences with a short table of text.

    Attributes
    ----------
    title : str
    table : DataFrame or None
        Of text, as a person reads it.
    sentences : tuple of str
        Below the table.
    """

    title: str
    table: pd.DataFrame | None = None
    sentences: tuple[str, ...] = ()

    def __str__(self):
        table = [] if self.table is None else ["", self.table.to_string(index_names=False), ""]
        return "\n".join([self.title, *table, *self.sentences])

    def _repr_html_(self):
        table = "" if self.table is None else self.table.to_html(index_names=False)
        below = "".join(f"<p>{escape(line)}</p>" for line in self.sentences)
        return f"<p><strong>{escape(self.title)}</strong></p>{table}{below}"


class Printed:
    """A result that prints what its `text` returns; what it inherits prints it where that is None."""

    __slots__ = ()

    def text(self) -> Text | None:
        """Return what is printed."""
        raise NotImplementedError

    def __repr__(self):
        text = self.text()
        return super().__repr__() if text is None else str(text)

    def _repr_html_(self):
        text = self.text()
        return super()._repr_html_() if text is None else text._repr_html_()


class PrintedTable(Printed, pd.DataFrame):
    """A DataFrame that prints a `Text`; what is cut from it is an ordinary one."""

    @classmethod
    def of(cls, table):
        """Make one of a DataFrame with its attributes."""
        printed = cls(table)
        printed.attrs = dict(table.attrs)
        return printed

    @property
    def _constructor(self):
        return pd.DataFrame

    def __str__(self):
        return repr(self)
