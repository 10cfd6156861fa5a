"""Fits of the law of lengths: lengths at an accuracy, contrasts of embeddings."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
