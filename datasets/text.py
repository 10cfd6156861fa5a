"""Tables in text files: values separated by commas, semicolons, tabs, bars or blanks, and Markdown."""

import csv
import functools
import io
import re
from collections import Counter
from itertools import product, takewhile
from math import isclose

import numpy as np
import pandas as pd

from ..errors import InputError
from .checks import SHOWN
from .columns import recognise
from .notation import MISSING
from .units import split_header
from .wording import listed, plural, printable, quoted

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

LEAST_SUMMED = 4  # lines above one that may sum them up
# First cells of such lines.
CLOSING = {"mean", "average", "avg", "avg.", "median", "total", "totals", "sum", "std", "stdev"}

MARKDOWN_RULE = re.compile(r"\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)+\|?|\|\s*:?-+:?\s*\|")  # the line below a header
BETWEEN = re.compile(r"(?<!\\)\|")  # cells; a line that is written \| is part of one
MARKS = re.compile(r"\*\*|__|`")  # of bold text and of code


def decode(data, label):
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


def refuse_lines(faults, label, fix, several="lines"):
    """Refuse lines, or rows, that cannot be used: the first ten, then a count."""
    for number in range(min(SHOWN, len(faults)), 0, -1):
        more = f" and {len(faults) - number} more" if len(faults) > number else ""
        message = f"{label}: {len(faults)} {several} cannot be used: {', '.join(faults[:number])}{more}; {fix}"
        if len(faults) == 1:
            raise InputError(f"{label}, {faults[0]}; {fix}")
        if len(message) <= LONGEST or number == 1:
            raise InputError(message)


