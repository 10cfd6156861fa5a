"""What is learned: NUTS, diagnostics, comparison by leave-one-out, and decisions draw by draw."""

from .allocate import allocate, predict
from .compare import compare, loo
from .fit import Fitter, diagnose, fit
from .storage import law_of, metadata, open_fit, runs_of, save_fit

__all__ = [
    "Fitter",
    "allocate",
    "compare",
    "diagnose",
    "fit",
    "law_of",
    "loo",
    "metadata",
    "open_fit",
    "predict",
    "runs_of",
    "save_fit",
]
