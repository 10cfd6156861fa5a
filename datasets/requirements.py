"""Checks that a table has the columns that a purpose needs."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from ..errors import InputError
from .fixes import choice
from .meaning.names import in_expression, means
from .wording import listed, quoted, source_of, suggestion

A_BATCH = 2**14  # a larger one is of tokens


def require(frame, columns, *, purpose):
    """Refuse a table that lacks one of the columns that a purpose needs, such as ``"the embedding-weighted law"``.

    Examples
    --------
    >>> require(pd.DataFrame({"loss": [2.0]}), "loss", purpose="a fit")
    """
    columns = [columns] if isinstance(columns, str) else columns
    missing = [column for column in columns if column not in frame]
    if missing:
        named = choice(missing[0], _propose(frame, missing[0]))
        raise InputError(
            f"{frame.attrs.get('source', 'the table')}: {purpose} needs {listed(missing)}; the columns are "
            f"{listed(frame.columns)}; read the table with {named} if another name holds it"
        )


def _propose(frame, name):
    """Return the column that may hold what is missing, of a batch in tokens or in sequences; NAME where none may."""
    if name != "batch_tokens":
        return "NAME"
    numbers = frame.select_dtypes("number")
    batch = next((x for x in numbers if means(x, "batch", "batch of tokens")), None)
    length = next((x for x in numbers if means(x, "length")), "1024")
    if batch is None or numbers[batch].median() > A_BATCH:
        return batch or "NAME"
    return f"{in_expression(batch)}*{in_expression(length) if length in numbers else length}"


def rows_of(rows, columns, known, purpose):
    """Return rows that are given as a frame, as a mapping of columns, or as columns by name, of one row or several.

    Examples
    --------
    >>> rows_of(None, {"parameters": 7e9, "tokens": [1e11, 2e11]}, ["parameters", "tokens"], "a prediction").shape
    (2, 2)
    """
    given = columns if rows is None else rows
    if strange := next((name for name in columns if name not in known or rows is not None), None):
        hint = suggestion(strange, known) or f"; write one of {listed(known)}, or give all of them in one table"
        raise InputError(f"{purpose}: {quoted(strange)} is no column of the fit{hint}")
    if isinstance(given, pd.DataFrame):
        return given
    if not isinstance(given, Mapping) or not given:
        raise InputError(f"{purpose} needs rows, as a DataFrame or columns by name, such as parameters=7e9")
    arrays = {name: np.atleast_1d(x) for name, x in given.items()}
    if len({len(x) for x in arrays.values()} - {1}) > 1:
        raise InputError(f"{purpose}: {listed(arrays)} have different numbers of rows; give them equal ones")
    length = max(map(len, arrays.values()))
    return pd.DataFrame({name: np.resize(x, length) for name, x in arrays.items()})


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
            place, row = source_of(runs), runs.index[bad][0]
            raise InputError(
                f"{place}: column {name!r} is {runs[name][bad].iloc[0]} in row {row}, which is not a positive number; "
                "correct it or delete the row"
            )
    return columns
