"""Importance weights whose largest are smoothed by a Pareto distribution, and its k.

References
----------
.. [1] Vehtari, A., Simpson, D., Gelman, A., Yao, Y. and Gabry, J. (2024). Pareto smoothed importance sampling. JMLR 25.
"""

import numpy as np

from ..datasets.deferred import array_stats, special


def pareto_smoothed(log_ratios, efficiency=1.0):
    """Smooth log weights [1]_.

    Parameters
    ----------
    log_ratios : ndarray, shape (draw,)
    efficiency : float
        Effective draws over draws.

    Returns
    -------
    log_weights : ndarray, shape (draw,)
        Exponentials add up to 1.
    pareto_k : float
        Infinite, and the weights unchanged, where no Pareto distribution can be fitted. This is so where the tail has
        fewer than five draws, where they are all the same, or where one ratio is so large that the others vanish.
    """
    try:
        # ArviZ takes the logarithm of what the weights divide by.
        log_weights, k = array_stats.psislw(-log_ratios, r_eff=efficiency)
    except ValueError:
        log_weights, k = np.nan, np.inf
    # With a ratio so far above the others ArviZ gives NaN, and a low k.
    return (
        (log_weights, float(k))
        if np.isfinite(log_weights).all()
        else (log_ratios - special.logsumexp(log_ratios), np.inf)
    )
