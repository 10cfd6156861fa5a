"""The fingerprint of a table."""

import hashlib

import numpy as np
import pandas as pd


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
