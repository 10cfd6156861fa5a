"""How fast the training compute of a given capability falls, draw by draw."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import xarray as xr

from ...datasets.wording import shown
from ...errors import InputError
from ...models.progress.growth import doubling_quantiles
from ...models.scores.draws import AFTER, BEFORE
from ..checks.sandwich import robust_sds
from ..fitted import place_of
from ..intervals import named
from ..needs import of_kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..fitted import Fit

PROBABILITIES = (0.025, 0.05, 0.5, 0.95, 0.975)
CLUSTERS = ("model", "family")


def progress_at_fixed_compute(fit: Fit, at: Sequence[float] | None = None) -> xr.Dataset:
    """Compute the capability gained a year at fixed compute, and the fall of compute at fixed capability.

    Capability is ``slope log(compute) + gain * date``, so that at fixed capability the logarithm of compute falls by
    gain/slope a year. Gain and slope are draws of one posterior: what differs between published rates is mostly the
    slope, which moves them together.

    Parameters
    ----------
    fit : Fit
        Of the law ``scores`` with a ``pace``.
    at : sequence of float, optional
        Dates, years with decimals, at which gains are given in place of periods. It makes all forms of the yearly gain
        comparable: ``at=(2023.5, 2025.5)`` gives the gain in mid-2023 and in mid-2025.

    Returns
    -------
    Dataset
        Dims (chain, draw, period). ``gain`` is in logits a year and ``rate`` in e-folds of compute a year. ``factor``,
        exp(rate), is by how much compute falls a year. ``slope`` (chain, draw) is logits an e-fold of compute, by
        period too with ``slope_by_period``. Periods are the dates of `at`. By default they are ``all`` of a constant
        gain, ``before`` and ``after`` a break, and the same names for mid-2023 and mid-2025 of the other forms.

    Raises
    ------
    InputError
        If the fit is of another law, or its ``pace`` is None, or `at` holds no dates.

    Examples
    --------
    >>> import bayescaling as bs
    >>> scores = bs.load("eci_scores")
    >>> few = scores[scores["family"].isin(["llama", "llama 2", "llama 3", "llama 3.1", "yi", "qwen", "falcon"])]
    >>> few = few[few["benchmark"].isin(["MMLU", "HellaSwag", "Winogrande", "GSM8K", "ARC AI2", "BBH"])]
    >>> fit = bs.fit(bs.laws.Scores(pace="linear"), few, seed=1, draws=500, tune=500)
    >>> bs.scores.progress_at_fixed_compute(fit)["factor"].dims
    ('chain', 'draw', 'period')
    >>> gain = bs.scores.progress_at_fixed_compute(fit, at=(2023.5, 2025.5))["gain"]
    >>> bool((gain.sel(period=2025.5) > gain.sel(period=2023.5)).any())
    False
    """
    draws: Any = of_kind(fit, "scores").draws
    if draws.law.pace is None:
        raise InputError(
            f"{place_of(fit)} is a fit of scores without progress; fit the law with pace='linear' or pace='break'"
        )
    if at is not None and not (len(at) and np.isfinite(np.asarray(at, float)).all()):
        raise InputError(f"at must be years such as (2023.5, 2025.5), not {shown(at)}")
    years = None if at is None else [float(year) for year in at]
    gain, slope = draws.gain(years), draws.slope(years)
    rate = gain / slope
    with np.errstate(over="ignore"):
        factor = np.exp(rate)
    return xr.Dataset({"gain": gain, "slope": slope, "rate": rate, "factor": factor})


def summary(fit: Fit) -> pd.DataFrame:
    """Summarise `progress_at_fixed_compute` by period, with models and with families as the unit.

    The posterior takes models for independent given their compute and date. Where families differ more than their
    models do, the infinitesimal jackknife with families left out as wholes is wider (see `robust_sd`). Draws are then
    spread about their mean until their sd is that one.

    Parameters
    ----------
    fit : Fit
        Of the law ``scores`` with a ``pace``.

    Returns
    -------
    DataFrame
        Indexed by ``period`` and ``unit``: ``model`` and, where the table has at least 10 families, ``family``. There
        are quantiles ``q2.5``, ``q5``, ``q50``, ``q95`` and ``q97.5`` of three quantities: the ``factor`` a year, the
        ``gain`` in logits a year, and ``halving``. The last is the months in which compute at fixed capability halves,
        infinite for never. ``p_progress`` is the probability of a gain above 0. Where the gain may change there is also
        a ``period`` ``change``. Its gain and factor are the difference and the ratio of both, and its ``p_progress``
        the probability that progress is faster later.

    Raises
    ------
    InputError
        If the fit is of another law, or its ``pace`` is None.

    Examples
    --------
    >>> import bayescaling as bs
    >>> scores = bs.load("eci_scores")
    >>> few = scores[scores["family"].isin(["llama", "llama 2", "llama 3", "llama 3.1", "yi", "qwen", "falcon"])]
    >>> few = few[few["benchmark"].isin(["MMLU", "HellaSwag", "Winogrande", "GSM8K", "ARC AI2", "BBH"])]
    >>> fit = bs.fit(bs.laws.Scores(pace="linear"), few, seed=1, draws=500, tune=500)
    >>> bs.scores.summary(fit).index.get_level_values("unit").tolist()
    ['model']
    """
    progress = progress_at_fixed_compute(fit)
    quantities = {
        (period, name): progress[name].sel(period=period, drop=True)
        for period in progress["period"].values.tolist()
        for name in ("gain", "rate")
    }
    if AFTER in progress["period"].values:
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
    """Return draws spread about their mean by a ratio, if it is above 1."""
    return values.mean() + max(1.0, ratio) * (values - values.mean())


def _row(gain, rate, period):
    with np.errstate(over="ignore"):
        factor = np.exp(np.quantile(rate, PROBABILITIES))
    times = doubling_quantiles(rate, PROBABILITIES) if period != "change" else [np.nan] * len(PROBABILITIES)
    quantiles = {"factor": factor, "gain": np.quantile(gain, PROBABILITIES), "halving": times}
    row = {}
    for name, values in quantiles.items():
        row |= named(values, PROBABILITIES, f"{name}_")
    return row | {"p_progress": float((gain > 0).mean())}
