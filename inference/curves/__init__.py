"""Answers on runs in flight: their losses to come, under their schedule or another."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
