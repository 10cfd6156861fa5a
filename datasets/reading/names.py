"""Cells of a column as names."""

import numpy as np
import pandas as pd

from ..wording import quoted
from .faults import Fault


def blank(cell):
    """Whether nothing stands in a cell; a list in it is something, however many are in the list."""
    return bool(pd.api.types.is_scalar(cell) and pd.isna(cell))


def nameless(cells, *, optional=False):
    """Faults of cells that are no names; a blank is none where names are `optional`."""
    faults = []
    for row, cell in cells.items():
        if isinstance(cell, bytes):
            found = f"found {quoted(cell)}, bytes where a name should be"
            faults.append(Fault(row, cells.name, found, "store the column as text"))
        elif blank(cell) and not optional:
            faults.append(Fault(row, cells.name, "found nothing (a blank)", "fill it in or delete the row"))
    return faults


def names(cells):
    """Text of cells, a Series; a whole number that blanks have made a float has no decimal point, a blank stays."""
    return cells.astype(object).map(_name, na_action="ignore").astype(object)


def _name(cell):
    whole = isinstance(cell, float | np.floating) and np.isfinite(cell) and cell == np.floor(cell)
    return str(int(cell)) if whole else str(cell)
