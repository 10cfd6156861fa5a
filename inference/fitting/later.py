"""nutpie without what it imports for an annotation alone: all of ArviZ, with its plots and a compilation by Numba.

Where ArviZ was not imported before, nutpie gets a module in its place that imports ArviZ when something of it is
called for. That is a second and more of the first fit of a process.
"""

import functools
import importlib
import sys
import types

NAMED = "InferenceData"  # in annotations of nutpie's functions


class _Later(types.ModuleType):
    """A module that is imported when something of it is called for."""

    def __getattr__(self, name):
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(importlib.import_module(self.__name__), name)


@functools.cache
def nutpie():
    """Import nutpie, all of whose functions work as without this."""
    if "arviz" in sys.modules or "nutpie" in sys.modules:
        return importlib.import_module("nutpie")
    later = _Later("arviz")
    setattr(later, NAMED, type(NAMED, (), {}))
    sys.modules["arviz"] = later
    try:
        return importlib.import_module("nutpie")
    finally:
        if sys.modules.get("arviz") is later:
            del sys.modules["arviz"]
