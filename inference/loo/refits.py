"""Refits without an observation, a group of them or the future: what importance sampling is checked by."""

import warnings

import numpy as np
import xarray as xr

from ...errors import DiagnosticWarning
from ..diagnostics import PARETO_K_LIMIT
from ..fitting.fitter import Fitter
from ..storage import draws_of, law_of, metadata
from .bridge import LEAST_OVERLAP, LeftOut, log_mean_exp
from .weights import sum_error

REFIT = {"draws": 500, "tune": 500}
STORED = "leave_one_out"


def exact_loo(fit, units=None, *, seed=1, fitter=None, progress=False, **settings):
    """Log predictive density of units by a refit without each, bridged to the draws of the fit.

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
        By unit ``elpd`` (NaN where no refit was made), its Monte-Carlo standard error ``elpd_se``, the ``overlap`` of
        the bridge (see `bridge.Bridge`), ``mean`` of the observations left out, added up, and ``refitted``.

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
    (having,) = fit["log_likelihood"].data_vars.values()
    having, left_out = having.transpose("chain", "draw", law.unit).values, LeftOut(draws)
    found = {name: np.full(count, np.nan) for name in ("elpd", "elpd_se", "overlap", "mean")}
    diverged = 0
    for i in track(units.tolist(), "exact leave-one-out", console=Console(stderr=True), disable=not progress):
        without = fitter.sample(draws.without(i), law=law, seed=seed, least_ess=0, **(REFIT | settings))
        lacking = draws.left_out_density(without.draws, i, seed=seed).values
        bridged = left_out.density(having[..., i], without.draws, lacking)
        found["elpd"][i], found["elpd_se"][i], found["overlap"][i] = bridged.log_density, bridged.se, bridged.overlap
        found["mean"][i] = draws.left_out_mean(without.draws, i)
        diverged += without.diagnostics["divergences"]
    if diverged:
        warnings.warn(
            f"{law.label}: {diverged} divergences in the refits of leave-one-out", DiagnosticWarning, stacklevel=3
        )
    found["refitted"] = np.isfinite(found["elpd"])
    return xr.Dataset({name: (law.unit, x) for name, x in found.items()}, coords={law.unit: coordinate})


def resolve(fit, result, *, fitter=None, seed=1, **settings):
    """Replace the elpd of units whose Pareto k is above 0.7 by that of exact refits, in place.

    What the refits found is kept in the group ``leave_one_out`` of the fit, and used where it is there.

    Parameters
    ----------
    fit : DataTree
    result : ELPDData
        Of importance sampling. Its Pareto k stays; what was mended is said by `unreliable`.
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
    result.mended = refitted & ~(found["overlap"].values < LEAST_OVERLAP)
    (log_likelihood,) = fit["log_likelihood"].data_vars.values()
    result.elpd = float(result.elpd_i.sum())
    with_se(result)
    result.p = float(log_mean_exp(log_likelihood.values).sum() - result.elpd)
    return found


def with_se(result):
    """Give a result the standard error that differences of elpd have too, see `sum_error`."""
    result.se = float(sum_error(result.elpd_i.values))
    return result


def _mended(result):
    return getattr(result, "mended", np.zeros(result.n_data_points, bool))


def unreliable(result):
    """Units whose Pareto k is above 0.7 and that no refit mended, (unit,) of bool."""
    return ~(result.pareto_k.values <= PARETO_K_LIMIT) & ~_mended(result)


def largest_k_left(result):
    """Largest Pareto k of the units that no refit mended; NaN where every one was."""
    left = result.pareto_k.values[~_mended(result)]
    return float(left.max()) if left.size else np.nan
