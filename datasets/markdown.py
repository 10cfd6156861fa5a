"""Tables in Markdown, as in a README: rows between vertical lines, one of dashes below the header."""

import re

from ..errors import InputError
from .text import decode, make_table, refuse_empty
from .wording import plural

RULE = re.compile(r"\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)+\|?|\|\s*:?-+:?\s*\|")  # the line below a header
BETWEEN = re.compile(r"(?<!\\)\|")  # cells; a line that is written \| is part of one
MARKS = re.compile(r"\*\*|__|`")  # of bold text and of code


def read_markdown(data, label, text=()):
    """Read the one table of a Markdown file; columns `text` as text."""
    whole = decode(data, label)
    refuse_empty(whole, label)
    lines = whole.splitlines()
    below = [i for i, line in enumerate(lines) if RULE.fullmatch(line.strip())]
    tables = [i for i in below if i and "|" in lines[i - 1]]
    if len(tables) != 1:
        what = f"{plural(len(tables), 'table')} of Markdown" if tables else "no table of Markdown"
        raise InputError(f"{label}: {what} in it; save one table, a header above a line of dashes, as a file")
    (rule,) = tables
    records = {rule: _cells(lines[rule - 1])}  # by number from 1
    for i in range(rule + 1, len(lines)):
        if "|" not in lines[i]:
            break
        records[i + 1] = _cells(lines[i])
    return make_table(records, label, text)


def _cells(line):
    line = line.strip().removeprefix("|")
    line = line[:-1] if line.endswith("|") and not line.endswith("\\|") else line
    return [MARKS.sub("", cell).strip().replace("\\|", "|") for cell in BETWEEN.split(line)]
