"""Algorithmic progress in two stages, as Ho et al. (2025) estimate it: what compute buys in families, then the rest.

References
----------
.. [1] Ho, A. et al. (2025). A Rosetta stone for AI benchmarks. arXiv:2512.00193, section 5.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from ...datasets import require
from ...datasets.deferred import stats
from ...datasets.wording import listed, quoted, source_of, suggestion
from ...errors import InputError
from .result import PointEstimate

LEAST_IN_FAMILY, LEAST_MODELS = 2, 3


def fit_two_stages(capability: pd.Series, models: pd.DataFrame, families: Mapping[str, Sequence[str]]) -> PointEstimate:
    """Estimate progress at fixed compute in two stages.

    The slope of capability in the logarithm of compute is the mean of those of some families. Capability minus slope
    times log compute is then regressed on the date [1]_. Nothing of the error of the first stage is in the second.

    Parameters
    ----------
    capability : Series
        By model, such as that of `fit_item_response`.
    models : DataFrame
        Columns ``model``, ``year`` and ``training_compute_flop``; models without a compute are left out of both stages.
    families : dict of str to sequence of str
        Models of each family.

    Returns
    -------
    PointEstimate
        ``slope`` is capability an e-fold of compute, the mean of the Series ``slopes`` by family. ``yearly_gain`` is
        capability a year at fixed compute, whose error leaves out that of the slope. ``factor`` is by how much the
        compute for a capability falls in a year, ``exp(yearly_gain / slope)``. `rows` counts the models of the gain.

    Raises
    ------
    InputError
        If a column is missing, a model of a family has no capability or compute, or there are too few.

    Examples
    --------
    >>> import pandas as pd
    >>> models = pd.DataFrame(
    ...     {
    ...         "model": list("abcd"),
    ...         "year": [2023, 2023, 2024, 2025],
    ...         "training_compute_flop": [1e22, 1e24, 1e24, 1e24],
    ...     }
    ... )
    >>> capability = pd.Series([0.0, 2.0, 3.0, 4.0], list("abcd"))
    >>> round(fit_two_stages(capability, models, {"first": ["a", "b"]})["factor"], 1)
    10.0
    """
    require(models, ("model", "year", "training_compute_flop"), purpose="progress in two stages")
    table = models.dropna(subset=["training_compute_flop", "year"]).set_index("model")
    table = table[table.index.isin(capability.index)]
    log_compute, value = np.log(table["training_compute_flop"]), capability.loc[table.index]
    slopes = {}
    for family, names in families.items():
        for name in names:
            if name not in table.index:
                hint = suggestion(name, table.index) or "; leave it out"
                raise InputError(f"families: {quoted(name)} of {family} has no capability and compute here{hint}")
        if len(names) < LEAST_IN_FAMILY or log_compute[list(names)].nunique() < LEAST_IN_FAMILY:
            raise InputError(f"families: {family} has {listed(names)}; a slope needs two models of different compute")
        slopes[family] = np.polyfit(log_compute[list(names)], value[list(names)], 1)[0]
    if not slopes or len(table) < LEAST_MODELS or table["year"].nunique() < LEAST_IN_FAMILY:
        raise InputError(
            f"{len(table)} models with a compute and {len(slopes)} families: progress in two stages needs three models "
            "of several dates and a family"
        )
    slope = float(np.mean(list(slopes.values())))
    by_year = stats.linregress(table["year"], value - slope * log_compute)
    return PointEstimate(
        estimator="Progress at fixed compute in two stages",
        estimates={
            "slope": slope,
            "yearly_gain": float(by_year.slope),
            "factor": float(np.exp(by_year.slope / slope)),
            "slopes": pd.Series(slopes, name="slope"),
        },
        source=source_of(models),
        rows=len(table),
        converged=True,
        message="the error of the yearly gain leaves out that of the slope",
        errors={"yearly_gain": float(by_year.stderr)},
    )
