"""Fits of the law of time horizons: horizons of models, their doubling time, dates at which a horizon is reached."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
