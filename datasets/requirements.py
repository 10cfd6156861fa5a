"""Checks that a table has the columns that a purpose needs."""

import numpy as np
import pandas as pd

from ..errors import InputError
from .fixes import choice
from .wording import listed

SUCH = {"batch_tokens": "batch_size*context"}  # what columns are computed from where trainers do not log them


def require(frame, columns, *, purpose):
    """Refuse a table that lacks one of the columns that a purpose needs, such as ``"the embedding-weighted law"``.

    Examples
    --------
    >>> require(pd.DataFrame({"loss": [2.0]}), "loss", purpose="a fit")
    """
    columns = [columns] if isinstance(columns, str) else columns
    missing = [column for column in columns if column not in frame]
    if missing:
        such = SUCH.get(missing[0], "")
        named = choice(missing[0], such if such and {*such.split("*")} <= {*frame} else "NAME")
        raise InputError(
            f"{frame.attrs.get('source', 'the table')}: {purpose} needs {listed(missing)}; the columns are "
            f"{listed(frame.columns)}; read the table with {named} if another name holds it"
        )


def filled(frame, column, *, purpose):
    """Refuse a column in which a row is empty, if a purpose needs it in every row.

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
    """Return columns of finite positive numbers as floats by name, each (row,), refusing any other; see `require`.

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
