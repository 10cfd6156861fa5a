"""Leaderboards: tables with a model a row and a benchmark a column, or the reverse, as one row a score."""

import numpy as np
import pandas as pd

from .checks import blank
from .columns import recognise, recognise_later, recognise_with_unit
from .meaning.names import words
from .notation import MISSING, parsed
from .panels import one_row_each
from .wording import listed, plural

AVERAGES = {"average", "avg", "mean", "overall", "aggregate"}
# Words of columns that describe a model, or have points of another kind.
DESCRIPTIONS = {
    *{"params", "param", "parameters", "size", "flop", "flops", "compute", "tokens", "layers", "window", "date"},
    *{"year", "released", "rank", "position", "id", "price", "cost", "co2", "kg", "votes", "likes", "downloads"},
    *{"elo", "speed", "latency", "seconds", "gb", "items", "questions", "version", "shots", "seed", "stderr", "hub"},
}
BLANKS = MISSING | {"-", "--", "\u2013", "\u2014", "?", "tbd"}
LEAST, LEAST_OF_A_MEAN = 2, 3  # columns, and rows of a mean
NEAR = 6e-4  # of the range, between a mean with one decimal in percent and that of the columns
SHOWN = 6  # names in a note


def one_row_a_score(frame, name, roles, others):
    """Return the scores of a leaderboard as one row each, and any other frame unchanged.

    `roles` has the columns that are called model, benchmark and score, `others` those that describe a model.
    """
    columns = {role: [x for x in frame if x in called] for role, called in roles.items()}
    if columns["score"] or (columns["model"] and columns["benchmark"]):
        return frame
    down, along = ("benchmark", "model") if columns["benchmark"] else ("model", "benchmark")
    texts = [x for x in frame if frame[x].map(lambda cell: isinstance(cell, str)).all() and x not in others]
    first = (columns[down] or texts)[:1]
    free = [x for x in frame if x not in first and x not in others]
    numeric = {x: values for x in free if (values := _read_scores(x, frame[x])) is not None}
    means = _find_averages(numeric)
    sides = {side: [x for x in numeric if x not in means and (numeric[x].max() > 1) == side] for side in (True, False)}
    scores = max(sides.values(), key=len)
    if not first or len(scores) < LEAST:
        return frame
    rows = frame.rename(columns={} if columns[down] else {first[0]: down}).drop(columns=means)
    if along == "model":
        rows = rows[~rows[first[0]].map(lambda cell: bool(AVERAGES & set(words(cell))))]
    table = one_row_each(rows, scores, name, lambda x: {along: str(x), "score": rows[x]})
    table = table[~table["score"].map(_is_blank)]
    sentence = f"a leaderboard is read as {plural(len(table), 'score')} of {plural(len(scores), along)}"
    sentence += f": {listed(scores, SHOWN)}" + (f"; averages are left out: {listed(means)}" if means else "")
    if aside := [x for x in (*sides[True], *sides[False]) if x not in scores]:
        sentence += f"; {listed(aside, SHOWN)} in another range than most of them, which describe the {down}"
    table.attrs["sentences"] = [*frame.attrs.get("sentences", []), sentence]
    return table


def _is_blank(cell):
    return blank(cell) or str(cell).strip().lower() in BLANKS


def _read_scores(header, cells):
    """Return the numbers of a column that may have scores, from 0 to 1 or to 100, or None."""
    sizes = recognise(header) or recognise_with_unit(header) or recognise_later(header)
    if sizes or DESCRIPTIONS & set(words(header)) or cells.map(lambda x: isinstance(x, bool | np.bool_)).any():
        return None
    numbers = {row: parsed(str(cell)) for row, cell in cells.items() if not _is_blank(cell)}
    if not numbers or any(x is None or "suffix" in marks for x, marks in numbers.values()):
        return None
    values = pd.Series({row: x for row, (x, _) in numbers.items()})
    flags = len(values) > LEAST and set(values) <= {0, 1}
    return values if values.between(0, 100).all() and not flags else None


def _find_averages(numeric):
    """Return the columns that are averages by name, or the mean of the other columns in every row."""
    named = [x for x in numeric if AVERAGES & set(words(x))]
    rest = pd.DataFrame({x: values for x, values in numeric.items() if x not in named})
    for x in rest if len(rest.columns) > LEAST_OF_A_MEAN else ():
        means = rest.drop(columns=x).mean(axis=1, skipna=False)
        misses = (rest[x] - means).abs().dropna() / (100 if rest[x].max() > 1 else 1)
        if len(misses) >= LEAST_OF_A_MEAN and (misses < NEAR).all():
            named.append(x)
    return named
