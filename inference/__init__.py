"""What is learned: NUTS, diagnostics, comparison by leave-one-out, and decisions draw by draw."""

from .calibration.simulation import calibrate, calibration_table
from .fitting.corpora import fit_corpora
from .fitting.fit import Fitter, diagnose, fit
from .fitting.lengths import LengthsFitter
from .fitting.progress import ProgressFitter, fit_progress
from .loo.compare import compare, loo
from .loo.progress import compare_progress
from .points.curves import curve_frontier
from .points.envelopes import frontier_fit, isoflop_fit
from .points.parametric import huber_fit
from .quantities.allocation import allocate, predict, stacked
from .quantities.growth import doubling_times, growth_rates
from .quantities.lengths import accuracy, embedding_contrasts, lengths_at, lengths_table, predict_counts
from .quantities.reconciliation import reconcile
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
