"""The entry of results.json of a fit: what all laws have, and what laws of its kind have in addition."""

from ..inference.checks.trade_off import known_floor
from ..inference.fitted import record_of
from ..inference.stored_answers import document
from . import results


def fit_entry(fit, *, seed=1, high_k=None):
    """Return the entry of one fit: `results.law_entry`, its answers, its tests, and what its law has besides."""
    entry = results.law_entry(fit, high_k=high_k) | document(fit) | results.check_entries(fit)
    entry |= record_of(fit).details(fit, seed)
    return entry | ({"known_floor": floor} if (floor := known_floor(fit)) else {})
