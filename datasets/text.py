"""Tables in text files: values separated by commas, semicolons or tabs."""

import csv
import io
import re
from collections import Counter

import numpy as np
import pandas as pd

from ..errors import InputError
from .checks import SHOWN
from .notation import MISSING
from .wording import listed, plural, printable, quoted, shortened

BOOLEANS = {"true": True, "false": False}
DECIMAL_COMMA = re.compile(r"[+-]?\d+(,\d+)?([eE][+-]?\d+)?")
COMMENT = "#"
# First cells of lines that sum up the lines above.
CLOSING = {"mean", "average", "avg", "avg.", "median", "total", "totals", "sum", "std", "stdev"}
# Cells of the lines of a log, which no header of a table has: "loss: 4.2", "step 500", "310.1ms".
OF_A_LOG = re.compile(r"[:=]\s*[-+]?\d|\b\d+\.\d+|^(step|iter|epoch|iteration)\s+\d", re.IGNORECASE)


# Helpers of every form ------------------------------------------------------------------------------------------------


def decoded(data, label):
    """Return bytes as text, which must be UTF-8."""
    bad = data.find(b"\0")
    if bad < 0:
        try:
            return data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            bad = error.start
    line = data.count(b"\n", 0, bad) + 1
    raise InputError(f"{label}, line {line}: byte 0x{data[bad]:02x} is not UTF-8 text; save the table as UTF-8")


def refuse_empty(content, label):
    """Refuse a file that holds nothing."""
    if not content.strip():
        raise InputError(f"{label}: the file is empty; it needs a header and a line for each run")


def refuse_duplicates(names, label):
    """Refuse a name that several columns have."""
    for name, times in Counter(names).items():
        if times > 1:
            raise InputError(f"{label}: {times} columns are called {quoted(name)}; rename or delete one")


def refuse_lines(faults, label, fix):
    """Refuse lines that cannot be used: the first ten, then a count."""
    if len(faults) == 1:
        raise InputError(f"{label}, {faults[0]}; {fix}")
    if faults:
        more = f" and {len(faults) - SHOWN} more" if len(faults) > SHOWN else ""
        raise InputError(f"{label}: {len(faults)} lines cannot be used: {', '.join(faults[:SHOWN])}{more}; {fix}")


def numbered(frame):
    """Return a frame whose index is called ``row``."""
    return frame.rename_axis(index="row")


def reason(error):
    """Return the first line of an error, shortened."""
    return shortened((str(error).splitlines() or [type(error).__name__])[0])


# Separated values -----------------------------------------------------------------------------------------------------


def comma_separated(data, label, text=()):
    """Read values separated by commas, semicolons or tabs, whichever the header has most of; columns `text` as text."""
    whole = decoded(data, label)
    return _delimited(whole, _delimiter(whole), label, text)


def tab_separated(data, label, text=()):
    """Read values separated by tabs; columns `text` as text."""
    return _delimited(decoded(data, label), "\t", label, text)


def plain_text(data, label, text=()):
    """Read a text file that holds a table of separated values; refuse any other with what is wanted."""
    whole = decoded(data, label)
    refuse_empty(whole, label)
    delimiter = _delimiter(whole)
    header = _split(whole)[_first_line(whole, delimiter)].split(delimiter)
    if len(header) > 1 and not any(OF_A_LOG.search(cell.strip()) for cell in header):
        return _delimited(whole, delimiter, label, text)
    raise InputError(
        f"{label}: this text is not a table with a header and values separated by commas, tabs or semicolons; if it is "
        "the log of a run, write a table (.csv) with one row a run: parameters, tokens (or training_flop) and loss, "
        "such as 1.2e8,2.5e9,3.41; a law needs runs of several sizes"
    )


def _delimiter(whole):
    header = (_split(whole) or [""])[_first_line(whole, None)]
    return max(",;\t", key=header.count)


def _split(whole):
    return list(io.StringIO(whole, newline=""))


def _first_line(whole, delimiter):
    """Return the number, from 0, of the line that holds the header: the first that is no comment.

    A comment right above a line of numbers, of as many fields, is the header, as numpy.savetxt writes it.
    """
    lines, last = _split(whole), None
    for number, line in enumerate(lines):
        if line.lstrip().startswith(COMMENT):
            last = number
        elif line.strip():
            if last is not None and _heads(lines[last], line, delimiter):
                return last
            return number if last is not None else 0
    return 0


def _heads(comment, line, delimiter):
    delimiters = [delimiter] if delimiter else [x for x in ",;\t" if x in comment]
    for sign in delimiters:
        names, cells = comment.split(sign), line.split(sign)
        numbers = any(map(_is_number, cells)) and not any(map(_is_number, names))
        if len(names) == len(cells) > 1 and (numbers or re.match(r"#\w", comment)):
            return True
    return False


def _is_number(text):
    try:
        float(text)
    except ValueError:
        return False
    return True


def _delimited(whole, delimiter, label, text):
    refuse_empty(whole, label)
    first = _first_line(whole, delimiter)
    records, comments = _records(whole, delimiter, label, first)
    if first + 1 not in records:
        raise InputError(f"{label}, line {first + 1}: found a blank line; put the header there")
    return table_of(records, comments, label, text, decimal_commas=delimiter == ";")


