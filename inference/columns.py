"""Columns of a table of runs as arrays, checked."""

import numpy as np
import pandas as pd

from ..datasets import require
from ..errors import InputError


def positive_columns(runs, names, *, purpose):
    """Columns of finite positive numbers.

    Parameters
    ----------
    runs : DataFrame
        One row a run.
    names : sequence of str
        Columns to take.
    purpose : str
        What they are needed for, for the message.

    Returns
    -------
    dict of str to ndarray
        Each column as floats, in the order of `names`.

    Raises
    ------
    InputError
        If a column is missing or holds anything but finite positive numbers.
    """
    require(runs, names, purpose=purpose)
    columns = {name: pd.to_numeric(runs[name], errors="coerce").to_numpy(dtype=float) for name in names}
    for name, values in columns.items():
        bad = ~(np.isfinite(values) & (values > 0))
        if bad.any():
            place, row = runs.attrs.get("source", "the table"), runs.index[bad][0]
            raise InputError(
                f"{place}: column {name!r} is {runs[name][bad].iloc[0]} in row {row}, which is not a positive number; "
                "correct it or delete the row"
            )
    return columns
