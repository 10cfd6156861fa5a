"""The page on progress since 2023: how fast capability grows at fixed compute, and what that depends on."""

from functools import partial

import pandas as pd

from ....inference.estimands.strength import WEAK, grade_of_direction
from ....inference.words import HIGH, LOW, MIDDLE, month, probability
from ...html import tables as drawn
from ...html import verdicts
from ...html import prose
from . import analysis, figures, tables
from .forms import DEFAULT, FAMILIES, FORMS, OF_SCORES, WITHOUT_REASONING


def _published(published, prefix):
    """Return published estimates, with their intervals, of quantities whose names begin with a prefix."""
    shown = published[published["quantity"].str.startswith(prefix)]
    return [
        {"label": f"{row.source}:<br>{row.note}", MIDDLE: row.estimate}
        | {end: None if pd.isna(x) else x for end, x in ((LOW, row.low), (HIGH, row.high))}
        for row in shown.itertuples()
    ]


def _forms(entry):
    """Return the best form of the trend that lets the gain change, and how far below it in elpd the others are."""
    left_out = {name: of["model"]["forms"] for name, of in entry["forms"]["left_out"].items()}
    changing = {form: result["elpd"] for form, result in left_out[DEFAULT].items() if form != analysis.LINEAR}
    best, trends = max(changing, key=changing.get), entry["scores"]["trends"]["left_out"]
    return {
        "count": len(left_out[DEFAULT]),
        "best": FORMS[best],
        "apart": changing[best] - min(changing.values()),
        "constant": {name: forms[analysis.LINEAR] for name, forms in left_out.items()},
        "quoted": {by: of["forms"][analysis.LINEAR] for by, of in trends.items()},
        "trends": len(trends["model"]["forms"]),
        "dates": entry["forms"]["answers"][DEFAULT]["sampled_break"]["break_date"],
        "without_reasoning": entry["scores"][WITHOUT_REASONING]["break"],
    }


def sections(findings, published):
    """Return the sections of the page, in order; see `Page.sections`."""
    entry = findings.document["since"]
    words = OF_SCORES[entry["quoted"]]
    blocks = {
        "gains": figures.gains(entry),
        "factors": figures.factors(entry, _published(published, "progress_since.factor.")),
        "joint": figures.joint(entry),
        "bridge": figures.bridge(entry, _published(published, "progress.doubling_months.closed_form")),
        **{f"tests_{pace}": drawn.tests_of_law(entry["laws"][fit]) for pace, fit in entry["fits"].items()},
    }
    for table in (tables.forms, tables.scores, tables.periods, tables.earlier, tables.widths, tables.rests,
                  tables.later, tables.frontier, tables.calibration, tables.speeds):  # fmt: skip
        blocks[f"table_{table.__name__}"] = partial(table, entry)
    return prose.sections(
        __file__,
        blocks,
        findings=findings,
        entry=entry,
        claim=grade_of_direction(min(entry["p_faster"].values())),
        forms=_forms(entry),
        names=tables.NAMES,
        words=words,
        with_quoted=[p for name, p in entry["p_faster"].items() if name.endswith((" unit", f", with {words}"))],
        low=[f"{name} ({probability(p)})" for name, p in entry["p_faster"].items() if grade_of_direction(p) == WEAK],
        month=month,
        marked=verdicts.marked,
        of_law=verdicts.of_law,
        of_pit=verdicts.of_pit,
        stages=analysis,
        DEFAULT=DEFAULT,
        FAMILIES=FAMILIES,
    )
