"""Tables in text files: values separated by commas, semicolons or tabs."""

import csv
import io
import re
from collections import Counter

import numpy as np
import pandas as pd

from ..errors import InputError
from .checks import SHOWN
from .closing import closing_lines, is_number, word_of_closing
from .columns import recognise
from .notation import MISSING
from .units import split_header
from .wording import listed, plural, printable, quoted, shortened

BOOLEANS = {"true": True, "false": False}
DECIMAL_COMMA = re.compile(r"[+-]?\d+(,\d+)?([eE][+-]?\d+)?")
# A date such as Mar 05, 2024 without quotes around it: what stands before its comma.
BEFORE_YEAR = re.compile(
    r"\s*(?:[A-Za-z]{3,9}\.? [0-9]{1,2}(?:st|nd|rd|th)?|[0-9]{1,2}(?:st|nd|rd|th)? [A-Za-z]{3,9}\.?)\s*"
)
COMMENT = "#"
DELIMITERS = ",;\t|"
MOST_TITLES = 5  # lines above the header
OTHER_FILES = {b"PK": "a zip or Excel file", b"\xff\xfe": "UTF-16 text", b"\xfe\xff": "UTF-16 text", b"PAR1": "Parquet"}
UNITS_OF_COUNTS = {"", "#", "-", "count", "counts", "number", "tokens", "params", "parameters", "flop", "flops", "nats"}
LONGEST = 600  # characters of a message
# Cells of the lines of a log, which no header of a table has: "loss: 4.2", "step 500", "310.1ms".
OF_A_LOG = re.compile(r"[:=]\s*[-+]?\d|\b\d+\.\d+|^(step|iter|epoch|iteration)\s+\d", re.IGNORECASE)
FORECAST = "bayescaling curve FILE --until PLACE"
OF_RUNS = (
    f"if it is the log of a run, forecast its end with {FORECAST}, or write a table (.csv) with one row a run: "
    "parameters, tokens (or training_flop) and loss, such as 1.2e8,2.5e9,3.41; a law needs runs of several sizes"
)

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
    kind = next((name for mark, name in OTHER_FILES.items() if data.startswith(mark)), "")
    hint = f" (the file begins as {kind} does)" if kind else ""
    raise InputError(f"{label}, line {line}: byte 0x{data[bad]:02x} is not UTF-8 text{hint}; save the table as UTF-8")


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
        messages = (_of_lines(faults, number, label, fix) for number in range(min(SHOWN, len(faults)), 0, -1))
        raise InputError(next((message for message in messages if len(message) <= LONGEST),
                              _of_lines(faults, 1, label, fix)))  # fmt: skip


def _of_lines(faults, number, label, fix):
    more = f" and {len(faults) - number} more" if len(faults) > number else ""
    return f"{label}: {len(faults)} lines cannot be used: {', '.join(faults[:number])}{more}; {fix}"


def numbered(frame):
    """Return a frame whose index is called ``row``."""
    return frame.rename_axis(index="row")


def reason(error):
    """Return the first line of an error, shortened."""
    return shortened((str(error).splitlines() or [type(error).__name__])[0])


# Separated values -----------------------------------------------------------------------------------------------------


def comma_separated(data, label, text=()):
    """Read values separated by commas, semicolons, tabs or |, whichever the header has most of; `text` stay text."""
    whole = decoded(data, label)
    return _delimited(whole, _delimiter(whole), label, text)


def tab_separated(data, label, text=()):
    """Read values separated by tabs; columns `text` as text."""
    return _delimited(decoded(data, label), "\t", label, text)


def plain_text(data, label, text=(), wanted=OF_RUNS):
    """Read a text file that holds a table of separated values; refuse any other with what is `wanted`."""
    whole = decoded(data, label)
    refuse_empty(whole, label)
    delimiter = _delimiter(whole)
    header = _split(whole)[_first_line(whole, delimiter)].split(delimiter)
    if len(header) > 1 and not any(OF_A_LOG.search(cell.strip()) for cell in header):
        return _delimited(whole, delimiter, label, text)
    raise InputError(
        f"{label}: this text is not a table with a header and values separated by commas, tabs or semicolons; {wanted}"
    )


def _delimiter(whole):
    header = (_split(whole) or [""])[_first_line(whole, None)]
    return max(DELIMITERS, key=header.count)


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
            titles = _titles(lines[number:], delimiter)
            return number + titles if last is not None or titles else 0
    return 0


def _titles(lines, delimiter):
    """Return the number of lines with a title alone, above a header of several names."""
    delimiter = delimiter or max(DELIMITERS[::-1], key=lambda sign: _agreement(lines[: 4 * MOST_TITLES], sign))
    cells = [sum(bool(cell.strip()) for cell in line.split(delimiter)) for line in lines[: MOST_TITLES + 1]]
    header = next((number for number, count in enumerate(cells) if count > 1), 0)
    # A single column has a header and lines of one cell; a header of one name has no lines of more.
    return header if header and all(count <= 1 for count in cells[:header]) else 0


def _agreement(lines, delimiter):
    """Return how many lines have the most common number of fields, if that is above one."""
    (fields, count), *_ = Counter(line.count(delimiter) for line in lines if line.strip()).most_common(1)
    return count if fields else 0


def _heads(comment, line, delimiter):
    delimiters = [delimiter] if delimiter else [x for x in DELIMITERS if x in comment]
    for sign in delimiters:
        names, cells = comment.split(sign), line.split(sign)
        numbers = any(map(is_number, cells)) and not any(map(is_number, names))
        if len(names) == len(cells) > 1 and (numbers or re.match(r"#\w", comment)):
            return True
    return False


