"""What `bayescaling.points` exports, with its types."""

from .curves import curve_frontier as curve_frontier
from .envelopes import fit_frontier as fit_frontier, fit_isoflop as fit_isoflop
from .item_response import anchored as anchored, fit_item_response as fit_item_response
from .least_squares import fit_formula as fit_formula
from .parametric import fit_huber as fit_huber
from .task_horizons import fit_horizons as fit_horizons
from .two_stages import fit_two_stages as fit_two_stages

__all__: list[str]
