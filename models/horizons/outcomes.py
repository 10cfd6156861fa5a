"""The density of successes of runs, one threshold given those passed before.

A run that reaches a threshold has reached all lower ones. Of the runs that reached the one before, a share
``p_k / p_(k-1)`` reaches this one, with ``p_k = S(eta_k)`` and the logistic function S. All functions take arrays of
any library of `arrays`.
"""

import numpy as np

from ...datasets.deferred import special
from ..arrays import clip, exp, log, where
from ..lengths.curve import log_rising

LARGEST_LOGIT = 300.0  # Beyond it a share is 0 or 1 for any count.
FEW = 12  # runs at risk up to which a product is used


def shares(eta, passed):
    """Return the probabilities that a run at risk reaches a threshold, and that it does not, from its logit `eta`.

    `passed` has the odds against the threshold before over those against this one; 0 where there is none.

    Examples
    --------
    >>> reach, fail = shares(np.array([0.0]), 0.5)
    >>> float(reach[0]), float(fail[0])
    (0.75, 0.25)
    """
    against = exp(-clip(eta, -LARGEST_LOGIT, LARGEST_LOGIT))
    right = 1.0 / (1.0 + against)
    return right + passed * against * right, (1.0 - passed) * against * right


def log_density(chances, precision, counts, few):
    """Return the log density of the order of runs that reach a threshold and that do not, two counts with two chances.

    Of a beta-binomial, whose `precision` is the sum of its parameters, it lacks what the number of runs at risk divides
    by; None is a binomial. With `few` no more than `FEW` are at risk: the log of a product takes less time.
    """
    if precision is None:
        return sum(count * log(chance) for chance, count in zip(chances, counts, strict=True))
    pairs = [(precision * chance, count) for chance, count in zip(chances, counts, strict=True)]
    if not few:
        return sum(log_rising(*pair) for pair in pairs)
    first, second = (_rising_of_few(*pair) for pair in pairs)
    return log(first * second)


def _rising_of_few(x, count):
    """Return ``x (x + 1) ... (x + count - 1)`` of counts up to `FEW`, one or an array."""
    if np.ndim(count) == 0:
        product = x if count else 1.0
        for more in range(1, int(count)):
            product = product * (x + more)
        return product
    product = where(count > 0, x, 1.0)
    for more in range(1, FEW):
        product = product * where(count > more, x + more, 1.0)
    return product


def log_choose(right, wrong):
    """Return the log of the number of orders of so many successes and failures; arrays of NumPy."""
    return special.gammaln(right + wrong + 1) - special.gammaln(right + 1) - special.gammaln(wrong + 1)
