"""What holds of a number of a fit, in values and in the sentences printed with it: chains, law, width and rivals."""

import math

from .checks.chains import sentence
from .checks.verdict import FITS, verdict_of, verdict_sentence
from .estimands.strength import Facts, reasons, strength, width
from .fitted import FORMS, SUGGESTION, VERDICT, results_of, table_named
from .kinds import find_record

QUICK_ROWS = 4000  # of a table whose law is checked where its numbers are printed, within seconds


def known_check(fit):
    """Return the `Check` of a fit where it was made or takes a few seconds, else None."""
    return verdict_of(fit) if VERDICT in results_of(fit) or len(fit.rows) <= QUICK_ROWS else None


def standing(fit, interval=None, *, decades=None, robust=True, guessed=None):
    """Return what holds of a number of a fit, in plain values.

    The interval, quantiles of the number, has a width, one of the facts that `strength` grades; `decades` of compute
    are those by which the number lies outside the runs. `robust` is whether the interval is the robust one where the
    rows reject the law, of a kind of law that has it; `guessed` says what the number takes for granted.

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
    return held | graded(held, interval, decades, guessed=guessed)


def graded(held, interval=None, decades=None, *, direction=None, row="run", guessed=None):
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
        direction=direction,
        row=row,
        guessed=guessed,
    )
    finite = None if facts.width is None or math.isinf(facts.width) else facts.width
    return {"strength": strength(facts), "because": reasons(facts), "width": finite}


UNCHECKED = "The law was not checked yet: call fit.check(), or bayescaling check FILE.nc"
CAREFUL = {
    True: "The intervals are robust, since the rows reject the law",
    False: "The intervals are those of the posterior: they do not widen where the law misses its rows",
}


def rivals_of(fit):
    """Return the sentence on laws that predict as well as that of a fit, None where none was tried."""
    return results_of(fit).get(FORMS) or results_of(fit).get(SUGGESTION) or None


def lines(held):
    """Return the sentences that no surface may leave out: of what does not hold, and how strong the number is."""
    sentences = [] if held["converged"] else [f"{held['chains']}. Nothing here is to be quoted"]
    if held.get("verdict") is None:
        sentences.append(UNCHECKED)
    elif held["verdict"] != FITS:
        sentences += [held["check"], CAREFUL[held["robust"]]]
    sentences += [held["rivals"]] if held.get("rivals") else []
    return [*sentences, strength_sentence(held)] if held.get("width") is not None else sentences


def lines_of_each(standings):
    """Yield what holds of each of several fits by name, in sentences; the check only where it is there."""
    for name, held in standings.items():
        if not held["converged"]:
            yield f"Fit {name}: {held['chains']}"
        if "check" in held:
            yield f"Fit {name}: {held['check'] or UNCHECKED}"


def strength_sentence(held):
    """State how strong a number is, and why it is no stronger."""
    why = f": {'; '.join(held['because'])}" if len(held["because"]) else ""
    return f"Strength of this fit alone, {held['strength']}{why}"
