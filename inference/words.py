"""Numbers with their intervals, and names, as a person reads them."""

import calendar
import math
import re

from ..datasets.wording import si, size

LOW, MIDDLE, HIGH = "q2.5", "q50", "q97.5"
NEVER = "never"
# Embeddings of positions, and constants, as a reader knows them.
POSITIONS = {"abacus": "Abacus", "fire": "FIRE", "nope": "no positions", "rope": "rotary"}
GREEK = {"alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "kappa": "κ", "sigma": "σ", "omega": "ω", "nu": "ν"}
NAMED = re.compile(rf"\b({'|'.join([*POSITIONS])})\b")
SPELT = re.compile(rf"\b({'|'.join(GREEK)})\b")
NOTHING = re.compile(r"^[-+]0(\.0*)?$")


def plain(q, form="{:.3f}"):
    """Write the median and 95% interval of any number."""
    return _interval(q, lambda x: "–" if x is None else unsigned(form.format(x).replace("e+0", "e").replace("e+", "e")))


def times(x):
    """Write a factor with no more digits than its interval bears.

    Examples
    --------
    >>> times(3.94), times(99.6), times(1549.7)
    ('3.9', '100', '1,550')
    """
    return f"{x:,.0f}" if x >= 99.5 else f"{x:.2g}"


WIDE = 10  # an interval that spans more than this factor is written in words
SCALES = ((1e6, "millions of"), (1e3, "thousands of"), (1e2, "hundreds of"), (10, "tens of"), (1, "a few"))
NO_FALL = "no fall"


def yearly(q):
    """Write a factor a year: median and 95% interval, or words where the interval spans more than a factor of ten."""
    low, high = q[LOW], q[HIGH]
    if low is not None and high is not None and high <= WIDE * low:
        return f"{factor(q)} times a year"
    first, last = (NO_FALL if x is None else _scale(x) for x in (low, high))
    if high is None:
        return f"{first} times a year or more" if first != NO_FALL else "no fall or any factor"
    if last == NO_FALL:
        return NO_FALL
    return f"{last} times a year" if first == last else f"{first.removesuffix(' of')} to {last} times a year"


def _scale(x):
    """Name the order of magnitude of a factor, of which less than 1 is no fall."""
    return next((name for least, name in SCALES if x >= least), NO_FALL)


def month(year):
    """Name the month that a year with decimals lies in: May 2024."""
    return f"{calendar.month_name[int(12 * (year % 1)) + 1]} {int(year)}"


def duration(minutes):
    """Write a human time with two digits: 24 s, 42 min, 11 h.

    Examples
    --------
    >>> duration(0.011), duration(75.0), duration(123456.0)
    ('0.66 s', '75 min', '2,100 h')
    """
    if minutes < 1:
        return f"{_two_digits(60 * minutes)} s"
    return f"{_two_digits(minutes)} min" if minutes < 90 else f"{_two_digits(minutes / 60)} h"


def _two_digits(x):
    rounded = float(f"{x:.2g}")
    return f"{rounded:,.0f}" if rounded >= 10 else f"{rounded:g}"


def _interval(q, form):
    """Write three quantiles; one that is None or infinite is missing to `form`, and one that is no number a dash."""
    values = [None if q[name] is None or math.isinf(q[name]) else q[name] for name in (LOW, MIDDLE, HIGH)]
    if all(x is None for x in values):
        missing = form(None)
        return f"{missing} (probability above 0.975)" if missing[0].isalpha() else missing
    low, middle, high = ("–" if x is not None and math.isnan(x) else form(x) for x in values)
    return f"{middle} [{low}, {high}]"


def _writer(form, missing=NEVER):
    """Return the function that writes a median and 95% interval, each number by a form; `missing` is not finite."""
    return lambda q: _interval(q, lambda x: missing if x is None else form(x))


months = _writer(lambda x: f"{x:,.0f}" if x >= 100 else f"{x:.1f}")  # times that may never be reached
sizes = _writer(size)  # parameters or tokens
ratios = _writer(si, "–")  # tokens per parameter, or epochs
digits = _writer(lambda x: f"{x:.0f}" if x >= 100 else f"{x:.1f}", "∞")  # lengths
factor = _writer(times)  # a year
durations = _writer(duration)  # human times, in minutes
dates = _writer(lambda x: f"{int(x)}-{int(12 * (x % 1)) + 1:02d}")  # years and months
budgets = _writer(lambda x: f"{x:.2g}".replace("e+", "e"))  # compute that may never be reached


def enumerated(names):
    """Write names one after the other: a, b and c."""
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


def flop(compute):
    """Write a budget: 1e24 FLOP."""
    return f"{compute:.3g} FLOP".replace("e+", "e")


def probability(p):
    """Write a probability that may be near 0 or 1, as a dash where it is no number."""
    if math.isnan(p):
        return "–"
    return "> 0.999" if p > 0.999 else "< 0.001" if p < 0.001 else f"{p:.3f}"


def in_words(text):
    """Write the names of tests as a reader would.

    Examples
    --------
    >>> in_words("loo_pit p = 0.007, score p = 2e-6")
    'leave-one-out PIT p = 0.007, score p = 2e-6'
    """
    return text.replace("loo_pit", "leave-one-out PIT").replace("column token_multiplier", "tokens per parameter")


def position(text):
    """Write the names of embeddings of positions in a text as a reader would: nope, seed 1 is no positions, seed 1."""
    return NAMED.sub(lambda match: POSITIONS[match.group()], text)


def symbols(text):
    """Write constants as Greek letters: beta/(alpha+beta) is β/(α+β)."""
    return SPELT.sub(lambda match: GREEK[match.group()], text)


def unsigned(number):
    """Leave the sign away of what is rounded to zero.

    Examples
    --------
    >>> unsigned("-0.00"), unsigned("-0.01")
    ('0.00', '-0.01')
    """
    return NOTHING.sub(lambda match: number[1:], number)


def borne(q, most=3):
    """Write a median and 95% interval with the decimals of two digits of the standard deviation, at most `most`.

    Examples
    --------
    >>> borne({LOW: 11.637, MIDDLE: 12.796, HIGH: 14.011}), borne({LOW: 192.4, MIDDLE: 277.1, HIGH: 391.2})
    ('12.80 [11.64, 14.01]', '277 [192, 391]')
    """
    return plain(q, f"{{:.{min(most, decimals((q[HIGH] - q[LOW]) / 4))}f}}")


def decimals(sd):
    """Return the number of decimals that show two digits of a standard deviation."""
    return max(0, 1 - math.floor(math.log10(sd))) if sd > 0 else 0
