"""Text files of separated values or of JSON objects, as frames whose index is the line."""

import csv
import io
import json
import re
from collections import Counter

import numpy as np
import pandas as pd

from ...errors import InputError
from ..wording import listed, printable, quoted
from .faults import SHOWN

MISSING = {"", "na", "n/a", "nan", "null", "none"}
BOOLEANS = {"true": True, "false": False}
SURROGATE = re.compile("[\ud800-\udfff]")
DECIMAL_COMMA = re.compile(r"[+-]?\d+(,\d+)?([eE][+-]?\d+)?")


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
        frame.attrs["said"] = [f"commas in {listed(commas)} are read as decimal commas"]
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
