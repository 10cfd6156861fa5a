"""Tables: the built-in ones, and a user's own, read and checked."""

from .catalogue import CHINCHILLA_VOCABULARY, catalogue, load, notes
from .counts import read_counts
from .evaluations import fractional_years, read_evaluations
from .fingerprint import sha256
from .kinds import KINDS, Kind
from .reading import read
from .requirements import filled, positive_columns, require
from .scores import read_scores

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
    "read_counts",
    "read_evaluations",
    "read_scores",
    "require",
    "sha256",
]
