"""Leave-one-out by Pareto-smoothed importance sampling, each unit's tail by the efficiency of its draws.

References
----------
.. [1] Vehtari, A., Gelman, A. and Gabry, J. (2017). Practical Bayesian model evaluation using leave-one-out
       cross-validation and WAIC. https://doi.org/10.1007/s11222-016-9696-4
.. [2] Plummer, M. (2015). Cuts in Bayesian graphical models. https://doi.org/10.1007/s11222-014-9503-z
"""

from functools import partial

import numpy as np
import xarray as xr

from ...datasets.deferred import special
from ...datasets.progress_messages import counted
from ...errors import InputError
from ...models.arrays import sum_by
from ...models.draws import DRAWS
from .. import densities
from ..checks.chains import PARETO_K_LIMIT
from ..diagnostics import effective_draws, smooth_weights
from ..fitted import LOG_WEIGHTS, WEIGHTED, once
from .bridge import log_mean_exp
from .weights import sum_error

MANY = 2_000  # Units. Beyond these, a Pareto distribution is fitted only to the tail of weights that differ.
EVEN = 1.0  # Largest difference of log ratios of weights that do not differ: a factor e, which no tail exceeds.
PIT_DRAWS = 400  # These determine the PIT of a row to 0.001, where its density barely differs between draws.
FEW_PIT_DRAWS = 100  # Of tables so large that some draws sum up their rows: densities differ still less.
LEAST_DRAWS = 25  # A fifth of these, the tail, are the fewest that a Pareto distribution is fitted to.


def importance_sampling(fit, joint=None, *, progress=False):
    """Leave out units by importance sampling alone, whatever the Pareto k [1]_; the fit's own units only once.

    What is left out has the log density `joint`, dims (chain, draw, unit), by default that of the fit's own units. The
    standard error is that of differences of elpd, see `sum_error`. There are log weights where the densities are at
    hand all at once; otherwise `progress` shows a bar on standard error. The result is ArviZ's: `ELPDData`, since
    version 1 its `ELPDDataLOO`.
    """
    if joint is not None:
        return _result(fit, *_in_one(fit, joint))
    if densities.is_held(fit):
        return _result(fit, *once(fit, LOG_WEIGHTS, lambda: _in_one(fit)))
    return _result(fit, once(fit, WEIGHTED, lambda: _in_parts(fit, progress)))


def _in_one(fit, joint=None):
    """Return scores of units whose densities are available all at once, a Dataset, and their log weights."""
    ((_, density, log_weights, k),) = weighted(fit, joint)
    return _scores(density, log_weights, k), log_weights