def _delimited(whole, delimiter, label, text):
    refuse_empty(whole, label)
    first = _first_line(whole, delimiter)
    records, comments = _records(whole, delimiter, label, first)
    if first + 1 not in records:
        raise InputError(f"{label}, line {first + 1}: found a blank line; put the header there")
    fields = {len(cells[0].split()) for cells in records.values() if len(cells) == 1}
    if len(records) > 1 and fields == {len(records[first + 1][0].split())} != {1}:
        raise InputError(
            f"{label}, line {first + 1}: the columns are separated by spaces; separate them by commas, such as with "
            "sed -E 's/^ +//; s/ +/,/g'"
        )
    titles = [number for number in range(1, first + 1) if number not in comments and _split(whole)[number - 1].strip()]
    return table_of(records, comments, label, text, decimal_commas=delimiter != ",", titles=titles)


def table_of(records, comments, label, text, *, decimal_commas=False, titles=()):
    """Return a table of cells by line, the header first; columns `text` stay text, and numbers may have decimal commas.

    `comments` and `titles` are lines that were left out.
    """
    top = min(records)
    header = [name.strip() for name in records.pop(top)]
    # "# N, D, loss" is a header; "#Params" is a name.
    header[0] = re.sub(r"^#\s+", "", header[0])
    _refuse_numbers(header, records, f"{label}, line {top}")
    sentences = [f"{_lines(titles)} above the header left out"] if titles else []
    width = len(header)
    dated = {line: whole for line, cells in records.items() if (whole := _with_whole_dates(cells, width)) != cells}
    sentences += [f"{_lines(list(dated))} with a comma in a date, which is read as part of it"] if dated else []
    records |= dated
    # A separator at the end of each line.
    records = {x: cells[:width] if not "".join(cells[width:]).strip() else cells for x, cells in records.items()}
    copies = [line for line, cells in records.items() if [cell.strip() for cell in cells] == header]
    sentences += [f"{_lines(copies)} that repeat the header left out"] if copies else []
    records = {line: cells for line, cells in records.items() if line not in copies}
    header, below = _with_line_below(header, records)
    if below:
        records.pop(min(records))
        sentences.append(below)
    refuse_duplicates([name for name in header if name], label)
    closing = closing_lines(records)
    sentences += [f"{_lines(comments)} that {'begins' if len(comments) == 1 else 'begin'} with # "
                 f"{'is' if len(comments) == 1 else 'are'} left out"] if comments else []  # fmt: skip
    if closing:
        words = listed(dict.fromkeys(word_of_closing(records.pop(line)) for line in closing))
        sentences.append(f"{_lines(closing)} at the end, which {'sums' if len(closing) == 1 else 'sum'} up the others "
                         f"({words}), {'is' if len(closing) == 1 else 'are'} left out")  # fmt: skip
    wrong = [
        f"line {line}: found {len(cells)} fields where the header has {len(header)}"
        for line, cells in records.items()
        if len(cells) != len(header)
    ]
    fix = 'give each column one field, and put quotes around a field that holds the separator, such as "1,000"; a '
    refuse_lines(wrong, label, f"{fix}second table goes into another file")
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


def _with_whole_dates(cells, width):
    """Return the cells of a line with too many fields, without the separators in dates such as Mar 05, 2024."""
    for place in range(len(cells) - 1, 0, -1):
        before, year = cells[place - 1 : place + 1]
        if len(cells) > width and re.fullmatch(r"\s*[0-9]{4}\s*", year) and BEFORE_YEAR.fullmatch(before):
            cells = [*cells[: place - 1], f"{before},{year}", *cells[place + 1 :]]
    return cells


def _refuse_numbers(header, records, place):
    """Refuse a header of numbers alone, and one of a name and numbers above lines that begin with names."""
    numeric = [is_number(name) for name in header]
    if len(header) > 1 and all(numeric):
        raise InputError(
            f"{place}: found numbers alone ({listed(header[:3])}) where a header is needed; write a line with names "
            "above, such as params,tokens,loss"
        )
    firsts = [cells[0] for cells in records.values() if cells]
    if len(header) > 2 and not numeric[0] and all(numeric[1:]) and firsts and not any(map(is_number, firsts)):
        raise InputError(
            f"{place}: the columns of the table are lines ({listed([header[0], *firsts][:4])}); transpose it, such as "
            "with pandas.read_csv(FILE, header=None).T.to_csv(FILE, header=False, index=False)"
        )


def _with_line_below(header, records):
    """Return a header with the units in the line below it, or that line if it holds the names, and a sentence."""
    if len(records) < 3 or len(records[min(records)]) != len(header):
        return header, ""
    below, *others = ([cell.strip() for cell in cells] for cells in records.values())
    if any(map(is_number, below)) or not all(any(map(is_number, cells)) for cells in others):
        return header, ""
    recognised = sum(bool(recognise(name)) for name in header)
    if sum(bool(recognise(name)) for name in below) > recognised:
        return below, f"{_lines([min(records)])} is read as the header"
    units = [cell.strip("()[] ") for cell in below]
    stated = [split_header(f"{name} ({unit})") for name, unit in zip(header, units, strict=True)]
    if recognised and (any(unit is not None for _, unit in stated) or set(map(str.lower, units)) <= UNITS_OF_COUNTS):
        named = [
            f"{x} ({unit})" if of is not None else x for x, unit, (_, of) in zip(header, units, stated, strict=True)
        ]
        return named, f"{_lines([min(records)])} is read as the units of the columns"
    return header, ""


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
