"""The entry of results.json of any fit: what all laws have, and what laws of its kind have besides."""

from ..inference import law_of
from . import results
from .arithmetic.entries import lengths_entry


def misfit_entry(fit, *, seed=1):
    """Test a law against the rows it was fitted to."""
    return {"misfit": results.misfit_entries(fit)}


OF_KIND = {"runs": misfit_entry, "evaluations": misfit_entry, "counts": lengths_entry}


def fit_entry(fit, result=None, *, seed=1):
    """Entry of one fit: `results.law_entry`; tests of a law of losses, or lengths for a law of counts."""
    besides = OF_KIND.get(law_of(fit).kind)
    return results.law_entry(fit, result) | (besides(fit, seed=seed) if besides else {})
