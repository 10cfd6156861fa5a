"""What is printed with a number of a fit, in sentences: what does not hold of it, and how strong it is."""

from .checks.verdict import FITS
from .fitted import FORMS, SUGGESTION, results_of

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
