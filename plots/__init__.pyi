"""Figures, with their types."""

from .checks import plot_posterior as plot_posterior, plot_ppc as plot_ppc, plot_residuals as plot_residuals
from .comparisons import plot_compare as plot_compare, plot_rollout as plot_rollout
from .curves import plot_curve as plot_curve
from .design import plot_design as plot_design
from .exponents import plot_groups as plot_groups, plot_reconcile as plot_reconcile
from .horizons import plot_horizons as plot_horizons
from .intervals import plot_intervals as plot_intervals
from .learning import plot_learning as plot_learning
from .progress import plot_doubling as plot_doubling, plot_lengths as plot_lengths, plot_progress as plot_progress
from .ranks import plot_ranks as plot_ranks
from .runs import plot_fit as plot_fit, plot_isoflop as plot_isoflop, plot_valley as plot_valley
from .scores import plot_capability as plot_capability, plot_since as plot_since
from .sizes import plot_allocation as plot_allocation, plot_frontier as plot_frontier
from .trends import plot_trend as plot_trend
from .validation import plot_calibration as plot_calibration, plot_sensitivity as plot_sensitivity
from .worth import plot_worth as plot_worth

__all__: list[str]
