"""Checks that a table has the columns that a purpose needs."""

import numpy as np
import pandas as pd

from ..errors import InputError
from .fixes import choice
from .wording import listed

SUCH = {"batch_tokens": "batch_size*context"}  # what columns are computed from where trainers do not log them


def require(frame, columns, *, purpose):
    """Check that a table has the columns that a purpose needs.

    Parameters
    ----------
    frame : pandas.DataFrame
        A table, as `read` or `load` returns it.
    columns : str or sequence of str
        Names of the columns needed.
    purpose : str
        What they are needed for, such as ``"the embedding-weighted law"``, for the message.

    Raises
    ------
    InputError
        If a column is missing, naming every missing one, the columns of the table and the fix.

    Examples
    --------
    >>> require(pd.DataFrame({"loss": [2.0]}), "loss", purpose="a fit")
    """
    columns = [columns] if isinstance(columns, str) else columns
    missing = [column for column in columns if column not in frame]
    if missing:
        named = choice(missing[0], SUCH.get(missing[0], "NAME"))
        raise InputError(
            f"{frame.attrs.get('source', 'the table')}: {purpose} needs {listed(missing)}; the columns are "
            f"{listed(frame.columns)}; read the table with {named} if another name holds it"
        )


def filled(frame, column, *, purpose):
    """Check that a column names something in every row.

    Parameters
    ----------
    frame : pandas.DataFrame
        A table that has the column.
    column : str
    purpose : str
        What it is needed for, for the message.

    Raises
    ------
    InputError
        If a value is missing, naming its row.

    Examples
    --------
    >>> filled(pd.DataFrame({"run": ["a", "b"]}), "run", purpose="run_effects")
    """
    missing = frame[column].isna().to_numpy()
    if missing.any():
        raise InputError(
            f"{frame.attrs.get('source', 'the table')}: column {column!r} is empty in row {frame.index[missing][0]}, "
            f"but {purpose} needs it in every row; fill it in or delete the row"
        )


def positive_columns(runs, names, *, purpose):
    """Return columns of finite positive numbers.

    Parameters
    ----------
    runs : pandas.DataFrame
        A table, as `read` or `load` returns it, or one that has since been changed.
    names : sequence of str
        Columns to take.
    purpose : str
        What they are needed for, for the message.

    Returns
    -------
    dict of str to ndarray
        Each column as floats, shape (row,), in the order of `names`.

    Raises
    ------
    InputError
        If a column is missing or holds anything but finite positive numbers.

    Examples
    --------
    >>> runs = pd.DataFrame({"loss": [2, 3]})
    >>> positive_columns(runs, ["loss"], purpose="a fit")["loss"]
    array([2., 3.])
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
