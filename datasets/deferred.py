"""Libraries that take long to import, imported on first use: help and refusals need not wait for them."""

from importlib import import_module


class Deferred:
    """A module that is imported when something of it is first asked for."""

    def __init__(self, name):
        self._name = name

    def __getattr__(self, name):
        found = getattr(import_module(self._name), name)
        setattr(self, name, found)
        return found


special = Deferred("scipy.special")
stats = Deferred("scipy.stats")
xr = Deferred("xarray")
