"""Searches along sizes and tokens where no closed form is known, by SciPy and in all elements of arrays at once.

A search of SciPy asks for the elements that are not found yet; functions here are of whole arrays, as draws are.
"""

import numpy as np

from .budget import log_slots

GRID = 48
EXACT = 1e-13  # of a root
STEPS, LEAP, SMALL, CLOSE, TINY = 100, 20.0, 1e-4, 1e-5, 1e-300  # of a search for the parts of a sum


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


def least_of_sum(objective, parts, most):
    """Find the parts of a sum, (part, ...), each from 0 to its most, at which an objective of them is least nearby.

    The parts to start from, none of them 0, have the sum. Each is multiplied, by more the more the objective falls with
    it: of a sum of powers of the parts that ends in a few steps. An objective takes axes after the first as they come.

    Examples
    --------
    >>> import numpy as np
    >>> parts = least_of_sum(lambda x: -(3 * x[0] ** 0.5 + x[1] ** 0.5), np.array([[0.5], [0.5]]), np.ones((2, 1)))
    >>> parts.ravel().round(4).tolist()
    [0.9, 0.1]
    """
    total, size, value = parts.sum(0), None, objective(parts)
    for _ in range(STEPS):
        step = SMALL * (parts + SMALL * total)
        each = parts[:, None] + step[:, None] * np.eye(len(parts)).reshape(
            len(parts), len(parts), *[1] * (parts.ndim - 1)
        )
        slope = (objective(each) - value) / step
        slope = slope - (slope * parts).sum(0) / total
        usual = (abs(slope) * parts).sum(0) / total + np.finfo(float).tiny
        size = 1 / (usual + abs(slope).max(0)) if size is None else size
        trial = capped(parts * np.exp(np.clip(-size * slope, -LEAP, LEAP)), most, total)
        new = objective(trial)
        better = new < value
        moved = abs(trial - parts).max(0) > CLOSE * total
        parts, value = np.where(better, trial, parts), np.where(better, new, value)
        size = np.where(better, 2 * size, size / 4)
        if not moved.any():
            break
    return parts


def capped(parts, most, total):
    """Return positive parts, (part, ...), in their ratios, but none above its most, with a sum."""
    full = np.zeros(parts.shape, bool)
    for _ in range(len(parts)):
        rest = np.where(full, 0.0, parts)
        scaled = np.where(full, most, rest * (total - np.where(full, most, 0.0).sum(0)) / rest.sum(0).clip(TINY))
        over = scaled > most
        if not over.any():
            break
        full |= over
    return np.minimum(scaled, most)


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
