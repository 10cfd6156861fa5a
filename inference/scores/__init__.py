"""Fits of the law of scores: capabilities, and the compute that a capability takes."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
