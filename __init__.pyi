"""What the package exports, with its types; `__init__.py` reads from here where each name is."""

from . import errors as errors
from .datasets import catalogue as catalogue, load as load, notes as notes, read as read
from .errors import DiagnosticWarning as DiagnosticWarning, InputError as InputError
from .inference import (
    Fit as Fit,
    Fitter as Fitter,
    calibrate as calibrate,
    compare as compare,
    design as design,
    fit as fit,
    curves as curves,
    horizons as horizons,
    lengths as lengths,
    open as open,
    parallel as parallel,
    points as points,
    progress as progress,
    published as published,
    rollout as rollout,
    scores as scores,
    update as update,
    worth as worth,
)
from .models import law as law, laws as laws
from .plots import (
    plot_allocation as plot_allocation,
    plot_ask as plot_ask,
    plot_calibration as plot_calibration,
    plot_capability as plot_capability,
    plot_compare as plot_compare,
    plot_curve as plot_curve,
    plot_design as plot_design,
    plot_doubling as plot_doubling,
    plot_fit as plot_fit,
    plot_frontier as plot_frontier,
    plot_groups as plot_groups,
    plot_horizons as plot_horizons,
    plot_intervals as plot_intervals,
    plot_isoflop as plot_isoflop,
    plot_learning as plot_learning,
    plot_lengths as plot_lengths,
    plot_posterior as plot_posterior,
    plot_ppc as plot_ppc,
    plot_progress as plot_progress,
    plot_ranks as plot_ranks,
    plot_reconcile as plot_reconcile,
    plot_residuals as plot_residuals,
    plot_rollout as plot_rollout,
    plot_sensitivity as plot_sensitivity,
    plot_since as plot_since,
    plot_trend as plot_trend,
    plot_valley as plot_valley,
    plot_worth as plot_worth,
)
from .reports import report as report
from .training import train as train

__version__: str
__all__: list[str]
