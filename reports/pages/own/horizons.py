"""The page of laws of time horizons fitted to a custom table of successes."""

from ....datasets.wording import printable
from ....inference.horizons.quantities import summary as horizon_summary
from ....inference.intervals import entries as entries_of
from ....inference.progress.trends import dates_reached, doubling_days
from ....inference.words import MIDDLE
from ....plots import plot_horizons
from ...html import tables
from ...entries import fit_entry
from ..front.answers import width
from . import fronts
from .runs import main_of, short_sections

QUESTION = "How long are the tasks that these models do?"
STEPS = ()
HALF = "0.5"  # of runs succeed


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
    """Answer how long the tasks of the ablest model are, and how fast horizons double; draw horizons by date."""
    best = main_of(fits, comparison)
    entry = document["laws"][best]
    solved = {name: shares[HALF] for name, shares in entry["models"].items() if shares[HALF]["solved"]}
    if solved:
        first = max(solved, key=lambda name: solved[name][MIDDLE])
        doubling = entry.get("doubling")
        named = {
            "best": printable(first),
            "q": solved[first],
            "count": len(entry["models"]),
            "days": list(doubling.values())[-1] if doubling else None,
        }
        document["answers"] = [fronts.answered("horizons", document, best, named, width=width(solved[first]))]
    return [fronts.drawn(plot_horizons, fits, best)]


def sections(fits, document, elpd, comparison, backdrop):
    """Return the sections of the page; parameters as for `runs.sections`; there is no backdrop of successes."""
    best = main_of(fits, comparison)
    entry = document["laws"][best]
    blocks = {
        "models": tables.of_answer(horizon_summary(fits[best]), "model"),
        "doubling": tables.of_answer(doubling_days(fits[best]), "period") if "doubling" in entry else None,
        "dates": tables.of_answer(dates_reached(fits[best]), "human time") if "dates" in entry else None,
    }
    unsolved = sum(shares[HALF]["solved"] == 0 for shares in entry["models"].values())
    return short_sections("horizons.md.jinja", fits, document, elpd, comparison, blocks, unsolved=unsolved)
