"""The gain and the yearly factor of a fit of the law of scores by period, and their widths by source."""

import numpy as np

from ....inference import intervals
from ....inference.scores.compute import summary
from ....inference.scores.widths import widths as scores_widths

LINEAR, BREAK = "linear", "break"
PLAIN = "plain"  # form of the scores, without options
QUANTITIES = ("factor", "gain", "halving")
LEVELS = ("q2.5", "q5", "q50", "q95", "q97.5")


def periods(fitted):
    """Return summaries by period and unit: quantiles by quantity, and the probability of progress."""
    summaries = {}
    for (period, unit), row in summary(fitted).iterrows():
        entry = {q: {level: intervals.finite(row[f"{q}_{level}"]) for level in LEVELS} for q in QUANTITIES}
        summaries.setdefault(period, {})[unit] = entry | {"p_progress": float(row["p_progress"])}
    return summaries


def widths(fitted):
    """Return the widths of the factor under a constant gain, by source."""
    return {name: intervals.finite(x) for name, x in scores_widths(fitted).items()}


def of_specifications(constant, changed, scores):
    """Return the spread of the factor under a constant gain between choices of analysis, in powers of ten.

    The choices are that of the whole period, those of one thing changed at a time, and the forms of the scores.
    """
    medians = [entry["all"]["model"]["factor"]["q50"] for entry in changed.values() if entry["specification"]]
    medians += [of[LINEAR]["factors"]["after"]["q50"] for name, of in scores.items() if name != PLAIN]
    return float(np.std(np.log10([constant["model"]["factor"]["q50"], *medians]), ddof=1))
