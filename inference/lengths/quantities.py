"""Compute quantities of a fit of the law of lengths, draw by draw: lengths at an accuracy, accuracies, contrasts.

Each result is that of the median run of a condition (``typical``), of a run with a new seed (``new``), or of the fitted
runs themselves (``runs``). A length is that at which accuracy has fallen to a share of its plateau, the accuracy at
short lengths. Every run has such a length, and a few errors at any length do not move it.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import ArrayLike

from ...datasets.kinds.counts import COUNTS
from ...datasets.printed import PrintedTable
from ...datasets.wording import check_choice, quoted, suggestion
from ...errors import InputError
from ...models.draws import DRAWS, draw_coordinates
from ...models.lengths.curve import length_at, natural, right_and_wrong
from ...models.lengths.design import conditions as conditions_of
from ...models.lengths.design import log_train
from ..fitted import Fit, of_kind
from ..intervals import IntervalTable, check_shares, name_quantiles, printed, tabulate_by_share
from ..settings import seed_of

IN_WORDS = {"typical": "of the median run", "new": "of a run with a new seed", "runs": "of each run"}
SEEDS = tuple(IN_WORDS)
SHARES = (0.5, 0.95)
CELLS_AT_ONCE = 20_000_000
LEARNED = 0.95  # our choice: share right within the training lengths from which a condition has learned its task


def conditions(fit):
    """Return conditions of the fitted runs, a row each, indexed by the labels that other results use."""
    fitted = of_kind(fit, COUNTS).draws
    return conditions_of(fitted.rows, fitted.law.effects)


class _Curves:
    """Parameters of curves, (chain, draw, which), of the conditions or runs `which`."""

    def __init__(self, fit, seeds, chosen, seed):
        self.fitted = fitted = of_kind(fit, COUNTS).draws
        check_choice("seeds", seeds, SEEDS)
        if seeds == "runs":
            if chosen is not None:
                raise InputError("conditions are for seeds='typical' and 'new'; leave them out for the fitted runs")
            self.parameters, self.which, self.dimension = fitted.curve, fitted.runs, "run"
            return
        self.which, self.dimension = _chosen(conditions(fit), chosen), "condition"
        rng = np.random.default_rng(seed_of(seed, fit))
        self.parameters = fitted.typical(self.which) if seeds == "typical" else fitted.new(self.which, rng)

    def array(self, values, dimension, coords):
        """Label values, (chain, draw, which, one more dimension)."""
        draws = draw_coordinates(*self.fitted.z.shape[:2])
        labels = {self.dimension: self.which.index.to_numpy(object)}
        return xr.DataArray(values, dims=(*DRAWS, self.dimension, dimension), coords=draws | labels | coords)


def _chosen(table, chosen):
    """Return conditions by their labels, or as a table with the columns of those of the runs."""
    if chosen is None:
        return table
    if not isinstance(chosen, pd.DataFrame):
        chosen = [chosen] if isinstance(chosen, str) else list(chosen)
        for label in chosen:
            if label not in table.index:
                raise InputError(
                    f"condition {quoted(label)} is in no run that was fitted{suggestion(label, table.index)}; there "
                    f"are {', '.join(table.index)}"
                )
        return table.loc[chosen]
    for column in table:
        if column not in chosen:
            raise InputError(f"conditions need the column {quoted(column)}; conditions(fit) shows those of the runs")
    return chosen


def length_at_accuracy(
    fit: Fit,
    shares: ArrayLike = SHARES,
    *,
    seeds: str = "typical",
    conditions: pd.DataFrame | None = None,
    seed: int | None = None,
) -> xr.DataArray:
    """Compute the length of two equal operands at which accuracy has fallen to a share of that at short lengths.

    Parameters
    ----------
    fit : Fit
        Of the law ``lengths``.
    shares : float or sequence of float
        Between 0 and 1. At 0.95, 5% of the accuracy at short lengths is lost; `plateau` has that accuracy.
    seeds : {"typical", "new", "runs"}
        Of the median run of a condition, of a run with a new seed, or of each fitted run.
    conditions : str, sequence of str or DataFrame, optional
        Labels from `conditions`, or a table with its columns for conditions that were not run; all by default.
    seed : int, optional
        Of the new runs; that of the fit by default.

    Returns
    -------
    DataArray
        Digits, dims chain, draw, condition (or run), share; at least 1, the shortest operand.

    Raises
    ------
    InputError
        If a share is not between 0 and 1, or a condition has a level that no run had.

    Examples
    --------
    >>> import bayescaling as bs
    >>> fit = bs.fit(bs.laws.Lengths(), bs.load("arithmetic_runs"), seed=1, draws=300, tune=500)
    >>> bs.lengths.length_at_accuracy(fit, [0.5, 0.95]).dims
    ('chain', 'draw', 'condition', 'share')
    """
    shares, curves = check_shares(shares), _Curves(fit, seeds, conditions, seed)
    parameters = {name: x[..., None] for name, x in curves.parameters.items()}
    lengths = length_at(parameters, log_train(curves.which)[:, None], shares, curves.fitted.law.shape)
    return curves.array(lengths, "share", {"share": shares})


def plateau(fit, *, seeds="typical", conditions=None, seed=None):
    """Compute the share of problems right at short lengths, dims chain, draw, condition (or run).

    The parameters are those of `length_at_accuracy`.
    """
    curves = _Curves(fit, seeds, conditions, seed)
    reach = curves.parameters["log_reach"]
    right = natural(curves.parameters, log_train(curves.which)).get("plateau", np.ones_like(reach))
    return curves.array(right[..., None], "share", {}).isel(share=0)


def summary(
    fit: Fit,
    shares: ArrayLike = SHARES,
    *,
    seeds: str = "typical",
    conditions: pd.DataFrame | None = None,
    seed: int | None = None,
) -> IntervalTable:
    """Compute quantiles of `length_at_accuracy`, and the share of problems right at short lengths.

    Returns
    -------
    IntervalTable
        A row for each condition (or run) and share: ``q2.5``, ``q50`` and ``q97.5`` in digits, and ``plateau``, the
        median of the accuracy at short lengths.

    Examples
    --------
    >>> import bayescaling as bs
    >>> fit = bs.fit(bs.laws.Lengths(), bs.load("arithmetic_runs"), seed=1, draws=300, tune=500)
    >>> bool(bs.lengths.summary(fit, 0.5).loc[("abacus", 0.5), "q50"] > 6)
    True
    """
    lengths = length_at_accuracy(fit, shares, seeds=seeds, conditions=conditions, seed=seed)
    highest = plateau(fit, seeds=seeds, conditions=conditions, seed=seed).median(DRAWS)
    table = tabulate_by_share(lengths, highest[lengths.dims[2]].values, plateau=highest.to_series())
    title = f"Digits at which a share of the accuracy is left, {IN_WORDS[seeds]}"
    return printed(table, "digits", title, "Medians and 95% intervals.", fit)


def accuracy_at_length(
    fit: Fit,
    length_a: ArrayLike,
    length_b: ArrayLike | None = None,
    *,
    seeds: str = "typical",
    conditions: pd.DataFrame | None = None,
    seed: int | None = None,
) -> xr.DataArray:
    """Compute the share of problems right at lengths that may never have been run.

    Parameters
    ----------
    fit : Fit
    length_a, length_b : array_like, shape (cell,)
        Digits of the operands; equal ones where `length_b` is absent.
    seeds, conditions, seed
        As for `length_at_accuracy`.

    Returns
    -------
    DataArray
        Dims chain, draw, condition (or run), cell, with the lengths as coordinates of cell.

    Examples
    --------
    >>> import bayescaling as bs
    >>> fit = bs.fit(bs.laws.Lengths(), bs.load("arithmetic_runs"), seed=1, draws=300, tune=500)
    >>> curve = bs.lengths.accuracy_at_length(fit, [4, 40])
    >>> bool((curve.isel(cell=0) > curve.isel(cell=1)).all())
    True
    """
    curves = _Curves(fit, seeds, conditions, seed)
    a, b = np.broadcast_arrays(
        *(np.atleast_1d(np.asarray(x, float)) for x in (length_a, length_a if length_b is None else length_b))
    )
    if a.ndim > 1 or not (np.isfinite(a) & np.isfinite(b) & (a >= 1) & (b >= 1)).all():
        raise InputError("lengths must be numbers of at least 1, one or a sequence of them for each operand")
    longer = np.log(np.maximum(a, b))
    constants = {name: x[..., None] for name, x in natural(curves.parameters, log_train(curves.which)).items()}
    right, _ = right_and_wrong(constants, longer, np.log(np.minimum(a, b)) - longer, curves.fitted.law.shape)
    return curves.array(right, "cell", {"length_a": ("cell", a), "length_b": ("cell", b)})


def region_accuracy(fit, *, seeds="typical", conditions=None, seed=None):
    """Compute the mean accuracy over the cells of each region, each pair of lengths counted once.

    A region's cells, under one training length, are those that any fitted run of that training length was tested on.
    The dims are chain, draw, condition (or run), region; the mean is NaN where a region has no cell.
    """
    curves = _Curves(fit, seeds, conditions, seed)
    fitted, which, curve = curves.fitted, curves.which, curves.parameters
    regions = [name for name in ("id", "ood", "ood100") if (fitted.rows["split"] == name).any()]
    accuracies = np.full((*next(iter(curve.values())).shape, len(regions)), np.nan)
    cells = fitted.rows[["train_digits", "split", "length_a", "length_b"]].drop_duplicates()
    for j, region in enumerate(regions):
        for i, digits in enumerate(which["train_digits"]):
            chosen = cells[(cells["split"] == region) & (cells["train_digits"] == digits)]
            if len(chosen):
                accuracies[..., i, j] = _mean_accuracy(fitted, {n: x[..., i] for n, x in curve.items()}, digits, chosen)
    return curves.array(accuracies, "region", {"region": regions})


def _mean_accuracy(fitted, curve, digits, cells):
    """Compute the mean accuracy over cells, (chain, draw), cells of the same two lengths in any order computed once."""
    both = np.sort(cells[["length_a", "length_b"]].to_numpy(float), axis=1)
    pairs, times = np.unique(both, axis=0, return_counts=True)
    log_longer, log_ratio = np.log(pairs[:, 1]), np.log(pairs[:, 0]) - np.log(pairs[:, 1])
    constants = {name: x.reshape(-1, 1) for name, x in natural(curve, np.log(digits)).items()}
    draws = len(constants["steepness"])
    out, size = np.empty(draws), max(1, CELLS_AT_ONCE // len(pairs))
    for start in range(0, draws, size):
        part = {name: x[start : start + size] for name, x in constants.items()}
        right, _ = right_and_wrong(part, log_longer, log_ratio, fitted.law.shape)
        out[start : start + size] = right @ times / times.sum()
    return out.reshape(curve["log_reach"].shape)


def learned_shares(fit):
    """Return the share of problems right within the training lengths, by the labels of `conditions`.

    It is NaN where no problem is of such lengths. A condition has learned its task from `LEARNED` on; how far one that
    has not would generalise is unknown.
    """
    rows, fitted = of_kind(fit, COUNTS).draws.rows, conditions(fit)
    within = rows[rows[["length_a", "length_b"]].max(axis=1) <= rows["train_digits"]]
    sums = within.groupby(list(fitted))[["correct", "total"]].sum()
    shares = sums["correct"] / sums["total"]
    keys = (key if len(fitted.columns) > 1 else key[0] for key in fitted.itertuples(index=False, name=None))
    return {str(label): float(shares.get(key, np.nan)) for label, key in zip(fitted.index, keys, strict=True)}


def embedding_contrasts(
    fit: Fit, *, seeds: str = "typical", share: float = 0.5, seed: int | None = None
) -> pd.DataFrame:
    """Contrast embeddings, other things equal: mean accuracy in each region, and the ratio of lengths.

    Parameters
    ----------
    fit : Fit
    seeds : {"typical", "new"}
    share : float
        Of the accuracy at short lengths, at which lengths are compared.
    seed : int, optional

    Returns
    -------
    DataFrame
        A row for each two conditions that differ in their embedding alone and each of the regions and ``length``.
        ``first``, ``second`` and ``of`` name them. ``q2.5``, ``q50`` and ``q97.5`` are of the first's mean accuracy
        minus the second's, or of the first's length over the second's. ``p_first`` is the probability that the first is
        above the second. ``learned`` is whether both are right in at least 95% of problems within the training lengths.
        Where one is not, a contrast beyond these lengths does not separate generalisation from learning.

    Raises
    ------
    InputError
        If no two conditions differ in their embedding alone.

    Examples
    --------
    >>> import bayescaling as bs
    >>> fit = bs.fit(bs.laws.Lengths(), bs.load("arithmetic_runs"), seed=1, draws=300, tune=500)
    >>> bool(bs.lengths.embedding_contrasts(fit)["p_first"].between(0, 1).all())
    True
    """
    check_choice("seeds", seeds, SEEDS[:2])
    fitted = conditions(fit)
    others = [column for column in fitted if column != "embedding"]
    pairs = [(a, b) for a, b in combinations(fitted.index, 2) if fitted.loc[a, others].equals(fitted.loc[b, others])]
    if not pairs:
        raise InputError("no two conditions differ in their embedding alone: there is nothing to contrast")
    means = region_accuracy(fit, seeds=seeds, seed=seed)
    lengths = length_at_accuracy(fit, share, seeds=seeds, seed=seed).isel(share=0)
    shares, rows = learned_shares(fit), []
    for a, b in pairs:
        for region in means["region"].values:
            difference = (means.sel(condition=a, region=region) - means.sel(condition=b, region=region)).values
            if np.isfinite(difference).all():
                rows.append(_contrast(a, b, str(region), difference, 0))
        rows.append(_contrast(a, b, "length", (lengths.sel(condition=a) / lengths.sel(condition=b)).values, 1))
    table = pd.DataFrame(rows)
    learned = [name for name, share in shares.items() if share >= LEARNED]
    table = table.assign(learned=table["first"].isin(learned) & table["second"].isin(learned))
    return PrintedTable.of(table, title="Contrasts of embeddings, other things equal")


def _contrast(first, second, of, draws, equal):
    return {
        "first": first,
        "second": second,
        "of": of,
        **name_quantiles(draws),
        "p_first": float((draws > equal).mean()),
    }
