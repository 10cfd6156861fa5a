"""Files of any supported format, opened as a frame whose index gives the place of each row in its file."""

import bz2
import glob
import gzip
import io
import lzma
import os
import zipfile
import zlib
from pathlib import Path

import numpy as np
import pandas as pd

from ..errors import InputError
from .checks import place
from .columns import recognise
from .json_tables import read_json, read_json_lines
from .panels import join_metrics
from .text import read_markdown, read_plain, read_separated, refuse_duplicates, refuse_empty
from .wording import listed, printable, quoted, reason, source_of, suggestion

SHOWN = 5  # different sentences about files of a pattern


def open_table(source, *, text=(), form=None, readers=None):
    """Return the unchanged table of a file, of a pattern of files or of a frame, its label in messages and its name.

    `text` has the columns of a text file that stay text, and `form` gives each frame another form, such as a panel with
    a row for each reading. `readers` has those of a kind by the suffix of a file. A folder is read by a pattern.
    The index is called ``line`` (from 1), ``row`` (from 0) or ``place`` (file and line), and
    ``attrs["sentences"]`` lists what to report about the way it was read. A table that cannot be read is refused.
    """
    if isinstance(source, pd.DataFrame):
        label = name = source_of(source)
        kept = [name for name in source.index.names if name not in (None, "line", "row", "place", *source.columns)]
        frame = source.reset_index(kept).reset_index(drop=True).rename_axis(index="row")
        if form is not None and frame.columns.nlevels == 1:
            refuse_duplicates(list(frame.columns), label)
            frame = form(frame, label)
    elif isinstance(source, str | os.PathLike):
        path = Path(os.path.expanduser(source))
        name = path.name
        readers = READERS | (readers or {})
        if os.path.isdir(path) and (files := _find_files(path, readers)):
            path, name = files, f"{name}/{files.relative_to(path)}"
        label = printable(name or path)
        pattern = glob.has_magic(str(path)) and "\0" not in str(path) and not os.path.exists(path)
        frame = (_open_pattern if pattern else _open_formed)(path, label, text, form, readers)
    else:
        raise InputError(f"a table is a DataFrame or the path of a file, not {type(source).__name__}")
    if frame.columns.nlevels > 1:
        raise InputError(f"{label}: the columns have {frame.columns.nlevels} levels of names; give each a single name")
    refuse_duplicates(list(frame.columns), label)
    if frame.empty:
        raise InputError(f"{label}: the table has no rows; its columns are {listed(frame.columns)}")
    return frame, label, name


def _open_formed(path, label, text, form, readers):
    frame = _open_file(path, label, text, readers)
    refuse_duplicates(list(frame.columns), label)
    return frame if form is None else form(frame, label)


def _open_pattern(pattern, label, text, form, readers):
    """Read every file that a pattern matches as one table, with a column that names the file."""
    paths = [Path(path) for path in sorted(glob.glob(str(pattern), recursive=True)) if os.path.isfile(path)]
    if not paths:
        raise InputError(f"{label}: no file matches this pattern; check it, and put quotes around it")
    # Files of the same name, in several folders, are named by their paths.
    short = [path.name for path in paths]
    names = [printable(name) for name in (short if len(set(short)) == len(short) else paths)]
    opened = [_open_formed(path, name, text, form, readers) for path, name in zip(paths, names, strict=True)]
    table, sentence = join_metrics(opened, paths, label)
    if table is not None:
        table.attrs["sentences"] = [sentence]
        return table
    column, remarks = "file", {}
    while any(column in frame for frame in opened):
        column += "_"
    for number, (frame, name) in enumerate(zip(opened, names, strict=True)):
        for sentence in frame.attrs.pop("sentences", []):
            remarks.setdefault(sentence, []).append(name)
        places = [f"{name}, {place(frame, row)}" for row in frame.index]
        opened[number] = frame.assign(**{column: name}).set_axis(pd.Index(places, name="place", dtype=object))
    table = pd.concat([frame for frame in opened if len(frame)] or opened[:1])
    table.attrs["sentences"] = [
        f"{len(paths)} files are read as one table, with the column {quoted(column)}",
        *(f"{files[0] if len(files) == 1 else f'in {len(files)} files'}: {sentence}"
          for sentence, files in list(remarks.items())[:SHOWN]),
        *([f"and {len(remarks) - SHOWN} more remarks on single files"] if len(remarks) > SHOWN else []),
    ]  # fmt: skip
    return table


