"""How fast the training compute of a given capability falls, draw by draw."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from ...datasets.kinds.scores import SCORES
from ...datasets.printed import Text
from ...datasets.wording import shown
from ...errors import InputError
from ...models.progress.growth import doubling_quantiles
from ...models.scores.draws import AFTER, BEFORE
from ..checks.sandwich import robust_sds
from ..fitted import Fit, of_kind, place_of, table_named
from ..intervals import IntervalTable, named
from ..intervals import summary as summarised
from ..standing import lines, standing
from ..words import HIGH, LOW, MIDDLE, month, months, plain, probability, yearly

PROBABILITIES = (0.025, 0.05, 0.5, 0.95, 0.975)
CLUSTERS = ("model", "family")
CHANGE = "change"
SHOWN = {"factor": ("compute falls", yearly), "halving": ("months to halve", months),
         "gain": ("logits a year", lambda q: plain(q, "{:.2f}"))}  # fmt: skip


def progress_at_fixed_compute(fit: Fit, years: Sequence[float] | None = None) -> xr.Dataset:
    """Compute the capability gained a year at fixed compute, and the fall of compute at fixed capability.

    Capability is ``slope log(compute) + gain * date``, so that at fixed capability the logarithm of compute falls by
    gain/slope a year. Gain and slope are draws of one posterior: what differs between published rates is mostly the
    slope, which moves them together.

    Parameters
    ----------
    fit : Fit
        Of the law ``scores`` with a ``pace``.
    years : sequence of float, optional
        Dates, years with decimals, at which gains are given in place of periods. It makes all forms of the yearly gain
        comparable: ``years=(2023.5, 2025.5)`` gives the gain in mid-2023 and in mid-2025.

    Returns
    -------
    Dataset
        Dims (chain, draw, period). ``gain`` is in logits a year and ``rate`` in e-folds of compute a year. ``factor``,
        exp(rate), is by how much compute falls a year. ``slope`` (chain, draw) is logits an e-fold of compute, by
        period too with ``slope_by_period``. Periods are the dates of `years`. By default they are ``all`` of a constant
        gain, ``before`` and ``after`` a break, and the same names for mid-2023 and mid-2025 of the other forms.

    Raises
    ------
    InputError
        If the fit is of another law, or its ``pace`` is None, or `years` holds no dates.

    Examples
    --------
    >>> import bayescaling as bs
    >>> scores = bs.load("eci_scores")
    >>> few = scores[scores["family"].isin(["llama", "llama 2", "llama 3", "llama 3.1", "yi", "qwen", "falcon"])]
    >>> few = few[few["benchmark"].isin(["MMLU", "HellaSwag", "Winogrande", "GSM8K", "ARC AI2", "BBH"])]
    >>> fit = bs.fit(bs.laws.Scores(pace="linear"), few, seed=1, draws=500, tune=500)
    >>> bs.scores.progress_at_fixed_compute(fit)["factor"].dims
    ('chain', 'draw', 'period')
    >>> gain = bs.scores.progress_at_fixed_compute(fit, years=(2023.5, 2025.5))["gain"]
    >>> bool((gain.sel(period=2025.5) > gain.sel(period=2023.5)).any())
    False
    """
    draws: Any = of_kind(fit, SCORES).draws
    if draws.law.pace is None:
        raise InputError(
            f"{place_of(fit)} is a fit of scores without progress; fit the law with pace='linear' or pace='break'"
        )
    if years is not None and not (len(years) and np.isfinite(np.asarray(years, float)).all()):
        raise InputError(f"years must be dates such as (2023.5, 2025.5), not {shown(years)}")
    years = None if years is None else [float(year) for year in years]
    gain, slope = draws.gain(years), draws.slope(years)
    rate = gain / slope
    with np.errstate(over="ignore"):
        factor = np.exp(rate)
    return xr.Dataset({"gain": gain, "slope": slope, "rate": rate, "factor": factor})


def summary(fit: Fit) -> FallOfCompute:
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
    FallOfCompute
        A DataFrame that prints a short table. It is indexed by ``period`` and ``unit``: ``model`` and, where the table
        has at least 10 families, ``family``. There are quantiles ``q2.5``, ``q5``, ``q50``, ``q95`` and ``q97.5`` of
        three quantities: the ``factor`` a year, the ``gain`` in logits a year, and ``halving``. The last is the months
        in which compute at fixed capability halves, infinite for never. ``p_progress`` is the probability of a gain
        above 0. Where the gain may change there is also a ``period`` ``change``. Its gain and factor are the difference
        and the ratio of both, and its ``p_progress`` the probability that progress is faster later.

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
            quantities[CHANGE, name] = quantities[AFTER, name] - quantities[BEFORE, name]
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
    table = pd.DataFrame.from_dict(rows, orient="index").rename_axis(["period", "unit"])
    slopes = progress["slope"] if "period" in progress["slope"].dims else progress["slope"].expand_dims(period=[""])
    law: Any = fit.law  # of scores
    models = fit.rows.drop_duplicates("model")
    with_compute = models["model"].isin(law.with_compute(fit.rows))
    table.attrs = {
        "title": f"Training compute of a given capability ({law.label}, {table_named(fit)})",
        "besides": {"compute_slope": {str(x["period"].values): summarised(x) for x in slopes.transpose("period", ...)}},
        "models": (len(models), int(with_compute.sum()), month(models.loc[with_compute, "year"].max())),
        "break_year": law.break_year,
        "standing": standing(fit),
    }
    return FallOfCompute.of(table)


class FallOfCompute(IntervalTable):
    """What `summary` returns: a DataFrame that prints how fast the compute of a capability falls."""

    def text(self):
        """Return what is printed; of a part of it its rows."""
        if "besides" not in self.attrs or not {f"{name}_q50" for name in SHOWN} <= {*self.columns}:
            return super().text()
        attrs, families = self.attrs, "family" in self.index.get_level_values("unit")
        rows, faster = {}, []
        for (period, unit), row in self.iterrows():
            by = f"by {unit}" if families else ""
            if period == CHANGE:
                faster.append(f"{probability(row['p_progress'])} {by}".strip())
                continue
            name = f"{period} {attrs['break_year']:g}" if period in (BEFORE, AFTER) else str(period)
            rows[f"{name} {by}".strip()] = {
                heading: form({q: row[f"{quantity}_{q}"] for q in (LOW, MIDDLE, HIGH)})
                for quantity, (heading, form) in SHOWN.items()
            }
        count, dated, last = attrs["models"]
        below = [f"Training compute is known of {dated} of {count} models, the last of {last}"]
        if faster:
            when = f"after {attrs['break_year']:g} than before"
            below.append(f"Probability that capability grows faster {when}: {', '.join(faster)}")
        for period, slope in attrs["besides"]["compute_slope"].items():
            logits = plain({q: np.log(10) * slope[q] for q in (LOW, MIDDLE, HIGH)}, "{:.2f}")
            when = f" {period}" if period else ""
            below.append(f"Ten times the compute buys {logits} logits{when}, by which gains are divided")
        return Text(attrs["title"], pd.DataFrame.from_dict(rows, orient="index"), (*below, *lines(attrs["standing"])))


def _spread(values, ratio):
    """Return draws spread about their mean by a ratio, if it is above 1."""
    return values.mean() + max(1.0, ratio) * (values - values.mean())


def _row(gain, rate, period):
    with np.errstate(over="ignore"):
        factor = np.exp(np.quantile(rate, PROBABILITIES))
    times = doubling_quantiles(rate, PROBABILITIES) if period != CHANGE else [np.nan] * len(PROBABILITIES)
    quantiles = {"factor": factor, "gain": np.quantile(gain, PROBABILITIES), "halving": times}
    row = {}
    for name, values in quantiles.items():
        row |= named(values, PROBABILITIES, f"{name}_")
    return row | {"p_progress": float((gain > 0).mean())}
