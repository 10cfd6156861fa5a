"""The page of laws of time horizons fitted to a custom table of successes."""

from ....inference.horizons.quantities import summary as horizon_summary
from ....inference.intervals import entries as entries_of
from ....inference.progress.trends import dates_reached, doubling_days
from ...drawing import checks, tables
from ...entries import fit_entry
from ...html import prose
from ...output import file_name
from . import fronts
from .runs import laws_table, main_of

QUESTION = "How long are the tasks that these models do?"
STEPS = ()


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
        "models": tables.of_answer(horizon_summary(fits[best]), "model"),
        "doubling": tables.of_answer(doubling_days(fits[best]), "period") if "doubling" in entry else None,
        "dates": tables.of_answer(dates_reached(fits[best]), "human time") if "dates" in entry else None,
        "laws": laws_table(fits, document, comparison),
        "tests_of_law": tables.tests_of_law(entry),
        "pareto_k": checks.pareto_k(elpd),
    }
    unsolved = sum(shares["0.5"]["solved"] == 0 for shares in entry["models"].values())
    named = {"best": best, "entry": entry, "rows": fits[best].rows, "comparison": comparison, "unsolved": unsolved}
    return prose.sections(__file__, blocks, template="horizons.md.jinja", escaped=True, **named)
