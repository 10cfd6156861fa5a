"""Refits without an observation, a group of them or the future: what importance sampling is checked by."""

import warnings

import numpy as np
import xarray as xr
from scipy.special import logsumexp

from ...errors import DiagnosticWarning
from ..diagnostics import PARETO_K_LIMIT
from ..fitting.fitter import Fitter
from ..storage import draws_of, law_of, metadata

REFIT = {"draws": 500, "tune": 500}
STORED = "leave_one_out"


def log_mean_exp(values):
    """Logarithm of the mean of exponentials over chain and draw."""
    return logsumexp(values, axis=(0, 1)) - np.log(values.shape[0] * values.shape[1])


def exact_loo(fit, units=None, *, seed=1, fitter=None, progress=False, **settings):
    """Log predictive density of units by a refit without each.

    Parameters
    ----------
    fit : DataTree
    units : sequence of int, optional
        Positions of the units to leave out in turn, all by default.
    seed : int
        Of every refit.
    fitter : Fitter, optional
        Compiled before; made if absent.
    progress : bool
        Show a progress bar on standard error.
    **settings
        Of the sampler; 4 x (500 + 500) by default.

    Returns
    -------
    Dataset
        By unit ``elpd`` (NaN where no refit was made), its Monte-Carlo standard error ``elpd_se`` from the spread of
        independent chains, ``mean`` of the observations left out, added up, and ``refitted``.

    Warns
    -----
    DiagnosticWarning
        If draws of a refit diverged.
    """
    from rich.console import Console
    from rich.progress import track

    draws = draws_of(fit)
    law, coordinate = draws.law, fit["log_likelihood"][draws.law.unit].values
    fitter = fitter or Fitter(law, draws.rows, sampler=metadata(fit)["sampler"])
    count = len(coordinate)
    units = np.arange(count) if units is None else np.asarray(units)
    elpd, error, mean, diverged = np.full(count, np.nan), np.full(count, np.nan), np.full(count, np.nan), 0
    for i in track(units.tolist(), "exact leave-one-out", console=Console(stderr=True), disable=not progress):
        without = fitter.sample(draws.without(i), law=law, seed=seed, least_ess=0, **(REFIT | settings))
        density = draws.left_out_density(without.draws, i, seed=seed).values
        elpd[i], mean[i] = log_mean_exp(density), draws.left_out_mean(without.draws, i)
        by_chain = np.exp(logsumexp(density, axis=1) - np.log(density.shape[1]) - elpd[i])
        error[i] = by_chain.std(ddof=1) / np.sqrt(len(by_chain)) if len(by_chain) > 1 else np.nan
        diverged += without.diagnostics["divergences"]
    if diverged:
        warnings.warn(
            f"{law.label}: {diverged} divergences in the refits of leave-one-out", DiagnosticWarning, stacklevel=3
        )
    found = {"elpd": elpd, "elpd_se": error, "mean": mean, "refitted": np.isfinite(elpd)}
    return xr.Dataset({name: (law.unit, x) for name, x in found.items()}, coords={law.unit: coordinate})


def resolve(fit, result, *, fitter=None, seed=1, **settings):
    """Replace the elpd of units whose Pareto k is above 0.7 by that of exact refits, in place.

    What the refits found is kept in the group ``leave_one_out`` of the fit, and used where it is there.

    Parameters
    ----------
    fit : DataTree
    result : ELPDData
        Of importance sampling; its Pareto k becomes 0 where a refit was made.
    fitter, seed, **settings
        As for `exact_loo`.

    Returns
    -------
    Dataset
        From `exact_loo`; of no units where none was refitted.
    """
    high = np.flatnonzero(~(result.pareto_k.values <= PARETO_K_LIMIT))
    if not high.size:
        return xr.Dataset({"mean": (law_of(fit).unit, []), "refitted": (law_of(fit).unit, np.zeros(0, bool))})
    found = fit[STORED].to_dataset() if STORED in fit.children else None
    missing = high if found is None else high[~found["refitted"].values[high]]
    if missing.size:
        made = exact_loo(fit, missing, seed=seed, fitter=fitter, **settings)
        found = made if found is None else xr.where(made["refitted"], made, found)
        fit[STORED] = xr.DataTree(found)
    refitted = found["refitted"].values
    result.elpd_i.values[refitted] = found["elpd"].values[refitted]
    result.pareto_k.values[refitted] = 0.0
    (log_likelihood,) = fit["log_likelihood"].data_vars.values()
    result.elpd = float(result.elpd_i.sum())
    result.se = float(np.sqrt(result.n_data_points * result.elpd_i.values.var(ddof=1)))
    result.p = float(log_mean_exp(log_likelihood.values).sum() - result.elpd)
    return found
