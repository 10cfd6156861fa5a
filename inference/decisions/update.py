"""The posterior after further runs, without sampling again where importance weights are enough.

References
----------
.. [1] Vehtari, A., Simpson, D., Gelman, A., Yao, Y. and Gabry, J. (2024). Pareto smoothed importance sampling. JMLR 25.
.. [2] Chopin, N. (2002). A sequential particle filter method for static models. Biometrika 89(3).
"""

from __future__ import annotations

import copy
import time
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from ...datasets import KINDS, positive_columns
from ...datasets.kinds.runs import RUNS
from ...datasets.reader import TableSource, as_table
from ...models.draws import DRAWS
from .. import densities
from ..checks import chains
from ..checks.chains import PARETO_K_LIMIT
from ..cut import systematic
from ..diagnostics import smooth_weights
from ..fitted import Fit, changed_fit, new_fit, of_kind
from ..fitter import Fitter, SamplerResult, name_groups
from ..record import table_entry
from ..settings import Settings, seed_of

RANGE = ("_min", "_max", "_smallest", "_largest")  # ends of entries of a reference that follow the range of the runs
LEAST_LEFT = 0.5  # of the effective draws, where these are few
SETTINGS = ("draws", "tune", "chains")


def update(fit: Fit, runs: TableSource, *, seed: int | None = None, progress: bool = False) -> Fit:
    """Add runs to a fit.

    The draws are weighted by the density of the new runs and resampled [1]_, [2]_. If the Pareto k of the weights is
    0.7 or more, or too few draws remain, the law is sampled again with NUTS. Both give the posterior of all runs, to
    Monte-Carlo error: what the priors refer to, such as the typical size, stays that of the first runs.

    Parameters
    ----------
    fit : Fit
        Of a law of runs.
    runs : DataFrame, path, str or mapping
        With the columns that the law needs, ``loss`` among them.
    seed : int, optional
        Of the resampling, or of NUTS; that of the fit by default.
    progress : bool
        Show a progress bar on standard error where NUTS samples.

    Returns
    -------
    Fit
        Of all runs, the new ones last. ``record["update"]`` states ``method`` ("weights" or "nuts"), ``runs`` (how
        many were added) and ``pareto_k``. Of weights, ``diagnostics["effective_draws"]`` is the number of independent
        draws that the resampled ones are worth, above which no effective sample size is stated.

    Raises
    ------
    InputError
        If the fit is of another kind of law, or the runs lack a column or hold what is no positive number.

    Warns
    -----
    DiagnosticWarning
        If chains that were sampled again did not converge.

    Examples
    --------
    >>> import bayescaling as bs
    >>> runs = bs.load("chinchilla_runs").sort_values("training_flop")
    >>> fit = bs.fit("coupled", runs.iloc[1:], seed=1, draws=500, tune=500)
    >>> later = bs.update(fit, runs.iloc[:1])
    >>> len(later.rows), later.record["update"]["method"]
    (245, 'weights')
    """
    fit = of_kind(fit, RUNS)
    law: Any = fit.law  # of the loss, since it is of runs
    begun = time.monotonic()
    seed = seed_of(seed, fit)
    runs = as_table(runs, law.kind, law.needed)
    positive_columns(runs, (*law.columns, law.observed), purpose="an update")
    derived = [law.effect_column] if law.effects_of == "size" and law.effect_column not in runs else []
    table = pd.concat([fit.rows.drop(columns=derived, errors="ignore"), runs], ignore_index=True)
    table.attrs = dict(fit.rows.attrs)
    rows = law.rows(table)
    reference, later = fit.draws.reference, law.reference(rows)
    if law.upstream or any(not isinstance(x, int | float) for x in reference.values()):
        return _sampled(fit, rows, None, None, len(runs), seed, progress)
    reference = reference | {name: x for name, x in later.items() if name.endswith(RANGE)}
    draws = law.draws(fit["posterior"].to_dataset().assign(z=fit["unconstrained_posterior"]["z"]), rows, reference)
    ratios = _added(fit, draws, rows)
    efficiency = min(fit.diagnostics["ess_bulk_min"] / ratios.size, 1.0)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        log_weights, k = smooth_weights(ratios, efficiency)
        weights = np.exp(log_weights - log_weights.max())
    effective = efficiency * weights.sum() ** 2 / (weights**2).sum()
    enough = min(law.effort.least_ess, LEAST_LEFT * efficiency * ratios.size)
    if not (k < PARETO_K_LIMIT and effective >= enough):
        return _sampled(fit, rows, reference, k, len(runs), seed, progress)
    rng = np.random.default_rng(seed)
    picks = rng.permutation(systematic(weights / weights.sum(), weights.size, rng))
    return _resampled(fit, draws, picks, effective, k, len(runs), seed, time.monotonic() - begun)


def _added(fit, draws, rows):
    """Return the log density that the new runs add, given the fitted ones: an ndarray (sample,)."""
    count = len(fit.rows)
    if draws.law.effects_of:
        added = draws.total_log_likelihood(rows) - draws.total_log_likelihood(rows.iloc[:count])
    else:
        added = draws.total_log_likelihood(rows.iloc[count:])
    return added.transpose(*DRAWS).values.ravel()


def _sampled(fit, rows, reference, k, count, seed, progress):
    settings = {name: fit.record["settings"][name] for name in SETTINGS}
    fitter = Fitter(fit.law, rows, sampler=fit.record["sampler"], reference=reference)
    later = fitter.fit(seed=seed, progress=progress, **settings)
    return changed_fit(later, {}, later.record | {"update": _entry("nuts", count, k)})


def _entry(method, count, k):
    return {"method": method, "runs": count, "pareto_k": None if k is None or not np.isfinite(k) else float(k)}


def _resampled(fit, draws, picks, effective, k, count, seed, seconds):
    """Make a fit of resampled draws, whose diagnostics state what they are worth."""
    law, z = fit.law, fit["unconstrained_posterior"]["z"]
    shape = [z.sizes[dim] for dim in DRAWS]

    def picked(dataset):
        flat = dataset.transpose(*DRAWS, ...)
        return xr.Dataset(
            {n: (x.dims, x.values.reshape(-1, *x.shape[2:])[picks].reshape(*shape, *x.shape[2:]))
             for n, x in flat.data_vars.items()},
            flat.coords,
        )  # fmt: skip

    real = picked(fit["unconstrained_posterior"].to_dataset())
    sampled = picked(fit["posterior"].to_dataset()).assign(z=real["z"])
    later = law.draws(sampled, draws.rows, draws.reference)
    rows, named, stored = draws.rows, later.named(), fit.record[densities.GROUP]
    drawn = SamplerResult(later, named, fit["sample_stats"].to_dataset(), Settings(), seconds, {})
    groups, _ = name_groups(drawn, KINDS[law.kind].to_dataset(rows), seed, storage=stored)
    record = copy.deepcopy(fit.record)
    record["law"]["reference"], record["data"], record["seed"] = draws.reference, table_entry(rows), seed
    record["update"] = _entry("weights", count, k)
    record["seconds"] = {"compile": 0.0, "sample": seconds}
    diagnosed = chains.with_distinct(record["diagnostics"], named[list(law.prior_of)])
    worth = {name: min(diagnosed[name], effective) for name in ("ess_bulk_min", "ess_tail_min")}
    record["diagnostics"] = diagnosed | worth | {"effective_draws": float(effective)}
    return new_fit(groups, record)
