"""What is believed: laws as mathematics and as PyMC models, priors and noise."""

from . import laws
from .horizons.law import Horizons
from .laws import law
from .lengths.law import Lengths
from .loss.chinchilla import Chinchilla, Coupled
from .loss.data_constrained import DataConstrained
from .loss.embedding.configurations import Configurations
from .loss.embedding.corrected import EmbeddingCorrected
from .loss.embedding.weighted import EmbeddingWeighted
from .loss.grouped import Grouped
from .loss.kaplan import Kaplan
from .loss.law import LossLaw
from .loss.offsets import Offsets
from .loss.power import PowerLaw
from .loss.tuned import LearningRate, RateAndBatch
from .priors import Prior
from .progress.law import Progress
from .progress.specifications import SPECIFICATIONS, Specification
from .scores.law import Scores
from .values.law import Trend

__all__ = [
    "SPECIFICATIONS",
    "Chinchilla",
    "Configurations",
    "Coupled",
    "DataConstrained",
    "EmbeddingCorrected",
    "EmbeddingWeighted",
    "Grouped",
    "Horizons",
    "Kaplan",
    "LearningRate",
    "Lengths",
    "LossLaw",
    "Offsets",
    "PowerLaw",
    "Prior",
    "Progress",
    "RateAndBatch",
    "Scores",
    "Specification",
    "Trend",
    "law",
    "laws",
]
