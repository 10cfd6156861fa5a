"""Cells of a column as numbers, names or days."""

import re

import numpy as np
import pandas as pd

from .checks import Fault, blank
from .wording import listed, quoted

DAYS = 365
FIRST_YEAR, LAST_YEAR = 1700, 2200  # within what nanoseconds since 1970 can say
POWERS = {"k": 3, "m": 6, "g": 9, "b": 9, "t": 12}


def numbers(cells, column):
    """Return cells of a column as float64, blanks as NaN.

    Parameters
    ----------
    cells : pandas.Series
    column : object
        Name of the column in the file.

    Returns
    -------
    values : pandas.Series
        NaN where there is nothing or no number.
    faults : list of Fault
        The cells that hold something that is no number.
    """
    if pd.api.types.is_any_real_numeric_dtype(cells) and not pd.api.types.is_bool_dtype(cells):
        return pd.Series(cells.to_numpy("float64", na_value=np.nan), index=cells.index), []
    values, faults = [], []
    for row, cell in cells.items():
        try:
            values.append(_number(cell))
        except (TypeError, ValueError, OverflowError):
            values.append(np.nan)
            faults.append(Fault(row, column, f"found {quoted(cell)}, which is not a number", _rewritten(str(cell))))
    return pd.Series(values, index=cells.index, dtype="float64"), faults


def as_numbers(table, names):
    """Return columns of a table as `numbers` does, and the faults of all of them.

    Returns
    -------
    columns : dict of str to pandas.Series
    faults : list of Fault
    """
    pairs = {name: numbers(table[name], name) for name in names}
    return {name: values for name, (values, _) in pairs.items()}, [x for _, faults in pairs.values() for x in faults]


def _number(cell):
    if cell is None or cell is pd.NA or (isinstance(cell, str) and not cell.strip()):
        return np.nan
    # Python would read True as 1, 1_000 as 1000, bytes as their text, and digits of any script.
    if isinstance(cell, bool | np.bool_ | bytes) or "_" in str(cell) or not str(cell).isascii():
        raise ValueError
    return float(cell)


def _rewritten(text):
    text = text.strip()
    if scaled := re.fullmatch(r"(\d+\.?\d*) ?([kmgbt])", text, re.IGNORECASE):
        return f"write it out as {scaled[1]}e{POWERS[scaled[2].lower()]}"
    if re.fullmatch(r"\d{1,3}([ ,'_]\d{3})+(\.\d+)?", text):
        return f"write it without separators as {re.sub(r'[^0-9.]', '', text)}"
    if re.fullmatch(r"\d+,\d+", text):
        return f"write it with a decimal point as {text.replace(',', '.')}"
    return "write a plain number such as 2.5 or 7e9"


def as_names(table, names, optional=()):
    """Return columns of a table as text, and the faults of cells that are no names.

    A whole number that blanks have made a float has no decimal point. A blank stays, and is no fault in `optional`.

    Returns
    -------
    columns : dict of str to pandas.Series
    faults : list of Fault
    """
    faults = [fault for name in names for fault in _nameless(table[name], name in optional)]
    text = {name: table[name].astype(object).map(_name, na_action="ignore").astype(object) for name in names}
    return text, faults


def _nameless(cells, optional):
    for row, cell in cells.items():
        if isinstance(cell, bytes):
            problem = f"found {quoted(cell)}, bytes where a name should be"
            yield Fault(row, cells.name, problem, "store the column as text")
        elif blank(cell) and not optional:
            yield Fault(row, cells.name, "found nothing (a blank)", "fill it in or delete the row")


def _name(cell):
    whole = isinstance(cell, float | np.floating) and np.isfinite(cell) and cell == np.floor(cell)
    return str(int(cell)) if whole else str(cell)


def others_than(choices, cells, *, optional=False):
    """Return the faults of cells that are none of the choices; a blank is no fault where it is `optional`."""
    faults, mend = [], "correct it or leave it blank" if optional else "correct it or delete the row"
    for row, cell in cells[~cells.isin(choices)].items():
        if not (optional and blank(cell)):
            problem = "nothing (a blank)" if blank(cell) else f"{quoted(cell)}, which is none of {listed(choices)}"
            faults.append(Fault(row, cells.name, f"found {problem}", mend))
    return faults


def as_days(cells, *, optional=False):
    """Return days of cells, and the faults of those that are none; a blank is no fault where days are `optional`."""
    dates = cells.map(_date, na_action="ignore" if optional else None)
    faults = [
        Fault(row, cells.name, f"found {quoted(cells[row])}, {problem}", "write it as 2019-02-14")
        for row, problem in dates.items()
        if isinstance(problem, str)
    ]
    days = [pd.NaT if isinstance(date, str) else date for date in dates]
    return pd.Series(days, index=cells.index).astype("datetime64[ns]"), faults


def _date(cell):
    """Return the day of a cell, or what is wrong with it."""
    text = str(cell)
    try:
        date = pd.to_datetime(text, format="ISO8601") if text.isascii() else pd.NaT
    except (ValueError, OverflowError):
        date = pd.NaT
    if date is pd.NaT:
        return "which is no date"
    if date.tzinfo is not None:
        return "which has a time zone"
    return date if FIRST_YEAR <= date.year <= LAST_YEAR else f"which is not of {FIRST_YEAR} to {LAST_YEAR}"


def fractional_years(dates):
    """Return years of a Series of dates, with the days of each as their fraction.

    Examples
    --------
    >>> float(fractional_years(pd.Series(pd.to_datetime(["2019-01-01"]))).iloc[0])
    2019.0
    """
    return dates.dt.year + (dates.dt.day_of_year - 1) / DAYS
