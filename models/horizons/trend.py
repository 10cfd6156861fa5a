"""Trends of the horizon in the date.

All functions take arrays of any library of `arrays`, quantities of shape (..., 1) or dates of shape (model,).
"""

import numpy as np

from ..arrays import exp, maximum

YEAR = 2024.5  # the date that horizons are relative to
BREAK_QUANTILES = (0.1, 0.9)  # of the dates of models, between which a break lies
TRENDS = (None, "linear", "break", "acceleration", "logistic")


def log_horizon(values, trend, date, span=None):
    """Return the mean log horizon at dates, in log minutes.

    With t the date less 2024.5 the mean is ``centre + gain t`` for ``linear``. A ``break`` at b adds
    ``change max(t - b, 0)`` and ``acceleration`` adds ``acceleration t**2 / 2``. The ``logistic`` form rises between
    two levels, fastest at a midpoint m: ``centre + 4 gain w (S((t - m) / w) - S(-m / w))``, with the logistic function
    S and a width w. Its gain at the midpoint is ``gain``.

    Parameters
    ----------
    values : mapping of str to array_like
    trend : {None, "linear", "break", "acceleration", "logistic"}
    date : array_like
        Years, such as 2025.25.
    span : tuple of float, optional
        Dates between which a break lies.

    Examples
    --------
    >>> float(log_horizon({"horizon_centre": 3.0, "yearly_gain": 2.0}, "linear", np.array(2025.5)))
    5.0
    """
    t, centre = date - YEAR, values["horizon_centre"]
    if trend is None:
        return centre + 0.0 * t
    gain = values["yearly_gain"]
    if trend == "logistic":
        middle, width = values["midpoint"] - YEAR, values["width"]
        return centre + 4.0 * gain * width * (_logistic((t - middle) / width) - _logistic(-middle / width))
    mean = centre + gain * t
    if trend == "break":
        return mean + values["yearly_gain_change"] * maximum(date - break_date(values, span), 0.0)
    if trend == "acceleration":
        return mean + 0.5 * values["acceleration"] * t**2
    return mean


def yearly_gain(values, trend, date, span=None):
    """Return the gain of the log horizon a year at a date, the derivative of `log_horizon`.

    Examples
    --------
    >>> float(yearly_gain({"yearly_gain": 2.0, "acceleration": 1.0}, "acceleration", 2025.5))
    3.0
    """
    gain = values["yearly_gain"]
    if trend == "logistic":
        risen = _logistic((date - values["midpoint"]) / values["width"])
        return 4.0 * gain * risen * (1.0 - risen)
    if trend == "break":
        return gain + values["yearly_gain_change"] * (date >= break_date(values, span))
    if trend == "acceleration":
        return gain + values["acceleration"] * (date - YEAR)
    return gain + 0.0 * date


def break_date(values, span):
    """Return the date of the break, years."""
    low, high = span
    return low + (high - low) * values["break_place"]


def span_of(dates):
    """Return the dates between which a break may lie, plain numbers.

    Examples
    --------
    >>> span_of(np.array([2023.0, 2024.0, 2025.0]))
    [2023.2, 2024.8]
    """
    return np.quantile(dates, BREAK_QUANTILES).tolist()


def _logistic(x):
    return 1.0 / (1.0 + exp(-x))
