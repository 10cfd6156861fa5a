"""Fits of laws of algorithmic progress: rates, doubling times, comparisons."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
