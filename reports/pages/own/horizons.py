"""The page of laws of time horizons fitted to a custom table of successes."""

from ....datasets.wording import printable
from ....inference.horizons.quantities import summary as horizon_summary
from ....inference.intervals import entries as entries_of
from ....inference.progress.trends import dates_reached, doubling_days
from ....inference.words import MIDDLE
from ....plots import plot_horizons
from ...html import tables
from ..front.answers import width

QUESTION = "How long are the tasks that these models do?"
HALF = "0.5"  # of runs succeed


def entry(fit):
    """Return what the entry of a law has here: ``models`` and, of a dated law, ``doubling`` and ``dates``."""
    table = horizon_summary(fit)
    models = {"models": {model: entries_of(table.loc[model]) for model in table.index.unique("model")}}
    if fit.law.trend is None:
        return models
    return models | {"doubling": entries_of(doubling_days(fit)), "dates": entries_of(dates_reached(fit))}


def first_screen(custom, stage):
    """Answer how long the tasks of the ablest model are, and how fast horizons double; draw horizons by date."""
    models, doubling = custom.entry["models"], custom.entry.get("doubling")
    solved = {name: shares[HALF] for name, shares in models.items() if shares[HALF]["solved"]}
    if solved:
        first = max(solved, key=lambda name: solved[name][MIDDLE])
        named = {
            "best": printable(first),
            "q": solved[first],
            "count": len(models),
            "days": list(doubling.values())[-1] if doubling else None,
        }
        custom.document["answers"] = [custom.answered("horizons", named, width=width(solved[first]))]
    return [custom.drawn(plot_horizons)]


def sections(custom):
    """Return the sections of the page."""
    blocks = {
        "models": tables.of_answer(horizon_summary(custom.fit), "model"),
        "doubling": tables.of_answer(doubling_days(custom.fit), "period") if "doubling" in custom.entry else None,
        "dates": tables.of_answer(dates_reached(custom.fit), "human time") if "dates" in custom.entry else None,
    }
    unsolved = sum(shares[HALF]["solved"] == 0 for shares in custom.entry["models"].values())
    return custom.sections("horizons.md.jinja", blocks, unsolved=unsolved)
