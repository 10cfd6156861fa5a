"""What is believed: laws as mathematics and as PyMC models, priors and noise."""

from .chinchilla_law import Chinchilla
from .configurations import Configurations
from .embedding_laws import EmbeddingCorrected, EmbeddingWeighted
from .kaplan_law import Kaplan
from .laws import law, laws
from .lengths_law import Lengths
from .priors import Prior
from .progress_law import Progress
from .specifications import SPECIFICATIONS, Specification

__all__ = [
    "SPECIFICATIONS",
    "Chinchilla",
    "Configurations",
    "EmbeddingCorrected",
    "EmbeddingWeighted",
    "Kaplan",
    "Lengths",
    "Prior",
    "Progress",
    "Specification",
    "law",
    "laws",
]
