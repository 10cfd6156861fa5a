"""What `bayescaling` exports of inference, with its types."""

from . import curves as curves, horizons as horizons, lengths as lengths, points as points
from . import progress as progress, scores as scores
from .checks.calibration import calibrate as calibrate
from .comparison.compare import compare as compare
from .comparison.rollout import rollout as rollout
from .decisions.design import design as design
from .decisions.update import update as update
from .decisions.worth import worth as worth
from .fitted import Fit as Fit
from .fitter import Fitter as Fitter
from .fitting import fit as fit
from .formulas.published import published as published
from .storage import open as open
from .workers import parallel as parallel

__all__: list[str]
