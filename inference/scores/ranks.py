"""Ranks of models by what a law holds of them: capability under `scores`, the time horizon under `horizons`."""

from __future__ import annotations

import numpy as np
import pandas as pd
import xarray as xr

from ...errors import InputError
from ..fitted import Fit, place_of, record_of
from ..intervals import IntervalTable, finite, name_quantiles, printed
from ..kinds import list_records

ALIKE = 0.95  # probability from which one of two models is called the better one
NOTE = (
    "Medians and 95% intervals. Similar counts the other models that are neither better nor worse with a probability "
    f"of {ALIKE:.0%}."
)


def above(fit: Fit) -> xr.DataArray:
    """Compute the probability that each model is better than each other.

    Parameters
    ----------
    fit : Fit
        Of the law ``scores``, where the more capable model is better, or of ``horizons``, where the one of the longer
        horizon is.

    Returns
    -------
    DataArray
        Dims (model, other): the probability that the model is better than the other, NaN of a model and itself.

    Raises
    ------
    InputError
        If the fit is of another law.

    Examples
    --------
    >>> import bayescaling as bs
    >>> table = bs.load("weirdml")
    >>> few = table[table["model"].isin(table["model"].unique()[::6]) & table["threshold"].isin([50, 90])]
    >>> law = bs.laws.Horizons(noise="binomial", family_effects=False, estimates=False)
    >>> fit = bs.fit(law, few, seed=1, draws=300, tune=500)
    >>> p = bs.scores.above(fit)
    >>> float((p + p.T.values).sel(model="gpt-4.5", other="o3-mini (high)"))
    1.0
    """
    values = _values(fit)
    models, x = values["model"].values, values.values.reshape(-1, values.sizes["model"])
    p = np.stack([(x > x[:, [j]]).mean(0) for j in range(len(models))], -1)
    np.fill_diagonal(p, np.nan)
    coords = {"model": models, "other": models}
    return xr.DataArray(p, dims=("model", "other"), coords=coords, name="p")


def ranks(fit: Fit) -> IntervalTable:
    """Summarise ranks of models, the best first.

    Parameters
    ----------
    fit : Fit
        As for `above`.

    Returns
    -------
    IntervalTable
        A DataFrame, which prints a short table. By model: quantiles ``q2.5``, ``q50``, ``q97.5`` of its rank, 1 of the
        best. ``p_best`` is the probability that it is the best, and ``p_above_next`` that it is better than
        the next of the table. ``similar`` counts the other models that are neither better nor worse with a
        probability of 0.95.

    Raises
    ------
    InputError
        If the fit is of another law.

    Examples
    --------
    >>> import bayescaling as bs
    >>> table = bs.load("weirdml")
    >>> few = table[table["model"].isin(table["model"].unique()[::6]) & table["threshold"].isin([50, 90])]
    >>> law = bs.laws.Horizons(noise="binomial", family_effects=False, estimates=False)
    >>> fit = bs.fit(law, few, seed=1, draws=300, tune=500)
    >>> bs.scores.ranks(fit).index[0]
    'gpt-5.2 (xhigh)'
    """
    values, better = _values(fit), above(fit).values
    models = values["model"].values
    x = values.values.reshape(-1, len(models))
    places = np.empty(x.shape)
    np.put_along_axis(places, np.argsort(-x, axis=1), np.arange(1.0, len(models) + 1)[None, :], axis=1)
    order = np.lexsort((-np.median(x, axis=0), places.mean(0)))
    records = {}
    for i, after in zip(order, [*order[1:], None], strict=True):
        records[str(models[i])] = name_quantiles(places[:, i]) | {
            "p_best": float((places[:, i] == 1).mean()),
            "p_above_next": np.nan if after is None else float(better[i, after]),
            "similar": int(((better[i] > 1 - ALIKE) & (better[i] < ALIKE)).sum()),
        }
    table = pd.DataFrame.from_dict(records, orient="index").rename_axis("model")
    title = f"Ranks of {len(models)} models by {record_of(fit).ranked_by[1]}"
    result = printed(table, "rank", title, NOTE, fit)
    others = {model: zip(models, row, strict=True) for model, row in zip(models, better, strict=True)}
    result.attrs["besides"] = {"p_above": {str(a): {str(b): finite(p) for b, p in of} for a, of in others.items()}}
    return result


def _values(fit):
    """Return what models are ranked by, dims (chain, draw, model)."""
    by = record_of(fit).ranked_by
    if not by:
        kinds = " or ".join(record.name for record in list_records("ranked_by"))
        raise InputError(f"{place_of(fit)} is a fit of {fit.law.name}; ranks need a fit of {kinds}")
    return fit.draws.named()[by[0]]
