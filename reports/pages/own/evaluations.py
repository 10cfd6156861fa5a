"""The page of specifications of progress fitted to a custom table of evaluations."""

import html

from ....inference.intervals import entries as entries_of
from ....inference.intervals import finite
from ....inference.progress.rate_at_optimum import doubling_times
from ....inference.progress.rate_at_rows import gain_times
from ....inference.words import MIDDLE
from ....plots import plot_doubling
from ...drawing import checks
from ...html import tables
from ...html.illustrations import pictured
from ...drawing.style import BLUE
from ...entries import fit_entry
from ...html import prose
from ..front.answers import answer, progress_parts
from ..progress.entries import PROBABILITIES
from ..progress.forest import forest
from ..progress.wording import words
from . import fronts
from .runs import laws_table, main_of

QUESTION = "How fast do these models improve?"
STEPS = ()


def entries(fits):
    """Return entries of results.json: each law, with its doubling times in months.

    Under ``doubling`` those at the sizes and dates of the evaluations: ``months`` (quantiles) and ``p_progress``. Under
    ``optimum`` those of `doubling_times`.
    """
    return {
        "laws": {
            name: fit_entry(fit) | {"doubling": _doubling(fit), "optimum": entries_of(doubling_times(fit))}
            for name, fit in fits.items()
        }
    }


def _doubling(fit):
    """Return quantiles of the doubling time at the evaluations, in months, and the probability of progress."""
    row = gain_times(fit, probabilities=list(PROBABILITIES.values())).loc["all"]
    return {"months": {name: finite(row[name]) for name in PROBABILITIES}, "p_progress": float(row["p_progress"])}


def first_screen(stage, fits, document, comparison):
    """Answer how fast algorithms improve at the evaluations, and draw the doubling times of all fits."""
    best, rivals = fronts.best_and_rivals(fits, comparison)
    laws = document["laws"]
    doubling = laws[best]["doubling"]
    named = {"q": doubling["months"], "rows": laws[best]["rows"]}
    named["medians"] = [laws[name]["doubling"]["months"][MIDDLE] for name in rivals]
    probabilities = [laws[name]["doubling"]["p_progress"] for name in (best, *rivals)]
    parts = progress_parts(named, probabilities, laws[best]["verdict"], (best, *rivals))
    document["answers"] = [answer("progress", fronts.PLACE, *parts, document["diagnostics"])]
    return [pictured(plot_doubling, fits, code=f"{fronts.all_opened(fits)}bs.plot_doubling(fits)")]


def sections(fits, document, elpd, comparison, backdrop):
    """Return the sections of the page; parameters as for `runs.sections`, with a backdrop of built-in evaluations."""
    best, laws = main_of(fits, comparison), document["laws"]
    times = {name: _months(entry["doubling"]) for name, entry in laws.items()}
    shown = [_row(name, q, "your evaluations") for name, q in times.items()]
    if backdrop is not None:
        shown.append(_row(backdrop[0], _months(_doubling(backdrop[1])), "built in"))
    blocks = {
        "forest": forest(shown),
        "laws": laws_table(fits, document, comparison),
        "pareto_k": checks.pareto_k(elpd),
        "tests_of_law": tables.tests_of_law(laws[best]),
        "loo_pit": checks.loo_pit(fits[best]),
    }
    return prose.sections(
        __file__,
        blocks,
        template="evaluations.md.jinja",
        escaped=True,
        best=best,
        laws=laws,
        rows=fits[best].rows,
        times=times,
        comparison=comparison,
        words=words,
    )


def _months(doubling):
    return {key: float("inf") if x is None else x for key, x in doubling["months"].items()}


def _row(name, q, group):
    return {"label": html.escape(name), "group": group, "colour": BLUE if group != "built in" else "#6b7280", **q}
