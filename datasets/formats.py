"""Files of any supported format, opened as a frame whose index tells where each row stands."""

import csv
import io
import os
import re
from pathlib import Path

import numpy as np
import pandas as pd

from ..errors import InputError
from .columns import recognise
from .seal import check_seal
from .wording import listed, printable, quoted, shortened, suggestion

MISSING = {"", "na", "n/a", "nan", "null", "none"}
BOOLEANS = {"true": True, "false": False}


def open_table(source, *, text=()):
    """Open a table as it stands.

    Parameters
    ----------
    source : path or pandas.DataFrame
        A .csv, .tsv, .parquet or .nc file, or a frame.
    text : collection of str
        Columns of a text file that stay text as it is written, such as names, be they numbers or not.

    Returns
    -------
    frame : pandas.DataFrame
        The columns untouched. The index is named ``line`` and counts from the header of a text file, which is line 1,
        or is named ``row`` and counts from 0.
    label : str
        Name of the table in messages.
    name : str
        Name of the file, or what a frame says of itself in ``attrs["source"]``.

    Raises
    ------
    InputError
        If there is no such file, if it cannot be read as a table, or if it has no rows.
    """
    if isinstance(source, pd.DataFrame):
        label, name = "the table", source.attrs.get("source", "the table")
        frame = _numbered(source.reset_index(drop=True))
    elif isinstance(source, str | os.PathLike):
        path = Path(source).expanduser()
        label, name = printable(path.name), path.name
        frame = _opened(path, label, text)
    else:
        raise InputError(f"a table is a DataFrame or the path of a file, not {type(source).__name__}")
    if frame.columns.nlevels > 1:
        raise InputError(f"{label}: the columns have {frame.columns.nlevels} levels of names; give each a single name")
    _refuse_duplicates(list(frame.columns), label)
    if frame.empty:
        raise InputError(f"{label}: the table has no rows; its columns are {listed(frame.columns)}")
    return frame, label, name


def place(frame, row):
    """Say where the row with index `row` stands."""
    return f"line {row}" if frame.index.name == "line" else f"row {row} (counting from 0)"


def _opened(path, label, text):
    suffix = path.suffix.lower()
    if os.path.isfile(path) and suffix not in READERS:
        raise InputError(f"{label}: {quoted(suffix)} files are not read; save the table as one of {listed(READERS)}")
    try:
        data = path.read_bytes()
    except FileNotFoundError as error:
        near = suggestion(path.name, os.listdir(path.parent)) if path.parent.is_dir() else ""
        folder = printable(path.parent)
        raise InputError(f"{label}: there is no such file in the folder {folder}; check the path{near}") from error
    except IsADirectoryError as error:
        raise InputError(f"{label}: this is a folder; give the path of a file in it") from error
    except (OSError, ValueError) as error:
        raise InputError(f"{label}: the file cannot be opened ({_reason(error)}); check its path") from error
    _refuse_empty(data, label)
    return READERS[suffix](data, label, text)


def _numbered(frame):
    return frame.rename_axis(index="row")


def _refuse_empty(content, label):
    if not content.strip():
        raise InputError(f"{label}: the file is empty; it needs a header and a line for each run")


def _refuse_duplicates(names, label):
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"{label}: {names.count(name)} columns are called {quoted(name)}; rename or delete one")


def _comma_separated(data, label, text):
    whole = _decoded(data, label)
    header = re.split(r"[\r\n]", whole, maxsplit=1)[0]
    return _delimited(whole, max(",;\t", key=header.count), label, text)


def _tab_separated(data, label, text):
    return _delimited(_decoded(data, label), "\t", label, text)


def _decoded(data, label):
    bad = data.find(b"\0")
    if bad < 0:
        try:
            return data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            bad = error.start
    line = data.count(b"\n", 0, bad) + 1
    raise InputError(f"{label}, line {line}: byte 0x{data[bad]:02x} is not UTF-8 text; save the table as UTF-8")


