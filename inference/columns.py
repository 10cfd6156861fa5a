"""Columns of a table of runs as arrays, checked."""

import numpy as np
import pandas as pd

from ..errors import InputError


def positive_columns(runs, names):
    """Columns of finite positive numbers.

    Parameters
    ----------
    runs : DataFrame
        One row a run.
    names : sequence of str
        Columns to take.

    Returns
    -------
    dict of str to ndarray
        Each column as floats, in the order of `names`.

    Raises
    ------
    InputError
        If a column is missing or holds anything but finite positive numbers.
    """
    place = runs.attrs.get("source", "the table")
    missing = [name for name in names if name not in runs.columns]
    if missing:
        raise InputError(f"{place}: no column {missing[0]!r}; the fit needs {', '.join(names)}")
    columns = {name: pd.to_numeric(runs[name], errors="coerce").to_numpy(dtype=float) for name in names}
    for name, values in columns.items():
        bad = ~(np.isfinite(values) & (values > 0))
        if bad.any():
            row = runs.index[bad][0]
            raise InputError(
                f"{place}: column {name!r} is {runs[name][bad].iloc[0]!r} in row {row}; give a positive number or leave the row out"
            )
    return columns
