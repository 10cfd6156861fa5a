"""Trends in the date: of time horizons, and of dated values.

All functions take arrays of any library of `arrays`, quantities of shape (..., 1) or dates of shape (date,).
"""

import numpy as np

from .arrays import maximum, sigmoid
from .priors import FreeParameter

YEAR = 2024.5  # the date that horizons are relative to
BREAK_QUANTILES = (0.1, 0.9)  # of the dates, between which a break lies
BREAKS = ("break", "sampled_break")
BEFORE, AFTER, ALL = "before", "after", "all"
EARLIER, LATER = 2023.5, 2025.5  # dates of gains where the gain changes at no one date
BREAK_PLACE = FreeParameter(
    "break_place", "Uniform(0, 1)", "Where the break lies between the 10th and the 90th percentile of the dates."
)
WIDTH = FreeParameter(
    "width",
    "LogNormal(0.7, 0.5)",
    "Years in which the logit of the rise grows by 1: 0.8 to 5.4, so that most of it takes 3 to 24 years.",
    "years",
)


def forms(unit, gain, change, middle):
    """Return the free parameters of each trend, from the prior and rationale of the gain and of its change, in a unit.

    The `middle` is that of the logistic trend.
    """
    yearly = f"{unit} a year"
    gain = FreeParameter("yearly_gain", *gain, yearly)
    acceleration = FreeParameter(
        "acceleration",
        "Normal(0, 0.7)",
        "Yearly change of the yearly gain: within two years it changes by -3 to 3, as it may at a break.",
        f"{yearly} squared",
    )
    return {
        "linear": (gain,),
        "break": (gain, FreeParameter("yearly_gain_change", *change, yearly), BREAK_PLACE),
        "acceleration": (gain, acceleration),
        "logistic": (gain, middle, WIDTH),
    }


def level(values, trend, date, span=None, zero=YEAR):
    """Return the mean at dates, years such as 2025.25, from ``centre`` and the quantities of the trend, by name.

    With t the date less that of zero the mean is ``centre + gain t`` for ``linear``. A ``break`` at b, between the
    dates of a span, adds ``change max(t - b, 0)`` and ``acceleration`` adds ``acceleration t**2 / 2``. The ``logistic``
    form rises between two levels, fastest at a midpoint m: ``centre + 4 gain w (S((t - m) / w) - S(-m / w))``, with the
    logistic function S and a width w. Its gain at the midpoint is ``gain``. Without a trend it is the centre.

    Examples
    --------
    >>> float(level({"centre": 3.0, "yearly_gain": 2.0}, "linear", np.array(2025.5)))
    5.0
    """
    t, centre = date - zero, values["centre"]
    if trend is None:
        return centre + 0.0 * t
    gain = values["yearly_gain"]
    if trend == "logistic":
        middle, width = values["midpoint"] - zero, values["width"]
        return centre + 4.0 * gain * width * (sigmoid((t - middle) / width) - sigmoid(-middle / width))
    mean = centre + gain * t
    if trend == "break":
        return mean + values["yearly_gain_change"] * maximum(date - break_date(values, span), 0.0)
    if trend == "acceleration":
        return mean + 0.5 * values["acceleration"] * t**2
    return mean


def yearly_gain(values, trend, date, span=None, zero=YEAR):
    """Return the gain a year at a date, the derivative of `level`.

    Examples
    --------
    >>> float(yearly_gain({"yearly_gain": 2.0, "acceleration": 1.0}, "acceleration", 2025.5))
    3.0
    """
    gain = values["yearly_gain"]
    if trend == "logistic":
        risen = sigmoid((date - values["midpoint"]) / values["width"])
        return 4.0 * gain * risen * (1.0 - risen)
    if trend == "break":
        return gain + values["yearly_gain_change"] * (date >= break_date(values, span))
    if trend == "acceleration":
        return gain + values["acceleration"] * (date - zero)
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


class WithTrend:
    """Draws of a law that has a trend: the gain a year, and the mean at dates.

    The law names its ``trend`` and ``centre``. The reference may hold ``break_span``, the dates between which a break
    lies, and ``zero``, the date that the centre is of. Its ``parts`` are the two dates of gains that change slowly.
    """

    def of_trend(self):
        """Return the values that `level` and `yearly_gain` take, each (chain, draw)."""
        return self.values | {"centre": self.values[self.law.centre]}

    @property
    def _form(self):
        return self.law.trend

    @property
    def _where(self):
        return {"span": self.reference.get("break_span"), "zero": self.reference.get("zero", YEAR)}

    def levels(self, dates):
        """Return the mean at dates, an ndarray (sample, date), all draws of all chains in one axis."""
        values = {name: x.reshape(-1, 1) for name, x in self.of_trend().items()}
        return level(values, self.law.trend, np.asarray(dates, float), **self._where)

    def break_dates(self):
        """Return the date of the break, an ndarray (chain, draw)."""
        return break_date(self.values, self.reference["break_span"])

    def gain(self, years=None):
        """Return the gain a year: dims (chain, draw, period), by default of periods, or at dates that these then are.

        Periods are ``all``, or ``before`` and ``after`` a break. Of other forms that change these are two dates: those
        of the reference, or mid-2023 and mid-2025.
        """
        parts = self.reference.get("parts", (EARLIER, LATER))
        if years is not None:
            periods, at = np.array(years, float), years
        elif self._form == "linear":
            periods, at = [ALL], [parts[1]]
        else:
            periods = [BEFORE, AFTER]
            at = (-np.inf, np.inf) if self._form in BREAKS else parts
        gains = [np.broadcast_to(self._gain(date), self.z.shape[:2]) for date in at]
        return self._array(np.stack(gains, -1), "period", period=periods)

    def _gain(self, date):
        """Return the gain a year at a date, which broadcasts to (chain, draw)."""
        return yearly_gain(self.of_trend(), self._form, date, **self._where)
