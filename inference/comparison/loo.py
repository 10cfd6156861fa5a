"""Leave-one-out of a fit: Pareto-smoothed importance sampling, with refits where the Pareto k is too high.

References
----------
.. [1] Vehtari, A., Gelman, A. and Gabry, J. (2017). Practical Bayesian model evaluation using leave-one-out
       cross-validation and WAIC. https://doi.org/10.1007/s11222-016-9696-4
"""

from __future__ import annotations

import json
import warnings
from typing import Any

import numpy as np
import pandas as pd

from ...datasets.printed import PrintedTable
from ...datasets.wording import check_choice
from ...errors import DiagnosticWarning, InputError
from ..checks.chains import PARETO_K_LIMIT
from ..fitted import Fit, once
from ..settings import seed_of
from ..workers import mapped
from .bridge import LEAST_OVERLAP
from .importance import importance_sampling
from .refits import Refits, largest_k_left, resolve, unreliable

HIGH_K_WAYS = ("refit", "none")


def loo(fit: Fit, by: str | None = None, *, seed: int | None = None, progress: bool = False, **options: Any) -> Any:
    """Estimate the expected log predictive density by leave-one-out, or by leave-one-group-out.

    Importance sampling, and refits bridged to the draws of the fit where the Pareto k is above 0.7. What is left out is
    a run, an evaluation, a score or, of a law of counts, all counts of a run.

    Parameters
    ----------
    fit : Fit
    by : str, optional
        Column whose rows of one value are left out together, such as ``"parameters"``; single units by default.
    seed : int, optional
        Of refits; that of the fit by default.
    progress : bool
        Name what runs on standard error, with a bar for refits and for large tables.
    **options
        ``high_k`` is what to do where the Pareto k is above 0.7. ``"refit"`` fits again without what is left out, and
        ``"none"`` does nothing. The default is ``"refit"``, but ``"none"`` of single units for a law that takes
        quantities from upstream and for `scores`, one refit of which takes a minute. ``most`` limits how many groups
        are refitted, those of the highest values of the column. Other options are settings of refits, 4 x (500 + 500)
        by default.

    Returns
    -------
    arviz_stats.ELPDData, or DataFrame by group
        ``elpd``, ``se``, ``p`` and, pointwise, ``elpd_i`` and ``pareto_k``, on the scale of the fit's residuals. By
        group in order of the column's values ``elpd``, the log density of its rows together, ``pareto_k``, ``refitted``
        and, of refits, ``elpd_se`` and ``overlap``.

    Raises
    ------
    InputError
        If an option is unknown, the table lacks the column, a row has no value in it, or rows that share an effect have
        several values.

    Warns
    -----
    DiagnosticWarning
        If a Pareto k above 0.7 remains, or draws of a refit diverged. A refit whose draws barely overlap those of the
        fit, even by way of a normal, fixes nothing.

    Examples
    --------
    >>> import bayescaling as bs
    >>> fit = bs.fit(bs.laws.Chinchilla(), bs.load("chinchilla_runs"), seed=1, draws=500, tune=500)
    >>> bool(fit.loo().elpd > 840), bool(fit.loo(by="parameters")["elpd"].sum() < fit.loo().elpd)
    (True, True)
    """
    options = {name: x for name, x in options.items() if x is not None} | {"seed": seed_of(seed, fit)}
    name = f"loo {by} {json.dumps(options, sort_keys=True, default=str)}"
    if by is None:
        return once(fit, name, lambda: _of_units(fit, progress=progress, **options))
    return once(fit, name, lambda: loo_by_group(fit, by, **options))


def _of_units(fit, *, seed, progress, high_k=None, **settings):
    law = fit.law
    high_k = high_k or ("none" if law.upstream else law.high_k)
    check_choice("high_k", high_k, HIGH_K_WAYS)
    if law.upstream and high_k != "none":
        raise InputError(
            f"high_k={high_k!r}: {law.name} takes {' and '.join(law.upstream)} from upstream and has no one posterior "
            'that could be fitted again without an observation; use high_k="none", or joint=True of the law'
        )
    result = importance_sampling(fit, progress=progress)
    if high_k == "refit":
        resolve(fit, result, seed=seed, progress=progress, **settings)
    high = int(unreliable(result).sum())
    if high:
        warnings.warn(
            f"{law.label}: Pareto k is above {PARETO_K_LIMIT} at {high} of {result.n_data_points} observations "
            f"(largest {largest_k_left(result):.2f}): their elpd is not reliable; refit without them",
            DiagnosticWarning,
            stacklevel=2,
        )
    # They are as large as the log densities, and those of a fit with refits belong to other draws.
    result.log_weights = None
    return result


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

    It is `loo` of a fit by a column, with its options, results and warnings. By default the column is ``run`` for a law
    of the loss, the size for one with size effects, and ``paper_id`` for a law of progress.
    """
    check_choice("high_k", high_k, HIGH_K_WAYS)
    draws = fit.draws
    joint = draws.by_group(by)
    result = importance_sampling(fit, joint)
    columns = {"elpd": result.elpd_i.values, "pareto_k": result.pareto_k.values}
    table = pd.DataFrame(columns, pd.Index(joint["group"].values, name="group"))
    table = table.assign(refitted=False, elpd_se=np.nan, overlap=np.nan)
    high = table.index[~(table["pareto_k"] <= PARETO_K_LIMIT)]
    high = high if most is None else high[max(0, len(high) - most) :]
    if len(high) and not draws.law.upstream and high_k == "refit":
        refits = Refits(fit, seed=seed, **settings)
        items = [(by or draws.law.left_out_by, name, joint.sel(group=name).values) for name in high]
        results = list(mapped(Refits.without_group, refits, items))
        for name, one in zip(high, results, strict=True):
            table.loc[name, ["elpd", "elpd_se", "overlap"]] = one["elpd"], one["elpd_se"], one["overlap"]
            table.loc[name, "refitted"] = True
        refits.warn(results, stacklevel=2)
    left = table["pareto_k"][unresolved(table)]
    if len(left):
        warnings.warn(
            f"{draws.law.label}: Pareto k is above {PARETO_K_LIMIT} at {len(left)} of {len(table)} groups (largest "
            f"{left.max():.2f}) and no refit fixed it: their elpd is not reliable",
            DiagnosticWarning,
            stacklevel=2,
        )
    return PrintedTable.of(table, title="Expected log predictive density of groups, each left out whole")


def unresolved(table):
    """Return whether the elpd of each group of `loo_by_group` is unreliable: Pareto k above 0.7 that no refit fixed."""
    resolved = table["refitted"] & ~(table["overlap"] < LEAST_OVERLAP)
    return ~(table["pareto_k"] <= PARETO_K_LIMIT) & ~resolved
