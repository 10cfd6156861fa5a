"""The result of the check of a law in words."""

from ...datasets.wording import p_value
from ..fitted import VERDICT, results_of

FITS, OFF, NOT = "fits", "off", "does not fit"
BY_COLUMN = "means by column "  # begins the names of tests of groups that a column names
NEIGHBOURS = "neighbours by "  # begins the name of the test of the form
LEAST_SETTINGS = 8  # that this test needs to see another form; see evidence/neighbours.py
OF_NOISE = ("sigma", "nu_minus_one")  # quantities that the prior may decide
# Of tables drawn from Chinchilla's law and the coupled one; see tests/benchmarks/false_alarms.py.
ALARMS = "Of tables drawn from the law itself, about 3% are called misfits"
REJECTED = "Tests that reject it:"


def verdict_of(fit):
    """Return the result of `Fit.check`, without an import of what makes it where it was made."""
    return results_of(fit).get(VERDICT) or fit.check()


def verdict_sentence(verdict):
    """Return one line for a person: the result of `Fit.check` in words and numbers."""
    tests = verdict["tests"]
    if verdict["verdict"] == FITS:
        least = f"the least of {len(tests)} tests has {p_value(verdict['p'])}"
        fits = f"the law fits its rows: no test rejects it ({least}){_blind(verdict)}"
        return f"{fits}; {verdict['apart']}" if verdict.get("apart") else fits
    by = ", ".join(f"{name} {p_value(tests[name]['p'])}" for name in verdict["rejected_by"])
    if verdict["size"] is None:
        return f"the law's noise or exponent is not that of the rows ({by})"
    size = f"by {percent(verdict['size'])} of {verdict['share_of']} on average{_worst(verdict)}"
    misses = "does not fit its rows: it misses them" if verdict["verdict"] == NOT else "misses its rows"
    more = [f"{text[0].upper()}{text[1:]}" for text in map(verdict.get, ("turns", "apart")) if text]
    return ". ".join([f"the law {misses} {size}", f"{REJECTED} {by}", *more, ALARMS])


def _blind(verdict):
    """Return what few settings of the rows do not tell: whether another form is right, and what the prior decides."""
    counts = [test["df"] + 1 for name, test in verdict["tests"].items() if name.startswith(NEIGHBOURS)]
    if not counts or counts[0] >= LEAST_SETTINGS:
        return ""
    driven = [name.removeprefix("share_") for name in verdict["prior_driven"] if name not in OF_NOISE]
    decides = f", and the prior decides {' and '.join(driven)}" if driven else ""
    return f", but {counts[0]} settings cannot show that another form is right{decides}"


def _worst(verdict):
    """Name the bin or group in which the law is furthest off, of the tests that reject it."""
    tests = [verdict["tests"][name] for name in verdict["rejected_by"]]
    located = [test for test in tests if test.get("worst_size") is not None]
    if not located:
        return ""
    worst = max(located, key=lambda test: test["worst_size"])
    return f", and by {percent(worst['worst_size'])} in {worst['worst_where']}"


def percent(share):
    """Write a share in percent, to two digits.

    Examples
    --------
    >>> percent(0.0123), percent(4.321)
    ('1.2%', '430%')
    """
    return f"{float(f'{100 * share:.2g}'):,g}%"
