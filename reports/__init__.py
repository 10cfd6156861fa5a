"""Figures, tables and the HTML report, resolved on first use."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach(__name__, submod_attrs={"report": ["report"]})
