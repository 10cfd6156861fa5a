"""Sizes that are read from names of runs and files by patterns such as ``curve_N{parameters}_D{}.csv``."""

import re

import pandas as pd

from ..errors import InputError
from .columns import ALIASES, RUN
from .fixes import choice
from .notation import parsed
from .wording import listed, quoted, suggestion

FIELD = re.compile(r"\{([^{}]*)\}")
SUFFIX = r"(?:[kKmMgGtT]|[bB]n?)"
# Trackers replace the point of a number such as 1.4B by - or p in names.
SIZE = rf"(?:[~≈]?[0-9]+(?:[.,][0-9]+)*(?:[eE][+-]?[0-9]+)?(?:\s?{SUFFIX})?|[0-9]{{1,3}}[-p][0-9]{{1,2}}{SUFFIX})"
NO_POINT = re.compile(rf"([0-9]{{1,3}})[-p]([0-9]{{1,2}}{SUFFIX})")
STRONG = re.compile(rf"(?:[0-9]+(?:[.p-][0-9]+)?{SUFFIX}(?![A-Za-z])|(?<=[nN])[0-9]{{4,}}(?![0-9]))")
# Tokens in a name, such as N7e7_D2e9 or 70M-1.4Btok.
TOKENS = re.compile(rf"(?<=[dD]){SIZE}(?![0-9A-Za-z])|[0-9]+(?:[.p-][0-9]+)?{SUFFIX}(?=_?tok)")
NAMES = {"run", "name", "model", "modelname", "runname", "modelid", "id", "experiment", "checkpoint"}  # without signs
LONGEST = 200  # characters of a pattern
LONGEST_NAME = 300
MOST_FIELDS = 12
LONG, AROUND = 40, 6  # characters of a pattern that is shortened, and before the size in it
SHOWN = 3  # names in a message
MOST_LISTED = 8  # columns in a message


def check_pattern(pattern, option):
    """Refuse a pattern that names no column, or one that does not exist, before a file is opened."""
    text = pattern if isinstance(pattern, str) else ""
    fields = FIELD.findall(text)
    names, example = [name for name in fields if name], f"write one such as {option}='N{{parameters}}_{{}}'"
    absent = next((name for name in names if name not in ALIASES), None)
    twice = next((name for name in names if names.count(name) > 1), None)
    if not text or len(text) > LONGEST or len(fields) > MOST_FIELDS:
        fault = f"{quoted(pattern)} is no pattern of at most {LONGEST} characters and {MOST_FIELDS} fields; {example}"
    elif absent is not None:
        fault = f"{{{absent}}} in {quoted(pattern)} is no column of runs{suggestion(absent, ALIASES)}"
        fault += f"; choose from {', '.join(ALIASES)}, and write {{}} for anything else"
    elif twice is not None:
        fault = f"{{{twice}}} is twice in {quoted(pattern)}; write {{}} for the second"
    elif not names or re.search("[{}]", FIELD.sub("", text)):
        fault = f"{quoted(pattern)} names no column between braces, or has one brace alone; {example}"
    else:
        return
    raise InputError(f"{option}: {fault}")


def _expression(pattern):
    pieces = FIELD.split(pattern)
    parts = [re.escape(piece) for piece in pieces]
    for place in range(1, len(pieces), 2):
        parts[place] = f"(?P<{pieces[place]}>{SIZE})" if pieces[place] else ".*?"
    return re.compile(r"(?:.*/)?" + "".join(parts), re.DOTALL)


