"""Public names of a package, resolved on first use, so that importing it loads neither torch nor anything heavy."""

import lazy_loader

from ..errors import InputError

# What only training needs, and a bare installation lacks.
NEEDED = ("torch", "safetensors")


def lazy(package, homes):
    """Make `__all__`, `__getattr__` and `__dir__` of a package, which is its ``__name__``.

    `homes` has for each module, relative to the package, the public names that it defines. A name whose module needs a
    library that is missing raises `InputError`.
    """
    resolve, listed, public = lazy_loader.attach(package, submod_attrs=homes)

    def resolved(name):
        try:
            return resolve(name)
        except ModuleNotFoundError as error:
            if error.name not in NEEDED:
                raise
            raise InputError(f"training: {error.name} is not installed; pip install 'bayescaling[training]'") from error

    return public, resolved, listed
