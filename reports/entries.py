"""The entry of results.json of any fit: what all laws have, and what laws of its kind have besides."""

from ..inference import law_of
from ..inference.quantities.sensitivity import prior_sensitive
from . import results
from .arithmetic.entries import lengths_entry

CONSTANTS = ("E", "alpha", "beta", "kappa", "omega", "exponent_parameters")


def misfit_entry(fit, *, seed=1):
    """Test a law against the rows it was fitted to."""
    return {"misfit": results.misfit_entries(fit)}


def loss_entry(fit, *, seed=1):
    """Test a law of the loss against its rows, and name the constants that the prior helps to decide."""
    sensitive = {} if law_of(fit).upstream else prior_sensitive(fit, CONSTANTS)
    return misfit_entry(fit) | {"prior_sensitive": {name: results.finite(x) for name, x in sensitive.items()}}


OF_KIND = {"runs": loss_entry, "evaluations": misfit_entry, "counts": lengths_entry}


def fit_entry(fit, result=None, *, seed=1):
    """Entry of one fit: `results.law_entry`; tests of a law of losses, or lengths for a law of counts."""
    besides = OF_KIND.get(law_of(fit).kind)
    return results.law_entry(fit, result) | (besides(fit, seed=seed) if besides else {})
