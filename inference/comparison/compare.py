"""Compare fits of the same observations by leave-one-out.

References
----------
.. [1] Vehtari, A., Gelman, A. and Gabry, J. (2017). Practical Bayesian model evaluation using leave-one-out
       cross-validation and WAIC. https://doi.org/10.1007/s11222-016-9696-4
.. [2] Yao, Y. et al. (2018). Using stacking to average Bayesian predictive distributions.
       https://doi.org/10.1214/17-BA1091
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import SimpleNamespace

import numpy as np
import pandas as pd
import xarray as xr

from ...datasets.printed import PrintedTable, Text, drawn_by
from ...errors import InputError
from ..fitted import Fit, name_fits
from ..kinds import find_record
from ..standing import lines_of_each, standing
from ..words import probability
from .differences import MEANING, differences, sentence
from .loo import loo, unresolved
from .refits import largest_k_left, unreliable
from .rollout import rollout
from .weights import stacking, sum_error, weigh

ROLLOUT, QUANTILES = "rollout", (0.55, 0.7, 0.85)
BRIEF = {"draws": 500, "tune": 500}


def _by_rollout(fits):
    """Weigh fits by the log scores of the runs above each quantile of compute, predicted from those below it."""
    columns = []
    for name, fit in fits.items():
        law, table = fit.law, fit.rows
        if not find_record(law.kind).drifts:
            raise InputError(f"weighting='rollout' needs laws of runs; {name!r} is a fit of {law.name}")
        cutoffs = np.quantile(law.numbers_along(table, "compute"), QUANTILES)
        _, rows = rollout(law, table, "compute", cutoffs, seed=fit.record["seed"], **BRIEF)
        columns.append(rows["log_score"].values[rows["beyond"].values != 0])
    return stacking(np.stack(columns, axis=1))


def check_comparable(fits):
    """Refuse fits that did not see the same observations on the same scale, naming the two that differ and how."""
    if len(fits) < 2:
        raise InputError(f"a comparison needs at least two fits, not {len(fits)}")
    (first, reference), *others = fits.items()
    for name, fit in others:
        (scale,), (other_scale,) = (list(f["observed_data"].data_vars) for f in (reference, fit))
        if scale != other_scale:
            raise InputError(
                f"{first!r} is scored on the {scale} scale and {name!r} on the {other_scale} scale; their densities "
                "have different units: fit both on one scale"
            )
        seen, values = (f["observed_data"][scale].values for f in (reference, fit))
        if seen.shape != values.shape or not np.array_equal(seen, values):
            where = (
                f"{len(seen)} and {len(values)} rows"
                if seen.shape != values.shape
                else f"from row {int(np.argmax(seen != values))} on"
            )
            raise InputError(
                f"{first!r} and {name!r} were fitted to different observations ({where}); fit both to the same rows"
            )


def compare(
    fits: Mapping[str, Fit] | Sequence[Fit],
    *,
    by: str | None = None,
    weighting: str = "stacking",
    high_k: str | None = None,
    progress: bool = False,
) -> Comparison:
    """Compare fits of the same rows by leave-one-out.

    Parameters
    ----------
    fits : dict of str to Fit, or sequence of Fit
        Those of a sequence are called by their laws.
    by : str, optional
        Column whose rows of one value are left out together, such as ``"model"`` of scores; single units by default.
    weighting : {"stacking", "pseudo_bma", "equal", "rollout"}
        Weights by leave-one-out are of predictions inside the runs, and are no guide to predictions beyond them. For
        those take ``"rollout"``. It fits laws of runs below the 55%, 70% and 85% quantile of compute. Stacking is then
        of the log scores of the runs above, each law with its drift (see `rollout`).
    high_k : str, optional
        What to do where the Pareto k is above 0.7, as for `loo`.
    progress : bool
        Name what runs on standard error.

    Returns
    -------
    Comparison
        A DataFrame that prints its sentence, a short table and what holds of the fits. ``.table()`` is an ordinary
        DataFrame, and ``.plot()`` draws it. One row a fit, best first. ``rank`` counts from 1. ``elpd``, ``se``, ``p``
        and ``elpd_diff`` (to the best, at most 0) have ``dse``, the standard error of the difference. ``p_worse`` is
        the probability that this elpd is below the best one's (normal approximation; NaN of the best). ``weight``,
        ``pareto_k_max`` and ``k_above_0.7`` (of rows that no refit fixed) follow, with ``r_hat_max``, ``ess_bulk_min``
        and ``divergences``. ``flags`` are reasons why ``p_worse`` may mislead, see `differences`. The ``sentence`` in
        ``attrs`` states which fit predicts best.

    Raises
    ------
    InputError
        If the fits saw different rows or are scored on different scales, or `weighting` is unknown or does not suit
        their laws.

    Warns
    -----
    DiagnosticWarning
        If a Pareto k above 0.7 remains.

    Examples
    --------
    >>> import bayescaling as bs
    >>> runs = bs.load("chinchilla_runs")
    >>> fit = bs.fit(bs.laws.Chinchilla(), runs, seed=1, draws=500, tune=500)
    >>> normal = bs.fit(bs.laws.Chinchilla(noise="normal"), runs, seed=1, draws=500, tune=500)
    >>> list(bs.compare({"Student-t": fit, "normal": normal}).index)
    ['Student-t', 'normal']
    """
    fits = name_fits(fits)
    check_comparable(fits)
    results = {name: _left_out(fit, by, high_k, progress) for name, fit in fits.items()}
    pointwise = pd.DataFrame({name: result.elpd_i.values for name, result in results.items()})
    by_loo = weighting != ROLLOUT
    shares = weigh(np.ascontiguousarray(pointwise), weighting) if by_loo else _by_rollout(fits)
    weights = dict(zip(results, shares, strict=True))
    doubtful = {name: int(unreliable(result).sum()) for name, result in results.items()}
    apart = differences(pointwise, doubtful)
    rows = {}
    for name, result in results.items():
        diagnostics = fits[name].record["diagnostics"]
        rows[name] = {
            "elpd": float(result.elpd),
            "se": float(result.se),
            "p": float(result.p),
            **apart.loc[name, ["elpd_diff", "dse", "p_worse"]],
            "weight": float(weights[name]),
            "pareto_k_max": largest_k_left(result),
            "k_above_0.7": doubtful[name],
            **{key: diagnostics[key] for key in ("r_hat_max", "ess_bulk_min", "divergences")},
            "flags": apart.loc[name, "flags"],
        }
    table = pd.DataFrame.from_dict(rows, orient="index").sort_values("elpd", ascending=False)
    table.insert(0, "rank", np.arange(1, len(table) + 1))
    table.attrs["sentence"] = sentence(table, left_out=f"{by or next(iter(fits.values())).law.unit}s")
    table.attrs |= {"weighting": weighting, "standing": {name: standing(fit) for name, fit in fits.items()}}
    table.attrs["inside"] = by_loo and all(find_record(fit.law.kind).drifts for fit in fits.values())
    return Comparison.of(table)


def _left_out(fit, by, high_k, progress):
    """Return `loo` of single units, or the same of groups of rows, whose effective number of parameters is unknown."""
    if by is None:
        return loo(fit, high_k=high_k, progress=progress)
    groups = loo(fit, by, high_k=high_k or fit.law.high_k, progress=progress)
    elpd, k = (xr.DataArray(groups[name].to_numpy(float), dims="group") for name in ("elpd", "pareto_k"))
    resolved = (groups["refitted"] & ~unresolved(groups)).to_numpy()
    parts = {"elpd_i": elpd, "pareto_k": k, "resolved": resolved}
    return SimpleNamespace(elpd=float(elpd.sum()), se=sum_error(elpd.values), p=np.nan, **parts)


class Comparison(PrintedTable):
    """What `compare` returns: a DataFrame that prints its sentence and a short table."""

    plot = drawn_by("plot_compare")

    def text(self):
        """Return what is printed; of a part of it its rows."""
        if not {"elpd_diff", "dse", "flags"} <= {*self.columns} or "sentence" not in self.attrs:
            return super().text()
        error = "dse_by_paper" if "dse_by_paper" in self else "dse"
        weight = next(name for name in ("weight", "by_paper_stacking", "stacking") if name in self)
        rows = {
            name: {
                "elpd": f"{row['elpd']:.1f}",
                "difference": "best" if row["rank"] == 1 else f"{row['elpd_diff']:.1f} ± {row[error]:.1f}",
                "probability of worse": "–" if row["rank"] == 1 else probability(row["p_worse"]),
                f"weight ({self.attrs['weighting']})": f"{row[weight]:.2f}",
                "flags": row["flags"],
            }
            for name, row in self.iterrows()
        }
        finding, *below = self.attrs["sentence"].split(". ")
        below += [f"{flag}: {text}" for flag, text in MEANING.items() if any(flag in x for x in self["flags"])]
        if self.attrs.get("inside"):
            below.append("The weights are of predictions inside the runs; beyond them use the weighting rollout")
        below += lines_of_each(self.attrs["standing"])
        table = pd.DataFrame.from_dict(rows, orient="index")
        return Text(f"{finding}.", table.loc[:, (table != "").any()], tuple(below))
