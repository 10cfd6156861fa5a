"""Files of any supported format, opened as a frame whose index tells where each row stands."""

import csv
import glob
import gzip
import io
import json
import lzma
import os
import re
import zlib
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd

from ..errors import InputError
from .checks import SHOWN, place
from .columns import recognise
from .seal import check_netcdf
from .wording import listed, printable, quoted, shortened, suggestion

MISSING = {"", "na", "n/a", "nan", "null", "none"}
BOOLEANS = {"true": True, "false": False}
SURROGATE = re.compile("[\ud800-\udfff]")
DECIMAL_COMMA = re.compile(r"[+-]?\d+(,\d+)?([eE][+-]?\d+)?")


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
        or is named ``row`` and counts from 0, or is named ``place`` and holds file and line. ``attrs["sentences"]``
        lists what to report about the way it was read, if anything.
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
    frames, sentences = [], []
    for path, name in zip(paths, map(printable, names), strict=True):
        frame = _opened(path, name, text)
        refuse_duplicates(list(frame.columns), name)
        sentences += [f"{name}: {sentence}" for sentence in frame.attrs.get("sentences", [])]
        frame.attrs = {}
        column = "file"
        while column in frame:
            column += "_"
        places = [f"{name}, {place(frame, row)}" for row in frame.index]
        frames.append(frame.assign(**{column: name}).set_axis(pd.Index(places, name="place", dtype=object)))
    table = pd.concat([frame for frame in frames if len(frame)] or frames[:1])
    table.attrs["sentences"] = [
        f"{len(paths)} files are read as one table, with the column {quoted(column)}",
        *sentences,
    ]
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


# Text -----------------------------------------------------------------------------------------------------------------


def comma_separated(data, label, text=()):
    """Read values separated by commas, semicolons or tabs, whichever the header has most of; columns `text` as text."""
    whole = _decoded(data, label)
    header = re.split(r"[\r\n]", whole, maxsplit=1)[0]
    return _delimited(whole, max(",;\t", key=header.count), label, text)


def tab_separated(data, label, text=()):
    """Read values separated by tabs; columns `text` as text."""
    return _delimited(_decoded(data, label), "\t", label, text)


def json_lines(data, label, text=()):
    """Read one JSON object a line; what is no number, text or truth value becomes JSON text. Text is text already."""
    rows, faults = {}, []
    for line, text in enumerate(io.StringIO(_decoded(data, label), newline=None), 1):
        if not text.strip():
            continue
        try:
            found = json.loads(text, object_pairs_hook=_named_once)
            if "\\u" in text and SURROGATE.search(json.dumps(found, ensure_ascii=False)):
                raise ValueError("half of a surrogate pair, which is no text")
        except (ValueError, RecursionError) as error:
            faults.append(f"line {line}: {getattr(error, 'msg', error)}")
            continue
        if isinstance(found, dict):
            rows[line] = {name.strip(): _plain(value) for name, value in found.items()}
        else:
            faults.append(f"line {line}: found {quoted(text)}")
    _refuse_lines(faults, label, 'write one JSON object a line, such as {"N": 1e6, "D": 2e7, "loss": 4.5}')
    names = list(dict.fromkeys(name for row in rows.values() for name in row))
    columns = {name: [row.get(name) for row in rows.values()] for name in names}
    return pd.DataFrame(
        {name: pd.Series(cells, dtype=object).infer_objects().to_numpy() for name, cells in columns.items()},
        index=pd.Index(list(rows), name="line", dtype="int64"),
    )


def _named_once(pairs):
    for name, times in Counter(name.strip() for name, _ in pairs).items():
        if times > 1:
            raise ValueError(f"{times} values of {quoted(name)}")
    return dict(pairs)


def _plain(value):
    return json.dumps(value) if isinstance(value, dict | list) else value


def refuse_empty(content, label):
    """Refuse a file that holds nothing."""
    if not content.strip():
        raise InputError(f"{label}: the file is empty; it needs a header and a line for each run")


def refuse_duplicates(names, label):
    """Refuse a name that several columns have."""
    for name, times in Counter(names).items():
        if times > 1:
            raise InputError(f"{label}: {times} columns are called {quoted(name)}; rename or delete one")


def _refuse_lines(faults, label, mend):
    if len(faults) == 1:
        raise InputError(f"{label}, {faults[0]}; {mend}")
    if faults:
        more = f" and {len(faults) - SHOWN} more" if len(faults) > SHOWN else ""
        raise InputError(f"{label}: {len(faults)} lines cannot be used: {', '.join(faults[:SHOWN])}{more}; {mend}")


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
    refuse_empty(whole, label)
    records = _records(whole, delimiter, label)
    if 1 not in records:
        raise InputError(f"{label}, line 1: found a blank line; put the header there")
    header = [name.strip() for name in records.pop(1)]
    refuse_duplicates([name for name in header if name], label)
    wrong = [
        f"line {line}: found {len(cells)} fields where the header has {len(header)}"
        for line, cells in records.items()
        if len(cells) != len(header)
    ]
    _refuse_lines(wrong, label, "give each column one field, and put quotes around a field that holds the separator")
    names = [name or f"Unnamed: {position}" for position, name in enumerate(header)]
    cells = zip(*records.values(), strict=True) if records else [()] * len(names)
    columns = dict(zip(names, cells, strict=True))
    commas = [n for n, column in columns.items() if delimiter == ";" and n not in text and _has_decimal_commas(column)]
    columns |= {name: [cell.replace(",", ".") for cell in columns[name]] for name in commas}
    typed = {name: (_texts if name in text else _typed)(column) for name, column in columns.items()}
    frame = pd.DataFrame(typed, index=pd.Index(list(records), name="line", dtype="int64"))
    if commas:
        frame.attrs["sentences"] = [f"commas in {listed(commas)} are read as decimal commas"]
    return frame


def _has_decimal_commas(cells):
    """Whether every number of a column could have a decimal comma, and one does; 1,000,000 could not."""
    present = [cell.strip() for cell in cells if cell.strip().lower() not in MISSING]
    return any("," in cell for cell in present) and all(DECIMAL_COMMA.fullmatch(cell) for cell in present)


def _records(text, delimiter, label):
    """Cells of each record that is not blank, by the line that it begins on."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    records, line = {}, 1
    try:
        for cells in reader:
            if any(map(str.strip, cells)):
                records[line] = cells
            line = reader.line_num + 1
    except csv.Error as error:
        raise InputError(
            f"{label}, line {reader.line_num}: not a table of separated values ({printable(error)}); check the quotes"
        ) from error
    return records


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
