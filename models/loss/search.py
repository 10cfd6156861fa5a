"""Searches along sizes and tokens where no closed form is known: least values, ends of what is nearly least, roots."""

import numpy as np

from ..arrays import exp, where
from .budget import log_slots

GRID = 64
GOLDEN = (5**0.5 - 1) / 2
STEPS = 45  # the bracket shrinks by 0.618 a step: below 1e-8 of a grid cell
HALVINGS = 50
EXACT = 1e-13  # of a root, relative


def least(objective, low, high):
    """Find where an objective of one array is least, by a grid over the whole range and golden sections within a cell.

    The ends of the range are of the shape that the objective broadcasts to.

    Examples
    --------
    >>> import numpy as np
    >>> round(float(least(lambda x: (x - 3.1) ** 2, np.array(0.0), np.array(10.0))), 6)
    3.1
    """
    step = (high - low) / GRID
    best, value = low, objective(low)
    for k in range(1, GRID + 1):
        trial = objective(low + k * step)
        lower = trial < value
        best, value = where(lower, low + k * step, best), where(lower, trial, value)
    low, high = best - step, best + step
    first, second = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
    at_first, at_second = objective(first), objective(second)
    for _ in range(STEPS):
        left = at_first < at_second
        low, high = where(left, low, first), where(left, second, high)
        new = where(left, high - GOLDEN * (high - low), low + GOLDEN * (high - low))
        at_new = objective(new)
        first, second = where(left, new, second), where(left, first, new)
        at_first, at_second = where(left, at_new, at_second), where(left, at_first, at_new)
    return (low + high) / 2


def least_on_budget(compute, loss):
    """Find N* and D* of least loss, a function of (N, D), on ``6 N D = compute`` in FLOP; see `least`.

    Examples
    --------
    >>> import numpy as np
    >>> n, d = least_on_budget(np.array(6e20), lambda n, d: 400 / n**0.35 + 400 / d**0.35)
    >>> round(float(n / d), 4)
    1.0
    """
    slots = log_slots(compute)
    log_n = least(lambda log_n: loss(exp(log_n), exp(slots - log_n)), 0 * slots, slots)
    return exp(log_n), exp(slots - log_n)


def first_true(holds, low, high):
    """Find where what holds at `high`, and from some point on, begins to hold, by bisection.

    Where it holds nowhere, `high` is found. `low` may lie above `high`: what is found then is where it ceases to hold.

    Examples
    --------
    >>> import numpy as np
    >>> round(float(first_true(lambda x: x**2 > 2, np.array(0.0), np.array(10.0))), 9)
    1.414213562
    """
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        true = holds(middle)
        low, high = where(true, low, middle), where(true, middle, high)
    return high


def farthest(holds, best, end):
    """Find how far from `best`, where it holds, towards `end` something holds, by a grid and bisection within a cell.

    Examples
    --------
    >>> import numpy as np
    >>> round(float(farthest(lambda x: abs(x - 1) <= 2, np.array(1.0), np.array(10.0))), 9)
    3.0
    """
    step = (end - best) / GRID
    last, beyond = best, best + step
    for k in range(1, GRID + 1):
        true = holds(best + k * step)
        last, beyond = where(true, best + k * step, last), where(true, best + min(k + 1, GRID) * step, beyond)
    return first_true(holds, beyond, last)


def root(function, low, high):
    """Find where a falling function passes 0, by the method of Chandrupatla (1997), in all elements at once.

    Where the function is below 0 at `low` that is found, and `high` where it is above 0 there.

    Examples
    --------
    >>> round(float(root(lambda x: 2 - x**3, np.array(0.0), np.array(50.0))), 9)
    1.25992105

    References
    ----------
    .. [1] Chandrupatla, T. R. (1997). A new hybrid quadratic/bisection algorithm for finding the zero of a nonlinear
       function without using derivatives. Advances in Engineering Software 28, 145-149.
    """
    a, b = low, high
    at_a, at_b = function(a), function(b)
    below, above = at_a <= 0, at_b >= 0
    c, at_c, part = a, at_a, 0.5
    for _ in range(2 * HALVINGS):
        new = a + part * (b - a)
        at_new = function(new)
        same = np.sign(at_new) == np.sign(at_a)
        c, at_c = np.where(same, a, b), np.where(same, at_a, at_b)
        b, at_b = np.where(same, b, a), np.where(same, at_b, at_a)
        a, at_a = new, at_new
        exact = EXACT * (1 + abs(a))
        if ((abs(b - a) < 2 * exact) | (at_a == 0) | below | above).all():
            break
        with np.errstate(all="ignore"):
            place, value = (a - b) / (c - b), (at_a - at_b) / (at_c - at_b)
            quadratic = at_a / (at_b - at_a) * at_c / (at_b - at_c)
            quadratic += (c - a) / (b - a) * at_a / (at_c - at_a) * at_b / (at_c - at_b)
            fits = (value**2 < place) & ((1 - value) ** 2 < 1 - place)
            least_part = np.minimum(exact / abs(b - a), 0.5)
        part = np.clip(np.where(fits & np.isfinite(quadratic), quadratic, 0.5), least_part, 1 - least_part)
    nearest = np.where(abs(at_a) < abs(at_b), a, b)
    return np.where(below, low, np.where(above, high, nearest))
