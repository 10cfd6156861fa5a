"""Figures that anyone can call: each states its finding in its title, and both backends draw the same numbers."""

from .checks import plot_posterior, plot_ppc, plot_residuals
from .comparisons import plot_compare, plot_rollout
from .design import plot_design
from .exponents import plot_groups, plot_reconcile
from .horizons import plot_horizons
from .learning import plot_learning
from .progress import plot_doubling, plot_lengths, plot_progress
from .ranks import plot_ranks
from .runs import plot_fit, plot_isoflop, plot_valley
from .scores import plot_capability, plot_since
from .sizes import plot_allocation, plot_frontier
from .trends import plot_trend
from .validation import plot_calibration, plot_sensitivity
from .worth import plot_worth

__all__ = [
    "plot_allocation",
    "plot_calibration",
    "plot_capability",
    "plot_compare",
    "plot_design",
    "plot_doubling",
    "plot_fit",
    "plot_frontier",
    "plot_groups",
    "plot_horizons",
    "plot_isoflop",
    "plot_learning",
    "plot_lengths",
    "plot_posterior",
    "plot_ppc",
    "plot_progress",
    "plot_ranks",
    "plot_reconcile",
    "plot_residuals",
    "plot_rollout",
    "plot_sensitivity",
    "plot_since",
    "plot_trend",
    "plot_valley",
    "plot_worth",
]
