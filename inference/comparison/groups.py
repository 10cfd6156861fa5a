"""Leave-one-group-out: all rows of a run, of a paper or of a model size left out together."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ...datasets.printed import PrintedTable
from ...datasets.wording import check_choice
from ...errors import DiagnosticWarning
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
