"""Bayesian scaling laws of neural networks.

A table of training runs goes in; posteriors of a law, a comparison of laws, and decisions with their uncertainty come
out. Names are resolved on first use, so importing the package loads none of its dependencies.
"""

import importlib

__version__ = "0.1.0"

_HOMES = {
    "errors": ["DiagnosticWarning", "InputError", "SizeNote", "TableNote", "TableWarning"],
    "datasets": ["catalogue", "load", "notes", "read", "read_counts", "read_evaluations", "read_scores"],
    "models": [
        "Chinchilla",
        "Configurations",
        "Coupled",
        "DataConstrained",
        "EmbeddingCorrected",
        "EmbeddingWeighted",
        "Frontier",
        "Grouped",
        "Kaplan",
        "Lengths",
        "Offsets",
        "Progress",
        "Scores",
        "Specification",
        "laws",
        "register_law",
    ],
    "inference": [
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
        "stack_allocations",
        "table_of",
    ],
    "reports": ["report", "report_fits", "report_table"],
    "training": ["train"],
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = sorted(_HOME_OF)


def __getattr__(name):
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f".{_HOME_OF[name]}", __name__), name)


def __dir__():
    return sorted([*globals(), *__all__])
