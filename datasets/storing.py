"""The table of a fit as an xarray Dataset that a netCDF file can hold, and back; the fingerprint of a table."""

import hashlib
import io
import json

import numpy as np
import pandas as pd

from ..errors import InputError
from .deferred import xr
from .printed import PrintedTable
from .wording import listed, quoted

COLUMNS, OTHERS, BYTE = "columns", "other_columns", "byte"
JSON = " json"  # ends the names of columns of objects, each cell of which is stored as JSON


def to_dataset(frame, dimension):
    """Store a checked table along a dimension, without its index and attributes: a Dataset.

    It has a variable for each column of numbers or truth values. ``other_columns`` has the other columns as the bytes
    of an Arrow file (Feather), and the attribute ``columns`` the names of all in their order. A cell that a file cannot
    hold, such as a set, is refused by its column and row.
    """
    variables, others = {}, {}
    for position, column in enumerate(frame.columns):
        cells = frame.iloc[:, position]
        if isinstance(cells.dtype, np.dtype) and cells.dtype.kind in "biuf" and _can_be_a_name(column, dimension):
            variables[column] = (dimension, cells.to_numpy())
        else:
            of_objects = isinstance(cells.dtype, np.dtype) and cells.dtype.kind in "Oc"  # Arrow has no complex numbers
            others[f"{position}{JSON * of_objects}"] = _as_json(cells, column) if of_objects else cells.array
    if others:
        content = io.BytesIO()
        try:
            pd.DataFrame(others).to_feather(content, compression="zstd")
        except (NotImplementedError, TypeError, ValueError) as error:  # such as a sparse column
            places = listed(frame.columns[int(name.removesuffix(JSON))] for name in others)
            raise InputError(
                f"one of the columns {places} has a type that a file cannot hold ({error}); make it numbers or text"
            ) from error
        variables[OTHERS] = (BYTE, np.frombuffer(content.getvalue(), "uint8"))
    names = [_json(name, "the name of a column") for name in frame.columns]
    return xr.Dataset(variables, {dimension: np.arange(len(frame))}, {COLUMNS: f"[{', '.join(names)}]"})


def from_dataset(dataset):
    """Return the table that `to_dataset` stored, a DataFrame.

    Its columns have their order, names and types, and its index begins at 0. Missing cells of columns of any objects
    are None.
    """
    if COLUMNS not in dataset.attrs:
        raise InputError(f"the data set holds no table; its variables are {list(dataset)}")
    others = pd.read_feather(io.BytesIO(dataset[OTHERS].values.tobytes())) if OTHERS in dataset else {}
    columns = {}
    for position, name in enumerate(json.loads(dataset.attrs[COLUMNS])):
        if (text := f"{position}{JSON}") in others:
            cells = [json.loads(cell) if isinstance(cell, str) else None for cell in others[text]]
            columns[name] = pd.Series(cells, dtype=object)
        else:
            columns[name] = others[str(position)] if str(position) in others else dataset[name].values
    return PrintedTable(columns)


def _can_be_a_name(column, dimension):
    """Return whether a variable of a netCDF file can have the name of a column."""
    usable = isinstance(column, str) and column.isidentifier() and not column.startswith("_")
    return usable and column not in (dimension, OTHERS, BYTE)


def _as_json(cells, column):
    """Return objects as JSON text, missing ones as None."""
    place = f"column {quoted(column)}, row"
    texts = []
    for row, cell in enumerate(cells):
        missing = pd.api.types.is_scalar(cell) and pd.isna(cell)
        texts.append(None if missing else _json(cell, f"{place} {row} (counting from 0)"))
    return pd.array(texts, dtype="string")


def _json(value, place):
    """Return JSON from which the same value is read."""
    value = value.item() if isinstance(value, np.generic) else value
    try:
        text = json.dumps(value)
    except TypeError:
        text = "null"
    restored = json.loads(text)
    if type(restored) is not type(value) or restored != value:
        raise InputError(
            f"{place}: {quoted(value)} is a {type(value).__name__}, which a file cannot hold; turn the column into "
            "numbers or text, or leave it out"
        )
    return text


def sha256(frame):
    """Compute the SHA-256 of a table's contents, 64 hexadecimal digits.

    It depends on the names of the columns, on the values and on the order of the rows. It also depends on whether a
    column holds truth values, whole numbers, other numbers or anything else. It does not depend on the index, the
    attributes, the order of the columns, the width of a number's type or the version of pandas. All missing values are
    alike.
    """
    digest = hashlib.sha256(f"{len(frame)} rows".encode())
    for position in sorted(range(frame.shape[1]), key=lambda position: str(frame.columns[position])):
        for part in (str(frame.columns[position]).encode(), *_contents(frame.iloc[:, position])):
            digest.update(len(part).to_bytes(8, "little") + part)
    return digest.hexdigest()


def _contents(column):
    types = pd.api.types
    if types.is_bool_dtype(column) and not column.hasnans:
        return b"bool", column.to_numpy("uint8").tobytes()
    if types.is_integer_dtype(column) and not column.hasnans:
        return b"int", column.to_numpy("<i8").tobytes()
    if types.is_any_real_numeric_dtype(column) and not types.is_bool_dtype(column):
        values = column.to_numpy("<f8", na_value=np.nan)
        # Adding 0 turns -0.0 into 0.0, and every NaN gets the same bit pattern.
        return b"float", np.where(np.isnan(values), np.nan, values + 0.0).tobytes()
    return b"other", *(_encoded(value) for value in column.astype(object))


def _encoded(value):
    if hasattr(value, "isoformat") and not pd.isna(value):
        return b"date " + value.isoformat().encode()
    if pd.api.types.is_scalar(value) and pd.isna(value):
        return b"missing"
    if isinstance(value, str):
        return b"text " + value.encode("utf-8", "surrogatepass")
    value = value.item() if isinstance(value, np.generic) else value
    return f"{type(value).__name__} {value!r}".encode()
