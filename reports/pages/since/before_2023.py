"""The fall of compute at a fixed result from 2012 to 2023, to compare with the period since."""

from ....datasets import load
from ....inference.progress.rate_at_rows import fall
from ...laws import EFFECTS, INDEPENDENT, MAIN, name_of_fit

# Names of the fits of the page on progress, by what is independent.
SHARED = {unit: name_of_fit(MAIN, noise) for unit, noise in (("rows", INDEPENDENT), ("papers", EFFECTS))}


def earlier_progress(fits, study):
    """Return the fall of compute at fixed loss from the evaluations of 2012 to 2023.

    `fits`, by unit, are those of the page on progress, so that both pages print one interval. For units without a fit
    `study` has results of `fall` by the name of the fit. ``units`` are `fall` by rows and by papers.
    """
    table = load("lm_progress")
    counts = {"evaluations": len(table), "papers": int(table["paper_id"].nunique())}
    units = {unit: fall(fits[unit]) if unit in fits else study[name] for unit, name in SHARED.items()}
    return {"specification": MAIN, "counts": counts, "units": units}
