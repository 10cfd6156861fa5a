"""The recommended optimum: that of the law that predicts best, of the laws of N and D alone."""

from ..inference.comparison.differences import is_apart
from .laws import DEFAULT, PLANNED

BUDGET = 1e24
NAMES = {"chinchilla": "Chinchilla", "coupled": "coupled", "offsets": "offsets"}


def planned(document):
    """Return the laws that give an optimum, the one that predicts runs left out best first."""
    return sorted(PLANNED, key=lambda name: -document["laws"][name]["elpd_loo"])


def preferred(document):
    """Return the law whose optimum is quoted: the coupled one, which predicts runs beyond the fitted ones best.

    Another law is quoted if it predicts runs left out better by more than two standard errors and 4 nats. A mixture of
    laws is never quoted: it hides the law of an interval, and beyond the runs it predicts worse.
    """
    best = planned(document)[0]
    return best if _apart(document, DEFAULT, best) else DEFAULT


def rivals(document):
    """Return the laws that predict runs left out as well as the preferred one."""
    return [
        name
        for name in planned(document)
        if name != preferred(document) and not _apart(document, name, planned(document)[0])
    ]


def _apart(document, name, best):
    one = document["comparison"]["models"][name]
    return name != best and is_apart(one["elpd_diff"], one["dse"])


def at_budget(document, compute, law, **group):
    """Return the entry of a law's optimum at a budget, of a law of groups that of a ``group``."""
    wanted = {"law": law, "compute": compute, **group}
    return next(a for a in document["allocation"] if all(a.get(key) == x for key, x in wanted.items()))


def budgets(document, law):
    """Return the entries of a law's optimum at every budget, in ascending order."""
    return sorted((a for a in document["allocation"] if a["law"] == law), key=lambda a: a["compute"])


def largest_run(document):
    """Return the compute of the largest run fitted, in FLOP, from the extrapolation of the largest budget."""
    last = budgets(document, preferred(document))[-1]
    return last["compute"] / 10 ** last["extrapolation"]
