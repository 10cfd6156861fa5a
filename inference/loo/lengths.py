"""Leave-one-out of laws of lengths: whole runs are left out, for a new run is what a law has to foretell.

The density of a run's counts has the run's own parameters integrated out (`lengths_integrals`); Pareto-smoothed
importance sampling over the draws of coefficients and spreads leaves the run out, and where its Pareto k is too high
the law is fitted again without the run's counts.
"""

import warnings

import numpy as np
import xarray as xr
from scipy.special import logsumexp

from ...errors import DiagnosticWarning
from ...models.lengths.integrals import Points, of_draws, without_spread
from ...models.titles import title
from ..diagnostics import PARETO_K_LIMIT
from ..fitting.lengths import LengthsFitter, State
from ..storage import law_of, metadata

REFIT = {"draws": 500, "tune": 500}
STORED = "leave_one_out"


def leave_runs_out(fit, *, refit=True, seed=1, fitter=None, **settings):
    """Estimate the expected log predictive density of a run's counts.

    What refits found is kept in the group ``leave_one_out`` of the fit, and used when it is there.

    Parameters
    ----------
    fit : DataTree
        Of a law of lengths.
    refit : bool
        Fit again without each run whose Pareto k is above 0.7.
    seed : int
    fitter : LengthsFitter, optional
        Compiled before; made when a refit needs one.
    **settings
        Of the refits; 4 x (500 + 500) by default.

    Returns
    -------
    arviz_stats.ELPDData
        ``elpd``, ``se``, ``p`` and, pointwise over run, ``elpd_i`` and ``pareto_k``, the latter 0 where a refit was
        made.

    Warns
    -----
    DiagnosticWarning
        If a Pareto k above 0.7 remains, or draws of a refit diverged.
    """
    import arviz_stats as azs

    law = law_of(fit)
    with warnings.catch_warnings(), np.errstate(divide="ignore", invalid="ignore"):
        warnings.simplefilter("ignore", UserWarning)
        result = azs.loo(fit, pointwise=True, var_name=law.scale)
    high = ~(result.pareto_k.values <= PARETO_K_LIMIT)
    if refit and high.any():
        if STORED not in fit.children:
            fit[STORED] = xr.DataTree(exact(fit, np.flatnonzero(high), seed=seed, fitter=fitter, **settings))
        _replace(result, fit[STORED].to_dataset(), fit["log_likelihood"][law.scale].values)
    elif high.any():
        warnings.warn(
            f"{title(law)}: Pareto k is above {PARETO_K_LIMIT} at {int(high.sum())} of {len(high)} runs (largest "
            f"{float(result.pareto_k.max()):.2f}): their elpd is not reliable; refit without them",
            DiagnosticWarning,
            stacklevel=3,
        )
    return result


def _replace(result, found, log_likelihood):
    """Put the elpd that refits found in the place of that of importance sampling."""
    refitted = found["refitted"].values
    result.elpd_i.values[refitted] = found["elpd"].values[refitted]
    result.pareto_k.values[refitted] = 0.0
    result.elpd = float(result.elpd_i.sum())
    result.se = float(np.sqrt(result.n_data_points * result.elpd_i.values.var(ddof=1)))
    result.p = float(_log_mean_exp(log_likelihood).sum() - result.elpd)


def _log_mean_exp(values):
    return logsumexp(values, axis=(0, 1)) - np.log(values.shape[0] * values.shape[1])


def exact(fit, runs, *, seed=1, fitter=None, **settings):
    """Log predictive density of runs by a refit without each.

    Parameters
    ----------
    fit : DataTree
    runs : sequence of int
        Positions of the runs to leave out in turn.
    seed : int
    fitter : LengthsFitter, optional
    **settings
        Of the sampler; 4 x (500 + 500) by default.

    Returns
    -------
    Dataset
        ``elpd`` (NaN where no refit was made), its Monte-Carlo standard error ``elpd_se`` from the spread of
        independent chains, and ``refitted``, by run.
    """
    state = State.of(fit)
    law, names = state.law, state.reference["runs"]
    fitter = fitter or LengthsFitter(law, state.rows, sampler=metadata(fit)["sampler"])
    points = Points(state, seed=seed) if law.seeds else None
    log_choose = state.log_choose()
    elpd, error, diverged = np.full(len(names), np.nan), np.full(len(names), np.nan), 0
    for run in np.asarray(runs).tolist():
        kept = state.rows[state.rows["run"] != names[run]].reset_index(drop=True)
        without, stats, _, _ = fitter.sample_carefully(kept, REFIT | settings, seed + run)
        if law.seeds:
            density, _ = of_draws(without, points, run)
        else:
            density = without_spread(without, state.rows, run) + log_choose[run]
        elpd[run] = _log_mean_exp(density)
        by_chain = np.exp(logsumexp(density, axis=1) - np.log(density.shape[1]) - elpd[run])
        error[run] = by_chain.std(ddof=1) / np.sqrt(len(by_chain)) if len(by_chain) > 1 else np.nan
        diverged += int(stats["diverging"].sum())
    if diverged:
        warnings.warn(
            f"{title(law)}: {diverged} divergences in the refits of leave-one-out", DiagnosticWarning, stacklevel=4
        )
    found = {"elpd": ("run", elpd), "elpd_se": ("run", error), "refitted": ("run", np.isfinite(elpd))}
    return xr.Dataset(found, coords={"run": names})
