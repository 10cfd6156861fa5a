"""What is learned: NUTS, diagnostics, comparison by leave-one-out, and decisions draw by draw."""

from .allocate import allocate, predict
from .compare import compare, loo
from .envelopes import frontier_fit, isoflop_fit
from .fit import Fitter, diagnose, fit
from .points import huber_fit
from .storage import law_of, metadata, open_fit, runs_of, save_fit

__all__ = [
    "Fitter",
    "allocate",
    "compare",
    "diagnose",
    "fit",
    "frontier_fit",
    "huber_fit",
    "isoflop_fit",
    "law_of",
    "loo",
    "metadata",
    "open_fit",
    "predict",
    "runs_of",
    "save_fit",
]
