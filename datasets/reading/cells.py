"""Cells of a column as numbers."""

import re

import numpy as np
import pandas as pd

from ..wording import quoted
from .faults import Fault

POWERS = {"k": 3, "m": 6, "g": 9, "b": 9, "t": 12}


def numbers(cells, column):
    """Cells of a column as float64, blanks as NaN.

    Parameters
    ----------
    cells : pandas.Series
    column : object
        Name that the table's owner gave the column.

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
    """Columns of a table as `numbers` gives them.

    Returns
    -------
    read : dict of str to pandas.Series
    faults : list of Fault
        Of all of them.
    """
    read = {name: numbers(table[name], name) for name in names}
    return {name: values for name, (values, _) in read.items()}, [f for _, faults in read.values() for f in faults]


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
