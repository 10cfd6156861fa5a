"""The page of laws of dated values fitted to a custom table."""

import pandas as pd

from ....inference.intervals import ends
from ....inference.intervals import entries as entries_of
from ....inference.progress.trends import by_form, changes, yearly_gain
from ....inference.words import months, plain, probability
from ...drawing import checks, tables
from ...entries import fit_entry
from ...html import prose
from ...output import file_name
from . import fronts
from .runs import laws_table, main_of

QUESTION = "How fast does the value grow?"
STEPS = ()


def entries(fits):
    """Return entries of results.json: each law, with ``gain`` and, on a log scale, ``days`` of doubling or halving."""
    return {"laws": {name: fit_entry(fit) | _entry(fit) for name, fit in fits.items()}}


def _entry(fit):
    entry = {"gain": entries_of(yearly_gain(fit)), "form": fit.law.trend, "forms": entries_of(by_form(fit))}
    if fit.law.linear_unit is not None:
        return entry
    changed = changes(fit)
    return entry | {
        "days": {str(period): ends(row) for period, (_, row) in changed.items()},
        "change": {str(period): change for period, (change, _) in changed.items()},
    }


def first_screen(stage, fits, document, comparison):
    """Add the answers to the document, and return the figures; `stage` is not needed here."""
    document["answers"] = fronts.values_answers(fits, document, comparison)
    document["optimum"] = None
    return fronts.values_figures(fits, comparison, file_name)


def sections(fits, document, elpd, comparison, backdrop):
    """Return the sections of the page; parameters as for `runs.sections`; there is no backdrop of values."""
    best = main_of(fits, comparison)
    entry = document["laws"][best]
    blocks = {
        "rates": _rates_table(document["laws"]),
        "forms": tables.of_answer(by_form(fits[best]), "form"),
        "laws": laws_table(fits, document, comparison),
        "tests_of_law": tables.tests_of_law(entry),
        "pareto_k": checks.pareto_k(elpd),
    }
    named = {"best": best, "entry": entry, "rows": fits[best].rows, "comparison": comparison}
    return prose.sections(__file__, blocks, template="values.md.jinja", escaped=True, **named)


def _rates_table(laws):
    rows = []
    for name, entry in laws.items():
        for period, gain in entry["gain"].items():
            row = {"law": name, "period": period, "gain a year": plain(gain, "{:.3g}")}
            if "days" in entry:
                row["days to double or halve"] = months(entry["days"][period])
            rows.append(row | {"P(growth)": probability(gain["p_growth"])})
    note = "Factors a year on a log scale, gains in the unit of the values on a linear one; medians and 95% intervals."
    return tables.html(pd.DataFrame(rows), rowname="law", note=note)
