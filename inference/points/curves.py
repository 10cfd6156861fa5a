"""Compute-optimal size from training curves: approach 1 of Hoffmann et al. (2022), for observed or predicted losses.

References
----------
.. [1] Hoffmann, J. et al. (2022). Training compute-optimal large language models. arXiv:2203.15556, section 3.1.
.. [2] Pearce, T. and Song, J. (2024). Reconciling Kaplan and Chinchilla scaling laws. arXiv:2406.12907, section 3.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from ...datasets.reader import TableSource, as_table
from ...datasets.requirements import positive_columns
from ...datasets.wording import check_choice, source_of
from ...errors import InputError
from ...models.loss.budget import FLOP_PER_PARAMETER_TOKEN
from .result import PointEstimate

COUNTED = {"nonembedding": "parameters_nonembedding", "total": "parameters"}
BUDGETS = 100


def curve_frontier(runs: TableSource, *, basis: str = "total", budgets: int = BUDGETS) -> PointEstimate:
    """Estimate exponents of the lower envelope of training curves, approach 1 of Hoffmann et al. (2022), section 3.1.

    Runs of one size make a curve: their log losses at each D, averaged over runs (seeds), joined by straight lines in
    log compute. The curve of least loss is searched at each of `budgets` levels of compute, even in its logarithm. A
    level counts where at least two curves are there to choose from. Slopes of logarithms against that of compute follow
    by least squares. Few sizes make steps of N*, which bias the slope; so a posterior is best compared in the same
    steps, see `exponents_by_curves`.

    Parameters
    ----------
    runs : DataFrame, path, str or mapping
        One row a reading: ``parameters``, ``parameters_nonembedding``, ``tokens`` and ``loss`` (nats per token).
    basis : {"nonembedding", "total"}
        Which parameters are counted, in sizes and in compute, as Kaplan et al. (2020) and Hoffmann et al. (2022) do.
    budgets : int
        Levels of compute between those of the first and the last reading.

    Returns
    -------
    PointEstimate
        ``exponent``, ``exponent_tokens`` and ``exponent_loss`` of N*, D* and L in compute, NaN where all levels have
        one best size. `points` has a row a level: ``training_flop`` (FLOP), ``parameters`` counted in the best curve
        and its ``loss``, NaN where a level does not count. ``used`` is whether it counts.

    Raises
    ------
    InputError
        If a column is missing or not positive, the basis is unknown, or there are fewer than two sizes.

    Examples
    --------
    >>> import bayescaling as bs
    >>> runs = bs.load("small_lm_runs")
    >>> curves = runs[runs["budget_fraction"] == 1]
    >>> bs.points.curve_frontier(curves, basis="total")["exponent"] > 0
    True
    """
    runs = runs if isinstance(runs, pd.DataFrame) else as_table(runs, needed=("run",))
    levels, log_size, log_loss = _envelope(runs, basis, budgets)
    log_tokens = levels - np.log(FLOP_PER_PARAMETER_TOKEN) - log_size
    logs = {"exponent": log_size, "exponent_tokens": log_tokens, "exponent_loss": log_loss}
    used = np.isfinite(log_size)
    points = {"training_flop": levels, "parameters": log_size, "loss": log_loss}
    exponents = {name: float(slopes(levels, y)) for name, y in logs.items()}
    return PointEstimate(
        estimator=f"Lower envelope of training curves, basis {basis}",
        estimates=exponents,
        source=source_of(runs),
        rows=len(runs),
        converged=bool(np.isfinite(exponents["exponent"])),
        message=f"{used.sum()} of {budgets} levels of compute have two curves or more to choose from",
        points=pd.DataFrame({name: np.exp(x) for name, x in points.items()} | {"used": used}),
    )


def exponents_by_curves(runs: pd.DataFrame, losses: ArrayLike, *, basis: str = "total") -> np.ndarray:
    """Return the exponents of size that `curve_frontier` finds in tables of the same runs with other losses.

    The losses have the shape (run, table), and the exponents (table,).
    """
    levels, log_size, _ = _envelope(runs, basis, BUDGETS, np.asarray(losses, float).T)
    return slopes(levels, log_size)


def _envelope(runs, basis, budgets, losses=None):
    """Return log compute of levels, (level,), log size and loss of the best curve, (..., level), NaN of too few."""
    check_choice("basis", basis, COUNTED)
    columns = positive_columns(runs, ("parameters", *COUNTED.values(), "tokens", "loss"), purpose="curve_frontier")
    log_losses = np.log(columns["loss"] if losses is None else losses)
    sizes = np.unique(columns["parameters"])
    if len(sizes) < 2:
        place = source_of(runs)
        raise InputError(f"{place}: column 'parameters' is {sizes[0]:g} in every row; a frontier needs several sizes")
    of_size = [columns["parameters"] == n for n in sizes]
    counted = np.array([columns[COUNTED[basis]][rows][0] for rows in of_size])
    log_compute = np.log(FLOP_PER_PARAMETER_TOKEN * columns[COUNTED[basis]] * columns["tokens"])
    levels = np.linspace(log_compute.min(), log_compute.max(), budgets)
    curves = np.stack([_curve(log_compute[rows], log_losses[..., rows], levels) for rows in of_size])
    there = np.isfinite(curves.reshape(len(sizes), -1, budgets)).all(1)
    log_loss = np.where(np.isnan(curves), np.inf, curves)
    best = log_loss.argmin(0)
    log_loss = np.take_along_axis(log_loss, best[None], 0)[0]
    used = there.sum(0) >= 2
    return levels, np.where(used, np.log(counted)[best], np.nan), np.where(used, log_loss, np.nan)


def _curve(log_compute, log_losses, levels):
    """Return the log loss at each level between the first reading and the last, NaN beyond; shape (..., level)."""
    at, member = np.unique(log_compute, return_inverse=True)
    means = np.stack([log_losses[..., member == k].mean(-1) for k in range(len(at))], -1)
    if len(at) == 1:
        return np.where(levels == at[0], means, np.nan)
    right = np.clip(np.searchsorted(at, levels), 1, len(at) - 1)
    share = (levels - at[right - 1]) / (at[right] - at[right - 1])
    # The ends of the levels are readings themselves, up to rounding.
    inside = (share > -1e-9) & (share < 1 + 1e-9)
    return np.where(inside, means[..., right - 1] * (1 - share) + means[..., right] * share, np.nan)


def slopes(x, y):
    """Compute least-squares slopes over the last axis, of the entries that are not NaN; NaN where y is constant."""
    finite = np.isfinite(y)
    weight = finite / np.maximum(finite.sum(-1, keepdims=True), 1)
    x = np.where(finite, x, 0.0)
    y = np.where(finite, y, 0.0)
    centred = np.where(finite, x - (weight * x).sum(-1, keepdims=True), 0.0)
    spread = (centred**2).sum(-1)
    with np.errstate(all="ignore"):
        slope = (centred * y).sum(-1) / spread
    varied = np.ptp(np.where(finite, y, (weight * y).sum(-1, keepdims=True)), axis=-1) > 0
    return np.where(varied & (spread > 0), slope, np.nan)
