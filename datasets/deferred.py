"""Libraries that take long to import, imported on first use so that help and error messages come at once."""

from importlib import import_module


class Deferred:
    """A module that is imported when one of its attributes is first used."""

    def __init__(self, name):
        self._name = name

    def __getattr__(self, name):
        attribute = getattr(import_module(self._name), name)
        setattr(self, name, attribute)
        return attribute


special = Deferred("scipy.special")
stats = Deferred("scipy.stats")
xr = Deferred("xarray")
