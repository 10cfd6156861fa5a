"""Tables of scores of models on benchmarks."""

import numpy as np
import pandas as pd

from ...errors import InputError
from ..cells import as_days, as_names, as_numbers, fractional_years, others_than, with_halfwidths
from ..checks import Fault, blank, refuse_differences, refuse_duplicate_rows
from ..columns import Called, recognise, recognise_later, recognise_with_unit
from ..meaning.names import words
from ..notation import MISSING, STATES_PERCENT, parsed
from ..panels import one_row_each
from ..schemas import POSITIVE, SHARE, Cells, check
from ..wording import check_choice, listed, plural, quoted
from .kind import Kind, register_kind

CONFIDENCES = ("Confident", "Likely", "Speculative", "Unknown")
OF_A_MODEL = ("date", "training_compute_flop", "compute_confidence", "family")
ITEMS = "items"  # number of questions of a benchmark
TEN = 10  # marks up to ten are no percent
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
UNITS = {"share": 1.0, "percent": 0.01}


def parse(table, changes, columns, where, drop_missing, unit):
    """Check a table of scores, make shares of percent, and add the year of each model that has a date."""
    label, factor = changes.label, factor_of(unit or {})
    table, headers = SCORES.select(table, changes, columns, where, drop_missing)
    in_header = not unit and STATES_PERCENT.search(str(headers["score"]).lower())
    factor = UNITS["percent"] if in_header else factor
    cells, faults = as_numbers(table, SCORES.present(table, ("score", "training_compute_flop", ITEMS)))
    names, nameless = as_names(table, SCORES.present(table, SCORES.text), OF_A_MODEL)
    cells, faults = cells | names, faults + nameless
    if not unit and _are_percent(cells["score"], cells["benchmark"]):
        factor = UNITS["percent"]
    if "compute_confidence" in table:
        confidences = {name.lower(): name for name in CONFIDENCES}
        cells["compute_confidence"] = (
            names["compute_confidence"]
            .map(lambda cell: confidences.get(cell.strip().lower(), cell), na_action="ignore")
            .astype(object)
        )
        faults += others_than(CONFIDENCES, cells["compute_confidence"], optional=True)
    if "date" in table:
        cells["date"], halfwidths, undated = as_days(table["date"], changes, headers.get("date", "date"), optional=True)
        faults += undated
    if in_header and cells["score"].max() <= 1:
        raise InputError(
            f"{label}: column {quoted(headers['score'])} states percent but holds nothing above 1; give its unit with "
            'unit={"score": "share"} or "percent" (--unit score=share)'
        )
    faults += _above(cells["score"], 1 / factor)
    cells["score"] = factor * cells["score"]
    table = check(table.assign(**cells), SCORES, label=label, faults=faults)
    if "date" in table:
        table = with_halfwidths(table, "date", headers.get("date", "date"), halfwidths, changes)
    if factor != 1:
        changes.add("unit", "scores are read as percent", of="score", unit="percent", factor=factor)
    refuse_differences(table, "model", OF_A_MODEL, label)
    text = "model {} has a score on {} before; leave one of them out or give the models different names"
    refuse_duplicate_rows(table, ["model", "benchmark"], text, label)
    return table.assign(year=fractional_years(table["date"])) if "date" in table else table


def _are_percent(scores, benchmarks):
    """Return whether scores without a unit are from 0 to 100, those of every benchmark."""
    largest = scores.groupby(benchmarks).max()
    return TEN < scores.max() <= 100 and bool((largest > 1).all())


def factor_of(unit):
    """Return the factor of the scores, or refuse a unit that is unknown."""
    for column in unit:
        if column != "score":
            fix = '{"score": "percent"} (--unit score=percent)'
            raise InputError(f"unit: {quoted(column)} has none in a table of scores; write {fix}")
    name = unit.get("score", "share")
    check_choice("unit of score:", name, UNITS)
    return UNITS[name]


def _above(scores, most):
    fix = "correct it or delete the row"
    if most == 1 and scores.max() <= 100:
        fix = 'give shares from 0 to 1, or give unit={"score": "percent"} (--unit score=percent)'
    problem = f"which is above {most:g}"
    return [
        Fault(row, "score", f"found {quoted(score)}, {problem}", fix) for row, score in scores.items() if score > most
    ]


# Leaderboards, with a model a row and a benchmark a column, or the reverse --------------------------------------------


def one_row_a_score(frame, name, chosen):
    """Return the scores of a leaderboard as one row each, and any other frame unchanged."""
    roles = {name: Called((name,), chosen, SCORES.aliases) for name in SCORES.needed}
    others = Called(SCORES.optional, chosen, SCORES.aliases)  # those that describe a model
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


SCORES = Kind(
    name="scores",
    built_in="eci_scores",
    dimension="row",
    parse=parse,
    needed=("model", "benchmark", "score"),
    optional=(*OF_A_MODEL, ITEMS),
    cells={
        "score": SHARE,
        "training_compute_flop": POSITIVE.optional,
        ITEMS: Cells(lambda x: x >= 2, "at least 2").optional,
    },
    check_unit=factor_of,
    form=one_row_a_score,
    text=("model", "benchmark", "compute_confidence", "family"),
    days=("date",),
    aliases={
        "model": "modelname modelid llm system",
        "benchmark": "benchmarkname benchmarkid task taskname eval evalname evaluation",
        "score": "scores accuracy acc result scorepercent scorepct accuracypercent accuracypct performance",
        "date": "releasedate modelreleasedate year",
        "training_compute_flop": "trainingcompute trainingflop trainingflops trainflop trainflops traincompute",
        "compute_confidence": "trainingcomputeconfidence",
        "family": "modelfamily",
        ITEMS: "nitems numitems itemcount questions nquestions numquestions",
    },
)
register_kind(SCORES)
