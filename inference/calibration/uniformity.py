"""Whether ranks, or values between 0 and 1, are uniform: a probability, and a simultaneous band to draw.

The statistic is the least two-sided binomial tail of the empirical distribution over 99 places [1]_; its distribution
under uniformity is simulated.

References
----------
.. [1] Saeilynoja, T., Buerkner, P.-C. and Vehtari, A. (2022). Graphical test for discrete uniformity and its
   applications in goodness-of-fit evaluation and multiple sample comparison. Statistics and Computing 32.
"""

import functools

import numpy as np
import scipy.stats as st

RANKS = 100
SIMULATED_NULL = 4000


def p_uniform(ranks):
    """Probability of ranks as far from uniform on 0..99 as these, if they were uniform.

    Parameters
    ----------
    ranks : array_like of int, shape (simulation,)

    Returns
    -------
    float
        By simulation, at least 1/4,001.
    """
    null = _null(len(ranks))
    return float((1 + (null <= _least_tail(np.asarray(ranks)[None])[0]).sum()) / (1 + len(null)))


def band(simulations, level=0.95):
    """Simultaneous band of the share of ranks below each of 1..99, of uniform ranks: two arrays, (99,)."""
    tail = np.quantile(_null(simulations), 1 - level)
    places = np.arange(1, RANKS) / RANKS
    return (
        st.binom.ppf(tail / 2, simulations, places) / simulations,
        st.binom.ppf(1 - tail / 2, simulations, places) / simulations,
    )


def shares_below(ranks):
    """Share of ranks below each of 1..99, (99,)."""
    return (np.asarray(ranks)[:, None] < np.arange(1, RANKS)).mean(0)


@functools.cache
def _null(simulations):
    rng = np.random.default_rng(0)
    return _least_tail(rng.integers(0, RANKS, (SIMULATED_NULL, simulations)))


def _least_tail(ranks):
    """Least two-sided binomial tail of the shares of ranks below each of 1..99, (...,)."""
    counts = np.stack([np.bincount(row, minlength=RANKS).cumsum()[:-1] for row in ranks])
    simulations, places = ranks.shape[1], np.arange(1, RANKS) / RANKS
    below, above = st.binom.cdf(counts, simulations, places), st.binom.sf(counts - 1, simulations, places)
    return np.minimum(1.0, 2 * np.minimum(below, above)).min(1)
