"""What is learned: NUTS, diagnostics, comparison by leave-one-out, and decisions draw by draw."""

from .calibration.simulation import calibrate, calibration_table
from .executor import parallel
from .fitting.fit import fit
from .fitting.fitter import Fitter
from .fitting.progress import fit_progress, progress_fitter
from .loo.compare import compare
from .loo.future import compare_futures
from .loo.groups import loo_by_group
from .loo.loo import loo
from .loo.progress import compare_progress
from .loo.rollout import rollout
from .points.curves import curve_frontier
from .points.envelopes import fit_frontier, fit_isoflop
from .points.item_response import fit_item_response
from .points.parametric import fit_huber
from .points.two_stages import fit_two_stages
from .quantities.allocation import allocate
from .quantities.alternatives import alternatives
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
from .quantities.prediction import predict
from .quantities.reconciliation import reconcile
from .quantities.robust import robust, robust_sd
from .quantities.scores.capabilities import capabilities, pit_by_benchmark
from .quantities.scores.compute import progress_at_fixed_compute, progress_summary
from .quantities.verdict import judge
from .storage import diagnose, draws_of, law_of, metadata, open_fit, save_fit, table_of

__all__ = [
    "Fitter",
    "accuracy_at_length",
    "allocate",
    "alternatives",
    "calibrate",
    "calibration_table",
    "capabilities",
    "change_of_pace",
    "compare",
    "compare_futures",
    "compare_progress",
    "compute_equivalent_gain",
    "curve_frontier",
    "diagnose",
    "doubling_times",
    "draws_of",
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
    "judge",
    "law_of",
    "length_at_accuracy",
    "length_summary",
    "loo",
    "loo_by_group",
    "metadata",
    "misfit",
    "new_group",
    "open_fit",
    "pace_by_year",
    "parallel",
    "pit_by_benchmark",
    "predict",
    "predict_counts",
    "progress_at_fixed_compute",
    "progress_fitter",
    "progress_summary",
    "reconcile",
    "robust",
    "robust_sd",
    "rollout",
    "save_fit",
    "table_of",
]
