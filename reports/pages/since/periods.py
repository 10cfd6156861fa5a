"""The gain and the yearly factor of a fit of the law of scores by period."""

from ....inference import intervals
from ....inference.scores.compute import summary

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
