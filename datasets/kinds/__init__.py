"""The kinds of table, one a module of this folder, which registers its record: what reading a table of it needs."""

import importlib
import pkgutil

from .kind import KINDS, Kind, register_kind

for module in pkgutil.iter_modules(__path__):
    importlib.import_module(f".{module.name}", __package__)

__all__ = ["KINDS", "Kind", "register_kind"]
