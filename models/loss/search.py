"""Least loss on a budget where no closed form is known."""

from ..arrays import exp, where
from .budget import log_slots

GRID = 64
GOLDEN = (5**0.5 - 1) / 2
STEPS = 45  # the bracket shrinks by 0.618 a step: below 1e-8 of a grid cell


def least_on_budget(compute, loss):
    """Find the size of least loss on ``6 N D = compute``, by a grid over all sizes and golden sections within a cell.

    Parameters
    ----------
    compute : array_like
        Training compute C in FLOP.
    loss : callable
        Mean loss in nats per token of (N, D).

    Returns
    -------
    tuple of array_like
        N* and D*, of the shape that `loss` broadcasts to.

    Examples
    --------
    >>> import numpy as np
    >>> n, d = least_on_budget(np.array(6e20), lambda n, d: 400 / n**0.35 + 400 / d**0.35)
    >>> round(float(n / d), 4)
    1.0
    """
    slots = log_slots(compute)

    def at(log_n):
        return loss(exp(log_n), exp(slots - log_n))

    step = slots / GRID
    best, least = 0 * slots, at(0 * slots)
    for k in range(1, GRID + 1):
        found = at(k * step)
        lower = found < least
        best, least = where(lower, k * step, best), where(lower, found, least)
    low, high = best - step, best + step
    for _ in range(STEPS):
        first, second = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
        left = at(first) < at(second)
        low, high = where(left, low, first), where(left, second, high)
    log_n = (low + high) / 2
    return exp(log_n), exp(slots - log_n)
