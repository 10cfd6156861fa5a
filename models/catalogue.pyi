"""The laws of the package, a line for each file that has one. `laws` names a law after its class, Kaplan "kaplan"."""

from .curves.law import Curve as Curve
from .formula.law import Formula as Formula
from .horizons.law import Horizons as Horizons
from .lengths.law import Lengths as Lengths
from .loss.chinchilla import Chinchilla as Chinchilla
from .loss.chinchilla import Coupled as Coupled
from .loss.data_constrained import DataConstrained as DataConstrained
from .loss.embedding.configurations import Configurations as Configurations
from .loss.embedding.corrected import EmbeddingCorrected as EmbeddingCorrected
from .loss.embedding.weighted import EmbeddingWeighted as EmbeddingWeighted
from .loss.grouped import Grouped as Grouped
from .loss.kaplan import Kaplan as Kaplan
from .loss.law import LossLaw as LossLaw
from .loss.law import Sampled as Sampled
from .loss.offsets import Offsets as Offsets
from .loss.tasks import TaskError as TaskError
from .loss.tuned import LearningRate as LearningRate
from .loss.tuned import RateAndBatch as RateAndBatch
from .progress.law import Progress as Progress
from .progress.specifications import Specification as Specification
from .scores.law import Scores as Scores
from .values.law import Trend as Trend

__all__: list[str]