def _open_file(path, label, text, readers):
    packed = path.suffix.lower() if path.suffix.lower() in UNPACKERS else ""
    suffix = Path(path.stem).suffix.lower() if packed else path.suffix.lower()
    if os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path):
        raise InputError(f"{label}: this is a device or a pipe; save the table as a file")
    if os.path.isfile(path) and suffix not in readers:
        formats = f"{listed(filter(None, readers))}, or one of these with {listed(UNPACKERS)}"
        raise InputError(f"{label}: {quoted(suffix + packed)} files are not read; save the table as one of {formats}")
    try:
        data = path.read_bytes()
    except FileNotFoundError as error:
        near = suggestion(path.name, os.listdir(path.parent)) if path.parent.is_dir() else ""
        folder = printable(path.parent)
        raise InputError(f"{label}: there is no such file in the folder {folder}; check the path{near}") from error
    except IsADirectoryError as error:
        raise InputError(f"{label}: this is a folder without a table; give the path of a file") from error
    except (OSError, ValueError) as error:
        raise InputError(f"{label}: the file cannot be opened ({reason(error)}); check its path") from error
    refuse_empty(data, label)
    packed = packed or next((name for name, (_, mark) in UNPACKERS.items() if data.startswith(mark)), "")
    if packed:
        data = _unpack(data, packed, label)
        refuse_empty(data, label)
    return readers[suffix](data, label, text)


def _find_files(folder, readers):
    """Return a pattern of files in a folder, or one level below, that can be read; None where there are none."""
    patterns = (f"{depth}{suffix}" for depth in ("*", "*/*") for suffix in readers if suffix)
    return next((folder / pattern for pattern in patterns if any(folder.glob(pattern))), None)


def _unpack(data, packed, label):
    try:
        with UNPACKERS[packed][0](io.BytesIO(data)) as stream:
            content = stream.read(MOST_UNPACKED + 1)
    except UNPACKING as error:
        raise InputError(f"{label}: not a {packed} file that can be read ({reason(error)}); pack it again") from error
    if len(content) > MOST_UNPACKED:
        raise InputError(
            f"{label}: more than {MOST_UNPACKED >> 30} GiB when unpacked; unpack it to read it all the same"
        )
    return content


def _open_only_file(file):
    """Return the only file of a zip file, opened."""
    archive = zipfile.ZipFile(file)
    names = [name for name in archive.namelist() if not name.endswith("/") and not name.startswith("__MACOSX")]
    if len(names) != 1:
        raise ValueError(f"{len(names)} files in it; unpack it")
    return archive.open(names[0])


def _open_zstd(file):
    import pyarrow

    return pyarrow.CompressedInputStream(file, "zstd")


# Tables in binary files -----------------------------------------------------------------------------------------------


def read_parquet(data, label, _=()):
    """Read a Parquet file; an index with a name becomes a column."""
    try:
        frame = pd.read_parquet(io.BytesIO(data))
        for name in frame:
            frame[name].to_numpy()  # raises where text is not UTF-8
    # What a damaged file raises depends on where the damage lies, and the libraries document no set of exceptions.
    except Exception as error:
        raise InputError(f"{label}: not a Parquet file that can be read ({reason(error)}); write it again") from error
    named = any(name is not None for name in frame.index.names)
    return frame.reset_index(drop=not named, allow_duplicates=True).rename_axis(index="row")


def read_netcdf(data, label, _=()):
    """Read the one-dimensional variables of a netCDF file."""
    import xarray

    try:
        options = {"engine": "h5netcdf", "phony_dims": "access", "decode_timedelta": False}
        with xarray.open_datatree(io.BytesIO(data), **options) as tree:
            variables = [
                (name, variable.dims[0], variable.to_numpy())
                for node in tree.subtree
                for name, variable in node.to_dataset(inherit=False).variables.items()
                if variable.ndim == 1 and variable.dtype.kind != "V"
            ]
    # What HDF5 raises depends on which bytes are damaged.
    except Exception as error:
        raise InputError(f"{label}: not a netCDF file that can be read ({reason(error)}); write it again") from error
    return _make_table(variables, label)


def _make_table(variables, label):
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
        raise InputError(f"{label}: there are tables along {listed(dimensions)}; leave only one in the file")
    ((dimension, size), columns) = tables.popitem()
    refuse_duplicates([name for name, _ in columns], label)
    labels = {
        name: values
        for name, along, values in variables
        if name == along == dimension and len(values) == size and not np.array_equal(values, np.arange(size))
    }
    return pd.DataFrame(labels | dict(columns)).rename_axis(index="row")


UNPACKING = (OSError, EOFError, ValueError, RuntimeError, lzma.LZMAError, zlib.error, zipfile.BadZipFile)
MOST_UNPACKED = 2**30  # bytes: a small packed file can claim any amount of memory
READERS = {
    ".csv": read_separated,
    ".tsv": read_separated,
    ".txt": read_plain,
    ".dat": read_plain,
    ".log": read_plain,
    "": read_plain,
    ".md": read_markdown,
    ".json": read_json,
    ".jsonl": read_json_lines,
    ".ndjson": read_json_lines,
    ".parquet": read_parquet,
    ".nc": read_netcdf,
}
# What opens a packed file, by its suffix, and how such a file begins.
UNPACKERS = {
    ".gz": (gzip.open, b"\x1f\x8b"),
    ".bz2": (bz2.open, b"BZh"),
    ".zip": (_open_only_file, b"PK\x03\x04"),
    ".xz": (lzma.open, b"\xfd7zXZ"),
    ".zst": (_open_zstd, b"\x28\xb5\x2f\xfd"),
}