def _in_parts(fit, progress):
    """Return scores of units some at a time, a Dataset, with the PIT of rows.

    Rows whose weights are alike are summed up by the draws of `densities.selection`, those to whose weights a tail is
    fitted by all draws.
    """
    draws, unit, parts = densities.selected(fit), fit.law.unit, []
    text = f"leave-one-out of {len(draws.rows):,} rows"
    used = PIT_DRAWS if draws is fit.draws else FEW_PIT_DRAWS
    every = slice(None, None, max(1, draws.real_line()[..., 0].size // used))
    few = draws.thinned(every.step) if fit.law.unit_is_row else None
    for positions, density, log_weights, k in counted(weighted(fit), text, progress, total=len(draws.blocks())):
        scores = _scores(density, log_weights, k)
        if few is not None:
            scores["pit"] = unit, left_out_cdf(few, positions, log_weights.isel(draw=every))
            apart = np.flatnonzero(k.values)
            rows = np.arange(len(draws.rows))[positions][apart]
            if apart.size and draws is fit.draws:
                scores["pit"][apart] = left_out_cdf(draws, rows, log_weights[..., apart])
            elif apart.size:
                for name, values in _of_all_draws(fit, rows).data_vars.items():
                    scores[name][apart] = values.values
        parts.append(scores)
    return parts[0] if len(parts) == 1 else xr.concat(parts, dim=unit).sortby(unit)


def _of_all_draws(fit, rows):
    """Return scores and PIT of some rows, by their positions, from all draws of a fit."""
    density = densities.of_rows(fit, rows)
    log_weights, k = smoothed(-density.values, density)
    scores = _scores(density, log_weights, k)
    return scores.assign(pit=(fit.law.unit, left_out_cdf(fit.draws, rows, log_weights)))


def _scores(density, log_weights, k):
    unit = density.dims[-1]
    values = {
        "elpd": special.logsumexp(density.values + log_weights.values, axis=(0, 1)),
        "lppd": log_mean_exp(density.values),
        "pareto_k": k.values,
    }
    coords = {unit: density[unit]} if unit in density.coords else {}
    return xr.Dataset({name: (unit, x) for name, x in values.items()}, coords)


def weighted(fit, joint=None):
    """Yield log densities of units with the smoothed log weights of draws that lack them, some units at a time.

    Each part has the positions of its units, a slice or an ndarray of int; the log density and the log weights, dims
    (chain, draw, unit); and the Pareto k of each unit.
    """
    law = fit.law
    codes = _codes(fit["posterior"].to_dataset()[list(law.upstream)]) if law.upstream else None
    at_once = [(slice(None), joint.transpose(*DRAWS, ...))] if joint is not None else densities.blocks(fit)
    for positions, density in at_once:
        ratios = -density.values
        if codes is not None:
            ratios = ratios + cut_factor(density.values, codes)
        yield positions, density, *smoothed(ratios, density, many=len(fit.rows) > MANY)


def left_out_cdf(draws, positions, log_weights):
    """Compute the probability of an observation of at most the one made under draws that did not see it, (row,).

    Rows are given by their positions, with their log weights from `weighted`.
    """
    weights = log_weights.transpose(*DRAWS, ...).values
    weights = np.exp(weights - weights.max((0, 1)))
    below = draws.cdf(draws.rows.iloc[positions], conditioning="others").transpose(*DRAWS, ...).values
    return (weights * below).sum((0, 1)) / weights.sum((0, 1))


def _result(fit, scores, log_weights=None):
    from arviz_stats import utils

    k, elpd_i = scores["pareto_k"], scores["elpd"]
    chains, draws = (fit["posterior"].sizes[name] for name in DRAWS)
    elpd = float(elpd_i.sum())
    of_loo = getattr(utils, "ELPDDataLOO", None) or partial(utils.ELPDData, kind="loo")
    return of_loo(
        elpd=elpd,
        se=float(sum_error(elpd_i.values)),
        p=float(scores["lppd"].sum()) - elpd,
        n_samples=chains * draws,
        n_data_points=elpd_i.size,
        scale="log",
        warning=bool((k > PARETO_K_LIMIT).any()),
        good_k=PARETO_K_LIMIT,
        elpd_i=elpd_i.copy(),
        pareto_k=k.copy(),
        log_weights=log_weights,
    )


def smoothed(log_ratios, density, *, many=False):
    """Smooth importance ratios, those of each unit with a tail for the effective number of draws of its density.

    Log ratios and log densities have the shape (chain, draw, unit). With `many` units, the weights of a unit are
    unchanged where they differ by less than a factor e, as in a large table nearly all do. The log weights, of the dims
    of `density`, have exponentials that add up to 1; the Pareto k of each unit is 0 where weights were left unchanged.
    """
    chains, draws, units = log_ratios.shape
    if chains * draws < LEAST_DRAWS:
        raise InputError(
            f"leave-one-out needs at least {LEAST_DRAWS} draws, and there are {chains * draws}; sample more"
        )
    log_weights, k = np.ascontiguousarray(_by_unit(log_ratios)), np.zeros(units)
    apart = np.ptp(log_weights, axis=1) > EVEN if many else np.ones(units, bool)
    log_weights -= np.where(apart, 0.0, special.logsumexp(log_weights, axis=1))[:, None]
    with np.errstate(all="ignore"):
        tailed = density.values[..., apart]
        efficiency = effective_draws(np.exp(tailed - tailed.max((0, 1)))) / (chains * draws)
        for i, share in zip(np.flatnonzero(apart), efficiency, strict=True):
            log_weights[i], k[i] = smooth_weights(log_weights[i], share if share > 0 else 1.0)
    unit = density.dims[-1]
    shaped = density.copy(data=np.moveaxis(log_weights.reshape(units, chains, draws), 0, -1))
    return shaped, xr.DataArray(k, dims=unit, coords={unit: density[unit]} if unit in density.coords else None)


def _by_unit(values):
    """Return values of draws, (chain, draw, unit), as (unit, sample)."""
    return values.reshape(-1, values.shape[-1]).T


def cut_factor(density, codes):
    """Compute the log density of a unit given upstream quantities and the others, log p(y_i | y_-i, phi), centred.

    Draws of a cut [2]_ have phi from elsewhere, so that without unit i they should be weighted by
    ``p(y_i | y_-i, phi) / p(y_i | theta, phi)``. The numerator is the harmonic mean of the density over the draws at
    one phi. It is shrunk towards the mean over phi, more so where few draws determine it. Leave-one-out is then
    right to second order in the numerator's variation. The log densities have the shape (chain, draw, unit), as the
    result has; `codes` (chain, draw) state which phi each draw has.
    """
    flat, codes = _by_unit(density), codes.ravel()
    counts = np.bincount(codes)
    ratios = np.exp(flat.min(1, keepdims=True) - flat)
    means = sum_by(ratios, codes, counts) / counts
    squares = sum_by((ratios / means[:, codes] - 1) ** 2, codes, counts)
    noise = (squares.sum(1) / (counts - 1).sum() * (1 / counts).mean())[:, None]  # of the logarithm of a mean
    factors = -np.log(means)
    factors = factors - factors.mean(1, keepdims=True)
    spread = factors.var(1, ddof=1, keepdims=True)
    shrinkage = np.clip(1 - noise / np.where(spread > 0, spread, np.inf), 0, 1)
    return (shrinkage * factors)[:, codes].T.reshape(density.shape)


def _codes(upstream):
    """Return codes of draws, (chain, draw), the same for draws of one value of the quantities from upstream."""
    stacked = np.stack([x.transpose(*DRAWS).values for x in upstream.data_vars.values()], axis=-1)
    _, codes = np.unique(stacked.reshape(-1, stacked.shape[-1]), axis=0, return_inverse=True)
    return codes.reshape(stacked.shape[:-1])
