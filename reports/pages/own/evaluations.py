"""The page of specifications of progress fitted to a custom table of evaluations."""

from ....inference.intervals import entries as entries_of
from ....inference.intervals import finite
from ....inference.progress.rate_at_optimum import doubling_times
from ....inference.progress.rate_at_rows import gain_times
from ....inference.words import MIDDLE, months, probability
from ....plots import plot_doubling
from ...html import tables
from ...html.illustrations import pictured
from ..front.answers import answer, progress_parts
from ..progress.entries import PROBABILITIES
from . import fronts

QUESTION = "How fast do these models improve?"


def entry(fit):
    """Return what the entry of a law has here: its doubling times in months.

    Under ``doubling`` those at the sizes and dates of the evaluations: ``months`` (quantiles) and ``p_progress``. Under
    ``optimum`` those of `doubling_times`.
    """
    row = gain_times(fit, probabilities=list(PROBABILITIES.values())).loc["all"]
    doubling = {"months": {name: finite(row[name]) for name in PROBABILITIES}, "p_progress": float(row["p_progress"])}
    return {"doubling": doubling, "optimum": entries_of(doubling_times(fit))}


def first_screen(custom, stage):
    """Answer how fast algorithms improve at the evaluations, and draw the doubling times of all fits."""
    names, laws = (custom.best, *custom.rivals), custom.document["laws"]
    doubling = {name: laws[name]["doubling"] for name in names}
    named = {"q": doubling[custom.best]["months"], "rows": custom.entry["rows"]}
    named["medians"] = [doubling[name]["months"][MIDDLE] for name in custom.rivals]
    probabilities = [of["p_progress"] for of in doubling.values()]
    parts = progress_parts(named, probabilities, custom.entry["verdict"], names)
    custom.document["answers"] = [answer("progress", fronts.PLACE, *parts, custom.diagnostics)]
    drawing = f"bs.plot_doubling(fit{'s' * (len(custom.fits) > 1)}, published={custom.published})"
    code = "" if custom.backdrop else fronts.opened(custom.fits) + drawing
    shown = {custom.best: custom.fit} | custom.fits | dict([custom.backdrop] if custom.backdrop else [])
    return [pictured(plot_doubling, shown, code=code, published=custom.published)]


def sections(custom):
    """Return the sections of the page."""
    rows = [
        {
            "law": name,
            "doubling time (months)": months(of["doubling"]["months"]),
            "P(any progress)": probability(of["doubling"]["p_progress"]),
        }
        for name, of in custom.document["laws"].items()
    ]
    return custom.sections("evaluations.md.jinja", {"rates": tables.html(rows)})
