"""Tables: the built-in ones, and a user's own, read and checked."""

from .catalogue import catalogue, load, notes
from .fingerprint import sha256
from .reading import read, require

__all__ = ["catalogue", "load", "notes", "read", "require", "sha256"]
