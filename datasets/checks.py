"""Checks of a table: unusable cells, sizes that disagree, and notes and warnings to the user."""

import sys
import warnings
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from ..errors import InputError, TableNote
from .columns import HEADERS
from .fixes import choice, setting_aside
from .wording import quoted

LEFT_OUT = "such rows can be left out with drop_missing=True (--drop-missing)"
SHOWN = 10  # faults in one message

# Characters of a message, which has fewer faults where they are long.
LONGEST = 600

DISAGREEMENT = 0.01  # of a compute with 6ND, as a share
ROUNDING = 1e-12
PACKAGE = __name__.partition(".")[0]


# Faults of cells ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Fault:
    """One cell that cannot be used: its row in the index, its column, the problem and how to fix it."""

    row: object
    column: object
    problem: str
    fix: str


def in_file(faults, headers):
    """Return faults whose columns are called as in the file; `headers` has its names by those of the result."""
    return [replace(fault, column=headers.get(fault.column, fault.column)) for fault in faults]


def place(frame, row):
    """Return in words where the row with index `row` is."""
    if frame.index.name == "place":
        return row
    return f"line {row}" if frame.index.name == "line" else f"row {row} (counting from 0)"


def header_of(frame, column):
    """Return the name that the file gives a column."""
    return frame.attrs.get(HEADERS, {}).get(column, column)


def blank(cell):
    """Return whether a cell is empty; a list is not, however short."""
    return bool(pd.api.types.is_scalar(cell) and pd.isna(cell))


def refuse(faults, frame, label):
    """Raise one error for all faults of cells, if there are any: as many as 600 characters hold, up to ten."""
    faults = list(faults)
    if not faults:
        return
    position = {row: number for number, row in enumerate(frame.index)}
    faults.sort(key=lambda fault: position[fault.row])
    messages = (_message(faults, number, frame, label) for number in range(min(SHOWN, len(faults)), 0, -1))
    message = next(messages)
    while len(message) > LONGEST and (shorter := next(messages, None)):
        message = shorter
    raise InputError(message)


def _message(faults, number, frame, label):
    shown = faults[:number]
    cells = [f"{place(frame, x.row)}, column {quoted(header_of(frame, x.column))}: {x.problem}" for x in shown]
    fixes = "; ".join(dict.fromkeys(part for fault in shown for part in fault.fix.split("; ")))
    if len(faults) == 1:
        return f"{label}, {cells[0]}; {fixes}"
    numbered = " ".join(f"({number}) {cell}" for number, cell in enumerate(cells, 1))
    more = f" and {len(faults) - number} more" if len(faults) > number else ""
    return f"{label}: {len(faults)} cells cannot be used: {numbered}{more}; {fixes}"


def refuse_first(wrong, column, describe, fix, table, label, others=""):
    """Refuse the first row that is `wrong`: `describe` tells what it holds, `others` the number of further rows."""
    if wrong.any():
        row, count = wrong.idxmax(), wrong.sum() - 1
        more = others.format(count) if count else ""
        raise InputError(f"{label}, {place(table, row)}, column {quoted(column)}: found {describe(row)}{more}; {fix}")


def refuse_differences(table, group, columns, label):
    """Refuse a table in which rows of one `group`, such as a run, differ in a column that must be constant."""
    number, _ = pd.factorize(table[group])
    _, earliest = np.unique(number, return_index=True)
    for column in columns:
        if column not in table:
            continue
        cells = table[column]
        first = cells.iloc[earliest[number]].set_axis(cells.index)
        # A comparison of arrays in cells gives an array, not one truth value.
        wrong = cells != first if cells.dtype != object else cells.map(repr) != first.map(repr)
        wrong &= ~(cells.isna() & first.isna())

        def describe(row, cells=cells, first=first):
            value, before = ("nothing" if blank(cell) else quoted(cell) for cell in (cells[row], first[row]))
            return f"{value} where {group} {quoted(table.at[row, group])} had {before} before"

        refuse_first(wrong, header_of(table, column), describe, f"give each {group} a separate name", table, label)


def refuse_duplicate_rows(table, key, text, label, *, also=()):
    """Refuse a second row of the same values in the columns `key`, for which the text has braces, and in `also`."""
    wrong = table.duplicated([*key, *also])
    if wrong.any():
        row = wrong.idxmax()
        cells = (quoted(x) if isinstance(x, str) else x for x in (table.at[row, column] for column in key))
        raise InputError(f"{label}, {place(table, row)}: {text.format(*cells)}")


# Sizes that disagree --------------------------------------------------------------------------------------------------


def check_agreement(runs, names, label, fix=""):
    """Refuse a compute that is not 6ND, with a likely cause or the `fix` of the caller."""
    expected = 6 * runs["parameters"] * runs["tokens"]
    ratio = runs["training_flop"] / expected
    wrong = (ratio - 1).abs() > DISAGREEMENT
    if not wrong.any():
        return
    apart = setting_aside(names["training_flop"])
    fix = fix or (
        f"if the FLOP count attention or only part of the run, leave them out with {apart}; if the parameters count no "
        f"embeddings, name them so with {choice('parameters_nonembedding', names['parameters'])}; else correct them"
    )

    def describe(row):
        flop = quoted(runs.at[row, "training_flop"])
        return f"{flop} where 6 x parameters x tokens is {quoted(expected[row])} (ratio {ratio[row]:.4g})"

    refuse_first(wrong, names["training_flop"], describe, fix, runs, label, ", and so in {} more rows")


def check_at_most(part, whole, whole_text, runs, names, label):
    """Refuse a part that is above the whole."""
    if part in runs and whole in runs and part in names:

        def describe(row):
            return f"{quoted(runs.at[row, part])} where {whole_text} are {quoted(runs.at[row, whole])}"

        # Tokens derived from FLOP can differ from the original in the last digit.
        wrong = runs[part] > runs[whole] * (1 + ROUNDING)
        fix = f"correct it, or leave the column out with {setting_aside(names[part])}"
        refuse_first(wrong, names[part], describe, fix, runs, label, ", and so in {} more rows")


# Notes and warnings ---------------------------------------------------------------------------------------------------


class Changes:
    """Record in `entries` what reading a table left out or changed, and warn of each change."""

    def __init__(self, label, table):
        self.label, self.entries = label, list(table.attrs.get("reading", []))
        for sentence in table.attrs.get("sentences", []):
            self.add("source", sentence, what=sentence)

    def add(self, option, sentence, **details):
        """Record a change that an option, or the table itself, made and warn of it."""
        self.entries.append({"option": option, **details})
        warn(f"{self.label}: {sentence}", TableNote)


def warn(message, category):
    """Warn at the line outside the package that reads the table."""
    level, frame = 1, sys._getframe()
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == PACKAGE:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
