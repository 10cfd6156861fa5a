"""What is believed: laws as mathematics and as PyMC models, priors and noise."""

from .laws import Chinchilla, law, laws
from .priors import Prior
from .progress_law import Progress
from .specifications import SPECIFICATIONS, Specification

__all__ = ["SPECIFICATIONS", "Chinchilla", "Prior", "Progress", "Specification", "law", "laws"]
