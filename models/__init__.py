"""What is believed: laws as mathematics and as PyMC models, priors and noise."""

from . import laws as laws
from .laws import law as law
