"""What is learned: NUTS, diagnostics, comparison by leave-one-out, and decisions draw by draw."""

from . import horizons, lengths, points, progress, scores
from .checks.calibration import calibrate
from .comparison.compare import compare
from .comparison.rollout import rollout
from .decisions.design import design
from .decisions.update import update
from .decisions.worth import worth
from .fit import Fit
from .fitter import Fitter
from .fitting import fit
from .storage import open
from .workers import parallel

__all__ = [
    "Fit",
    "Fitter",
    "calibrate",
    "compare",
    "design",
    "fit",
    "horizons",
    "lengths",
    "open",
    "parallel",
    "points",
    "progress",
    "rollout",
    "scores",
    "update",
    "worth",
]
