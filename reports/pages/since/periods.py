"""The gain and the yearly factor of a fit of the law of scores by period, and their widths by source."""

import numpy as np

from ....inference import intervals
from ....inference.scores.compute import summary
from ....inference.scores.widths import widths

LINEAR, BREAK = "linear", "break"
QUANTITIES = ("factor", "gain", "halving")
LEVELS = ("q2.5", "q5", "q50", "q95", "q97.5")


def periods(fitted):
    """Return summaries by period and unit: quantiles by quantity, and the probability of progress."""
    summaries = {}
    for (period, unit), row in summary(fitted).iterrows():
        entry = {q: {level: intervals.finite(row[f"{q}_{level}"]) for level in LEVELS} for q in QUANTITIES}
        summaries.setdefault(period, {})[unit] = entry | {"p_progress": float(row["p_progress"])}
    return summaries


def sources(fitted, changed):
    """Return the widths of the factor under a constant gain by source, including the choice of specification.

    Parameters
    ----------
    fitted : Fit
    changed : dict
        The study of one thing changed at a time.
    """
    sds = {name: intervals.finite(x) for name, x in widths(fitted).items()}
    median = periods(fitted)["all"]["model"]["factor"]["q50"]
    medians = [entry["all"]["model"]["factor"]["q50"] for entry in changed.values() if entry["specification"]]
    return sds | {"specification": float(np.std(np.log10([median, *medians]), ddof=1))}
