"""What is learned: NUTS, diagnostics, comparison by leave-one-out, and decisions draw by draw."""

from .allocate import allocate, predict, stacked
from .calibration import calibrate, calibration_table
from .compare import compare, loo
from .corpora import fit_corpora
from .crossvalidation import compare_progress
from .curves import curve_frontier
from .envelopes import frontier_fit, isoflop_fit
from .fit import Fitter, diagnose, fit
from .growth import doubling_times, growth_rates
from .lengths import accuracy, embedding_contrasts, lengths_at, lengths_table, predict_counts
from .lengths_fit import LengthsFitter
from .points import huber_fit
from .progress import ProgressFitter, fit_progress
from .reconciliation import reconcile
from .storage import law_of, metadata, open_fit, runs_of, save_fit

__all__ = [
    "Fitter",
    "LengthsFitter",
    "ProgressFitter",
    "accuracy",
    "allocate",
    "calibrate",
    "calibration_table",
    "compare",
    "compare_progress",
    "curve_frontier",
    "diagnose",
    "doubling_times",
    "embedding_contrasts",
    "fit",
    "fit_corpora",
    "fit_progress",
    "frontier_fit",
    "growth_rates",
    "huber_fit",
    "isoflop_fit",
    "law_of",
    "lengths_at",
    "lengths_table",
    "loo",
    "metadata",
    "open_fit",
    "predict",
    "predict_counts",
    "reconcile",
    "runs_of",
    "save_fit",
    "stacked",
]
