"""Libraries that take long to import, imported on first use so that help and error messages come at once."""

from functools import partial
from importlib import import_module


class Deferred:
    """A module, or an object of one, that `load` returns when one of its attributes is first used."""

    def __init__(self, load):
        self._load = load

    def __getattr__(self, name):
        attribute = getattr(self._load(), name)
        setattr(self, name, attribute)
        return attribute


special = Deferred(partial(import_module, "scipy.special"))
stats = Deferred(partial(import_module, "scipy.stats"))
xr = Deferred(partial(import_module, "xarray"))
