"""Searches along sizes and tokens where no closed form is known, by SciPy and in all elements of arrays at once.

A search of SciPy asks for the elements that are not found yet; functions here are of whole arrays, as draws are.
"""

import numpy as np

from .budget import log_slots

GRID = 48
EXACT = 1e-13  # of a root


def least(objective, low, high):
    """Find where an objective of one array is least, by a grid over the whole range and a search within a cell.

    The ends of the range are of the shape that the objective broadcasts to.

    Examples
    --------
    >>> import numpy as np
    >>> round(float(least(lambda x: (x - 3.1) ** 2, np.array(0.0), np.array(10.0))), 6)
    3.1
    """
    from scipy.optimize.elementwise import find_minimum

    best, step = least_of_grid(objective, low, high)
    places = np.arange(best.size).reshape(best.shape)
    found = find_minimum(_of_places(objective, best), (best - step, best, best + step), args=(places,))
    return np.where(found.success, found.x, best)


def least_of_grid(objective, low, high):
    """Find the end of a cell of a grid at which an objective is least, and the length of a cell."""
    step = (high - low) / GRID
    best, value = low, objective(low)
    for k in range(1, GRID + 1):
        trial = objective(low + k * step)
        lower = trial < value
        best, value = np.where(lower, low + k * step, best), np.where(lower, trial, value)
    return best, step


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
    log_n = least(lambda log_n: loss(np.exp(log_n), np.exp(slots - log_n)), 0 * slots, slots)
    return np.exp(log_n), np.exp(slots - log_n)


def farthest(excess, best, end):
    """Find how far from `best` towards `end` a function is at most 0, as it is there, by a grid and a root in a cell.

    Examples
    --------
    >>> import numpy as np
    >>> round(float(farthest(lambda x: abs(x - 1) - 2, np.array(1.0), np.array(10.0))), 9)
    3.0
    """
    step = (end - best) / GRID
    last, beyond = best, best + step
    for k in range(1, GRID + 1):
        true = excess(best + k * step) <= 0
        last, beyond = np.where(true, best + k * step, last), np.where(true, best + min(k + 1, GRID) * step, beyond)
    return root(excess, beyond, last)


def root(function, low, high):
    """Find where a falling function passes 0, in all elements at once.

    Where the function is at most 0 at `low` that is found, and `high` where it is above 0 there. `low` may lie above
    `high`.

    Examples
    --------
    >>> round(float(root(lambda x: 2 - x**3, np.array(0.0), np.array(50.0))), 9)
    1.25992105
    """
    from scipy.optimize.elementwise import find_root

    low, high, at_low, at_high = np.broadcast_arrays(low, high, function(low), function(high))
    between, result = (at_low > 0) & (at_high < 0), np.where(at_low <= 0, low, high)
    found = find_root(
        _of_places(function, low),
        (low[between], high[between]),
        args=(np.flatnonzero(between),),
        tolerances={"xatol": EXACT, "xrtol": EXACT},
    )
    result[between] = np.where(found.success, found.x, high[between])
    return result


def _of_places(function, like):
    """Return a function of some elements and their places from one of a whole array."""
    whole = np.array(like, float, order="C")  # so that its elements are a view
    elements = whole.reshape(-1)

    def of_places(x, places):
        elements[places] = x
        return np.broadcast_to(function(whole), whole.shape).reshape(-1)[places]

    return of_places
