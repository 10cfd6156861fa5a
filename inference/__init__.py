"""What is learned: NUTS, diagnostics, comparison by leave-one-out, and decisions draw by draw."""

from .calibration.simulation import calibrate, calibration_table
from .executor import parallel
from .fit import Fit
from .fitting.fit import fit
from .fitting.fitter import Fitter
from .fitting.progress import fit_progress, progress_fitter
from .loo.compare import compare
from .loo.future import compare_futures
from .loo.progress import compare_progress
from .loo.rollout import rollout
from .points.curves import curve_frontier
from .points.envelopes import fit_frontier, fit_isoflop
from .points.item_response import fit_item_response
from .points.parametric import fit_huber
from .points.two_stages import fit_two_stages
from .quantities.gain import compute_equivalent_gain, gain_times
from .quantities.growth import doubling_times, growth_rates
from .quantities.lengths import (
    accuracy_at_length,
    embedding_contrasts,
    length_at_accuracy,
    length_summary,
    predict_counts,
)
from .quantities.misfit import misfit
from .quantities.new_group import new_group
from .quantities.pace import change_of_pace, pace_by_year
from .quantities.reconciliation import reconcile
from .quantities.scores.capabilities import capabilities, pit_by_benchmark
from .quantities.scores.compute import progress_at_fixed_compute, progress_summary
from .storage import open

__all__ = [
    "Fit",
    "Fitter",
    "accuracy_at_length",
    "calibrate",
    "calibration_table",
    "capabilities",
    "change_of_pace",
    "compare",
    "compare_futures",
    "compare_progress",
    "compute_equivalent_gain",
    "curve_frontier",
    "doubling_times",
    "embedding_contrasts",
    "fit",
    "fit_frontier",
    "fit_huber",
    "fit_isoflop",
    "fit_item_response",
    "fit_progress",
    "fit_two_stages",
    "gain_times",
    "growth_rates",
    "length_at_accuracy",
    "length_summary",
    "misfit",
    "new_group",
    "open",
    "pace_by_year",
    "parallel",
    "pit_by_benchmark",
    "predict_counts",
    "progress_at_fixed_compute",
    "progress_fitter",
    "progress_summary",
    "reconcile",
    "rollout",
]