def is_number(text):
    """Return whether Python reads a text as a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


# Separated values -----------------------------------------------------------------------------------------------------


def read_separated(data, label, text=(), wanted=None):
    """Read values separated by commas, semicolons, tabs or |, whichever the header has most of; `text` stay text.

    A file that may be no table is refused, where it is none, with what is `wanted`.
    """
    whole = decode(data, label)
    refuse_empty(whole, label)
    lines = list(io.StringIO(whole, newline=""))
    first = _find_header(lines)
    delimiter = max(DELIMITERS, key=lines[first].count)
    header = lines[first].split(delimiter)
    if len(header) == 1 and (records := _split_at_blanks(lines, first)):
        return make_table(records, label, text, titles=[n for n in range(1, min(records)) if lines[n - 1].strip()])
    if wanted is not None and (len(header) == 1 or any(OF_A_LOG.search(cell.strip()) for cell in header)):
        raise InputError(
            f"{label}: this text is not a table with a header and values separated by commas, tabs or blanks; {wanted}"
        )
    records = _read_records(lines, first, delimiter, label)
    marked = [line for line in records if line > first + 1 and _is_comment(lines[line - 1])]
    marked = marked if len(marked) < len(records) - 1 else []  # else they are rows whose names begin with #
    above = {number: line for number, line in enumerate(lines[:first], 1) if line.strip()}
    comments = [number for number, line in above.items() if _is_comment(line)] + marked
    return make_table(
        {line: cells for line, cells in records.items() if line not in marked},
        *(label, text),
        decimal_commas=delimiter != ",",
        titles=[number for number in above if number not in comments],
        comments=comments,
    )


read_plain = functools.partial(read_separated, wanted=OF_RUNS)  # of a text file that may be no table


def _split_at_blanks(lines, first):
    """Return the cells by line of columns that blanks part, without the numbers of rows that pandas writes; or None.

    Names and cells have single blanks in them where two or more are between all columns. Titles may be above.
    """
    present = {n: x.strip() for n, x in enumerate(lines, 1) if n > first and x.strip()}
    present = {n: x for n, x in present.items() if n == first + 1 or not _is_comment(x)}
    for top, gap in product(range(min(MOST_TITLES, len(present))), (r"\s+", r"\s{2,}")):
        below = dict([*present.items()][top:])
        header, *rows = [re.split(gap, re.sub(r"^#\s+", "", line)) for line in below.values()]
        (width, *others) = {len(cells) for cells in rows} or {0}
        numbered = width == len(header) + 1 and all(cells[0].isdigit() for cells in rows)
        numbers = all(any(map(is_number, cells)) for cells in rows) and not any(map(is_number, header))
        if not others and width - numbered == len(header) > 1 and numbers:
            return dict(zip(below, [header, *(cells[numbered:] for cells in rows)], strict=True))
    return None


def _is_comment(line):
    return line.lstrip().startswith(COMMENT)


def _find_header(lines):
    """Return the number, from 0, of the line that holds the header, below comments and titles of one cell.

    A comment right above a line of numbers, of as many fields, is the header, as numpy.savetxt writes it.
    """
    present = [number for number, line in enumerate(lines) if line.strip()]
    plain = [number for number in present if not _is_comment(lines[number])] or present
    sample = [lines[number] for number in plain[: 4 * MOST_TITLES]]
    delimiter = max(DELIMITERS[::-1], key=lambda sign: _count_alike(sample, sign))
    if plain[0] and (comments := [x for x in present if x < plain[0]]) and _is_header(lines[comments[-1]], sample[0]):
        return comments[-1]
    cells = [sum(bool(cell.strip()) for cell in line.split(delimiter)) for line in sample[: MOST_TITLES + 1]]
    # A single column has a header and lines of one cell; a header of one name has no lines of more.
    header = next((number for number, count in enumerate(cells) if count > 1), 0)
    return plain[header]


def _count_alike(lines, delimiter):
    """Return how many lines have the most common number of fields, if that is above one."""
    ((fields, count),) = Counter(line.count(delimiter) for line in lines).most_common(1)
    return count if fields else 0


def _is_header(comment, line):
    for sign in (*DELIMITERS, None):
        names, cells = (text.lstrip(f"{COMMENT} ").split(sign) for text in (comment, line))
        numbers = any(map(is_number, cells)) and not any(map(is_number, names))
        if len(names) == len(cells) > 1 and (numbers or (sign and re.match(r"#\w", comment))):
            return True
    return False


def _read_records(lines, first, delimiter, label):
    """Return the cells of each record from the line `first` on that is not blank, by its line from 1."""
    reader, records, line = csv.reader(lines[first:], delimiter=delimiter, strict=True), {}, first + 1
    try:
        for cells in reader:
            if any(map(str.strip, cells)):
                records[line] = cells
            line = first + reader.line_num + 1
    except csv.Error as error:
        raise InputError(
            f"{label}, line {first + reader.line_num}: not a table of separated values ({printable(error)}); check the "
            "quotes"
        ) from error
    return records


def read_markdown(data, label, text=()):
    """Read the one table of a Markdown file; columns `text` as text."""
    whole = decode(data, label)
    refuse_empty(whole, label)
    lines = whole.splitlines()
    below = [i for i, line in enumerate(lines) if MARKDOWN_RULE.fullmatch(line.strip())]
    tables = [i for i in below if i and "|" in lines[i - 1]]
    if len(tables) != 1:
        what = f"{plural(len(tables), 'table')} of Markdown" if tables else "no table of Markdown"
        raise InputError(f"{label}: {what} in it; save one table, a header above a line of dashes, as a file")
    (rule,) = tables
    records = {rule: _split_markdown(lines[rule - 1])}  # by number from 1
    for i in range(rule + 1, len(lines)):
        if "|" not in lines[i]:
            break
        records[i + 1] = _split_markdown(lines[i])
    return make_table(records, label, text)


def _split_markdown(line):
    line = line.strip().removeprefix("|")
    line = line[:-1] if line.endswith("|") and not line.endswith("\\|") else line
    return [MARKS.sub("", cell).strip().replace("\\|", "|") for cell in BETWEEN.split(line)]


# Records --------------------------------------------------------------------------------------------------------------


def make_table(records, label, text=(), *, decimal_commas=False, titles=(), comments=()):
    """Return a table of cells by line, the header first; columns `text` stay text, and numbers may have decimal commas.

    `titles` and `comments` are lines that were left out.
    """
    top, *_ = records
    header = [name.strip() for name in records.pop(top)]
    header[0] = re.sub(r"^#\s+", "", header[0])  # "# N, D, loss" is a header; "#Params" is a name
    _refuse_numbers(header, records, f"{label}, line {top}")
    sentences = [f"{_name_lines(titles)} above the header left out"] if titles else []
    sentences += [f"{_name_lines(comments)} that {'begins' if len(comments) == 1 else 'begin'} with # "
                  f"{'is' if len(comments) == 1 else 'are'} left out"] if comments else []  # fmt: skip
    for find, sentence in RULES:
        header, changed, *word = find(header, records)
        if changed and sentence:
            sentences.append(sentence.format(_name_lines(changed), *word, s="s" if len(changed) == 1 else "",
                                             be="is" if len(changed) == 1 else "are"))  # fmt: skip
        records = {line: changed.get(line, cells) for line, cells in records.items()}
        records = {line: cells for line, cells in records.items() if cells is not None}
    refuse_duplicates([name for name in header if name], label)
    wrong = [
        f"line {line}: found {len(cells)} fields where the header has {len(header)}"
        for line, cells in records.items()
        if len(cells) != len(header)
    ]
    fix = 'give each column one field, and put quotes around a field that holds the separator, such as "1,000"; a '
    refuse_lines(wrong, label, f"{fix}second table goes into another file")
    names = [name or f"Unnamed: {position}" for position, name in enumerate(header)]
    columns = dict(zip(names, zip(*records.values(), strict=True) if records else [()] * len(names), strict=True))
    commas = [n for n, column in columns.items() if decimal_commas and n not in text and _has_decimal_commas(column)]
    columns |= {name: [cell.replace(",", ".") for cell in columns[name]] for name in commas}
    typed = {name: (_blank_to_none if name in text else infer_type)(column) for name, column in columns.items()}
    frame = pd.DataFrame(typed, index=pd.Index(list(records), name="line", dtype="int64"))
    sentences += [f"commas in {listed(commas)} are read as decimal commas"] if commas else []
    if sentences:
        frame.attrs["sentences"] = sentences
    return frame


def _name_lines(numbers):
    return (
        f"{plural(len(numbers), 'line')} ({', '.join(map(str, [*numbers][:SHOWN]))}{', ...' * (len(numbers) > SHOWN)})"
    )


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


# Each returns the header, the cells of the lines that it changed, None for those left out, and a word about them.


def _join_dates(header, records):
    """Join the parts of dates such as Mar 05, 2024 in lines with too many fields."""
    joined = {}
    for line, cells in records.items():
        for place in range(len(cells) - 1, 0, -1):
            before, year = cells[place - 1 : place + 1]
            if len(cells) > len(header) and re.fullmatch(r"\s*[0-9]{4}\s*", year) and BEFORE_YEAR.fullmatch(before):
                cells = joined[line] = [*cells[: place - 1], f"{before},{year}", *cells[place + 1 :]]
    return header, joined, ""


def _cut_ends(header, records):
    """Cut the separators at the ends of lines."""
    width = len(header)
    return header, {x: c[:width] for x, c in records.items() if c[width:] and not "".join(c[width:]).strip()}, ""


def _find_copies(header, records):
    copies = [line for line, cells in records.items() if [cell.strip() for cell in cells] == header]
    return header, dict.fromkeys(copies), ""


def _read_below(header, records):
    """Read the line below the header where it holds the names or the units."""
    line = next(iter(records), None)
    if len(records) < 3 or len(records[line]) != len(header):
        return header, {}, ""
    below, *others = ([cell.strip() for cell in cells] for cells in records.values())
    if any(map(is_number, below)) or not all(any(map(is_number, cells)) for cells in others):
        return header, {}, ""
    recognised = sum(bool(recognise(name)) for name in header)
    if sum(bool(recognise(name)) for name in below) > recognised:
        return below, {line: None}, "the header"
    units = [cell.strip("()[] ") for cell in below]
    named = [f"{name} ({unit})" for name, unit in zip(header, units, strict=True)]
    stated = [split_header(name)[1] is not None for name in named]
    if recognised and (any(stated) or {*map(str.lower, units)} <= UNITS_OF_COUNTS):
        names = [new if known else name for name, new, known in zip(header, named, stated, strict=True)]
        return names, {line: None}, "the units of the columns"
    return header, {}, ""


def _find_closing(header, records):
    """Find the last lines that sum up those before them: a word such as Mean, or sums or means of every column."""
    words = {line: [cell.strip().rstrip(":") for cell in cells if cell.strip()] for line, cells in records.items()}
    lines = [*takewhile(lambda line: words[line] and words[line][0].lower() in CLOSING, reversed(records))]
    firsts = {words[line][0].lower() for line in lines}
    *above, last = [cells for line, cells in records.items() if line not in lines] or [[]]
    if any(cell.strip().lower() in firsts for cells in (*above, last) for cell in cells) or (lines and not last):
        lines = []  # they are names, as of runs
    elif not lines and len(above) >= LEAST_SUMMED and _sums_up(last, above):
        lines = [*records][-1:]
    named = [next((word for word in words[line] if word.lower() in CLOSING), "sums or means") for line in sorted(lines)]
    return header, dict.fromkeys(sorted(lines)), listed(dict.fromkeys(named))


def _sums_up(cells, above):
    """Return whether the numbers of a line are sums or means of all columns, or of one where a word says so."""
    summed = []
    for cell, column in zip(cells, zip(*above, strict=False), strict=False):
        if is_number(cell) and all(map(is_number, column)):
            total = sum(map(float, column))
            summed.append(any(x and isclose(float(cell), x, rel_tol=1e-4) for x in (total, total / len(column))))
    every = len(summed) == sum(map(is_number, cells)) > 1 and all(summed)
    return every or (any(summed) and any(cell.strip().lower() in CLOSING for cell in cells))


RULES = (
    (_join_dates, "{} with a comma in a date, which is read as part of it"),
    (_cut_ends, ""),
    (_find_copies, "{} that repeat the header left out"),
    (_read_below, "{} is read as {}"),
    (_find_closing, "{} at the end, which sum{s} up the others ({}), {be} left out"),
)

# Columns --------------------------------------------------------------------------------------------------------------


def _has_decimal_commas(cells):
    """Return whether every number of a column could have a decimal comma, and one does; 1,000,000 could not."""
    present = [cell.strip() for cell in cells if cell.strip().lower() not in MISSING]
    return any("," in cell for cell in present) and all(DECIMAL_COMMA.fullmatch(cell) for cell in present)


# pandas.read_csv is not used: its floats can differ in the last digit between versions, which changes the SHA-256.
def infer_type(cells):
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
    return _blank_to_none(cells)


def _blank_to_none(cells):
    return [cell if cell.strip() else None for cell in cells]