def _delimited(whole, delimiter, label, text):
    _refuse_empty(whole, label)
    header, *records = _records(whole, delimiter, label)
    header = [name.strip() for name in header]
    if not any(header):
        raise InputError(f"{label}, line 1: found a blank line; put the header there")
    _refuse_duplicates([name for name in header if name], label)
    records = {line: cells for line, cells in enumerate(records, 2) if any(cell.strip() for cell in cells)}
    for line, cells in records.items():
        if len(cells) != len(header):
            raise InputError(
                f"{label}, line {line}: found {len(cells)} fields where the header has {len(header)}; give each column "
                "one field, and put quotes around a field that holds the separator"
            )
    names = [name or f"Unnamed: {position}" for position, name in enumerate(header)]
    cells = zip(*records.values(), strict=True) if records else [()] * len(names)
    typed = {name: (_texts if name in text else _typed)(column) for name, column in zip(names, cells, strict=True)}
    return pd.DataFrame(typed, index=pd.Index(list(records), name="line", dtype="int64"))


def _records(text, delimiter, label):
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        return list(reader)
    except csv.Error as error:
        raise InputError(
            f"{label}, line {reader.line_num}: not a table of separated values ({error}); check the quotes"
        ) from error


# Not pandas.read_csv: its floats can differ in the last digit between versions, and these go into the SHA-256.
def _typed(cells):
    missing = [cell.strip().lower() in MISSING for cell in cells]
    if not any(missing) and all(cell.lower() in BOOLEANS for cell in cells):
        return np.array([BOOLEANS[cell.lower()] for cell in cells])
    # Python reads 1_000 as a number, which no table means, and digits of any script.
    if all("_" not in cell and cell.isascii() for cell in cells):
        for dtype, number in (("int64", int), ("float64", float)):
            try:
                values = [np.nan if absent else number(cell) for cell, absent in zip(cells, missing, strict=True)]
                return np.array(values, dtype="float64" if any(missing) else dtype)
            except (ValueError, OverflowError):
                continue
    return _texts(cells)


def _texts(cells):
    return [cell if cell.strip() else None for cell in cells]


def _parquet(data, label, _):
    try:
        frame = pd.read_parquet(io.BytesIO(data))
    # What a damaged file raises depends on where the damage lies, and the libraries beneath promise nothing.
    except Exception as error:
        raise InputError(f"{label}: not a Parquet file that can be read ({_reason(error)}); write it again") from error
    named = any(name is not None for name in frame.index.names)
    return _numbered(frame.reset_index(drop=not named))


def _netcdf(data, label, _):
    import xarray

    check_seal(data, label)
    try:
        with xarray.open_datatree(io.BytesIO(data), engine="h5netcdf", decode_timedelta=False) as tree:
            variables = [
                (name, variable.dims[0], variable.to_numpy())
                for node in tree.subtree
                for name, variable in node.to_dataset(inherit=False).variables.items()
                if variable.ndim == 1
            ]
    except Exception as error:
        raise InputError(f"{label}: not a netCDF-4 file that can be read ({_reason(error)}); write it again") from error
    return _one_dimension(variables, label)


def _one_dimension(variables, label):
    tables = {}
    for name, dimension, values in variables:
        if name != dimension:
            tables.setdefault((dimension, len(values)), []).append((name, values))
    if not tables:
        raise InputError(f"{label}: there are no one-dimensional variables; store each column of the table as one")
    if len(tables) > 1:
        tables = {
            key: columns
            for key, columns in tables.items()
            if any(recognise(name) in ("loss", "perplexity") for name, _ in columns)
        } or tables
    if len(tables) > 1:
        dimensions = sorted({dimension for dimension, _ in tables})
        raise InputError(f"{label}: there are tables along {listed(dimensions)}; keep one in the file")
    ((dimension, size), columns) = tables.popitem()
    _refuse_duplicates([name for name, _ in columns], label)
    labels = {
        name: values
        for name, along, values in variables
        if name == along == dimension and len(values) == size and not np.array_equal(values, np.arange(size))
    }
    return _numbered(pd.DataFrame(labels | dict(columns)))


def _reason(error):
    return shortened((str(error).splitlines() or [type(error).__name__])[0])


READERS = {
    ".csv": _comma_separated,
    ".tsv": _tab_separated,
    ".parquet": _parquet,
    ".nc": _netcdf,
}
