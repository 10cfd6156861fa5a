"""Libraries that take long to import, imported on first use so that help and error messages come at once."""

import sys
from functools import partial
from importlib import import_module
from importlib.util import find_spec, module_from_spec


class Deferred:
    """What is loaded when one of its attributes is first used.

    Parameters
    ----------
    load : callable
        Returns a module, or an object of one.
    """

    def __init__(self, load):
        self._load = load

    def __getattr__(self, name):
        attribute = getattr(self._load(), name)
        setattr(self, name, attribute)
        return attribute


def _array_stats():
    """Import ArviZ's statistics of arrays without the packages that hold them, which import matplotlib."""
    if "arviz_stats" in sys.modules:
        return import_module("arviz_stats.base").array_stats
    try:
        for package in ("arviz_stats", "arviz_stats.base"):
            sys.modules[package] = module_from_spec(find_spec(package))
        return import_module("arviz_stats.base.array").array_stats
    finally:  # what imports ArviZ later gets all of it
        for name in [name for name in sys.modules if name.partition(".")[0] == "arviz_stats"]:
            del sys.modules[name]


array_stats = Deferred(_array_stats)
special = Deferred(partial(import_module, "scipy.special"))
stats = Deferred(partial(import_module, "scipy.stats"))
xr = Deferred(partial(import_module, "xarray"))
