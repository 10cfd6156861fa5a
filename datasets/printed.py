"""How tables and results are printed, in a terminal and in a notebook: sentences, a short table, sentences."""

from __future__ import annotations

import shutil
import textwrap
from dataclasses import dataclass
from html import escape
from importlib import import_module

import pandas as pd

from .wording import number, plural

NARROW, WIDE = 60, 120  # columns between which a text takes the width of its terminal; 80 where there is none
FEW = 3  # rows that may be printed as columns
MOST = 10  # rows of a table that are printed


@dataclass(frozen=True)
class Text:
    """Sentences with a short table of text, as a person reads it: a title, the table, and sentences below it."""

    title: str
    table: pd.DataFrame | None = None
    sentences: tuple[str, ...] = ()

    def __str__(self):
        table = [] if self.table is None else ["", *tabulated(self.table, width())]
        below = [filled(as_sentence(x), width()) for x in self.sentences]
        return "\n".join([filled(self.title, width()), *table, *([""] if table and below else []), *below])

    def _repr_html_(self):
        table = "" if self.table is None else self.table.to_html(index_names=False)
        below = "".join(f"<p>{escape(as_sentence(line))}</p>" for line in self.sentences)
        return f"<p><strong>{escape(self.title)}</strong></p>{table}{below}"


def width():
    """Return the width of lines, in characters: that of the terminal within limits."""
    return min(max(shutil.get_terminal_size((80, 24)).columns, NARROW), WIDE)


def filled(text, width):
    """Break a text into lines of a width, at spaces alone, so that names and paths stay whole."""
    return textwrap.fill(text, width, break_long_words=False, break_on_hyphens=False)


def as_sentence(text):
    """Begin a text with a capital and end it with a period; the end of a list, a quotation or a question is left.

    Examples
    --------
    >>> as_sentence("the law fits its rows")
    'The law fits its rows.'
    """
    text = text[:1].upper() + text[1:]
    return text if text.endswith((".", ":", "”", "?", "!")) else f"{text}."


def tabulated(table, width):
    """Return the lines of a table without cutting a cell: turned, under long labels, or in blocks of columns.

    Examples
    --------
    >>> tabulated(pd.DataFrame({"a": ["1"], "b": ["22"]}, index=["x"]), 5)
    ['    x', 'a   1', 'b  22']
    """
    lines = _lines(table)
    if _fits(lines, width):
        return lines
    if len(table) <= FEW and _fits(turned := _lines(table.T), width):
        return turned
    if table.shape[1] == 1:
        cells = (
            (str(label), textwrap.indent(filled(str(cell), width - 4), "    "))
            for label, cell in table.iloc[:, 0].items()
        )
        return [line for pair in cells for text in pair for line in text.split("\n")]
    if max(len(str(label)) for label in table.index) > width // 2:
        header, *rows = _lines(table.set_axis(["   "] * len(table)))
        if _fits([header], width):
            pairs = zip(table.index, rows, strict=True)
            return [header, *(line for label, row in pairs for line in (*filled(str(label), width).split("\n"), row))]
    count = table.shape[1] - 1
    while count > 1 and not _fits(_lines(table.iloc[:, :count]), width):
        count -= 1
    return [*tabulated(table.iloc[:, :count], width), "", *tabulated(table.iloc[:, count:], width)]


def _lines(table):
    return table.to_string(index_names=False, header=[str(name) for name in table.columns]).split("\n")


def _fits(lines, width):
    return max(map(len, lines)) <= width


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


def drawn_by(name):
    """Return a method that draws a result with a figure of `plots`."""

    def plot(self, **options):
        return getattr(import_module(__package__.partition(".")[0]), name)(self, **options)

    plot.__doc__ = f"Draw the result; see `bs.{name}` for the options."
    return plot


class PrintedTable(Printed, pd.DataFrame):
    """A DataFrame that prints a `Text`: by default the first rows in the units of a reader, as do parts of it."""

    def text(self):
        """Return the first rows, in the columns that fit a line, and what is left out."""
        most, names = self.attrs.get("most", MOST), [str(name) for name in self.columns]
        rows = self.head(most)
        labels = [", ".join(map(number, x)) if isinstance(x, tuple) else number(x) for x in rows.index]
        columns = [[number(x) for x in rows.iloc[:, i]] for i in range(len(names))]
        room, shown = width() - max(map(len, labels), default=0), []
        for i, name in enumerate(names):
            needed = max(len(name) + 1, *(len(x) + 2 for x in columns[i]), 0)
            if needed <= room:
                room -= needed
                shown.append(i)
        cells = pd.DataFrame({i: columns[i] for i in shown}, labels).set_axis([names[i] for i in shown], axis=1)
        plain = pd.api.types.is_integer_dtype(self.index) and self.index.name is None
        source = f" of {self.attrs['source']}" if plain and "source" in self.attrs else ""
        below = [f"{len(self) - most:,} further rows follow"] if len(self) > most else []
        if left := [name for i, name in enumerate(names) if i not in shown]:
            more = f" and {len(left) - MOST} more" if len(left) > MOST else ""
            below.append(f"further columns: {', '.join(left[:MOST])}{more}")
        title = self.attrs.get("title", plural(len(self), "row") + source)
        return Text(title, None if cells.empty else cells, tuple(below))

    def table(self) -> pd.DataFrame:
        """Return the numbers, an ordinary DataFrame."""
        return pd.DataFrame(self)

    @classmethod
    def of(cls, table, **attrs):
        """Make one of a DataFrame with its attributes and others, such as its title."""
        printed = cls(table)
        printed.attrs = table.attrs | attrs
        return printed

    @property
    def _constructor(self):
        return PrintedTable

    def __str__(self):
        return repr(self)
