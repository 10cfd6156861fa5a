"""Logs of trainers: lines such as ``iter 100: loss 3.21, lr 3e-4``, read as a row for each reading."""

import functools
import re

import numpy as np
import pandas as pd

from .json_tables import read_json, read_json_lines
from .text import decode, read_separated
from .units import FACTORS

# Of a line in lower case.
NUMBER = (
    r"""\b['"]?\s*[:=]?\s*['"\[(]?(nan|[+-]?inf|[+-]?(?:\d[\d,]*\.?\d*|\.\d+)(?:e[+-]?\d+)?)([kmb]?)(?![\w%]|\.\d)"""
)
KEYS = {
    "loss": r"(?:loss|cross_?entropy)(?:[ _]value)?(?: train| val)?",
    "step": r"(?:(?:global[_ ])?steps?|num_updates)",
    "iter": r"iter(?:ation)?",
    "epoch": r"epoch",
    "tokens": r"(?:(?:consumed|total|n|num)[_ ])?tokens(?:[_ ]seen)?",
    "rate": r"(?:lrm?|learning[_ ]rate)(?:_group0)?",
}
LOSS, *OTHERS = KEYS.values()
PREFIX = r"(?<![\w/])(?<!per )(?:(?:train(?:er)?|optim|throughput)/)?"
CELL = re.compile(f"({LOSS}|{PREFIX}(?:{'|'.join(OTHERS)})){NUMBER}")
BEFORE = re.compile(r"(?:[a-z]\w*[ /_])?[\w/.-]*$")  # the rest of the name of a loss
EVALUATED = re.compile(r"\b(?:val|eval)")
OF_LLM_C = {"s": "step", "trl": "train loss", "tel": "val loss"}  # a line is s:250 tel:3.45
SHORT = re.compile(rf"(?<!\S)({'|'.join(OF_LLM_C)}):(?=[0-9])")
COLOURS = re.compile(r"\x1b\[[0-9;]*m")
LONGEST = 48  # characters of the name of a loss
NO_LOG = "no line of it has a step and a loss, such as 'iter 100: loss 3.21'; give the log or the table of a run"
HALF = "the last line has no end, as in a file that is being written, and is left out"


def read_log(data, label, text=()):
    """Read the lines of a log that have a loss, those of one step as one row; a text without any is a table."""
    lines = []
    for number, line in enumerate(decode(data, label).split("\n"), 1):
        lines += [(number, cells) for part in line.split("\r") if (cells := read_line(part))]
    # Where lines have both, an iteration is part of a step; else they are one thing.
    steps = {cells["iter"]: cells["step"] for _, cells in lines if {"iter", "step"} <= {*cells}}
    rows = []
    for number, cells in lines:
        if "iter" in cells and "step" not in cells:
            iteration = cells.pop("iter")
            cells |= {"step": steps.get(iteration) if steps else iteration}
        clock = "step" if "step" in cells else "epoch" if "epoch" in cells else None
        same = bool(rows) and (clock is None or rows[-1].get(clock) == cells[clock])
        if same and (clock is None or not {*cells} & {*rows[-1]} - {"step", "epoch"}):
            rows[-1] = cells | rows[-1]
        elif clock:
            rows.append({"line": number} | cells)
    names = dict.fromkeys(name for row in rows for name in row)
    losses = {name for name in names if name not in {"line", *KEYS} - {"loss"}}
    rows = [row for row in rows if row.get("step", row.get("epoch")) is not None and not losses.isdisjoint(row)]
    if not rows:
        return read_separated(data, label, text, NO_LOG)
    columns = {name: [row.get(name, np.nan) for row in rows] for name in names if name != "line"}
    frame = pd.DataFrame(columns, index=pd.Index([row["line"] for row in rows], name="line", dtype="int64"))
    return frame.dropna(axis="columns", how="all")


def read_line(line):
    """Return the numbers of a line by name; that of a loss of an evaluation begins with val, and nan is text.

    Examples
    --------
    >>> read_line("step 50: train loss 2.25, val loss 2.5")
    {'step': 50.0, 'train_loss': 2.25, 'val_loss': 2.5}
    """
    cells, line = {}, SHORT.sub(lambda match: f"{OF_LLM_C[match[1]]} ", COLOURS.sub("", line).lower())
    for match in CELL.finditer(line) if "train_runtime" not in line else ():
        key, number, suffix = match.groups()
        name, start = _name_cell(key), match.start()
        if name == "loss" or name not in KEYS:
            name = _name_cell(key, BEFORE.search(line, max(0, start - LONGEST), start)[0])
            if "val" in line and not ("train" in name or "val" in name) and EVALUATED.search(line, 0, start):
                name = f"val_{name}"
        cells.setdefault(name, number if number == "nan" else _read_number(number, suffix))
    return cells


@functools.cache
def _name_cell(key, before=""):
    """Return the name of a cell by its key, of a loss with what is before it in the line."""
    name = next(name for name, words in KEYS.items() if re.search(words, key))
    word, *of = re.findall("[a-z_]+", key.replace("value", ""))
    return "_".join([*of, *f"{before}{word.rstrip('_')}".split(" ")]) if name == "loss" else name


def _read_number(text, suffix):
    return float(text.replace(",", "")) * FACTORS.get(suffix, 1)


def _leave_out_half(reader):
    """Make a reader that leaves out a last line without an end, unless it is an object."""

    def read(data, label, text=()):
        whole, end, last = data.rpartition(b"\n")
        half = bool(end and last.strip()) and not last.rstrip().endswith(b"}")
        frame = reader(whole if half else data, label, text)
        if half:
            frame.attrs["sentences"] = [*frame.attrs.get("sentences", []), HALF]
        return frame

    return read


READERS = dict.fromkeys((".log", ".out", ".txt", ".dat", ""), _leave_out_half(read_log))
READERS |= dict.fromkeys((".csv", ".tsv"), _leave_out_half(read_separated))
READERS |= dict.fromkeys((".jsonl", ".ndjson"), _leave_out_half(read_json_lines)) | {
    ".json": functools.partial(read_json, every_step=True)
}
