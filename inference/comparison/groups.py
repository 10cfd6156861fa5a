"""Leave-one-group-out: all rows of a run, of a paper or of a model size left out together."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ...datasets.wording import unknown
from ...errors import DiagnosticWarning, InputError
from ..checks.chains import PARETO_K_LIMIT
from ..workers import mapped
from .bridge import LEAST_OVERLAP
from .importance import importance_sampling
from .refits import Refits

if TYPE_CHECKING:
    from ..fitted import Fit

HIGH_K_WAYS = ("refit", "none")


def loo_by_group(
    fit: Fit,
    by: str | None = None,
    *,
    high_k: str = "refit",
    most: int | None = None,
    seed: int = 1,
    **settings: Any,
) -> pd.DataFrame:
    """Estimate the expected log predictive density of groups of rows, each left out whole.

    Importance sampling of the rows' joint density and, where Pareto k is above 0.7, refits without the group, bridged
    to the draws of the fit. The sum compares laws by how they predict a run or a paper of which no row was seen.

    Parameters
    ----------
    fit : Fit
    by : str, optional
        Column of the table whose rows of one value are a group. By default it is ``run`` for a law of the loss, the
        size for one with size effects, and ``paper_id`` for a law of progress. Where rows share an effect, the column
        must hold these together.
    high_k : {"refit", "none"}
        What to do where the Pareto k is above 0.7: fit again without the group, or nothing.
    most : int, optional
        Fit again at most so many of these groups, those of the highest values of the column, such as the largest sizes;
        all by default.
    seed : int
        Of every refit.
    **settings
        Of refits; 4 x (500 + 500) by default.

    Returns
    -------
    DataFrame
        By group, in order of the column's values. ``elpd`` is the log density of its rows together, next to
        ``pareto_k`` and ``refitted``. Refits have the Monte-Carlo standard error ``elpd_se`` and the ``overlap`` of the
        bridge (see `bridge.Bridge`).

    Raises
    ------
    InputError
        If `high_k` is unknown, the table lacks the column, a row has no value in it, or rows that share an effect have
        several.

    Warns
    -----
    DiagnosticWarning
        If draws of a refit diverged, or the elpd of a group is still not reliable. A refit whose draws barely overlap
        those of the fit fixes nothing, and a law that takes quantities from upstream has no refit.

    Examples
    --------
    >>> import bayescaling as bs
    >>> runs = bs.load("chinchilla_runs")
    >>> fit = bs.fit(bs.laws.Chinchilla(), runs, seed=1, draws=500, tune=500)
    >>> left_out = fit.loo(by="parameters")
    >>> bool(left_out["elpd"].sum() < fit.loo().elpd)
    True
    """
    if high_k not in HIGH_K_WAYS:
        raise InputError(unknown("high_k", high_k, HIGH_K_WAYS))
    draws = fit.draws
    joint = draws.by_group(by)
    table = _importance_sampling(fit, joint)
    high = table.index[~(table["pareto_k"] <= PARETO_K_LIMIT)]
    high = high if most is None else high[max(0, len(high) - most) :]
    if len(high) and not draws.law.upstream and high_k == "refit":
        refits = Refits(fit, seed=seed, **settings)
        items = [(by or draws.law.grouping.group, name, joint.sel(group=name).values) for name in high]
        results = list(mapped(Refits.without_group, refits, items))
        for name, one in zip(high, results, strict=True):
            table.loc[name, ["elpd", "elpd_se", "overlap"]] = one["elpd"], one["elpd_se"], one["overlap"]
            table.loc[name, "refitted"] = True
        refits.warn(results, stacklevel=2)
    _warn(draws.law, table)
    return table


def _importance_sampling(fit, joint):
    result = importance_sampling(fit, joint)
    columns = {"elpd": result.elpd_i.values, "pareto_k": result.pareto_k.values}
    index = pd.Index(joint["group"].values, name="group")
    return pd.DataFrame(columns, index).assign(refitted=False, elpd_se=np.nan, overlap=np.nan)


def unresolved(table):
    """Return whether the elpd of each group of `loo_by_group` is unreliable: Pareto k above 0.7 that no refit fixed."""
    resolved = table["refitted"] & ~(table["overlap"] < LEAST_OVERLAP)
    return ~(table["pareto_k"] <= PARETO_K_LIMIT) & ~resolved


def _warn(law, table):
    left = table["pareto_k"][unresolved(table)]
    if len(left):
        warnings.warn(
            f"{law.label}: Pareto k is above {PARETO_K_LIMIT} at {len(left)} of {len(table)} groups (largest "
            f"{left.max():.2f}) and no refit fixed it: their elpd is not reliable",
            DiagnosticWarning,
            stacklevel=3,
        )
