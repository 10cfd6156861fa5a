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
    """A result that prints what its `text` returns."""

    def text(self) -> Text:
        """Return what is printed."""
        raise NotImplementedError

    def __repr__(self):
        return str(self.text())

    def _repr_html_(self):
        return self.text()._repr_html_()
