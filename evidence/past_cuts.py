"""Forecasts as of past dates: how their intervals held, and what widening by earlier dates does.

A cut is a dict of quantiles at `PROBABILITIES`, (probability, outcome), under the name of each method, and of what was
``observed``, (outcome,).
"""

import numpy as np
from bayescaling.inference.comparison.scoring import crps

LEVELS = (0.5, 0.9)


def widened(cuts, low=-np.inf, high=np.inf):
    """Widen quantiles of the law about their median by the errors of the cuts before, in sds; the first by nothing."""
    errors, result = [], []
    for of in cuts:
        quantiles, observed = np.array(of["law"]), np.array(of["observed"])
        middle, sd = np.median(quantiles, 0), quantiles.std(0)
        factor = max(1.0, np.sqrt(np.mean(np.square(np.concatenate(errors))))) if errors else 1.0
        result.append(of | {"law": np.clip(middle + factor * (quantiles - middle), low, high)})
        errors.append((observed - middle) / sd)
    return result


def scores(cuts, method):
    """Return coverage by level, the mean CRPS and the mean error, over the outcomes of all cuts."""
    held, error, score = {level: [] for level in LEVELS}, [], []
    for of in cuts:
        quantiles, observed = np.array(of[method]), np.array(of["observed"])
        for level in LEVELS:
            low, high = np.quantile(quantiles, [(1 - level) / 2, (1 + level) / 2], axis=0)
            held[level].append((low <= observed) & (observed <= high))
        error.append(np.median(quantiles, 0) - observed)
        score.append(crps(quantiles, observed))
    return {
        "coverage": {f"{level:g}": float(np.concatenate(of).mean()) for level, of in held.items()},
        "crps": float(np.concatenate(score).mean()),
        "mean_error": float(np.concatenate(error).mean()),
    }
