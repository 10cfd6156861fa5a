"""Files of any supported format, opened as a frame whose index tells where each row stands."""

import glob
import gzip
import io
import lzma
import os
import zlib
from pathlib import Path

import numpy as np
import pandas as pd

from ...errors import InputError
from ..columns import recognise
from ..seal import check_netcdf
from ..wording import listed, printable, quoted, shortened, suggestion
from .faults import place
from .separated import comma_separated, json_lines, refuse_duplicates, refuse_empty, tab_separated


def open_table(source, *, text=()):
    """Open a table as it stands.

    Parameters
    ----------
    source : path or pandas.DataFrame
        A .csv, .tsv, .jsonl, .parquet or .nc file, packed (.gz, .xz, .zst) or not, a pattern such as ``runs-*.csv``
        that matches several, or a frame.
    text : collection of str
        Columns of a text file that stay text as it is written, such as names, be they numbers or not.

    Returns
    -------
    frame : pandas.DataFrame
        The columns untouched. The index is named ``line`` and counts from the header of a text file, which is line 1,
        or is named ``row`` and counts from 0, or is named ``place`` and holds file and line. ``attrs["said"]`` lists
        what is to be told about the way it was read, if anything.
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
        label = name = source.attrs.get("source", "the table")
        frame = _numbered(source.reset_index(drop=True))
    elif isinstance(source, str | os.PathLike):
        path = Path(os.path.expanduser(source))
        label, name = printable(path.name or path), path.name
        pattern = glob.has_magic(str(path)) and "\0" not in str(path) and not os.path.exists(path)
        frame = _of_pattern(path, label, text) if pattern else _opened(path, label, text)
    else:
        raise InputError(f"a table is a DataFrame or the path of a file, not {type(source).__name__}")
    if frame.columns.nlevels > 1:
        raise InputError(f"{label}: the columns have {frame.columns.nlevels} levels of names; give each a single name")
    refuse_duplicates(list(frame.columns), label)
    if frame.empty:
        raise InputError(f"{label}: the table has no rows; its columns are {listed(frame.columns)}")
    return frame, label, name


def _of_pattern(pattern, label, text):
    """Rows of every file that a pattern matches, one after the other, with a column that names the file."""
    paths = [Path(path) for path in sorted(glob.glob(str(pattern), recursive=True)) if os.path.isfile(path)]
    if not paths:
        raise InputError(f"{label}: no file matches this pattern; check it, and put quotes around it")
    # Files of one name, in several folders, are told apart by their paths.
    short = [path.name for path in paths]
    names = short if len(set(short)) == len(short) else [str(path) for path in paths]
    frames, said = [], []
    for path, name in zip(paths, map(printable, names), strict=True):
        frame = _opened(path, name, text)
        refuse_duplicates(list(frame.columns), name)
        said += [f"{name}: {sentence}" for sentence in frame.attrs.get("said", [])]
        frame.attrs = {}
        column = "file"
        while column in frame:
            column += "_"
        places = [f"{name}, {place(frame, row)}" for row in frame.index]
        frames.append(frame.assign(**{column: name}).set_axis(pd.Index(places, name="place", dtype=object)))
    table = pd.concat([frame for frame in frames if len(frame)] or frames[:1])
    table.attrs["said"] = [f"{len(paths)} files are read as one table, with the column {quoted(column)}", *said]
    return table


def _opened(path, label, text):
    packed = path.suffix.lower() if path.suffix.lower() in UNPACKERS else ""
    suffix = Path(path.stem).suffix.lower() if packed else path.suffix.lower()
    if os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path):
        raise InputError(f"{label}: this is a device or a pipe; save the table as a file")
    if os.path.isfile(path) and suffix not in READERS:
        known = f"{listed(READERS)}, or one of these with {listed(UNPACKERS)}"
        raise InputError(f"{label}: {quoted(suffix + packed)} files are not read; save the table as one of {known}")
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
    refuse_empty(data, label)
    if packed:
        data = _unpacked(data, packed, label)
        refuse_empty(data, label)
    return READERS[suffix](data, label, text)


def _unpacked(data, packed, label):
    try:
        with UNPACKERS[packed](data) as stream:
            found = stream.read(MOST_UNPACKED + 1)
    except (OSError, EOFError, ValueError, lzma.LZMAError, zlib.error) as error:
        raise InputError(f"{label}: not a {packed} file that can be read ({_reason(error)}); pack it again") from error
    if len(found) > MOST_UNPACKED:
        raise InputError(
            f"{label}: more than {MOST_UNPACKED >> 30} GiB when unpacked; unpack it to read it all the same"
        )
    return found


def _zstd(data):
    import pyarrow

    return pyarrow.CompressedInputStream(pyarrow.BufferReader(data), "zstd")


def _numbered(frame):
    return frame.rename_axis(index="row")


def _parquet(data, label, _):
    try:
        frame = pd.read_parquet(io.BytesIO(data))
        for name in frame:
            frame[name].to_numpy()  # which tells of text that is not UTF-8
    # What a damaged file raises depends on where the damage lies, and the libraries beneath promise nothing.
    except Exception as error:
        raise InputError(f"{label}: not a Parquet file that can be read ({_reason(error)}); write it again") from error
    named = any(name is not None for name in frame.index.names)
    return _numbered(frame.reset_index(drop=not named, allow_duplicates=True))


def _netcdf(data, label, _):
    import xarray

    check_netcdf(data, label)
    try:
        options = {"engine": "h5netcdf", "phony_dims": "access", "decode_timedelta": False}
        with xarray.open_datatree(io.BytesIO(data), **options) as tree:
            variables = [
                (name, variable.dims[0], variable.to_numpy())
                for node in tree.subtree
                for name, variable in node.to_dataset(inherit=False).variables.items()
                if variable.ndim == 1 and variable.dtype.kind != "V"
            ]
    except Exception as error:
        raise InputError(f"{label}: not a netCDF file that can be read ({_reason(error)}); write it again") from error
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
    refuse_duplicates([name for name, _ in columns], label)
    labels = {
        name: values
        for name, along, values in variables
        if name == along == dimension and len(values) == size and not np.array_equal(values, np.arange(size))
    }
    return _numbered(pd.DataFrame(labels | dict(columns)))


def _reason(error):
    return shortened((str(error).splitlines() or [type(error).__name__])[0])


MOST_UNPACKED = 2**30  # bytes: a small packed file can claim any amount of memory
READERS = {
    ".csv": comma_separated,
    ".tsv": tab_separated,
    ".jsonl": json_lines,
    ".parquet": _parquet,
    ".nc": _netcdf,
}
UNPACKERS = {
    ".gz": lambda data: gzip.GzipFile(fileobj=io.BytesIO(data)),
    ".xz": lambda data: lzma.LZMAFile(io.BytesIO(data)),  # noqa: SIM115
    ".zst": _zstd,
}
