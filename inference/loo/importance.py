"""Leave-one-out by Pareto-smoothed importance sampling, each unit's tail by the efficiency of its own draws.

References
----------
.. [1] Vehtari, A., Gelman, A. and Gabry, J. (2017). Practical Bayesian model evaluation using leave-one-out
       cross-validation and WAIC. https://doi.org/10.1007/s11222-016-9696-4
.. [2] Plummer, M. (2015). Cuts in Bayesian graphical models. https://doi.org/10.1007/s11222-014-9503-z
"""

import warnings

import numpy as np
import xarray as xr

from ...models.arrays import sum_by
from ...models.draws import DRAWS
from ..storage import law_of
from .weights import sum_error


def importance_sampling(fit, joint=None):
    """Leave-one-out by importance sampling alone, whatever the Pareto k [1]_.

    Parameters
    ----------
    fit : DataTree
    joint : DataArray, optional
        Log density of what is left out, dims (chain, draw, unit); by default that of the fit's own units.

    Returns
    -------
    arviz_stats.ELPDData
        Pointwise, with the standard error that differences of elpd have too; see `sum_error`.
    """
    import arviz_stats as azs

    law = law_of(fit)
    density = (fit["log_likelihood"][law.scale] if joint is None else joint).transpose(*DRAWS, ...)
    ratios = -density.values
    if law.upstream:
        ratios = ratios + cut_factor(density.values, _codes(fit["posterior"].to_dataset()[list(law.upstream)]))
    log_weights, k = smoothed(ratios, density)
    tree = xr.DataTree.from_dict(
        {"posterior": fit["posterior"].to_dataset(), "log_likelihood": density.to_dataset(name=law.scale)}
    )
    with warnings.catch_warnings(), np.errstate(divide="ignore", invalid="ignore"):
        warnings.simplefilter("ignore", UserWarning)
        result = azs.loo(tree, pointwise=True, var_name=law.scale, reff=1.0, log_weights=log_weights, pareto_k=k)
    return with_se(result)


def smoothed(log_ratios, density):
    """Smooth importance ratios, those of each unit with a tail for the effective number of draws of its density.

    Parameters
    ----------
    log_ratios : ndarray, shape (chain, draw, unit)
    density : DataArray
        Log density of each unit, of the same shape.

    Returns
    -------
    log_weights : DataArray
        Of the dims of `density`; exponentials add up to 1.
    pareto_k : DataArray
    """
    import arviz_stats.base as azb

    chains, draws, units = log_ratios.shape
    likelihood = np.exp(density.values - density.values.max((0, 1)))
    log_weights, k = np.empty((units, chains * draws)), np.empty(units)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore", UserWarning)
        for i in range(units):
            ess = azb.array_stats.ess(likelihood[..., i], method="mean", chain_axis=0, draw_axis=1)
            efficiency = float(ess) / (chains * draws)
            # ArviZ takes the logarithm of what the weights divide by.
            log_weights[i], k[i] = azb.array_stats.psislw(
                -log_ratios[..., i].ravel(), r_eff=efficiency if efficiency > 0 else 1.0
            )
    unit = density.dims[-1]
    shaped = density.copy(data=np.moveaxis(log_weights.reshape(units, chains, draws), 0, -1))
    return shaped, xr.DataArray(k, dims=unit, coords={unit: density[unit]} if unit in density.coords else None)


def cut_factor(density, codes):
    """Log of what a unit says of a law given its quantities from upstream, log p(y_i | y_-i, phi), less its mean.

    Draws of a cut [2]_ have phi from elsewhere, so that without unit i they should be weighted by
    ``p(y_i | y_-i, phi) / p(y_i | theta, phi)``. The numerator is the harmonic mean of the density over the draws at
    one phi, drawn towards the mean over phi by how well so few draws tell it: leave-one-out is then right to second
    order in the numerator's variation.

    Parameters
    ----------
    density : ndarray, shape (chain, draw, unit)
        Log density of each unit.
    codes : ndarray of int, shape (chain, draw)
        Which phi each draw has.

    Returns
    -------
    ndarray, shape (chain, draw, unit)
    """
    flat, codes = density.reshape(-1, density.shape[-1]).T, codes.ravel()
    counts = np.bincount(codes)
    ratios = np.exp(flat.min(1, keepdims=True) - flat)
    means = sum_by(ratios, codes, counts) / counts
    squares = sum_by((ratios / means[:, codes] - 1) ** 2, codes, counts)
    noise = (squares.sum(1) / (counts - 1).sum() * (1 / counts).mean())[:, None]  # of the logarithm of a mean
    found = -np.log(means)
    found = found - found.mean(1, keepdims=True)
    spread = found.var(1, ddof=1, keepdims=True)
    kept = np.clip(1 - noise / np.where(spread > 0, spread, np.inf), 0, 1)
    return (kept * found)[:, codes].T.reshape(density.shape)


def _codes(upstream):
    """Give draws of one value of the quantities from upstream one number, (chain, draw)."""
    stacked = np.stack([x.transpose(*DRAWS).values for x in upstream.data_vars.values()], axis=-1)
    _, codes = np.unique(stacked.reshape(-1, stacked.shape[-1]), axis=0, return_inverse=True)
    return codes.reshape(stacked.shape[:-1])


def with_se(result):
    """Give a result the standard error that differences of elpd have too, see `sum_error`."""
    result.se = float(sum_error(result.elpd_i.values))
    return result
