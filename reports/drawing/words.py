"""Numbers of results.json in the words of the first screen."""

import calendar

from .style import si

NOISES = {"paper effects": "with effects of papers", "rows independent": "without effects of papers"}
LOW, MIDDLE, HIGH = "q2.5", "q50", "q97.5"
NEVER = "never"


def months(q):
    """Median and 95% interval of a doubling time; what is not finite is never reached."""
    return _interval(q, lambda x: NEVER if x is None else f"{x:,.0f}" if x >= 100 else f"{x:.1f}")


def sizes(q):
    """Median and 95% interval of a number of parameters or tokens: 99B [78B, 126B]."""
    return _interval(q, size)


def size(x):
    """Write a number of parameters or tokens, with no more digits than its interval bears: 99B, 1.46T."""
    return si(x, lambda short: f"{short:.0f}" if abs(short) >= 10 else f"{short:.3g}")


def digits(q):
    """Median and 95% interval of a length; none where no length has that share of sums right."""
    return _interval(q, lambda x: "none" if x is None else f"{x:.1f}")


def plain(q, form="{:.3f}"):
    """Median and 95% interval of any number."""
    return _interval(q, lambda x: "–" if x is None else form.format(x))


def factor(q):
    """Median and 95% interval of a factor a year."""
    return _interval(q, lambda x: NEVER if x is None else f"{x:,.0f}" if x >= 100 else f"{x:.2g}")


def month(year):
    """Name the month that a year with decimals lies in: May 2024."""
    return f"{calendar.month_name[int(12 * (year % 1)) + 1]} {int(year)}"


def _interval(q, form):
    low, middle, high = (form(q[name]) for name in (LOW, MIDDLE, HIGH))
    return f"{middle} [{low}, {high}]"


def flop(compute):
    """Write a budget: 1e24 FLOP."""
    return f"{compute:.3g} FLOP".replace("e+", "e")


def probability(p):
    """Write a probability that may be near 0 or 1."""
    return "> 0.999" if p > 0.999 else "< 0.001" if p < 0.001 else f"{p:.3f}"


def equal_to(p):
    """Write what a probability is, as HTML: = 0.974, &gt; 0.999."""
    said = probability(p)
    return said.replace("<", "&lt;").replace(">", "&gt;") if said[0] in "<>" else f"= {said}"


def in_words(text):
    """Write the names of tests as a reader would."""
    return text.replace("loo_pit", "leave-one-out PIT")
