"""Figures that anyone can call: each states its finding in its title, and both backends draw the same numbers."""

from .checks import plot_posterior, plot_ppc, plot_residuals
from .comparisons import plot_compare, plot_rollout
from .progress import plot_doubling, plot_lengths
from .runs import plot_fit, plot_isoflop, plot_valley
from .sizes import plot_allocation, plot_frontier

__all__ = [
    "plot_allocation",
    "plot_compare",
    "plot_doubling",
    "plot_fit",
    "plot_frontier",
    "plot_isoflop",
    "plot_lengths",
    "plot_posterior",
    "plot_ppc",
    "plot_residuals",
    "plot_rollout",
    "plot_valley",
]
