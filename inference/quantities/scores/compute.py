"""How fast the training compute of a given capability falls, draw by draw."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from ....errors import InputError
from ....models.progress.growth import doubling_quantiles
from ....models.scores.draws import AFTER, BEFORE
from ...storage import draws_of, place_of
from ..robust import robust_sds

PROBABILITIES = (0.025, 0.05, 0.5, 0.95, 0.975)
CLUSTERS = ("model", "family")


def progress_at_fixed_compute(fit: xr.DataTree) -> xr.Dataset:
    """Capability gained a year at fixed compute, and the fall of compute at fixed capability.

    Capability is ``slope log(compute) + gain * date``, so that at fixed capability the logarithm of compute falls by
    gain/slope a year. Gain and slope are draws of one posterior: what differs between published rates is mostly the
    slope, which moves them together.

    Parameters
    ----------
    fit : DataTree
        Of the law ``scores`` with a pace.

    Returns
    -------
    Dataset
        Dims (chain, draw, period), period ``all``, or ``before`` and ``after`` the break: ``gain`` (logits a year),
        ``rate`` (e-folds of compute a year) and ``factor`` (compute falls by so much a year, exp(rate)); and ``slope``
        (chain, draw), logits an e-fold of compute.

    Raises
    ------
    InputError
        If the fit is of another law, or has no pace.

    Examples
    --------
    >>> import bayescaling as bs
    >>> scores = bs.load("eci_scores")
    >>> few = scores[scores["family"].isin(["llama", "llama 2", "llama 3", "llama 3.1", "yi", "qwen", "falcon"])]
    >>> few = few[few["benchmark"].isin(["MMLU", "HellaSwag", "Winogrande", "GSM8K", "ARC AI2", "BBH"])]
    >>> fit = bs.fit(bs.Scores(pace="linear"), few, seed=1, draws=500, tune=500)
    >>> bs.progress_at_fixed_compute(fit)["factor"].dims
    ('chain', 'draw', 'period')
    """
    draws: Any = draws_of(fit, "scores")
    if draws.law.pace is None:
        raise InputError(
            f"{place_of(fit)} is a fit of scores without a pace; fit the law with pace='linear' or pace='break'"
        )
    values, gain = draws.named(), draws.gain()
    with np.errstate(over="ignore"):
        factor = np.exp(values["rate"])
    return xr.Dataset({"gain": gain, "slope": values["compute_slope"], "rate": values["rate"], "factor": factor})


def progress_summary(fit: xr.DataTree) -> pd.DataFrame:
    """Summarise `progress_at_fixed_compute` by period, with models and with families as the unit.

    The posterior takes models for independent given their compute and date. Where families differ more than their
    models do, the infinitesimal jackknife with families left out as wholes is wider (see `robust_sd`); draws are then
    spread about their mean until their sd is that one.

    Parameters
    ----------
    fit : DataTree
        Of the law ``scores`` with a pace.

    Returns
    -------
    DataFrame
        Indexed by ``period`` and ``unit``, ``model`` and, where the table has at least 10 families, ``family``:
        quantiles ``q2.5``, ``q5``, ``q50``, ``q95`` and ``q97.5`` of the ``factor`` a year, of the ``gain`` in logits a
        year, and of ``halving`` (months in which compute at fixed capability halves, infinite for never); and
        ``p_progress``, the probability of a gain above 0. With a break also a ``period`` ``change``, whose
        ``p_progress`` is the probability that progress is faster after it, and whose gain and factor are the difference
        and the ratio of both.

    Raises
    ------
    InputError
        If the fit is of another law, or has no pace.

    Examples
    --------
    >>> import bayescaling as bs
    >>> scores = bs.load("eci_scores")
    >>> few = scores[scores["family"].isin(["llama", "llama 2", "llama 3", "llama 3.1", "yi", "qwen", "falcon"])]
    >>> few = few[few["benchmark"].isin(["MMLU", "HellaSwag", "Winogrande", "GSM8K", "ARC AI2", "BBH"])]
    >>> fit = bs.fit(bs.Scores(pace="linear"), few, seed=1, draws=500, tune=500)
    >>> bs.progress_summary(fit).index.get_level_values("unit").tolist()
    ['model']
    """
    found = progress_at_fixed_compute(fit)
    quantities = {
        (period, name): found[name].sel(period=period, drop=True)
        for period in found["period"].values.tolist()
        for name in ("gain", "rate")
    }
    if AFTER in found["period"].values:
        for name in ("gain", "rate"):
            quantities["change", name] = quantities[AFTER, name] - quantities[BEFORE, name]
    sds = robust_sds(fit, quantities)
    rows = {}
    for period in dict.fromkeys(period for period, _ in quantities):
        for unit in CLUSTERS:
            tables = {name: sds[period, name] for name in ("gain", "rate")}
            if unit == "family" and not all("family" in table.index for table in tables.values()):
                continue
            ratios = {name: 1.0 if unit == "model" else table.at[unit, "ratio"] for name, table in tables.items()}
            spread = {name: _spread(quantities[period, name].values, ratio) for name, ratio in ratios.items()}
            rows[period, unit] = _row(spread["gain"], spread["rate"], period)
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis(["period", "unit"])


def _spread(values, ratio):
    """Draws spread about their mean by a ratio, if it is above 1."""
    return values.mean() + max(1.0, ratio) * (values - values.mean())


def _row(gain, rate, period):
    row = {}
    with np.errstate(over="ignore"):
        for name, values in (("factor", np.exp(np.quantile(rate, PROBABILITIES))), ("gain", _quantiles(gain))):
            row |= _named(name, values)
    times = doubling_quantiles(rate, PROBABILITIES) if period != "change" else [np.nan] * len(PROBABILITIES)
    return row | _named("halving", times) | {"p_progress": float((gain > 0).mean())}


def _quantiles(values):
    return np.quantile(values, PROBABILITIES)


def _named(name, values):
    return {f"{name}_q{100 * p:g}": float(x) for p, x in zip(PROBABILITIES, values, strict=True)}
