"""Figures, tables and the HTML report, resolved on first use."""

import importlib

_HOMES = {"report": "build", "report_fits": "own", "report_table": "own"}

__all__ = [*_HOMES]


def __getattr__(name):
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f".{_HOMES[name]}", __name__), name)
