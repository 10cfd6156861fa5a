"""Refuse what is no fit, or a fit of a law of another kind, before anything is computed from it."""

from ..errors import InputError
from .fitted import place_of

NEEDED = {
    "runs": "sizes and losses of runs need a law such as chinchilla",
    "evaluations": "growth rates need one of progress-1 to progress-20",
    "counts": "lengths need a fit of the law 'lengths'",
    "horizons": "horizons need a fit of the law 'horizons'",
    "scores": "capabilities need a fit of the law 'scores'",
    "curves": "losses of runs in flight need a fit of the law 'curve'",
    "values": "trends of dated values need a fit of the law 'trend'",
}


def of_kind(fit, kind=None):
    """Return a fit, refusing what is none or of a law of another kind than the one named, a key of `datasets.KINDS`."""
    law = getattr(fit, "law", None)
    if law is None:
        raise InputError(f"a {type(fit).__name__} is no fit of bayescaling; pass what fit() or open() returned")
    if kind is not None and law.kind != kind:
        raise InputError(f"{place_of(fit)} is a fit of {law.name}; {NEEDED[kind]}")
    return fit
