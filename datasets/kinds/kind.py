"""The description of a kind of table: its columns, its options and its checks."""

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass, field

import pandas as pd

from ...errors import InputError
from .. import storing
from ..catalogue import load
from ..cells import as_days, fractional_years
from ..columns import ALIASES, SETTINGS, Called, recognised_base, rename_columns
from ..schemas import Cells
from ..selection import drop_missing_rows, join_names, select_rows
from ..units import scale_columns
from ..wording import quoted


@dataclass(frozen=True)
class Kind:
    """A kind of table.

    Parameters
    ----------
    name : str
        As in `KINDS` and in the catalogue.
    dimension : str
        Name of the dimension of its rows.
    parse : callable
        Check an opened table and return the result: ``parse(table, changes, **options)``. Its parameters are the
        options of `read` that the kind takes. With ``drop_missing`` rows can be left out.
    built_in : str
        Name of the built-in table that stands where a user gives none; "" for none.
    cells : dict of str to Cells
        What the cells of columns must be, which `check` checks.
    dropped : tuple of str
        Columns of which ``drop_missing`` leaves out unusable cells too, not blank ones alone.
    recognisers : tuple of callable
        Return the canonical name of a header, or None, before the names of `aliases` are tried.
    needed, optional : tuple of str
        Columns that a table must have, and those that it may have.
    text : tuple of str
        Those of them that stay unchanged text, such as names.
    days : tuple of str
        Those of them that are dates.
    flags : tuple of str
        Those of them that are 0 or 1, which may be written no and yes.
    forms : tuple of str
        Options of `read` that shape a table before it is checked.
    form : callable, optional
        Returns an opened frame in the form of the kind: ``form(frame, label, columns)``, with the chosen columns.
    readers : dict of str to callable
        Readers of files of the kind by suffix, before those of every kind.
    aliases : dict of str to str
        Other names of columns, in lower case and without anything but letters and digits.
    check_unit : callable, optional
        Takes the option ``unit`` of `read` and refuses one that is unknown, before a file is opened.
    of_any_columns : bool
        Whether columns may have any names and types, so that a frame is read as a file is before a law is fitted.

    Examples
    --------
    >>> from bayescaling.datasets import KINDS
    >>> kind = KINDS["evaluations"]
    >>> kind.built_in, kind.dimension
    ('lm_progress', 'evaluation')
    """

    name: str
    dimension: str
    parse: Callable
    built_in: str = ""
    cells: dict[str, Cells] = field(default_factory=dict)
    dropped: tuple[str, ...] = ()
    recognisers: tuple[Callable, ...] = ()
    needed: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    text: tuple[str, ...] = ()
    days: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    forms: tuple[str, ...] = ()
    form: Callable | None = None
    readers: dict[str, Callable] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)
    check_unit: Callable | None = None
    of_any_columns: bool = False

    @property
    def options(self):
        """Return the names of the options of `read` that the kind takes."""
        return (*tuple(inspect.signature(self.parse).parameters)[2:], *self.forms)

    def numbers(self, headers, chosen):
        """Return the columns that hold numbers, each with its canonical name; `chosen` has columns or expressions.

        Examples
        --------
        >>> from bayescaling.datasets import KINDS
        >>> KINDS["runs"].numbers(["Params", "run", "tokens_B"], {})
        {'Params': 'parameters', 'tokens_B': 'tokens'}
        """
        names = dict.fromkeys((*self.needed, *self.optional, *self.aliases))
        names = [name for name in names if name not in (*self.text, *self.days)]
        columns = {}
        for header in headers:
            canonical = next((name for called in self.recognisers if (name := called(header))), None)
            if canonical is None:
                called = (name for name in names if header in Called((name,), {}, self.aliases))
                canonical = next(called, None)
            for name, column in chosen.items():
                if column == header or str(header) in re.findall(r"(?<=`)[^`]+(?=`)|[^\s*/+()`-]+", str(column)):
                    canonical = name if name in (*names, *ALIASES, *SETTINGS) else None
            if canonical is not None:
                columns[header] = canonical
        return columns

    def select(self, opened, changes, columns, condition, drop_missing, hint=""):
        """Return the rows that are wanted of an opened table, columns by canonical name, and the names of the file.

        `hint` is another fix for a table that lacks a column.
        """
        table, headers = rename_columns(
            *(opened, columns),
            needed=self.needed,
            optional=self.optional,
            label=changes.label,
            aliases=self.aliases,
            hint=hint,
            texts=self.text,
            days=(*self.days, *self.flags),
        )
        scaled = {name: header for name, header in headers.items() if recognised_base(header, name)}
        cells = table[[*scaled]].apply(pd.to_numeric, errors="coerce").astype("float64")
        cells = scale_columns(cells, scaled, None, None, changes)
        table = table.assign(**{name: x.where(x.notna(), table[name]) for name, x in cells.items()})
        columns = join_names(opened, table)
        if self.days and condition is not None and "year" not in columns and self.days[0] in table:
            columns = columns.assign(year=fractional_years(as_days(table[self.days[0]])[0]))
        table = select_rows(table, condition, changes, columns=columns)
        return (drop_missing_rows(table, self.needed, changes) if drop_missing else table), headers

    @staticmethod
    def present(table, names):
        """Return those of the names that are columns of a table."""
        return [name for name in names if name in table]

    def load(self):
        """Load the built-in table of the kind.

        Examples
        --------
        >>> from bayescaling.datasets import KINDS
        >>> len(KINDS["runs"].load())
        245
        """
        if not self.built_in:
            raise InputError(f"there is no built-in table of {self.name}; give a table, or name a file with --data")
        return load(self.built_in)

    def to_dataset(self, frame):
        """Store a checked table as an xarray Dataset that netCDF can hold; see `storing.to_dataset`.

        Examples
        --------
        >>> from bayescaling.datasets import KINDS
        >>> kind = KINDS["runs"]
        >>> runs = kind.load()
        >>> kind.from_dataset(kind.to_dataset(runs)).equals(runs)
        True
        """
        return storing.to_dataset(frame, self.dimension)

    from_dataset = staticmethod(storing.from_dataset)


KINDS: dict[str, Kind] = {}


def register_kind(kind: Kind) -> Kind:
    """Register a kind of table, so that `read` takes its name and laws can be of it; refuse a name that another has.

    Examples
    --------
    >>> from bayescaling.datasets import KINDS
    >>> register_kind(KINDS["runs"]).name
    'runs'
    """
    if KINDS.setdefault(kind.name, kind) is not kind:
        raise InputError(f"there is a kind of table called {quoted(kind.name)} already; give this one another name")
    return kind
