"""Tables of scores of models on benchmarks."""

from ...errors import InputError
from ..cells import as_days, as_names, as_numbers, fractional_years, others_than, with_halfwidths
from ..checks import Fault, refuse_differences, refuse_duplicate_rows
from ..columns import Called
from ..leaderboards import one_row_a_score
from ..notation import STATES_PERCENT
from ..schemas import POSITIVE, SHARE, Cells, check
from ..wording import check_choice, quoted
from .kind import Kind, register_kind

CONFIDENCES = ("Confident", "Likely", "Speculative", "Unknown")
OF_A_MODEL = ("date", "training_compute_flop", "compute_confidence", "family")
ITEMS = "items"  # number of questions of a benchmark
TEN = 10  # marks up to ten are no percent
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

    def describe(model, benchmark):
        text = f"model {quoted(model)} has a score on {quoted(benchmark)} before"
        return f"{text}; leave one of them out or give the models different names"

    refuse_duplicate_rows(table, ["model", "benchmark"], describe, label)
    return table.assign(year=fractional_years(table["date"])) if "date" in table else table


def _one_row_a_score(frame, label, columns):
    roles = {name: Called((name,), columns, SCORES.aliases) for name in SCORES.needed}
    return one_row_a_score(frame, label, roles, Called(SCORES.optional, columns, SCORES.aliases))


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
    form=_one_row_a_score,
    text=("model", "benchmark", "compute_confidence", "family"),
    days=("date",),
    aliases={
        "model": "modelname modelid llm system",
        "benchmark": "benchmarkname benchmarkid task taskname eval evalname evaluation",
        "score": "scores accuracy acc result scorepercent scorepct accuracypercent accuracypct performance",
        "date": "releasedate modelreleasedate",
        "training_compute_flop": "trainingcompute trainingflop trainingflops trainflop trainflops traincompute",
        "compute_confidence": "trainingcomputeconfidence",
        "family": "modelfamily",
        ITEMS: "nitems numitems itemcount questions nquestions numquestions",
    },
)
register_kind(SCORES)
