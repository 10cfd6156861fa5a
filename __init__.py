"""Bayesian scaling laws over any columns, and of neural networks.

A table of training runs goes in; posteriors of a law, a comparison of laws, and decisions with their uncertainty come
out. Names are resolved on first use, so importing the package loads none of its dependencies.
"""

import lazy_loader

__version__ = "0.1.0"
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