def read_sizes(table, column, pattern, option, label):
    """Return a table with the columns that a pattern reads from the names in a column, and what to report.

    A pattern that does not fit a name, or reads a column that is there already, is refused.

    Examples
    --------
    >>> table = pd.DataFrame({"run": ["70M_1000step", "1.4B_500step"]})
    >>> read_sizes(table, "run", "{parameters}_{}step", "from_name", "runs.csv")[0]["parameters"].tolist()
    [70000000.0, 1400000000.0]
    """
    expression = _expression(pattern)
    names = [str(name) for name in table[column]]
    matches = {name: _match(expression, name) for name in dict.fromkeys(names)}
    wrong = [name for name, match in matches.items() if match is None]
    if wrong:
        raise InputError(
            f"{label}: {option} {quoted(pattern)} does not fit {len(wrong)} of {len(matches)} names in column "
            f"{quoted(column)}, such as {listed(wrong[:SHOWN])}; write {{}} for what differs, or leave such rows out"
        )
    fields = list(expression.groupindex)
    if taken := [name for name in fields if name in table]:
        raise InputError(
            f"{label}: {option} reads {listed(taken)} from names, and the table has such a column; write {{}} for it "
            "in the pattern, or leave the column out"
        )
    table, without = table.copy(deep=False), None
    for field in fields:
        numbers = {}
        for name, match in matches.items():
            text = NO_POINT.sub(r"\1.\2", match[field])
            numbers[name], marks = parsed(text)
            without = without or (f", where {quoted(match[field])} is {quoted(text)}" if text != match[field] else "")
            if numbers[name] is None or marks.get("groups") == "one":
                raise InputError(
                    f"{label}, column {quoted(column)}, {quoted(name)}: {option} found {quoted(match[field])} "
                    f"for {field}, which is no plain number; rename it, such as 70M or 7e7"
                )
        table[field] = pd.Series([numbers[name] for name in names], index=table.index, dtype="float64")
    verb = "is" if len(fields) == 1 else "are"
    return table, f"{listed(fields)} {verb} read from {len(matches)} names in {quoted(column)}{without or ''}"


def _match(expression, name):
    if len(name) > LONGEST_NAME:
        return None
    match = expression.fullmatch(name)
    if match is None:  # a pattern may leave the endings of a file's name out
        match = expression.fullmatch(re.sub(r"(\.[A-Za-z][A-Za-z0-9]{0,7}){1,2}$", "", name))
    return match


def read_sizes_of_files(table, pattern, name, label):
    """Return a table with what a pattern reads from the names of files, each a ``run``, and what to report."""
    column = "file"
    while f"{column}_" in table or (column in table and table.index.name != "place"):
        column += "_"
    table = table if column in table else table.assign(**{column: name})
    table, sentence = read_sizes(table, column, pattern, "from_file", label)
    if RUN in table:
        return table, sentence
    return table.assign(**{RUN: table[column]}), f"{sentence}; each file is a run"


def read_sizes_of_runs(table, pattern, column, label):
    """Return a table with what a pattern reads from the names of runs, in a column, and what to report."""
    if column not in table:
        raise InputError(
            f"{label}: from_name reads names of runs, and there is no column {quoted(column)}; the columns are "
            f"{listed(list(table.columns)[:MOST_LISTED])}; name it with {choice(RUN, 'NAME')}"
        )
    return read_sizes(table, column, pattern, "from_name", label)


def find_sizes_in_names(table, tokens):
    """Return the column whose names of runs, models or files state sizes, the option and the pattern; or None.

    The option and the pattern are empty where the names are sizes, such as 70M.

    Examples
    --------
    >>> find_sizes_in_names(pd.DataFrame({"model": ["pythia-70m", "pythia-1.4b"]}), False)
    ('model', 'from_name', 'pythia-{parameters}')
    """
    columns = [name for name in table if re.sub("[^a-z]", "", str(name).lower()) in NAMES]
    for column in (*sorted(columns, key=lambda name: name != RUN), *(["file"] if "file" in table else [])):
        cells = table[column].dropna()
        if cells.empty or not all(isinstance(name, str) for name in cells):
            continue
        names = list(cells.unique())
        if all((number := parsed(name))[0] and "suffix" in number[1] for name in names):
            return column, "", ""
        for pattern in _guess_patterns(names[0], tokens):
            sizes = [match and match["parameters"] for match in (_match(_expression(pattern), name) for name in names)]
            if all(sizes) and (len(set(sizes)) > 1 or len(names) == 1):
                return column, "from_file" if column == "file" else "from_name", pattern
    return None


def _guess_patterns(name, tokens):
    """Yield patterns that read sizes from a name, with {} for other numbers."""
    for size in STRONG.finditer(name) if len(name) <= LONGEST and not re.search("[{}]", name) else ():
        before, after = name[: size.start()], name[size.end() :]
        seen = TOKENS.search(after) if tokens else None
        rest = [before, *((after[: seen.start()], after[seen.end() :]) if seen else (after,))]
        rest = [re.sub(r"[0-9]+(?:\.[0-9]+)?", "{}", part) for part in rest]
        pattern = f"{rest[0]}{{parameters}}{'{tokens}'.join(rest[1:])}"
        if len(pattern) > LONG and not seen:
            pattern = f"{{}}{before[-AROUND:]}{{parameters}}{after[:1]}{{}}"
        if len(FIELD.findall(pattern)) <= MOST_FIELDS:
            yield pattern
