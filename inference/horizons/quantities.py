"""What a fit of the law of horizons tells, draw by draw: horizons of models, their doubling time, dates ahead."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ...datasets.deferred import special
from ...datasets.wording import unknown
from ...errors import InputError
from ...models.horizons.trend import log_horizon
from ..intervals import finite, named, quantiles
from ..needs import of_kind
from ..printed import PrintedTable, Text
from ..words import HIGH, LOW, MIDDLE, dates, durations, months, probability

if TYPE_CHECKING:
    from collections.abc import Sequence

    import xarray as xr
    from numpy.typing import ArrayLike

    from ..fit import Fit

TASKS = ("typical", "random")
SHARES = (0.5, 0.8)
PROBABILITIES = (0.025, 0.5, 0.975)
DAYS = 365.25
NODES = 21  # of the Gauss-Hermite quadrature over effects, and over log slopes, of tasks
HALVINGS = 45
WORK = {"a working day": 480.0, "a week of work": 2400.0, "a month of work": 10_020.0}  # 8, 40 and 167 hours
STEPS = 40  # dates a year at which horizons ahead are worked out
FURTHEST = 100.0  # years


def minutes(fit: Fit, shares: ArrayLike = SHARES, *, tasks: str = "typical") -> xr.DataArray:
    """Return the human time of the tasks that models do with a given probability.

    Parameters
    ----------
    fit : Fit
        Of the law ``horizons``.
    shares : float or sequence of float
        Probabilities of success, between 0 and 1; 0.5 gives the horizon that is usually quoted.
    tasks : {"typical", "random"}
        Of the typical task of that human time, or of a random one, whose difficulty beyond its time is averaged over.

    Returns
    -------
    DataArray
        Minutes, dims (chain, draw, model, share).

    Raises
    ------
    InputError
        If the fit is of another law, or a share does not lie between 0 and 1.

    Notes
    -----
    With slope a and horizon h, the typical task that is done with probability q takes ``exp(h - logit(q) / a)``. For a
    random task ``h - log t`` solves ``E S(a (h - log t - u)) = q`` over effects u and slopes a of tasks, with the
    logistic function S.

    Examples
    --------
    >>> import bayescaling as bs
    >>> table = bs.load("weirdml")
    >>> few = table[table["model"].isin(table["model"].unique()[::6]) & table["threshold"].isin([50, 90])]
    >>> fit = bs.fit(bs.laws.Horizons(noise="binomial"), few, seed=1, draws=300, tune=500)
    >>> bs.horizons.minutes(fit).dims
    ('chain', 'draw', 'model', 'share')
    """
    shares = np.atleast_1d(np.asarray(shares, float))
    if not ((shares > 0) & (shares < 1)).all():
        raise InputError(f"shares must lie between 0 and 1, not {shares.tolist()}")
    if tasks not in TASKS:
        raise InputError(unknown("tasks", tasks, TASKS))
    draws = of_kind(fit, "horizons").draws
    logs = draws.named()["horizon"].values[..., None] - _margins(draws, shares, tasks)[..., None, :]
    return draws._array(np.exp(logs), "model", "share", model=draws.reference["models"], share=shares).rename("minutes")


def _margins(draws, shares, tasks):
    """Return the log of the horizon over the time that is done with each probability, (chain, draw, share)."""
    logits = special.logit(shares)
    slope = np.exp(draws.values["log_slope"])[..., None]
    if tasks == "typical":
        return logits / slope
    places, weights = np.polynomial.hermite_e.hermegauss(NODES)
    weights = weights / weights.sum()
    variance = sum(draws.values[name] ** 2 for name in ("task_sd", "family_sd") if name in draws.values)
    effects = np.sqrt(variance).reshape(-1, 1) * places
    slopes = slope.reshape(-1, 1) * np.exp(draws.values.get("log_slope_sd", np.zeros(1)).reshape(-1, 1) * places)
    margins = [_margin(share, effects, slopes, weights) for share in shares]
    return np.stack(margins, -1).reshape(*slope.shape[:2], len(shares))


def _margin(share, effects, slopes, weights):
    """Solve for the margin at which a random task is done with a probability, by halving, (draw,)."""
    low = np.full(len(effects), -60.0)
    high = -low
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        logits = slopes[:, None, :] * (middle[:, None] - effects)[:, :, None]
        mean = np.einsum("dus,u,s->d", special.expit(logits), weights, weights)
        low, high = np.where(mean < share, middle, low), np.where(mean < share, high, middle)
    return (low + high) / 2


class HorizonTable(PrintedTable):
    """A DataFrame of quantiles by label, which prints medians and intervals in the units of a reader."""

    def text(self):
        """Return what is printed; None of a part of the table."""
        if "heading" not in self.attrs or not {LOW, MIDDLE, HIGH} <= set(self):
            return None
        form = FORMS[self.attrs["heading"]]
        rows = {}
        for label, row in self.iterrows():
            name = f"{label[0]}, {label[1]:.0%} of runs" if isinstance(label, tuple) else str(label)
            rows[name] = {self.attrs["heading"]: form({end: finite(row[end]) for end in (LOW, MIDDLE, HIGH)})}
            rows[name] |= {text: _share(row[column], column) for column, text in CHANCES.items() if column in row}
        return Text(self.attrs["title"], pd.DataFrame.from_dict(rows, orient="index"), (self.attrs["note"],))


FORMS = {"human time": durations, "days": months, "date": dates}
CHANCES = {
    "solved": "runs with any success",
    "p_growth": "P(growth)",
    "p_faster": "P(faster than the first)",
    "p_not_until": "P(not by then)",
}


def _share(x, column):
    return "" if np.isnan(x) else f"{x:.0%}" if column == "solved" else probability(x)


def _printed(table, heading, title, note):
    table.attrs = {"heading": heading, "title": title, "note": note}
    return HorizonTable.of(table)


def summary(fit: Fit, shares: Sequence[float] = SHARES, *, tasks: str = "typical") -> HorizonTable:
    """Summarise horizons of models, those of the latest first.

    Parameters
    ----------
    fit : Fit
        Of the law ``horizons``.
    shares, tasks
        As for `minutes`.

    Returns
    -------
    HorizonTable
        A DataFrame, which prints a short table. By model and share: quantiles ``q2.5``, ``q50``, ``q97.5`` in
        minutes; ``solved``, the share of the model's runs that reached anything. A model that solved nothing
        has no horizon, only an upper bound.

    Raises
    ------
    InputError
        As for `minutes`.

    Examples
    --------
    >>> import bayescaling as bs
    >>> table = bs.load("weirdml")
    >>> few = table[table["model"].isin(table["model"].unique()[::6]) & table["threshold"].isin([50, 90])]
    >>> fit = bs.fit(bs.laws.Horizons(noise="binomial"), few, seed=1, draws=300, tune=500)
    >>> bs.horizons.summary(fit).columns.tolist()
    ['q2.5', 'q50', 'q97.5', 'solved']
    """
    draws = minutes(fit, shares, tasks=tasks)
    rows = fit.rows
    easiest = rows[rows["minutes_before"].isna()]
    counts = easiest.groupby("model")[["successes", "runs"]].sum()
    solved = counts["successes"] / counts["runs"]
    models = rows.drop_duplicates("model")
    if "year" in models:
        models = models.sort_values("year", ascending=False, kind="stable")
    records = {
        (model, float(share)): named(
            quantiles(draws.sel(model=model, share=share).values.ravel(), PROBABILITIES), PROBABILITIES
        )
        | {"solved": float(solved[model])}
        for model in models["model"]
        for share in draws["share"].values
    }
    table = pd.DataFrame.from_dict(records, orient="index")
    table.index = pd.MultiIndex.from_tuples(table.index, names=["model", "share"])
    note = "Medians and 95% intervals. A model without any success has no horizon, only an upper bound."
    return _printed(table, "human time", f"Human time of the {tasks} task that a model does in a share of runs", note)


def doubling_days(fit: Fit, years: Sequence[float] | None = None) -> HorizonTable:
    """Summarise the days in which horizons double.

    Parameters
    ----------
    fit : Fit
        Of the law ``horizons`` with a trend.
    years : sequence of float, optional
        Dates, such as 2025.5. By default one period of a constant rate, else the periods before and after the break, or
        mid-2023 and mid-2025.

    Returns
    -------
    HorizonTable
        A DataFrame, which prints a short table. By period: quantiles ``q2.5``, ``q50``, ``q97.5`` of the
        doubling time in days, infinite where horizons do not grow. ``p_growth`` is the probability that they
        grow. With two periods or dates, ``p_faster`` is the probability that the rate of the period exceeds
        that of the first.

    Raises
    ------
    InputError
        If the fit is of another law, or has no trend.

    Examples
    --------
    >>> import bayescaling as bs
    >>> table = bs.load("weirdml")
    >>> few = table[table["model"].isin(table["model"].unique()[::6]) & table["threshold"].isin([50, 90])]
    >>> fit = bs.fit(bs.laws.Horizons(noise="binomial"), few, seed=1, draws=300, tune=500)
    >>> bs.horizons.doubling_days(fit).index.tolist()
    ['all']
    """
    draws = _with_trend(fit)
    gains = draws.gain(years)
    first, records = gains.isel(period=0).values.ravel(), {}
    for i, period in enumerate(gains["period"].values.tolist()):
        rate = gains.isel(period=i).values.ravel()
        days = np.divide(DAYS * np.log(2), rate, out=np.full(rate.shape, np.inf), where=rate > 0)
        records[period] = named(quantiles(days, PROBABILITIES), PROBABILITIES)
        records[period]["p_growth"] = float((rate > 0).mean())
        if gains.sizes["period"] > 1:
            records[period]["p_faster"] = float((rate > first).mean()) if i else np.nan
    table = pd.DataFrame.from_dict(records, orient="index").rename_axis("period")
    note = "Medians and 95% intervals; never: no growth."
    return _printed(table, "days", f"Days in which time horizons double, trend {draws.law.trend}", note)


def dates_reached(
    fit: Fit,
    times: dict[str, float] | None = None,
    *,
    share: float = 0.5,
    tasks: str = "typical",
    until: float = 2035.0,
) -> HorizonTable:
    """Summarise the dates at which the mean horizon reaches a human time.

    Parameters
    ----------
    fit : Fit
        Of the law ``horizons`` with a trend.
    times : dict of str to float, optional
        Minutes by name; by default a working day (8 hours), a week (40 hours) and a month of work (167 hours).
    share, tasks
        As for `minutes`.
    until : float
        Date of ``p_not_until``.

    Returns
    -------
    HorizonTable
        A DataFrame, which prints a short table. By name: ``minutes``; quantiles ``q2.5``, ``q50``, ``q97.5`` of
        the date, years with decimals. They are infinite where the trend does not reach it within 100 years.
        ``p_not_until`` is the probability that it is reached after `until` or never. The dates carry the
        uncertainty of the trend's numbers, not of its form: compare trends.

    Raises
    ------
    InputError
        As for `doubling_days` and `minutes`, and if a time is not positive.

    Examples
    --------
    >>> import bayescaling as bs
    >>> table = bs.load("weirdml")
    >>> few = table[table["model"].isin(table["model"].unique()[::6]) & table["threshold"].isin([50, 90])]
    >>> fit = bs.fit(bs.laws.Horizons(noise="binomial"), few, seed=1, draws=300, tune=500)
    >>> bs.horizons.dates_reached(fit, {"an hour": 60.0}).index.tolist()
    ['an hour']
    """
    draws, times = _with_trend(fit), WORK if times is None else times
    if not 0 < share < 1:
        raise InputError(f"share must lie between 0 and 1, not {share!r}")
    if tasks not in TASKS:
        raise InputError(unknown("tasks", tasks, TASKS))
    first = min(draws.reference["years"])
    years = first + np.arange(int(FURTHEST * STEPS) + 1) / STEPS
    values = {name: x.reshape(-1, 1) for name, x in draws.values.items()}
    levels = log_horizon(values, draws.law.trend, years, draws.reference["break_span"])
    levels = levels - _margins(draws, np.array([share]), tasks).reshape(-1, 1)
    records = {}
    for name, time in times.items():
        if not (np.isfinite(time) and time > 0):
            raise InputError(f"times: {name!r} is {time!r}; give minutes above 0")
        reached = _first_crossing(years, levels, np.log(time))
        records[name] = {"minutes": float(time)} | named(quantiles(reached, PROBABILITIES), PROBABILITIES)
        records[name]["p_not_until"] = float((reached > until).mean())
    table = pd.DataFrame.from_dict(records, orient="index").rename_axis("time")
    title = f"When the mean horizon, of {share:.0%} of the runs of a {tasks} task, reaches a human time"
    note = f"Medians and 95% intervals under the trend {draws.law.trend}; then: {until:g}."
    return _printed(table, "date", title, note)


def _first_crossing(years, levels, level):
    """Return the first date at which each draw's levels, (draw, date), reach a level; infinite where none does."""
    above = levels >= level
    place = above.argmax(1)
    draws = np.arange(len(levels))
    before = np.maximum(place - 1, 0)
    rise = levels[draws, place] - levels[draws, before]
    share = np.divide(level - levels[draws, before], rise, out=np.ones(len(levels)), where=rise > 0)
    crossing = years[before] + share * (years[place] - years[before])
    return np.where(above.any(1), np.where(place > 0, crossing, years[0]), np.inf)


def _with_trend(fit):
    draws = of_kind(fit, "horizons").draws
    if draws.law.trend is None:
        raise InputError(f"{fit.place} was fitted with trend=None, which has no rate; fit with trend='linear'")
    return draws
