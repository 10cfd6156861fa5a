"""What is believed: laws as mathematics and as PyMC models, priors and noise."""

from .laws import Chinchilla, law, laws
from .priors import Prior

__all__ = ["Chinchilla", "Prior", "law", "laws"]
