"""The entry of results.json of any fit: what all laws have, and what laws of its kind have besides."""

from ..inference import law_of
from . import results
from .arithmetic.entries import lengths_entry

OF_KIND = {"counts": lengths_entry}


def fit_entry(fit, *, seed=1):
    """Entry of one fit: `results.law_entry`, and lengths for a law of counts."""
    besides = OF_KIND.get(law_of(fit).kind)
    return results.law_entry(fit) | (besides(fit, seed=seed) if besides else {})
