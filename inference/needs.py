"""Refuse what is no fit, or a fit of a law of another kind, before anything is computed from it."""

from ..datasets import KINDS
from ..errors import InputError
from .fitted import place_of
from .kinds import find_record


def of_kind(fit, kind=None):
    """Return a fit, refusing what is none or of a law of another kind of table than one of `datasets.KINDS`."""
    law = getattr(fit, "law", None)
    if law is None:
        raise InputError(f"a {type(fit).__name__} is no fit of bayescaling; pass what fit() or open() returned")
    if kind is not None and KINDS[law.kind] is not kind:
        raise InputError(f"{place_of(fit)} is a fit of {law.name}; {find_record(kind.name).needed}")
    return fit


def record_of(fit):
    """Return what answers need of the kind of table that a fit is of, refusing what is no fit."""
    return find_record(of_kind(fit).law.kind)
