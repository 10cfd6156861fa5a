"""ESS, R-hat and Pareto smoothing of arrays of draws by ArviZ, with NaN or infinity where it has no answer.

References
----------
.. [1] Vehtari, A., Gelman, A., Simpson, D., Carpenter, B. and Bürkner, P.-C. (2021). Rank-normalization, folding, and
   localization: an improved R-hat for assessing convergence of MCMC. Bayesian Analysis 16.
.. [2] Vehtari, A., Simpson, D., Gelman, A., Yao, Y. and Gabry, J. (2024). Pareto smoothed importance sampling. JMLR 25.
"""

import numpy as np

from ..datasets.deferred import special


def effective_draws(values):
    """Return how many independent draws give the mean of each quantity as exactly [1]_.

    Values have the shape (chain, draw, ...), and the result (...). It is NaN where a draw is not finite or a chain has
    fewer than four.

    Examples
    --------
    >>> import numpy as np
    >>> draws = np.random.default_rng(1).normal(size=(4, 1000, 2))
    >>> effective_draws(draws).round(-3)
    array([4000., 4000.])
    """
    return _by_column(values, lambda stats, columns: [stats.ess(columns, method="mean")], 1)[0]


def convergence(values, ends):
    """Return whether chains agree, and how many independent draws the bulk and the tails are worth [1]_.

    Values have the shape (chain, draw, ...); `ends` are probabilities of the quantiles that begin the tails. The
    result, (3, ...), is R-hat, NaN of a single chain; effective draws of the bulk; effective draws of the worse tail.
    It is NaN as that of `effective_draws`.
    """

    def compute(stats, columns):
        return stats.rhat(columns), stats.ess(columns), stats.ess(columns, method="tail", prob=ends)

    return _by_column(values, compute, 3)


def _by_column(values, compute, count):
    """Compute a number of figures of each quantity that is finite, from an array (quantity, chain, draw)."""
    from arviz_stats.base import array_stats

    columns = np.moveaxis(values.reshape(*values.shape[:2], -1), -1, 0)
    result = np.full((count, len(columns)), np.nan)
    usable = np.isfinite(columns).all((1, 2))
    if usable.any():
        with np.errstate(divide="ignore", invalid="ignore"):  # quantities that never vary
            result[:, usable] = compute(array_stats, np.ascontiguousarray(columns[usable], float))
    return result.reshape(count, *values.shape[2:])


def smooth_weights(log_ratios, efficiency=1.0):
    """Smooth log weights, (draw,), by a Pareto distribution of the largest; their exponentials add up to 1 [2]_.

    The efficiency is effective draws over draws. With the weights the Pareto k is returned. It is infinite, and the
    weights are as they were, where no Pareto distribution can be fitted: the tail has fewer than five draws or hardly
    differs, or one ratio is so large that the others vanish.
    """
    from arviz_stats.base import array_stats

    try:
        with np.errstate(all="ignore"):
            log_weights, k = array_stats.psislw(-log_ratios, r_eff=efficiency)
    except ValueError:  # the tail is too short, or its draws are all the same
        k = np.nan
    if np.isfinite(k) and np.isfinite(log_weights).all():
        return log_weights, float(k)
    return log_ratios - special.logsumexp(log_ratios), np.inf
