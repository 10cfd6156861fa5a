"""Capabilities of models, draw by draw, and how well each benchmark is predicted."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
import xarray as xr

from ...datasets.kinds.scores import SCORES
from ...datasets.printed import PrintedTable
from ..checks.law_tests import loo_pit
from ..checks.uniformity import RANKS, p_uniform
from ..fitted import Fit, of_kind
from ..points.item_response import between_anchors

LEVELS = (0.5, 0.9)


def capabilities(fit: Fit, anchors: Mapping[str, float] | None = None) -> xr.DataArray:
    """Return capabilities of the models of a fit of scores.

    Parameters
    ----------
    fit : Fit
        Of the law ``scores``.
    anchors : dict of str to float, optional
        Two models with the values that they have in every draw, such as ``{"Claude 3.5 Sonnet": 130, "GPT-5": 150}``;
        without, capabilities are in logits of the typical benchmark above the mean difficulty. Intervals on a scale of
        two anchors widen with the distance from them.

    Returns
    -------
    DataArray
        Dims (chain, draw, model).

    Raises
    ------
    InputError
        If the fit is of another law, or the anchors are not two of its models.

    Examples
    --------
    >>> import bayescaling as bs
    >>> scores = bs.load("eci_scores")
    >>> few = scores[scores["family"].isin(["llama", "llama 2", "llama 3", "llama 3.1", "yi", "qwen", "falcon"])]
    >>> few = few[few["benchmark"].isin(["MMLU", "HellaSwag", "Winogrande", "GSM8K", "ARC AI2", "BBH"])]
    >>> fit = bs.fit(bs.laws.Scores(), few, seed=1, draws=500, tune=500)
    >>> anchored = bs.scores.capabilities(fit, {"LLaMA-7B": 0, "LLaMA-65B": 1})
    >>> float(anchored.sel(model="LLaMA-65B").std().round(9))
    0.0
    """
    values = of_kind(fit, SCORES).draws.named()["capability"]
    if anchors is None:
        return values
    models = values["model"].values.tolist()
    by_model = {name: values.sel(model=name, drop=True) for name in anchors if name in models}
    origin, unit, low = between_anchors(anchors, by_model, models)
    return (low + unit * (values - origin)).rename("capability")


def pit_by_benchmark(fit: Fit) -> pd.DataFrame:
    """Test how well draws that did not see the scores of a benchmark predict them.

    Parameters
    ----------
    fit : Fit
        Of the law ``scores``.

    Returns
    -------
    DataFrame
        By benchmark, least ``p_uniform`` first. ``rows`` counts the scores. ``p_uniform`` is the probability of LOO-PIT
        values so uneven; 1 in 20 of these is below 0.05 if the law is true. ``covers_50`` and ``covers_90`` are the
        shares of scores within central intervals.

    Raises
    ------
    InputError
        If the fit is of another law.

    Examples
    --------
    >>> import bayescaling as bs
    >>> scores = bs.load("eci_scores")
    >>> few = scores[scores["family"].isin(["llama", "llama 2", "llama 3", "llama 3.1", "yi", "qwen", "falcon"])]
    >>> few = few[few["benchmark"].isin(["MMLU", "HellaSwag", "Winogrande", "GSM8K", "ARC AI2", "BBH"])]
    >>> fit = bs.fit(bs.laws.Scores(), few, seed=1, draws=500, tune=500)
    >>> bool(bs.scores.pit_by_benchmark(fit)["rows"].sum() == len(few))
    True
    """
    draws = of_kind(fit, SCORES).draws
    pit = pd.Series(loo_pit(fit), name="pit")
    table = pit.groupby(draws.rows["benchmark"].to_numpy()).agg(["size", _p_uniform, *map(_covers, LEVELS)])
    table.columns = ["rows", "p_uniform", *(f"covers_{round(100 * level)}" for level in LEVELS)]
    title = "Scores predicted by draws that did not see them, by benchmark"
    return PrintedTable.of(table.rename_axis("benchmark").sort_values("p_uniform"), title=title)


def _p_uniform(pit):
    return p_uniform(np.minimum(RANKS * pit.to_numpy(), RANKS - 1).astype(int))


def _covers(level):
    return lambda pit: float((abs(pit - 0.5) <= level / 2).mean())
