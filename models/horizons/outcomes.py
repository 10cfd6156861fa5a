"""The density of successes of runs, one threshold given those passed before.

A run that reaches a threshold has reached all lower ones. Of the runs that reached the one before, a share
``p_k / p_(k-1)`` reaches this one, with ``p_k = S(eta_k)`` and the logistic function S. All functions take arrays of
any library of `arrays`.
"""

from ...datasets.deferred import special
from ..arrays import exp, log, log1p, logaddexp, maximum, where
from ..lengths.curve import log_rising

LEAST = 1e-280
FEW = 8  # runs of a cell up to which a product is used


def log_shares(eta, slope, gap, nested):
    """Return logs of the probabilities that a run at risk reaches a threshold, and that it does not.

    Parameters
    ----------
    eta : array_like
        Logit of reaching the threshold.
    slope : array_like
        Logits that an e-fold of human time costs.
    gap : array_like
        Log minutes of this threshold less those of the one before, positive; any number where there is none.
    nested : array_like
        1 where there is a threshold before, 0 elsewhere.

    Examples
    --------
    >>> import numpy as np
    >>> reach, fail = log_shares(np.array([0.0]), 1.0, 1.0, 1.0)
    >>> bool(np.isclose(np.exp(reach) + np.exp(fail), 1.0)[0])
    True
    """
    step = slope * gap
    reach = nested * logaddexp(0.0, -eta - step) - logaddexp(0.0, -eta)
    return reach, log1p(-nested * exp(-step)) - logaddexp(0.0, eta)


def log_density(reach, fail, precision, right, wrong, log_choose):
    """Return the log probability of counts of runs that reach a threshold and that do not.

    Parameters
    ----------
    reach, fail : array_like
        From `log_shares`.
    precision : array_like, or None
        Sum of the parameters of the beta-binomial; None for a binomial.
    right, wrong, log_choose : array_like
        The counts, and the log of the number of their orders.
    """
    if precision is None:
        return log_choose + right * reach + wrong * fail
    sides = rising(reach, precision, right) + rising(fail, precision, wrong)
    return log_choose + sides - log_rising(precision, right + wrong)


def rising(log_share, precision, count):
    """Return the term of a beta-binomial of a count whose share has this logarithm."""
    return log_rising(_shape(log_share, precision), count)


def rising_of_few(log_share, precision, count):
    """Return the same of counts from 1 to `FEW`, as the log of a product, which takes a fraction of the time."""
    shape = _shape(log_share, precision)
    product = shape
    for more in range(1, FEW):
        product = product * where(count > more, shape + more, 1.0)
    return log(product)


def _shape(log_share, precision):
    return maximum(precision * exp(log_share), LEAST)


def log_choose(right, wrong):
    """Return the log of the number of orders of so many successes and failures; arrays of NumPy."""
    return special.gammaln(right + wrong + 1) - special.gammaln(right + 1) - special.gammaln(wrong + 1)
