"""Public names of a package, resolved on first use, so that importing it loads neither torch nor anything heavy."""

import importlib
import sys

from ..errors import InputError

# What only training needs, and a bare installation lacks.
NEEDED = ("torch", "safetensors")


def lazy(package, homes):
    """Make `__all__`, `__getattr__` and `__dir__` of a package, which is its ``__name__``.

    `homes` has for each module, relative to the package, the public names that it defines. A name whose module needs a
    library that is missing raises `InputError`.
    """
    home_of = {name: home for home, names in homes.items() for name in names}
    public = sorted(home_of)

    def resolve(name):
        if name not in home_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        try:
            home = importlib.import_module(f".{home_of[name]}", package)
        except ModuleNotFoundError as error:
            if error.name not in NEEDED:
                raise
            raise InputError(f"training: {error.name} is not installed; pip install 'bayescaling[training]'") from error
        return getattr(home, name)

    def listed():
        return sorted({*vars(sys.modules[package]), *public})

    return public, resolve, listed
