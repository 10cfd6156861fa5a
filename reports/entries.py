"""The entry of results.json of a fit: what all laws have, and what laws of its kind have in addition."""

from ..inference import intervals
from ..inference.checks.known_floor import known_floor
from ..inference.checks.sensitivity import prior_sensitive
from ..inference.checks.trade_off import trade_off_sentence
from ..inference.estimands.tuning import sentence as tuning_sentence
from ..inference.stored_answers import document
from . import results

CONSTANTS = ("E", "alpha", "beta", "kappa", "omega", "exponent_parameters")


def loss_entry(fit):
    """Name the constants of a law of the loss that the prior helps to decide, and those that trade off."""
    sensitive = {} if fit.law.upstream else prior_sensitive(fit, CONSTANTS)
    entry = {"prior_sensitive": {name: intervals.finite(x) for name, x in sensitive.items()}}
    if fit.law.settings and not fit.law.grouped_by:
        rungs = fit.tuning()
        rows = [{"_".join(filter(None, key)): x for key, x in row.items()} for row in rungs.to_dict("records")]
        entry["tuning"] = {"sentence": tuning_sentence(rungs), "rungs": rows}
    return entry | ({"trade_off": sentence} if (sentence := trade_off_sentence(fit)) else {})


def fit_entry(fit, *, seed=1, high_k=None):
    """Return the entry of one fit: `results.law_entry`, its answers, its tests, and what its law has besides."""
    entry = results.law_entry(fit, high_k=high_k) | document(fit) | results.check_entries(fit)
    if fit.law.kind == "runs":
        entry |= loss_entry(fit)
    elif fit.law.kind == "counts":
        from .pages.arithmetic.entries import lengths_entry

        entry |= lengths_entry(fit, seed=seed)
    return entry | ({"known_floor": floor} if (floor := known_floor(fit)) else {})
