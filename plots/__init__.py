"""Figures that anyone can call: each states its finding in its title, and both backends draw the same numbers."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
