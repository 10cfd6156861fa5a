"""The fall of compute at a fixed result from 2012 to 2023, to compare with the period since."""

import numpy as np

from ....datasets import load
from ....inference import fit, intervals
from ....inference.checks.sandwich import quotable
from ....inference.progress.rate_at_rows import compute_equivalent_gain
from ....models.progress.growth import doubling_quantiles
from ....models.progress.law import Progress

SPECIFICATION = 7  # the preferred one of Ho et al. (2024)
UNITS = {"rows": {"paper_effects": False}, "papers": {"paper_effects": True}}
# Names of the same fits on the page on progress.
SHARED = {"rows": f"progress-{SPECIFICATION}", "papers": f"progress-{SPECIFICATION}, paper effects"}


def earlier_progress(options, shared):
    """Compute the fall of compute at fixed loss from the evaluations of 2012 to 2023.

    Parameters
    ----------
    options : dict
        Of fits that are made here.
    shared : dict of str to Fit
        Fits by unit that another page made. They are used unchanged, so that both pages print one interval.

    Returns
    -------
    entry : dict
        ``specification``, ``counts`` and ``units``. The last has, by rows and by papers, quantiles of the yearly
        ``factor`` and of the ``halving`` time in months.
    fits : dict of str to Fit
        Those that were made here, by unit.
    """
    table = load("lm_progress")
    levels = list(intervals.QUANTILES.values())
    missing = {unit: noise for unit, noise in UNITS.items() if unit not in shared}
    fits = {unit: fit(Progress(SPECIFICATION, **noise), table, **options) for unit, noise in missing.items()}
    units = {}
    for unit in UNITS:
        fitted = (fits | shared)[unit]
        rate = quotable(fitted, {"rate": compute_equivalent_gain(fitted)})["rate"].values.ravel()
        factors, months = np.exp(np.quantile(rate, levels)), doubling_quantiles(rate, levels)
        units[unit] = {
            name: dict(zip(intervals.QUANTILES, map(intervals.finite, values), strict=True))
            for name, values in (("factor", factors), ("halving", months))
        }
    counts = {"evaluations": len(table), "papers": int(table["paper_id"].nunique())}
    return {"specification": SPECIFICATION, "counts": counts, "units": units}, fits
