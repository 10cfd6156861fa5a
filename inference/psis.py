"""Importance weights whose largest are smoothed by a Pareto distribution, and its k.

References
----------
.. [1] Vehtari, A., Simpson, D., Gelman, A., Yao, Y. and Gabry, J. (2024). Pareto smoothed importance sampling. JMLR 25.
.. [2] Zhang, J. and Stephens, M. A. (2009). A new and efficient estimation method for the generalized Pareto
   distribution. Technometrics 51.
"""

import numpy as np

LEAST_TAIL = 5
PRIOR_DRAWS, PRIOR_K = 10, 0.5  # the draws that a prior of k at 0.5 is worth


def pareto_smoothed(log_ratios, efficiency=1.0):
    """Smooth log weights, (draw,); the exponentials of the result add up to 1 [1]_.

    The efficiency is effective draws over draws. The Pareto k is infinite, and the weights unchanged, where no Pareto
    distribution can be fitted. This is so where the tail has fewer than five draws, where they are all the same, or
    where one ratio is so large that the others vanish.
    """
    count = len(log_ratios)
    size = int(3 * np.sqrt(count / efficiency) if count * efficiency > 225 else count / 5)
    weights, k = log_ratios - log_ratios.max(), np.inf
    if LEAST_TAIL <= size < count:
        # Those of the tail in order, after the largest that is not in it.
        ordered = np.argpartition(weights, count - size - 1)[-size - 1 :]
        ordered = ordered[np.argsort(weights[ordered])]
        ratios = np.exp(weights[ordered])
        with np.errstate(all="ignore"):
            k, scale = _pareto(ratios[1:] - ratios[0])
            shares = np.arange(0.5, size) / size
            quantiles = -np.log1p(-shares) if k == 0 else np.expm1(-k * np.log1p(-shares)) / k
            smooth = np.log(ratios[0] + scale * quantiles)
        if np.isfinite(smooth).all():
            weights[ordered[1:]] = np.minimum(smooth, 0.0)
        else:
            k = np.inf
    return weights - np.log(np.exp(weights).sum()), float(k)


def _pareto(excesses):
    """Return k and the scale of a Pareto distribution of excesses in order [2]_; infinite where none fits."""
    count, quartile = len(excesses), excesses[int(len(excesses) / 4 + 0.5) - 1]
    if quartile <= excesses[0]:
        return np.inf, np.nan
    grid = 30 + int(np.sqrt(count))
    rates = 1 / excesses[-1] + (1 - np.sqrt(grid / (np.arange(grid) + 0.5))) / (3 * quartile)
    shapes = np.log1p(-rates[:, None] * excesses).mean(1)
    log_profile = count * (np.log(-rates / shapes) - shapes - 1)
    posterior = np.exp(log_profile - log_profile.max())
    rate = (rates * posterior).sum() / posterior.sum()
    shape = np.log1p(-rate * excesses).mean()
    return (count * shape + PRIOR_DRAWS * PRIOR_K) / (count + PRIOR_DRAWS), -shape / rate
