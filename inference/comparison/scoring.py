"""Measure how well draws predicted an observation: proper scores and the coverage of intervals, row by row."""

import numpy as np

from ...datasets.deferred import stats as st


def crps(draws, observed):
    """Compute the continuous ranked probability score of draws, ``E|X - y| - E|X - X'|/2``: the less the better.

    The estimator is the fair one (Ferro 2014, Fair scores for ensemble forecasts, Q. J. R. Meteorol. Soc. 140): over
    independent draws it is unbiased, whatever their number. It is added up as the integral of ``F**2`` below what was
    observed and of ``(1 - F)**2`` above, so that no draw far out takes away what another adds. One draw is a point
    forecast, whose score is its error. Of draws (sample, row) and observations (row,) the scores are (row,), in the
    unit of what was observed.

    Examples
    --------
    >>> crps(np.array([[0.0], [2.0]]), np.array([1.0]))
    array([0.])
    """
    count = len(draws)
    ordered = np.sort(draws, axis=0)
    first, last = np.minimum(ordered[:1], observed), np.maximum(ordered[-1:], observed)
    ends = np.concatenate([first, ordered, last])
    # Between two neighbours i draws lie below and the others above. F**2 and (1 - F)**2 are estimated from pairs of
    # different draws: by the chance that both lie on the far side of what was observed. Nothing is negative.
    below = np.arange(count + 1)[:, None]
    pairs = count * max(count - 1, 1)
    to_left = np.diff(np.minimum(ends, observed), axis=0) * (below * np.maximum(below - 1, count == 1)) / pairs
    above = count - below
    to_right = np.diff(np.maximum(ends, observed), axis=0) * (above * np.maximum(above - 1, count == 1)) / pairs
    return (to_left + to_right).sum(0)


def binomial_interval(hits, count, level=0.95):
    """Compute the equal-tailed interval of a share, of the Beta posterior under Jeffreys' prior.

    Examples
    --------
    >>> low, high = binomial_interval(45, 50)
    >>> round(float(low), 2), round(float(high), 2)
    (0.79, 0.96)
    """
    return tuple(st.beta.ppf([(1 - level) / 2, (1 + level) / 2], hits + 0.5, count - hits + 0.5))
