"""Refits without an observation, a group of them or the future: what importance sampling is checked by."""

import warnings

import numpy as np
import xarray as xr

from ...datasets.progress_messages import counted
from ...errors import DiagnosticWarning
from .. import densities
from ..checks.chains import PARETO_K_LIMIT
from ..fitted import LEFT_OUT, results_of
from ..fitter import fitter_of
from ..workers import mapped
from .bridge import LEAST_OVERLAP, left_out
from .weights import sum_error

REFIT = {"draws": 500, "tune": 500}
STUCK = 1.2  # R-hat of a refit of few draws from which on a chain is taken to have stayed in its warm-up


class Refits:
    """Refits of a fit's law to some of its rows, bridged to the draws of the fit; 4 x (500 + 500) draws by default."""

    def __init__(self, fit, *, seed=1, **settings):
        self.draws, self._fitter = fit.draws, fitter_of(fit)
        self._asked = {"seed": seed, "least_ess": 0} | REFIT | settings

    def without(self, rows, having, lacking, left=None):
        """Refit to the rows that remain and bridge what is left out: the draws of the refit and a dict.

        `having` is the log density of what is left out, given the rest, under the draws of the fit, (chain, draw), and
        `lacking` returns the same of the draws of a refit. `left` has the rows that are left out, where they are a
        group. In the dict ``elpd`` is the log predictive density of what is left out, with ``elpd_se`` and ``overlap``
        of the bridge; ``diverged`` counts divergences, and ``stuck`` is whether chains disagree.
        """
        refit = self._fitter.sample(rows, law=self.draws.law, **self._asked)
        stuck = _disagree(refit)
        if stuck:
            warmer = {"seed": self._asked["seed"] + 1, "tune": 2 * self._asked["tune"]}
            refit = self._fitter.sample(rows, law=self.draws.law, **self._asked | warmer)
            stuck = _disagree(refit)
        bridged = left_out(self.draws, having, refit.draws, lacking(refit.draws).values, left)
        return refit.draws, {
            "elpd": bridged.log_density,
            "elpd_se": bridged.se,
            "overlap": bridged.overlap,
            "diverged": refit.diagnostics["divergences"],
            "stuck": stuck,
        }

    def without_unit(self, item):
        """Leave one unit out, given its position and its log density under the draws of the fit, (chain, draw)."""
        (i, having), seed = item, self._asked["seed"]
        without, entry = self.without(
            self.draws.without(i), having, lambda fitted: self.draws.left_out_density(fitted, i, seed=seed)
        )
        return entry | {"mean": self.draws.left_out_mean(without, i)}

    def without_group(self, item):
        """Leave the rows out in which a column has one value, given both and their density as for a unit."""
        by, value, having = item
        rows, members = self.draws.rows, (self.draws.rows[by] == value).to_numpy()
        rest, left = (rows[chosen].reset_index(drop=True) for chosen in (~members, members))
        return self.without(rest, having, lambda fitted: self.draws.left_out_group(fitted, left, by), left)[1]

    def warn(self, results, stacklevel):
        """Warn of divergences and of chains that disagree in the refits made, as from `stacklevel` callers up."""
        diverged, stuck = (sum(result[name] for result in results) for name in ("diverged", "stuck"))
        faults = [f"{diverged} divergences in the refits of leave-one-out"] if diverged else []
        if stuck:
            faults.append(f"chains disagree (r_hat above {STUCK}) in {stuck} refits of leave-one-out")
        if faults:
            text = f"{self.draws.law.label}: {'; '.join(faults)}"
            warnings.warn(text, DiagnosticWarning, stacklevel=stacklevel + 1)


def _disagree(sampled):
    return sampled.diagnostics["r_hat_max"] is not None and sampled.diagnostics["r_hat_max"] > STUCK


def exact_loo(fit, units=None, *, seed=1, progress=False, **settings):
    """Compute the log predictive density of units by a refit without each, bridged to the draws of the fit.

    Units are left out in turn by their positions, all by default; the seed and the settings of the sampler are of every
    refit. It warns if draws of a refit diverged. The Dataset has, by unit, ``elpd`` (NaN where no refit was made), its
    Monte-Carlo standard error ``elpd_se``, and the ``overlap`` of the bridge (see `bridge.Bridge`). ``mean`` is the sum
    of the means of the observations left out, and ``refitted`` whether there was a refit.
    """
    refits = Refits(fit, seed=seed, **settings)
    law, coordinate = fit.law, densities.units(fit)
    count = len(coordinate)
    units = np.arange(count) if units is None else np.asarray(units)
    columns = {name: np.full(count, np.nan) for name in ("elpd", "elpd_se", "overlap", "mean")}
    items = [(i, densities.of_unit(fit, i)) for i in units.tolist()]
    text = f"{law.label}: refitting without a {law.unit}"
    results = list(counted(mapped(Refits.without_unit, refits, items), text, progress, total=len(items)))
    for (i, _), one in zip(items, results, strict=True):
        for name, values in columns.items():
            values[i] = one[name]
    refits.warn(results, stacklevel=3)
    columns["refitted"] = np.isfinite(columns["elpd"])
    return xr.Dataset({name: (law.unit, x) for name, x in columns.items()}, coords={law.unit: coordinate})


def resolve(fit, result, *, seed=1, **settings):
    """Replace the elpd of units whose Pareto k is above 0.7 by that of exact refits, in place.

    A unit is refitted once: the fit holds the results, and a file of it has them as the group ``leave_one_out``. The
    Pareto k stays; `unreliable` returns which units no refit fixed. The Dataset of `exact_loo` is returned, of no units
    where none was refitted.
    """
    high = np.flatnonzero(~(result.pareto_k.values <= PARETO_K_LIMIT))
    if not high.size:
        return xr.Dataset({"mean": (fit.law.unit, []), "refitted": (fit.law.unit, np.zeros(0, bool))})
    stored = results_of(fit).get(LEFT_OUT)
    missing = high if stored is None else high[~stored["refitted"].values[high]]
    if missing.size:
        refits = exact_loo(fit, missing, seed=seed, **settings)
        stored = results_of(fit)[LEFT_OUT] = refits if stored is None else xr.where(refits["refitted"], refits, stored)
    refitted, lppd = stored["refitted"].values, result.p + result.elpd
    result.elpd_i.values[refitted] = stored["elpd"].values[refitted]
    result.resolved = refitted & ~(stored["overlap"].values < LEAST_OVERLAP)
    result.elpd, result.se = float(result.elpd_i.sum()), float(sum_error(result.elpd_i.values))
    result.p = float(lppd - result.elpd)
    return stored


def _resolved(result):
    resolved = getattr(result, "resolved", None)
    return np.zeros(result.n_data_points, bool) if resolved is None else resolved


def unreliable(result):
    """Return the units whose Pareto k is above 0.7 and that no refit fixed, (unit,) of bool."""
    return ~(result.pareto_k.values <= PARETO_K_LIMIT) & ~_resolved(result)


def largest_k_left(result):
    """Return the largest Pareto k of the units that no refit fixed; NaN where refits fixed all."""
    left = result.pareto_k.values[~_resolved(result)]
    return float(left.max()) if left.size else np.nan
