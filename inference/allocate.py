"""Decisions from a posterior: losses of runs not made, and the compute-optimal size, draw by draw."""

import numpy as np
import xarray as xr

from ..errors import InputError
from ..models.chinchilla import FLOP_PER_PARAMETER_TOKEN
from . import evaluate
from .columns import positive_columns
from .storage import metadata


def predict(fit, runs, *, noise=True, seed=None):
    """Posterior predictive losses of runs.

    Parameters
    ----------
    fit : DataTree
    runs : DataFrame
        Sizes of runs; the columns that the law needs (``parameters`` and ``tokens`` for Chinchilla's).
    noise : bool
        Losses of single runs (default), or the law's mean without the scatter of runs. A reading error is left out: the
        prediction is of the loss, not of its reading.
    seed : int, optional
        Seed of the noise; that of the fit by default.

    Returns
    -------
    Dataset
        ``loss`` in nats per token, dims (chain, draw, run), with the runs' sizes as coordinates.

    Raises
    ------
    InputError
        If a column is missing or a size is not a positive number.
    """
    law, _ = evaluate.law_and_reference(fit)
    positive_columns(runs, law.columns, purpose="a prediction")
    rng = np.random.default_rng(metadata(fit)["seed"] if seed is None else seed)
    loss = evaluate.replicated_loss(law.without_reading_error, evaluate.posterior_of(fit), runs, rng, noise=noise)
    sizes = {column: ("run", np.asarray(runs[column], float)) for column in law.columns}
    return loss.to_dataset(name="loss").assign_coords(run=np.arange(len(runs)), **sizes)


def allocate(fit, compute):
    """Compute-optimal parameters and tokens at a training budget, for each posterior draw.

    Parameters
    ----------
    fit : DataTree
    compute : float or array_like, shape (compute,)
        Budgets C = 6 N D in FLOP.

    Returns
    -------
    Dataset
        ``parameters``, ``tokens``, ``tokens_per_parameter`` and ``loss`` (mean loss in nats per token), dims
        (chain, draw, compute); ``extrapolation`` (compute), decades of compute by which the budget lies above
        (positive) or below (negative) the fitted runs, 0 within; ``outside`` (compute), whether it is not 0.

    Raises
    ------
    InputError
        If a budget is not a positive number.
    """
    try:
        budgets = np.atleast_1d(np.asarray(compute, float))
    except (TypeError, ValueError):
        budgets = np.array([np.nan])
    if budgets.ndim != 1 or not (np.isfinite(budgets) & (budgets > 0)).all():
        raise InputError(f"compute must be positive FLOP, not {compute!r}")
    law, _ = evaluate.law_and_reference(fit)
    draws = evaluate.posterior_of(fit)
    at = xr.DataArray(budgets, dims="compute", coords={"compute": budgets})
    parameters, tokens = law.optimum(draws, at)
    result = xr.Dataset({"parameters": parameters, "tokens": tokens, "tokens_per_parameter": tokens / parameters})
    result["loss"] = law.mean(draws, result)
    result["extrapolation"] = decades_outside(at, *compute_range(fit))
    result["outside"] = result["extrapolation"] != 0
    units = {
        "parameters": "1",
        "tokens": "1",
        "tokens_per_parameter": "1",
        "loss": "nats/token",
        "extrapolation": "decades",
    }
    for name, unit in units.items():
        result[name].attrs["units"] = unit
    result["compute"].attrs["units"] = "FLOP"
    return result.transpose("chain", "draw", "compute")


def compute_range(fit):
    """Least and greatest training FLOP of the fitted runs."""
    data = fit["constant_data"]
    flop = FLOP_PER_PARAMETER_TOKEN * data["parameters"] * data["tokens"]
    return float(flop.min()), float(flop.max())


def decades_outside(compute, least, greatest):
    """Decades by which a budget lies above (positive) or below (negative) a range; 0 within."""
    above = np.log10(compute / (greatest * (1 + 1e-9))).clip(min=0)
    below = np.log10(compute / (least * (1 - 1e-9))).clip(max=0)
    return above + below
