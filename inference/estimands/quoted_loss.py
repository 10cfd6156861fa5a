"""Mean losses of models planned, draw by draw, as wide as they are quoted, and what a size off the best one loses."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike

from ...models.draws import DRAWS
from ...models.loss.budget import tokens_at
from ...models.loss.plan import training_compute
from ..fitted import Fit
from ..quoted import drift_errors, quote_draws
from .allocate import allocate, checked_plan, compute_range, decades_outside, largest_sizes
from .beyond import check_beyond


def quoted_loss(
    fit: Fit,
    parameters: ArrayLike,
    tokens: ArrayLike,
    *,
    beyond: str = "drift",
    robust: bool = True,
    **planned: Any,
) -> xr.DataArray:
    """Compute the mean loss of models of any size and tokens, with the spread and the drift of `allocate`.

    The law of runs plans models by all parameters N_T, (point,), and training tokens D, (point,); other options are as
    for `allocate`. The loss is in nats per token, dims (chain, draw, point).
    """
    check_beyond(beyond)
    planned = checked_plan(fit.draws.law, planned)
    n, d = np.broadcast_arrays(np.atleast_1d(np.asarray(parameters, float)), np.asarray(tokens, float))
    places = np.arange(len(n))
    loss = fit.draws.by_draw({"loss": _law_loss(fit, n, d, planned)}, {"point": places})["loss"]
    drift = None
    if beyond == "drift":
        compute = xr.DataArray(training_compute(n, d), dims="point")
        decades = decades_outside(compute, *compute_range(fit, **planned))
        largest = largest_sizes(fit, **planned)
        for name, sizes in (("parameters", n), ("tokens", d)):
            if name in largest:
                further = np.log10(sizes / largest[name])
                decades = xr.where(further > abs(decades), further, decades)
        drift = drift_errors(fit, "loss", decades)
    return quote_draws(fit, loss, robust=robust, drift=drift)


def loss_off_optimum(fit: Fit, compute: float, parameters: ArrayLike, **planned: Any) -> xr.DataArray:
    """Compute how much more loss a size has than the best one at the same training budget, relatively.

    The best size of each draw is that of `allocate`. So the median is at most a tolerance exactly between the
    ``near_low`` and the ``near_high`` that `allocate` returns for it. At a budget C in FLOP, tokens of all parameters
    N_T, (size,), are C/(6 N_T); other options are as for `allocate`. The result is at least 0, dims (chain, draw,
    size); 0.01 is 1% of the best loss.
    """
    law = allocate(fit, compute, beyond="none", robust=False, **planned).isel(compute=0)
    best = allocate(fit, compute, **planned)["parameters"].isel(compute=0)
    moved = (best / law["parameters"]).transpose(*DRAWS).values.reshape(-1, 1)
    planned = checked_plan(fit.draws.law, planned)
    sizes = np.atleast_1d(np.asarray(parameters, float)) / moved
    loss = _law_loss(fit, sizes, tokens_at(compute, sizes), planned)
    off = loss / law["loss"].transpose(*DRAWS).values.reshape(-1, 1) - 1
    return fit.draws.by_draw({"off": np.maximum(off, 0.0)}, {"size": np.arange(sizes.shape[-1])})["off"]


def _law_loss(fit, parameters, tokens, planned):
    """Compute mean losses under the law alone, (sample, point)."""
    draws, planned = fit.draws.of_planned(**planned)
    plan = draws.law.plan(draws.constants(), **planned)
    return plan.loss(plan.model(plan.size(parameters)), tokens)
