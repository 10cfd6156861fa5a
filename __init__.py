"""Bayesian scaling laws of neural networks.

A table of training runs goes in; posteriors of a law, a comparison of laws, and decisions with their uncertainty come
out. Names are resolved on first use, so importing the package loads none of its dependencies.
"""

import ast
import importlib
from pathlib import Path

__version__ = "0.1.0"

# The stub beside this file names each public name once, for type checkers and for this.
_STUB = ast.parse(Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
_HOME_OF = {alias.name: node.module for node in _STUB.body if isinstance(node, ast.ImportFrom) for alias in node.names}

__all__ = sorted(_HOME_OF)


def __getattr__(name):
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f".{_HOME_OF[name]}", __name__), name)


def __dir__():
    return sorted([*globals(), *__all__])
