"""Compute-optimal size from training curves: approach 1 of Hoffmann et al. (2022), for observed or predicted losses.

References
----------
.. [1] Hoffmann, J. et al. (2022). Training compute-optimal large language models. arXiv:2203.15556, section 3.1.
.. [2] Pearce, T. and Song, J. (2024). Reconciling Kaplan and Chinchilla scaling laws. arXiv:2406.12907, section 3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from ...datasets.requirements import positive_columns
from ...errors import InputError
from ...models.loss.budget import FLOP_PER_PARAMETER_TOKEN
from ..estimands.study_exponents import check_basis

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import ArrayLike

COUNTED = {"nonembedding": "parameters_nonembedding", "total": "parameters"}
BUDGETS = 100


def curve_frontier(
    runs: pd.DataFrame, losses: ArrayLike | None = None, *, basis: str = "total", budgets: int = BUDGETS
) -> xr.Dataset:
    """Exponents of the lower envelope of training curves, approach 1 of Hoffmann et al. (2022), section 3.1.

    Runs of one size make a curve: their log losses at each D, averaged over runs (seeds), joined by straight lines in
    log compute. At each of `budgets` levels of compute, even in its logarithm, the curve of least loss is found; a
    level counts where at least two curves are there to choose from. Slopes of logarithms against that of compute follow
    by least squares. Few sizes make steps of N*, which bias the slope; so a posterior is best set beside it in the same
    steps: give the losses that each draw predicts.

    Parameters
    ----------
    runs : DataFrame
        One row a reading: ``parameters``, ``parameters_nonembedding``, ``tokens`` and ``loss`` (nats per token).
    losses : array_like, shape (row,) or (draw, row), optional
        Losses to read instead of the table's.
    basis : {"nonembedding", "total"}
        Which parameters are counted, in sizes and in compute, as Kaplan et al. (2020) and Hoffmann et al. (2022) do.
    budgets : int
        Levels of compute between those of the first and the last reading.

    Returns
    -------
    Dataset
        ``size``, ``tokens`` and ``loss`` (draw, if losses have it): exponents of N*, D* and L in compute, NaN where all
        levels have one best size; and by level ``compute`` (FLOP), ``best`` (parameters counted, NaN where a level does
        not count) and ``least`` (its loss).

    Raises
    ------
    InputError
        If a column is missing or not positive, the basis is unknown, or there are fewer than two sizes.

    Examples
    --------
    >>> import bayescaling as bs
    >>> runs = bs.load("small_lm_runs")
    >>> curves = runs[runs["budget_fraction"] == 1]
    >>> bool(float(bs.points.curve_frontier(curves, basis="total")["size"]) > 0)
    True
    """
    check_basis(basis)
    columns = positive_columns(runs, ("parameters", *COUNTED.values(), "tokens", "loss"), purpose="curve_frontier")
    log_losses = np.log(columns["loss"] if losses is None else np.asarray(losses, float))
    sizes = np.unique(columns["parameters"])
    if len(sizes) < 2:
        place = runs.attrs.get("source", "the table")
        raise InputError(f"{place}: column 'parameters' is {sizes[0]:g} in every row; a frontier needs several sizes")
    counted = np.array([columns[COUNTED[basis]][columns["parameters"] == n][0] for n in sizes])
    log_compute = np.log(FLOP_PER_PARAMETER_TOKEN * columns[COUNTED[basis]] * columns["tokens"])
    levels = np.linspace(log_compute.min(), log_compute.max(), budgets)
    of_size = [columns["parameters"] == n for n in sizes]
    curves = np.stack([_curve(log_compute[rows], log_losses[..., rows], levels) for rows in of_size])
    there = np.isfinite(curves.reshape(len(sizes), -1, budgets)).all(1)
    least = np.where(np.isnan(curves), np.inf, curves)
    best = least.argmin(0)
    least = np.take_along_axis(least, best[None], 0)[0]
    used = there.sum(0) >= 2
    log_size = np.where(used, np.log(counted)[best], np.nan)
    least = np.where(used, least, np.nan)
    dims = ("draw",)[: log_losses.ndim - 1]
    log_tokens = levels - np.log(FLOP_PER_PARAMETER_TOKEN) - log_size
    return xr.Dataset(
        {
            "size": (dims, _slope(levels, log_size)),
            "tokens": (dims, _slope(levels, log_tokens)),
            "loss": (dims, _slope(levels, least)),
            "best": ((*dims, "level"), np.exp(log_size)),
            "least": ((*dims, "level"), np.exp(least)),
        },
        {"compute": ("level", np.exp(levels))},
    )


def _curve(log_compute, log_losses, levels):
    """Log loss at each level between the first reading and the last, NaN beyond; shape (..., level)."""
    at, member = np.unique(log_compute, return_inverse=True)
    means = np.stack([log_losses[..., member == k].mean(-1) for k in range(len(at))], -1)
    if len(at) == 1:
        return np.where(levels == at[0], means, np.nan)
    right = np.clip(np.searchsorted(at, levels), 1, len(at) - 1)
    share = (levels - at[right - 1]) / (at[right] - at[right - 1])
    # The ends of the levels are readings themselves, up to rounding.
    inside = (share > -1e-9) & (share < 1 + 1e-9)
    return np.where(inside, means[..., right - 1] * (1 - share) + means[..., right] * share, np.nan)


def _slope(x, y):
    """Least-squares slope over the last axis, of the entries that are not NaN; NaN where y does not vary."""
    kept = np.isfinite(y)
    weight = kept / np.maximum(kept.sum(-1, keepdims=True), 1)
    x = np.where(kept, x, 0.0)
    y = np.where(kept, y, 0.0)
    centred = np.where(kept, x - (weight * x).sum(-1, keepdims=True), 0.0)
    spread = (centred**2).sum(-1)
    with np.errstate(all="ignore"):
        slope = (centred * y).sum(-1) / spread
    varied = np.ptp(np.where(kept, y, (weight * y).sum(-1, keepdims=True)), axis=-1) > 0
    return np.where(varied & (spread > 0), slope, np.nan)
