"""What holds of a number of a fit, and is printed with it: its chains, its law, its width, and rivals of its law."""

import math

from .checks.chains import sentence
from .checks.verdict import FITS, verdict_of, verdict_sentence
from .estimands.strength import Facts, reasons, strength, width
from .fitted import VERDICT, results_of, table_named
from .kinds import find_record
from .remarks import rivals_of

QUICK_ROWS = 4000  # of a table whose law is checked where its numbers are printed, within seconds


def known_check(fit):
    """Return the `Check` of a fit where it was made or takes a few seconds, else None."""
    return verdict_of(fit) if VERDICT in results_of(fit) or len(fit.rows) <= QUICK_ROWS else None


def standing(fit, interval=None, *, decades=None, robust=True):
    """Return what holds of a number of a fit, in plain values.

    The interval, quantiles of the number, has a width, one of the facts that `strength` grades; `decades` of compute
    are those by which the number lies outside the runs. `robust` is whether the interval is the robust one where the
    rows reject the law, of a kind of law that has it.

    In the dict are ``law`` and ``data`` in words; ``converged`` and ``chains``, its sentence; ``verdict``, ``p``,
    ``misfit`` and ``check``, its sentence, None where the law was not checked. ``robust`` is whether the interval was
    widened. ``rivals`` is a sentence on wider laws, None where none was tried. ``strength``, ``because`` and ``width``
    are from `graded`.
    """
    check = known_check(fit) or {}
    rejected = check.get("verdict", FITS) != FITS
    held = {
        "law": fit.law.label,
        "data": table_named(fit),
        "converged": fit.diagnostics["ok"],
        "chains": sentence(fit.diagnostics),
        "verdict": check.get("verdict"),
        "p": check.get("p"),
        "misfit": check.get("size"),
        "check": verdict_sentence(check) if check else None,
        "robust": rejected and robust and find_record(fit.law.kind).widens,
        "rivals": rivals_of(fit),
    }
    return held | graded(held, interval, decades)


def graded(held, interval=None, decades=None):
    """Grade a number by what holds of its fit, by its interval and by how far it lies outside the runs.

    `held` is as from `standing`, whose values that are None may be missing. ``strength`` and ``because``, a list of
    reasons, are of this fit alone, since other choices may weaken an answer further. ``width`` is the upper over the
    lower end of the interval, None where it is not finite.
    """
    facts = Facts(
        chains=held["converged"],
        verdict=held.get("verdict"),
        p=held.get("p"),
        size=held.get("misfit"),
        width=None if interval is None else width(interval),
        decades=decades,
    )
    finite = None if facts.width is None or math.isinf(facts.width) else facts.width
    return {"strength": strength(facts), "because": reasons(facts), "width": finite}
