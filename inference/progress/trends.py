"""How fast time horizons and dated values grow, and when they reach a level, draw by draw."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from ...datasets.deferred import xr
from ...datasets.kinds.values import VALUES
from ...datasets.wording import check_choice
from ...errors import DiagnosticWarning, InputError
from ...models.draws import DRAWS
from ...models.values.law import OF_TRENDS
from ..comparison.differences import differences, is_apart
from ..comparison.loo import loo
from ..fitted import FORMS, Fit, of_kind, once, place_of, record_of, results_of
from ..fitter import fitter_of
from ..horizons.quantities import TASKS
from ..intervals import IntervalTable, ends, name_quantiles, printed
from ..kinds import list_records
from ..quoted import quote_draws
from ..words import plain

DAYS = 365.25
STEPS = 40  # dates a year at which the trend is worked out
FURTHEST = 100.0  # years
EVEN = 0.5  # probability of growth below which values fall


def doubling_days(fit: Fit, years: Sequence[float] | None = None, *, halving: bool = False) -> IntervalTable:
    """Summarise the days in which time horizons, or dated values, double.

    Parameters
    ----------
    fit : Fit
        Of the law ``horizons`` with a trend, or of ``trend`` on a log scale.
    years : sequence of float, optional
        Dates, such as 2025.5. By default one period of a constant rate, else the periods before and after the break. Of
        other forms they are two dates: mid-2023 and mid-2025 of horizons, the 10th and 90th percentile of the dates of
        values.
    halving : bool
        The days in which they halve instead.

    Returns
    -------
    IntervalTable
        A DataFrame, which prints a short table. By period: quantiles ``q2.5``, ``q50``, ``q97.5`` of the
        doubling time in days, infinite where nothing grows. ``p_growth`` is the probability of growth. With two periods
        or dates, ``p_faster`` is the probability that the rate of the period exceeds that of the first.

    Raises
    ------
    InputError
        If the fit is of another law, has no trend, or has values on a linear scale.

    Examples
    --------
    >>> import bayescaling as bs
    >>> compute = bs.load("training_compute")
    >>> fit = bs.fit("trend", compute[compute["larger_before"] < 10], seed=1, draws=300, tune=500)
    >>> bs.progress.doubling_days(fit).index.tolist()
    ['all']
    """
    law = _with_trend(fit).law
    if law.linear_unit is not None:
        raise InputError(
            f"{place_of(fit)} has values on a linear scale, which do not double; use yearly_gain, or fit with "
            'value_unit="log"'
        )

    def days(rate):
        return np.divide(DAYS * np.log(2), rate, out=np.full(rate.shape, np.inf), where=rate > 0)

    table = _by_period(fit, years, lambda rate: days(-rate if halving else rate))
    change, growth = ("halve", "fall") if halving else ("double", "growth")
    note = f"Medians and 95% intervals; never: no {growth}."
    title = f"Days in which {record_of(fit).grows} {change}, trend {law.trend}"
    return printed(table, "days", title, note, fit, quoted=table.index[-1])


def yearly_gain(fit: Fit, years: Sequence[float] | None = None) -> IntervalTable:
    """Summarise the gain a year of time horizons or dated values.

    Parameters
    ----------
    fit : Fit
        Of the law ``horizons`` with a trend, or of ``trend``.
    years : sequence of float, optional
        As for `doubling_days`.

    Returns
    -------
    IntervalTable
        A DataFrame, which prints a short table. By period: quantiles ``q2.5``, ``q50``, ``q97.5`` of the factor a year
        on a log scale, or of the gain in the values' unit on a linear one. ``p_growth`` and ``p_faster`` are as for
        `doubling_days`.

    Raises
    ------
    InputError
        If the fit is of another law or has no trend.

    Examples
    --------
    >>> import bayescaling as bs
    >>> compute = bs.load("training_compute")
    >>> fit = bs.fit("trend", compute[compute["larger_before"] < 10], seed=1, draws=300, tune=500)
    >>> bool(bs.progress.yearly_gain(fit).loc["all", "q2.5"] > 1)
    True
    """
    law = _with_trend(fit).law
    table = _by_period(fit, years, _rate_in(law))
    what = "Factor by which" if law.linear_unit is None else "Units by which"
    title = f"{what} {record_of(fit).grows} grow a year, trend {law.trend}"
    return printed(table, "gain a year", title, "Medians and 95% intervals.", fit)


def changes(fit, years=None):
    """List by period what values on a log scale do, "double" or "halve", with the quantiles of the days of it."""
    doubling, halving = (doubling_days(fit, years, halving=of) for of in (False, True))
    falls = doubling["p_growth"] < EVEN
    return {
        period: ("halve", halving.loc[period]) if falls[period] else ("double", row)
        for period, row in doubling.iterrows()
    }


def days_to_change(fit, years=None):
    """Return the `doubling_days` of values that grow, or those of halving where they fall in every period."""
    return doubling_days(fit, years, halving=bool((yearly_gain(fit, years)["p_growth"] < EVEN).all()))


def by_form(fit: Fit) -> IntervalTable:
    """Compare forms of the trend of dated values: their rates at the latest date, and how well they predict.

    Parameters
    ----------
    fit : Fit
        Of the law ``trend``. The other forms are fitted to its rows with the same options, which takes seconds.

    Returns
    -------
    IntervalTable
        A DataFrame, which prints a short table. By form, the best first: quantiles ``q2.5``, ``q50``, ``q97.5`` of the
        rate at the latest date, and ``p_growth``, as of `yearly_gain`. ``elpd_diff`` is the elpd of rows left out less
        that of the best form, and ``dse`` its standard error. A ``rival`` predicts about as well as the best. ``ok``
        holds where chains agree.

    Raises
    ------
    InputError
        If the fit is of another law.

    Examples
    --------
    >>> import bayescaling as bs
    >>> compute = bs.load("training_compute")
    >>> recent = compute[(compute["larger_before"] < 10) & (compute["year"] >= 2018)]
    >>> bs.progress.by_form(bs.fit("trend", recent, seed=1)).index[0]
    'break'
    """
    table = once(of_kind(fit, VALUES), "forms of the trend", lambda: _by_form(fit))
    results_of(fit)[FORMS] = _rivals_of(fit.law, table)
    return table


def rival_forms(fit: Fit) -> str:
    """Return the rates of other forms of the trend that predict as well or better, in words; "" where none does."""
    if FORMS not in results_of(fit):
        by_form(fit)
    return results_of(fit)[FORMS]


def _rivals_of(law, table):
    rivals = table[table["rival"] & table["ok"]].drop(index=law.trend, errors="ignore")
    if rivals.empty:
        return ""
    better = "" if table.loc[law.trend, "rival"] else ", which predict better"
    what = "factor a year" if law.linear_unit is None else "gain a year"
    rates = ", ".join(f"{form} {plain(ends(row), '{:.3g}')}" for form, row in rivals.iterrows())
    return f"by other forms{better}, the latest {what} is {rates}"


def _by_form(fit):
    law, last = fit.law, float(fit.rows["year"].max())
    fits = {law.trend: fit}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DiagnosticWarning)  # the table states which chains agree
        for trend in (name for name in OF_TRENDS if name not in fits):
            other = replace(law, trend=trend, priors={})
            priors = {name: prior for name, prior in law.priors.items() if name in other.prior_of}
            fits[trend] = fitter_of(fit).other(replace(other, priors=priors)).fit(seed=fit.record["seed"])
        elpd = pd.DataFrame({name: loo(one).elpd_i.values for name, one in fits.items()})
    compared = differences(elpd).sort_values("elpd_diff", ascending=False)
    rates = {name: _by_period(fits[name], [last], _rate_in(law)).iloc[0] for name in compared.index}
    table = pd.DataFrame(rates).T
    table = table.assign(elpd_diff=compared["elpd_diff"], dse=compared["dse"])
    table["rival"] = ~is_apart(table["elpd_diff"], table["dse"])
    table["ok"] = [bool(fits[name].diagnostics["ok"]) for name in table.index]
    what = "Factor" if law.linear_unit is None else "Units"
    title = f"{what} a year at the latest date, by form of the trend"
    note = "Medians and 95% intervals; elpd of rows left out, less that of the best form, in nats."
    return printed(table.rename_axis("form"), "gain a year", title, note, fit)


def _rate_in(law):
    """Return the function of the gain a year that is stated: a factor on a log scale, else units."""
    return np.exp if law.linear_unit is None else lambda rate: law.linear_unit * rate


def _by_period(fit, years, quantity):
    """Return quantiles of a quantity of the gain a year by period, with the probabilities of growth and of a rise."""
    gains = quote_draws(fit, fit.draws.gain(years))
    first, records = gains.isel(period=0).values.ravel(), {}
    for i, period in enumerate(gains["period"].values.tolist()):
        rate = gains.isel(period=i).values.ravel()
        records[period] = name_quantiles(quantity(rate))
        records[period]["p_growth"] = float((rate > 0).mean())
        if gains.sizes["period"] > 1:
            records[period]["p_faster"] = float((rate > first).mean()) if i else np.nan
    return pd.DataFrame.from_dict(records, orient="index").rename_axis("period")


def dates_reached(
    fit: Fit,
    levels: Mapping[str, float] | None = None,
    *,
    share: float = 0.5,
    tasks: str = "typical",
    until: float = 2035.0,
) -> IntervalTable:
    """Summarise the dates at which the mean horizon, or the mean of dated values, reaches a level.

    Parameters
    ----------
    fit : Fit
        Of the law ``horizons`` with a trend, or of ``trend``.
    levels : dict of str to float, optional
        Levels by name: minutes of horizons, by default a working day (8 hours), a week (40 hours) and a month of work
        (167 hours). Of values they are needed, in the values' unit.
    share, tasks
        Of horizons, as for `horizons.minutes`.
    until : float
        Date of ``p_not_until``.

    Returns
    -------
    IntervalTable
        A DataFrame, which prints a short table. By name: ``level``; quantiles ``q2.5``, ``q50``, ``q97.5`` of
        the date, years with decimals. They are infinite where the trend does not reach it within 100 years after the
        first date of the table, which stands for all dates before it. ``p_not_until`` is the probability that it is
        reached after `until` or never. The dates carry the uncertainty of the trend's numbers, not of its form.

    Raises
    ------
    InputError
        As for `doubling_days`, and if a level is missing or not positive on a log scale.

    Examples
    --------
    >>> import bayescaling as bs
    >>> compute = bs.load("training_compute")
    >>> fit = bs.fit("trend", compute[compute["larger_before"] < 10], seed=1, draws=300, tune=500)
    >>> bs.progress.dates_reached(fit, {"1e27 FLOP": 1e27}).index.tolist()
    ['1e27 FLOP']
    """
    draws = _with_trend(fit)
    record = record_of(fit)
    levels = levels or record.levels
    if record.margins:
        if not 0 < share < 1:
            raise InputError(f"share must lie between 0 and 1, not {share!r}")
        check_choice("tasks", tasks, TASKS)
    if not levels:
        raise InputError(
            f"{place_of(fit)} is a fit of values; name the levels to reach, such as {{'a thousand': 1000.0}}"
        )
    log = draws.law.linear_unit is None
    for name, level in levels.items():
        if not (np.isfinite(level) and (level > 0 or not log)):
            raise InputError(f"levels: {name!r} is {level!r}; give a number{' above 0' if log else ''}")
    first = float(fit.rows["year"].min())
    years = first + np.arange(int(FURTHEST * STEPS) + 1) / STEPS
    means = _levels_on_grid(fit, years)
    if record.margins:
        means = means - record.margins(draws, np.array([share]), tasks).reshape(-1, 1)
    records = {}
    for name, level in levels.items():
        target = np.log(level) if log else level / draws.law.linear_unit
        reached = _first_crossing(years, means, target)
        records[name] = {"level": float(level)} | name_quantiles(reached)
        records[name]["p_not_until"] = float((reached > until).mean())
    table = pd.DataFrame.from_dict(records, orient="index").rename_axis("level")
    title = "When the mean of values reaches a level"
    if record.margins:
        title = f"When the mean horizon, of {share:.0%} of the runs of a {tasks} task, reaches a human time"
    note = f"Medians and 95% intervals under the trend {draws.law.trend}; then: {until:g}."
    return printed(table, "date", title, note, fit)


def _first_crossing(years, means, level):
    """Return the first date at which each draw's means, (draw, date), reach a level; infinite where none does.

    Where the means move away from the level at the first date they have passed it before, which is that date.
    """
    down = means[:, :1] > level
    means, level = np.where(down, -means, means), np.where(down, -level, level)[:, 0]
    above = means >= level[:, None]
    place, draws = above.argmax(1), np.arange(len(means))
    before = np.maximum(place - 1, 0)
    rise = means[draws, place] - means[draws, before]
    share = np.divide(level - means[draws, before], rise, out=np.ones(len(means)), where=rise > 0)
    crossing = years[before] + share * (years[place] - years[before])
    never = np.where(means[:, 1] < means[:, 0], years[0], np.inf)
    return np.where(above.any(1), np.where(place > 0, crossing, years[0]), never)


def levels(fit, dates):
    """Return draws of the mean at dates, (sample, date), robust as gains are."""
    means = fit.draws.levels(dates).reshape(*fit.draws.z.shape[:2], -1)
    means = quote_draws(fit, xr.DataArray(means, dims=(*DRAWS, "date")), bounded=False)
    return means.values.reshape(-1, len(dates))


def _levels_on_grid(fit, years):
    """Return means at dates of a grid, (sample, date), robust as gains are, by the stretch at every `STEPS`th date."""
    draws = fit.draws
    means = draws.levels(years)
    centre = means.mean(0)
    few = xr.DataArray(np.reshape(means, (*draws.z.shape[:2], -1))[..., ::STEPS], dims=(*DRAWS, "date"))
    spread = quote_draws(fit, few, bounded=False)
    stretch = spread.std(DRAWS).values / few.std(DRAWS).values
    return centre + np.interp(years, years[::STEPS], stretch) * (means - centre)


def _with_trend(fit):
    if not record_of(fit).grows:
        needed = ", ".join(record.needed for record in list_records("grows"))
        raise InputError(f"{place_of(fit)} is a fit of {fit.law.name}; {needed}")
    if fit.law.trend is None:
        raise InputError(f"{place_of(fit)} was fitted with trend=None, which has no rate; fit with trend='linear'")
    return fit.draws
