"""What two falling exponentials ``exp(p - a log N) + exp(q - b log D)`` imply: optima, growth rates, doubling times.

All functions take arrays of one broadcastable shape, draws among them. Rates are in log units of effective compute a
year. A doubling time is the reciprocal of a rate that may be near or below zero. It is therefore computed from
quantiles of the rate only.

References
----------
.. [1] Ho, A. et al. (2024). Algorithmic progress in language models. arXiv:2403.05812.
"""

import numpy as np

from ..arrays import exp, log
from ..loss.budget import log_slots
from ..loss.search import root

MONTHS = 12.0


def optimum(compute, p, q, a, b):
    """Return the logs of the sizes that minimise both terms at ``6 N D = compute``, appendix G of Ho et al. (2024).

    They are NaN where an exponent is not positive, for there is no optimum then.
    """
    slots = log_slots(compute)
    with np.errstate(invalid="ignore", divide="ignore"):
        log_parameters = (p - q + log(a / b) + b * slots) / (a + b)
        log_parameters = np.where((a > 0) & (b > 0), log_parameters, np.nan)
    return log_parameters, slots - log_parameters


def terms(log_parameters, log_tokens, p, q, a, b):
    """Return the two terms of the loss at given sizes."""
    return exp(p - a * log_parameters), exp(q - b * log_tokens)


def yearly_rate(fall_parameters, fall_data, a, b):
    """Return the growth of effective compute, ``fall_N/a + fall_D/b``, equations 4 to 6 of Ho et al. (2024).

    It is in log units a year, from the yearly falls of the two exponents of the exponentials, ``-d eta/dY``, at the
    optimum. By the envelope theorem it is also how fast the budget of a given optimal loss falls.
    """
    return fall_parameters / a + fall_data / b


def doubling_months(rate):
    """Return the months in which effective compute doubles at `rate`; infinite at 0 and negative below (halving)."""
    with np.errstate(divide="ignore"):
        return MONTHS * np.log(2) / np.asarray(rate, float)


def doubling_quantiles(rate, probabilities):
    """Return the quantiles of the doubling time, infinite ("never") where the rate is not positive.

    The p-quantile of the time is ``12 log 2`` over the (1 - p)-quantile of the rate.
    """
    rates = np.quantile(np.ravel(rate), 1 - np.asarray(probabilities))
    return np.where(rates > 0, doubling_months(np.where(rates > 0, rates, 1.0)), np.inf)


def years_to_match(first, second, fall_first, fall_second, target):
    """Return the years after which progress lowers ``first + second`` to `target`, both terms falling exponentially.

    Falls are in log units a year; the target is a loss below the present one. It is infinite where progress never gets
    there first: the loss does not fall at the start, or turns back above the target.
    """
    first, second, fall_first, fall_second, target = np.broadcast_arrays(first, second, fall_first, fall_second, target)

    def excess(years):
        return first * np.exp(-fall_first * years) + second * np.exp(-fall_second * years) - target

    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        speed = first * fall_first + second * fall_second
        low = np.zeros(first.shape)
        turning = np.log(-(second * fall_second) / (first * fall_first)) / (fall_second - fall_first)
        bounded = (fall_first * fall_second < 0) & (speed > 0)
        falls = np.stack([fall_first, fall_second])
        slowest = np.where(falls > 0, falls, np.inf).min(0)
        high = np.where(bounded, turning, 50 / slowest)
        reached = (speed > 0) & (excess(high) <= 0)
        return np.where(reached, root(excess, low, high), np.inf)


def scale_to_match(first, second, a, b, target):
    """Solve ``first exp(-a x) + second exp(-b x) = target`` for x; NaN where an exponent is not positive."""
    first, second, a, b, target = np.broadcast_arrays(first, second, a, b, target)
    gap = np.log((first + second) / target)
    with np.errstate(invalid="ignore", divide="ignore"):
        ends = np.stack([gap / a, gap / b])
        scale = root(lambda x: first * np.exp(-a * x) + second * np.exp(-b * x) - target, ends.min(0), ends.max(0))
    return np.where((a > 0) & (b > 0), scale, np.nan)


def shapley(value, moves):
    """Return Shapley values of moves that together change a quantity, averaged over all orders of making them.

    `value` takes a tuple of bools, which moves are made, and returns an array. The values, one for each move, sum to
    the change that all moves make together.
    """
    from itertools import permutations

    values = {}

    def of(flags):
        if flags not in values:
            values[flags] = value(flags)
        return values[flags]

    orders = list(permutations(range(moves)))
    gains = [0.0] * moves
    for order in orders:
        flags = [False] * moves
        for move in order:
            before = of(tuple(flags))
            flags[move] = True
            gains[move] = gains[move] + (of(tuple(flags)) - before) / len(orders)
    return gains
