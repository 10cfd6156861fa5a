"""What is believed: laws as mathematics and as PyMC models, priors and noise."""

import lazy_loader

from . import laws as laws
from .laws import law as law

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
