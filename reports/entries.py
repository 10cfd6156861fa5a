"""The entry of results.json of a fit: what all laws have, and what laws of its kind have in addition."""

from ..inference import intervals
from ..inference.checks.sensitivity import prior_sensitive
from ..inference.checks.trade_off import trade_off_sentence
from . import results

CONSTANTS = ("E", "alpha", "beta", "kappa", "omega", "exponent_parameters")


def loss_entry(fit, *, seed=1):
    """Name the constants of a law of the loss that the prior helps to decide, and those that trade off."""
    sensitive = {} if fit.law.upstream else prior_sensitive(fit, CONSTANTS)
    entry = {"prior_sensitive": {name: intervals.finite(x) for name, x in sensitive.items()}}
    return entry | ({"trade_off": sentence} if (sentence := trade_off_sentence(fit)) else {})


def counts_entry(fit, *, seed=1):
    """Return the lengths of a law of counts; what computes them draws too, and is imported with it."""
    from .pages.arithmetic.entries import lengths_entry

    return lengths_entry(fit, seed=seed)


OF_KIND = {"runs": loss_entry, "counts": counts_entry}


def fit_entry(fit, *, seed=1, high_k=None):
    """Return the entry of one fit: `results.law_entry`, the tests of its law, and lengths for a law of counts."""
    besides = OF_KIND.get(fit.law.kind)
    judged = {"misfit": results.misfit_entries(fit), "verdict": results.verdict_entry(fit)}
    entry = results.law_entry(fit, high_k=high_k) | judged | (besides(fit, seed=seed) if besides else {})
    return entry | floor_entry(entry["parameters"].get("E"), fit.rows)


def floor_entry(fitted, rows):
    """Return the known floor of the language of some runs next to the fitted E, a summary; empty if there is none.

    Only a table of runs on one synthetic language has it, in the column ``irreducible_loss``.
    """
    floors = rows["irreducible_loss"].unique() if "irreducible_loss" in rows else ()
    if fitted is None or len(floors) != 1 or not floors[0] > 0:
        return {}
    low, middle, high = (fitted[name] for name in ("q2.5", "q50", "q97.5"))
    where = "ends below" if high < floors[0] else "begins above" if low > floors[0] else "holds"
    sentence = (
        f"the known floor of the language is {floors[0]:.3f}; E, {middle:.3g} [{low:.3g}, {high:.3g}], {where} it"
    )
    return {"known_floor": {"known": float(floors[0]), "holds": where == "holds", "sentence": sentence}}
