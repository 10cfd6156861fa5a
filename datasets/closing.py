"""Closing lines of a table: sums or means of the lines above."""

from itertools import takewhile
from math import isclose

from .wording import listed

LEAST_SUMMED = 4  # lines above one that may sum them up
# First cells of such lines.
CLOSING = {"mean", "average", "avg", "avg.", "median", "total", "totals", "sum", "std", "stdev"}


def is_number(text):
    """Return whether Python reads a text as a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def find_closing(header, records):
    """Find the last lines that sum up those before them: a word such as Mean, or sums or means of every column.

    Returns
    -------
    header : list of str
    left_out : dict of int to None
        By line.
    words : str
        Of the lines, in quotes.
    """
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