def table_of(records, comments, label, text, *, decimal_commas=False):
    """Return a table of cells.

    Parameters
    ----------
    records : dict of int to list of str
        Cells by number of the line, the header first.
    comments : list of int
        Lines that were left out as comments.
    label : str
    text : sequence of str
        Columns that stay text.
    decimal_commas : bool
        Whether numbers may have decimal commas.
    """
    header = [name.strip() for name in records.pop(min(records))]
    # "# N, D, loss" is a header; "#Params" is a name.
    header[0] = re.sub(r"^#\s+", "", header[0])
    refuse_duplicates([name for name in header if name], label)
    closing = _closing(records)
    sentences = [f"{_lines(comments)} that {'begins' if len(comments) == 1 else 'begin'} with # "
                 f"{'is' if len(comments) == 1 else 'are'} left out"] if comments else []  # fmt: skip
    if closing:
        words = listed(dict.fromkeys(_first_cell(records.pop(line)) for line in closing))
        sentences.append(f"{_lines(closing)} at the end, which {'sums' if len(closing) == 1 else 'sum'} up the others "
                         f"({words}), {'is' if len(closing) == 1 else 'are'} left out")  # fmt: skip
    wrong = [
        f"line {line}: found {len(cells)} fields where the header has {len(header)}"
        for line, cells in records.items()
        if len(cells) != len(header)
    ]
    refuse_lines(wrong, label, "give each column one field, and put quotes around a field that holds the separator")
    names = [name or f"Unnamed: {position}" for position, name in enumerate(header)]
    cells = zip(*records.values(), strict=True) if records else [()] * len(names)
    columns = dict(zip(names, cells, strict=True))
    commas = [n for n, column in columns.items() if decimal_commas and n not in text and _has_decimal_commas(column)]
    columns |= {name: [cell.replace(",", ".") for cell in columns[name]] for name in commas}
    typed = {name: (_texts if name in text else typed_cells)(column) for name, column in columns.items()}
    frame = pd.DataFrame(typed, index=pd.Index(list(records), name="line", dtype="int64"))
    if commas:
        sentences.append(f"commas in {listed(commas)} are read as decimal commas")
    if sentences:
        frame.attrs["sentences"] = sentences
    return frame


def _lines(numbers):
    shown = ", ".join(map(str, numbers[:SHOWN])) + (", ..." if len(numbers) > SHOWN else "")
    return f"{plural(len(numbers), 'line')} ({shown})"


def _closing(records):
    """Return the last lines if their first cell is a word such as Mean, which no line before them has."""
    lines = []
    for line in reversed(records):
        if _first_cell(records[line]).lower() not in CLOSING:
            break
        lines.append(line)
    if not lines:
        return []
    words = {_first_cell(records[line]).lower() for line in lines}
    rest = [cells for line, cells in records.items() if line not in lines]
    if not rest or any(cell.strip().lower() in words for cells in rest for cell in cells):
        return []
    return sorted(lines)


def _first_cell(cells):
    return next((cell.strip() for cell in cells if cell.strip()), "").rstrip(":")


def _has_decimal_commas(cells):
    """Return whether every number of a column could have a decimal comma, and one does; 1,000,000 could not."""
    present = [cell.strip() for cell in cells if cell.strip().lower() not in MISSING]
    return any("," in cell for cell in present) and all(DECIMAL_COMMA.fullmatch(cell) for cell in present)


def _records(text, delimiter, label, first):
    """Return cells of each record from the line `first` on that is not blank, by its line, and lines of comments.

    Lines that begin with # are comments, unless all lines below the header do.
    """
    lines = _split(text)
    marked = [number for number, line in enumerate(lines) if line.lstrip().startswith(COMMENT)]
    below = [number for number, line in enumerate(lines) if number > first and line.strip()]
    comments, skipped = [], set(marked) - {first}
    if below and set(below) <= skipped:
        skipped -= set(below)
    fresh = True

    def those_of_records():
        nonlocal fresh
        for number, line in enumerate(lines):
            if number < first or (fresh and number in skipped):
                if number in skipped:
                    comments.append(number + 1)
                yield "\n"
            else:
                fresh = False
                yield line

    reader = csv.reader(those_of_records(), delimiter=delimiter, strict=True)
    records, line = {}, 1
    try:
        while True:
            fresh = True
            cells = next(reader, None)
            if cells is None:
                break
            if any(map(str.strip, cells)):
                records[line] = cells
            line = reader.line_num + 1
    except csv.Error as error:
        raise InputError(
            f"{label}, line {reader.line_num}: not a table of separated values ({printable(error)}); check the quotes"
        ) from error
    return records, comments


# pandas.read_csv is not used: its floats can differ in the last digit between versions, which changes the SHA-256.
def typed_cells(cells):
    """Return texts as numbers or truth values where all are, else as text."""
    missing = [cell.strip().lower() in MISSING for cell in cells]
    if not any(missing) and all(cell.lower() in BOOLEANS for cell in cells):
        return np.array([BOOLEANS[cell.lower()] for cell in cells])
    # Python would read 1_000 and digits of any script as numbers, which tables do not intend.
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
