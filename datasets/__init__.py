"""Tables: the built-in ones, and those of the user, read and checked."""

from .catalogue import CHINCHILLA_VOCABULARY, catalogue, load, notes
from .cells import fractional_years
from .kinds import KINDS, Kind, register_kind
from .reader import read
from .requirements import filled, positive_columns, require
from .storing import sha256

__all__ = [
    "CHINCHILLA_VOCABULARY",
    "KINDS",
    "Kind",
    "catalogue",
    "filled",
    "fractional_years",
    "load",
    "notes",
    "positive_columns",
    "read",
    "register_kind",
    "require",
    "sha256",
]
