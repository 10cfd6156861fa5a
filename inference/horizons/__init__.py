"""Fits of the law of time horizons: the human time of tasks that models do."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
