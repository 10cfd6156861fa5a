"""The page of laws of time horizons fitted to a custom table of successes."""

import pandas as pd

from ....inference.horizons.quantities import SHARES
from ....inference.horizons.quantities import summary as horizon_summary
from ....inference.intervals import entries as entries_of
from ....inference.progress.trends import dates_reached, doubling_days
from ....inference.words import dates, durations, months, probability
from ...drawing import checks, tables
from ...entries import fit_entry
from ...html import prose
from ...output import file_name
from . import fronts
from .runs import laws_table, main_of

QUESTION = "How long are the tasks that these models do?"
STEPS = ()
MOST = 30  # models that the page shows; results.json has all
ENDS = ("q2.5", "q50", "q97.5")


def entries(fits):
    """Return entries of results.json: each law, with ``models`` and, of a dated law, ``doubling`` and ``dates``."""
    return {"laws": {name: fit_entry(fit) | _entry(fit) for name, fit in fits.items()}}


def _entry(fit):
    table = horizon_summary(fit)
    entry = {"models": {model: entries_of(table.loc[model]) for model in table.index.unique("model")}}
    if fit.law.trend is None:
        return entry
    return entry | {"doubling": entries_of(doubling_days(fit)), "dates": entries_of(dates_reached(fit))}


def first_screen(stage, fits, document, comparison):
    """Add the answers to the document, and return the figures; `stage` is not needed here."""
    document["answers"] = fronts.horizons_answers(fits, document, comparison)
    document["optimum"] = None
    return fronts.horizons_figures(fits, comparison, file_name)


def sections(fits, document, elpd, comparison, backdrop):
    """Return the sections of the page; parameters as for `runs.sections`; there is no backdrop of successes."""
    best = main_of(fits, comparison)
    entry = document["laws"][best]
    blocks = {
        "models": _models_table(entry),
        "doubling": _doubling_table(entry) if "doubling" in entry else None,
        "dates": _dates_table(entry) if "dates" in entry else None,
        "laws": laws_table(fits, document, comparison),
        "tests_of_law": tables.tests_of_law(entry),
        "pareto_k": checks.pareto_k(elpd),
    }
    unsolved = sum(shares["0.5"]["solved"] == 0 for shares in entry["models"].values())
    named = {"best": best, "entry": entry, "rows": fits[best].rows, "comparison": comparison, "unsolved": unsolved}
    return prose.sections(__file__, blocks, template="horizons.md.jinja", escaped=True, **named)


def _models_table(entry):
    rows = [
        {"model": model}
        | {f"{share:.0%} of runs": durations(shares[f"{share:g}"]) for share in SHARES}
        | {"runs with any success": f"{shares['0.5']['solved']:.0%}"}
        for model, shares in list(entry["models"].items())[:MOST]
    ]
    note = (
        f"Human time of the typical task that a model does in a share of its runs, of the {len(rows)} latest of "
        f"{len(entry['models'])} models; medians and 95% intervals."
    )
    return tables.html(pd.DataFrame(rows), rowname="model", note=note)


def _doubling_table(entry):
    rows = [
        {"period": period, "days": months({end: row[end] for end in ENDS}), "P(growth)": probability(row["p_growth"])}
        for period, row in entry["doubling"].items()
    ]
    return tables.html(pd.DataFrame(rows), rowname="period", note="Days in which horizons double.")


def _dates_table(entry):
    rows = [
        {
            "human time": name,
            "date": dates({end: row[end] for end in ENDS}),
            "P(not by 2035)": probability(row["p_not_until"]),
        }
        for name, row in entry["dates"].items()
    ]
    note = "When the mean horizon, of half of the runs, reaches it, if the trend has this form."
    return tables.html(pd.DataFrame(rows), rowname="human time", note=note)
