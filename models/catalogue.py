"""Import a law of the package on first use, from where `catalogue.pyi` says it is."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__package__, __file__)
