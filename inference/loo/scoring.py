"""How well draws of an observation foretold it: proper scores and the coverage of intervals, row by row."""

import numpy as np
import scipy.stats as st


def crps(draws, observed):
    """Continuous ranked probability score of predictive draws, ``E|X - y| - E|X - X'|/2``: the less the better.

    The estimator is the fair one (Ferro 2014 [1]_): over independent draws it is unbiased, whatever their number.
    One draw is a point forecast, whose score is its error.

    Parameters
    ----------
    draws : ndarray, shape (sample, row)
    observed : ndarray, shape (row,)

    Returns
    -------
    ndarray, shape (row,)
        In the unit of what was observed.

    References
    ----------
    .. [1] Ferro, C. A. T. (2014). Fair scores for ensemble forecasts. Quarterly Journal of the Royal Meteorological
       Society 140, 1917-1923.

    Examples
    --------
    >>> crps(np.array([[0.0], [2.0]]), np.array([1.0]))
    array([0.])
    """
    count = len(draws)
    weights = (2 * np.arange(1, count + 1) - count - 1) / (count * max(count - 1, 1))
    return abs(draws - observed).mean(0) - weights @ np.sort(draws, axis=0)


def binomial_interval(hits, count, level=0.95):
    """Equal-tailed interval of a share, of the Beta posterior under Jeffreys' prior.

    Examples
    --------
    >>> low, high = binomial_interval(45, 50)
    >>> round(float(low), 2), round(float(high), 2)
    (0.79, 0.96)
    """
    low, high = st.beta.ppf([(1 - level) / 2, (1 + level) / 2], hits + 0.5, count - hits + 0.5)
    return low, high
