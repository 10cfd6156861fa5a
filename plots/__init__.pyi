"""Figures, with their types."""

from .by_date import (
    plot_capability as plot_capability,
    plot_horizons as plot_horizons,
    plot_ranks as plot_ranks,
    plot_since as plot_since,
    plot_trend as plot_trend,
)
from .checks import plot_posterior as plot_posterior, plot_ppc as plot_ppc, plot_residuals as plot_residuals
from .curves import plot_curve as plot_curve, plot_learning as plot_learning
from .formulas import plot_ask as plot_ask
from .groups import plot_groups as plot_groups, plot_worth as plot_worth
from .intervals import plot_intervals as plot_intervals
from .progress import plot_doubling as plot_doubling, plot_lengths as plot_lengths, plot_progress as plot_progress
from .runs import (
    plot_design as plot_design,
    plot_fit as plot_fit,
    plot_isoflop as plot_isoflop,
    plot_valley as plot_valley,
)
from .sizes import plot_allocation as plot_allocation, plot_frontier as plot_frontier, plot_reconcile as plot_reconcile
from .validation import (
    plot_calibration as plot_calibration,
    plot_compare as plot_compare,
    plot_rollout as plot_rollout,
    plot_sensitivity as plot_sensitivity,
)

__all__: list[str]
