"""Figures, tables and the HTML report, resolved on first use."""

__all__ = ["report"]


def __getattr__(name):
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from .build import report

    return report
