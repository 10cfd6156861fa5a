"""Checks of the cells of tables of users, by Pandera, and their failures as messages of one line."""

import functools
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ..errors import InputError
from .checks import LEFT_OUT, Fault, refuse
from .fixes import setting_aside
from .wording import quoted


@dataclass(frozen=True)
class Cells:
    """What the cells of a column must be.

    `passes` takes the column and returns whether each cell passes; `words` say what a cell must be. The column takes
    the `type`, may have a `blank` cell, and must be there if `required`.
    """

    passes: Callable
    words: str
    type: str = "float64"
    blank: bool = False
    required: bool = True

    @property
    def whole(self):
        """Return the same of whole numbers."""
        return replace(self, type="int64")

    @property
    def spare(self):
        """Return the same of a column that may be left out, but has no blank cell."""
        return replace(self, required=False)

    @property
    def optional(self):
        """Return the same of a column that may be left out, and may have blank cells."""
        return replace(self, required=False, blank=True)


POSITIVE = Cells(lambda x: np.isfinite(x) & (x > 0), "a positive finite number")
NONNEGATIVE = Cells(lambda x: np.isfinite(x) & (x >= 0), "a finite number of at least 0")
ABOVE_ONE = Cells(lambda x: np.isfinite(x) & (x > 1), "a finite number above 1, as a perplexity is")
FINITE = Cells(np.isfinite, "a finite number")
FLAG = Cells(lambda x: x.isin((0, 1)), "0 or 1")
SHARE = Cells(lambda x: np.isfinite(x) & (x >= 0) & (x <= 1), "a number from 0 to 1")


def one_of(names):
    """Return the `Cells` of a column of text that names one of several things."""
    return Cells(lambda x: x.isin(names), f"one of {', '.join(names)}", "object")


def check(frame, kind, *, label, names=None, faults=()):
    """Check the cells of a frame as its kind describes them, and return it with the types of its `Cells`.

    Rows are indexed as `open_table` does it. `names` has the names of columns in the file, for messages. Earlier
    `faults` are reported together with the others, and their cells are not checked again. A refusal names the place,
    the column, the value and the fix of the first ten.
    """
    import pandera.errors

    checked, faults = None, list(faults)
    try:
        checked = _schema(tuple(kind.cells.items())).validate(frame, lazy=True)
    except pandera.errors.SchemaErrors as error:
        failures = error.failure_cases
        located = failures[failures["index"].notna()]
        faults = _together(faults, _faults(located, frame, kind, names or {}), names)
    refuse(faults, frame, label)
    if checked is None:
        failure = failures.iloc[0]
        raise InputError(
            f"{label}: failed {failure['check']} with {quoted(failure['failure_case'])}; correct its columns"
        )
    return checked


def _together(earlier, later, names):
    """Join earlier faults and later ones, each cell once and without faults that follow from others of the row."""
    cells = {(fault.row, fault.column) for fault in earlier}
    faults = [*earlier, *(fault for fault in later if (fault.row, fault.column) not in cells)]
    if names is None:
        return faults
    in_file = [fault for fault in faults if fault.column in names.values()]
    blamed = {fault.row for fault in in_file}
    return in_file + [fault for fault in faults if fault not in in_file and fault.row not in blamed]


def _faults(located, frame, kind, names):
    position = {column: number for number, column in enumerate(frame.columns)}
    faults = {}
    for failure in located.assign(order=located["column"].map(position)).sort_values("order").itertuples():
        row, column = failure.index, failure.column
        name = names.get(column, column)
        if failure.check == "not_nullable":
            fault, fix = "nothing (a blank or NaN)", "fill it in"
        else:
            fault, fix = f"{quoted(frame.at[row, column])}, which is not {failure.check}", "correct it"
        spare, usable = not kind.cells[column].required, "drop_missing" in kind.options
        aside = " or delete the row or the column" if spare and column not in kind.dropped else " or delete the row"
        if spare and column not in kind.dropped and "ignore" in kind.options:
            aside = f", delete the row, or leave the column out with {setting_aside(name)}"
        if usable and (failure.check == "not_nullable" or column in kind.dropped):
            aside += f"; {LEFT_OUT}"
        faults.setdefault((row, column), Fault(row, name, f"found {fault}", f"{fix}{aside}"))
    return list(faults.values())


@functools.cache
def _schema(cells):
    """Return the Pandera schema of pairs of a column and its `Cells`, which lets other columns pass."""
    import pandera.pandas as pa

    return pa.DataFrameSchema(
        {
            name: pa.Column(
                of.type, pa.Check(of.passes, error=of.words), nullable=of.blank, required=of.required, coerce=True
            )
            for name, of in cells
        }
    )
