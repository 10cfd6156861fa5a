"""Figures of models and values by date: dated values, capabilities, time horizons, and ranks."""

from __future__ import annotations

import math
from functools import partial
from pathlib import Path
from typing import Unpack

import numpy as np

from ..datasets.kinds.horizons import HORIZONS
from ..datasets.kinds.scores import SCORES
from ..datasets.kinds.values import VALUES
from ..errors import InputError
from ..inference.fitted import Fit, of_kind, place_of, record_of
from ..inference.horizons.quantities import minutes
from ..inference.intervals import ends as ends_of_row
from ..inference.progress.trends import by_form, changes, doubling_days, levels, yearly_gain
from ..inference.quoted import quote_draws
from ..inference.scores.capabilities import capabilities
from ..inference.scores.compute import progress_at_fixed_compute
from ..inference.scores.ranks import ranks
from ..inference.words import HIGH, LOW, MIDDLE, durations, month, months, plain, probability, yearly
from .figure import Drawing, figure
from .picture import Axis, Layer, Picture, frame, median_and_band
from .shared import check_level, ends, in_words, leaders, percent
from .style import BLUE, GREY, ORANGE, Look

AHEAD = 0.5  # years of the trend after the latest date
DATES = 60
Z = 1.96  # sds of an error in the 95% limits that are drawn
LARGE = 1e5  # values above are written as powers of ten
APART, ROOM = 0.045, 0.22  # shares of an axis: between two names, and left of the first model
PAIRS = 300  # draws in a figure
DECADE = math.log(10)
TWO_DECIMALS = partial(plain, form="{:.2f}")
FACTORS = (3, 10, 30, 100, 300, 1000)  # a year, of which lines are drawn
PERIODS = {"all": Look(BLUE), "before": Look(BLUE), "after": Look(ORANGE, "dash", "diamond")}
NAMED = 8  # models at most


def dates_of(years):
    """Return the dates at which a trend is drawn, years."""
    return np.linspace(years.min(), years.max() + AHEAD, DATES)


@figure
def plot_trend(fit: Fit, *, level: float = 0.95, **drawing: Unpack[Drawing]) -> Picture:
    """Plot dated values with their stated limits, and the trend.

    Parameters
    ----------
    fit : Fit
        Of the law ``trend``.

    Examples
    --------
    >>> import bayescaling as bs
    >>> compute = bs.load("training_compute")
    >>> fit = bs.fit("trend", compute[compute["larger_before"] < 10], seed=1, draws=300, tune=500)
    >>> axes = bs.plot_trend(fit)
    >>> axes.finding[:33]
    'Values of training compute double'
    """
    level, checked = check_level(level), of_kind(fit, VALUES)
    law, rows = checked.law, checked.rows
    years, value = rows["year"].to_numpy(float), rows["value"].to_numpy(float)
    sd = np.sqrt(law.error_variance(rows))
    dates = dates_of(years)
    means = levels(fit, dates)
    low, high = (law.from_scale(law.on_scale(value) + sign * Z * sd) for sign in (-1, 1))
    limits = Layer("upright", "stated limits, 95%", frame(x=years, low=low, high=high), Look(BLUE), False, 0.8, 0.3)
    return Picture(
        title=_finding(fit),
        caption="Points are the values of the table; the line is their mean by date, the band its interval without "
        "their scatter.",
        x=Axis("Date", "year"),
        y=Axis(f"Value ({_name(fit)})", "flop" if value.max() > LARGE else "number", log=law.linear_unit is None),
        layers=(
            *median_and_band(dates, ends(law.from_scale(means), level), Look(ORANGE), "trend"),
            *([limits] if (sd > 0).any() else []),
            Layer("points", "values", frame(x=years, y=value), Look(BLUE), True, 4.0),
        ),
        height=4.6,
    )


def _name(fit):
    return Path(fit.record["data"]["source"]).stem.replace("_", " ")


def _finding(fit):
    name = f"Values of {_name(fit)}"
    if fit.law.linear_unit is not None:
        return f"{name} grow by {plain(ends_of_row(yearly_gain(fit).iloc[-1]), '{:.3g}')} a year"
    period, (change, days) = list(changes(fit).items())[-1]
    when = {"all": "", "after": " after the break"}.get(period, f" in {period}")
    text = f"{name} {change} every {months(ends_of_row(days))} days{when}"
    forms = by_form(fit)
    best, here = forms.index[0], forms.loc[fit.law.trend]
    return text if here["rival"] else f"{text} by a trend that the form {best} beats by {-here['elpd_diff']:.0f} nats"


@figure
def plot_capability(fit: Fit, *, label: int = 10, level: float = 0.95, **drawing: Unpack[Drawing]) -> Picture:
    """Plot the capability of each model against its release date, with the names of models that led.

    Parameters
    ----------
    fit : Fit
        Of the law ``scores``, with release dates.
    label : int
        Names that are written at most, of models more capable than all before them; those of the latest dates come
        first.

    Examples
    --------
    >>> import bayescaling as bs
    >>> scores = bs.load("eci_scores")
    >>> few = scores[scores["family"].isin(["llama", "llama 2", "llama 3", "llama 3.1", "yi", "qwen", "falcon"])]
    >>> few = few[few["benchmark"].isin(["MMLU", "HellaSwag", "Winogrande", "GSM8K", "ARC AI2", "BBH"])]
    >>> fit = bs.fit(bs.laws.Scores(), few, seed=1, draws=500, tune=500)
    >>> axes = bs.plot_capability(fit)
    >>> "is the most capable of 22 models" in axes.finding
    True
    """
    level, rows = check_level(level), of_kind(fit, SCORES).rows
    if "year" not in rows or rows["year"].isna().any():
        raise InputError(f"{place_of(fit)} has models without a date; this figure needs a column date")
    if not (isinstance(label, int) and label >= 0):
        raise InputError(f"label must be a number of names such as 10, not {label!r}")
    draws = capabilities(fit)
    models = rows.drop_duplicates("model").set_index("model").loc[draws["model"].values]
    order = np.argsort(models["year"].to_numpy(), kind="stable")
    year, (low, middle, high) = models["year"].to_numpy()[order], ends(draws, level)[:, order]
    names = models.index.to_numpy()[order]
    leads, texts = leaders(names, middle, APART * float(high.max() - low.min()), label)
    span = float(year[-1] - year[0]) or 1.0
    best = int(middle.argmax())
    steps = np.repeat(middle[leads], 2)
    dates = np.repeat(np.append(year[leads], year[-1] + 0.02 * span), 2)[1:-1]
    return Picture(
        title=f"{names[best]} of {month(year[best])} is the most capable of {len(names)} models: "
        f"{in_words((low[best], middle[best], high[best]), TWO_DECIMALS)} logits above the mean difficulty",
        caption=f"Points are medians and bars {percent(level)} intervals, in logits of the typical benchmark. The "
        "line is the most capable model up to each date; names are of models that led.",
        x=Axis("Date of release", "year", range=(year[0] - ROOM * span, year[-1] + 0.03 * span)),
        y=Axis("Capability (logits above the mean difficulty)"),
        layers=(
            Layer("upright", f"{percent(level)} interval", frame(x=year, low=low, high=high), Look(BLUE), False, 0.8,
                  0.3),
            Layer("line", "most capable", frame(x=dates, y=steps), Look(GREY), False, 1.2),
            Layer("points", "others", frame(x=year[~leads], y=middle[~leads]), Look(BLUE), False, 3.5, 0.7),
            Layer("points", "led", frame(x=year[leads], y=middle[leads]), Look(ORANGE, marker="diamond"), False, 4.5,
                  texts=tuple(texts[leads])),
        ),
        height=5.0,
    )  # fmt: skip


@figure
def plot_since(fit: Fit, *, level: float = 0.95, **drawing: Unpack[Drawing]) -> Picture:
    """Plot draws of the yearly gain of capability against what compute buys, whose ratio is the fall of compute.

    Parameters
    ----------
    fit : Fit
        Of the law ``scores`` with ``pace`` set.
    level : float
        Of the intervals in the title.

    Examples
    --------
    >>> import bayescaling as bs
    >>> scores = bs.load("eci_scores")
    >>> few = scores[scores["family"].isin(["llama", "llama 2", "llama 3", "llama 3.1", "yi", "qwen", "falcon"])]
    >>> few = few[few["benchmark"].isin(["MMLU", "HellaSwag", "Winogrande", "GSM8K", "ARC AI2", "BBH"])]
    >>> fit = bs.fit(bs.laws.Scores(pace="linear"), few, seed=1, draws=500, tune=500)
    >>> axes = bs.plot_since(fit)
    >>> axes.get_title(loc="left")[:38]
    'The fall of compute at fixed capabilit'
    """
    level, at = check_level(level), progress_at_fixed_compute(fit)
    periods, labels = at["period"].values.tolist(), _labels(fit.law)
    layers, answers = [], []
    for period in periods:
        of = at.sel(period=period)
        slope, gain = DECADE * of["slope"].values.ravel(), of["gain"].values.ravel()
        chosen = np.linspace(0, len(gain) - 1, min(len(gain), PAIRS // len(periods))).astype(int)
        data = frame(x=slope[chosen], y=gain[chosen])
        layers.append(Layer("points", labels[period], data, PERIODS[period], True, 3, 0.5))
        answers.append(in_words(ends(of["factor"], level), yearly) + (f" {labels[period]}" if period != "all" else ""))
    x, y = (np.concatenate([layer.data[name] for layer in layers]) for name in "xy")
    width, bottom, top = 1.05 * float(x.max()), min(0.0, 1.1 * float(y.min())), 1.1 * float(max(y.max(), 0.0)) or 1.0
    lines = []
    for factor in FACTORS:
        end = min(0.97 * width, 0.95 * top / np.log10(factor))
        data, text = frame(x=[0.0, end], y=[0.0, end * np.log10(factor)]), f"{factor:,}"
        lines.append(Layer("line", f"{text} times a year", data, Look(GREY), False, 1, 0.6, texts=("", f"÷{text}")))
    return Picture(
        title=f"The fall of compute at fixed capability is {' and '.join(answers)}",
        caption="Points are draws of one posterior; a grey line has one ratio, a fall of compute by the factor at its "
        "end each year. What compute buys is uncertain, and the gain depends on it.",
        x=Axis("Capability that ten times the compute buys (logits)", range=(0.0, width)),
        y=Axis("Gain at fixed compute (logits a year)", range=(bottom, top)),
        layers=(*lines, *layers),
    )


def _labels(law):
    if law.pace == "break":
        return {"before": f"before {month(law.break_year)}", "after": "after"}
    if law.pace == "sampled_break":
        return {"before": "before the break", "after": "after"}
    return {"before": "in mid-2023", "after": "in mid-2025", "all": "all dates"}


@figure
def plot_horizons(fit: Fit, *, share: float = 0.5, level: float = 0.95, **drawing: Unpack[Drawing]) -> Picture:
    """Plot the time horizon of each model against its release date, with the trend.

    Parameters
    ----------
    fit : Fit
        Of the law ``horizons``, with release dates.
    share : float
        Share of runs that succeed, between 0 and 1.

    Examples
    --------
    >>> import bayescaling as bs
    >>> table = bs.load("weirdml")
    >>> few = table[table["model"].isin(table["model"].unique()[::6]) & table["threshold"].isin([50, 90])]
    >>> law = bs.laws.Horizons(noise="binomial", family_effects=False, estimates=False)
    >>> fit = bs.fit(law, few, seed=1, draws=300, tune=500)
    >>> axes = bs.plot_horizons(fit)
    >>> axes.finding[:21]
    'Time horizons double '
    """
    level, draws = check_level(level), of_kind(fit, HORIZONS).draws
    if draws.law.trend is None:
        raise InputError(f"{place_of(fit)} was fitted with trend=None; this figure needs dates and a trend")
    horizons = minutes(fit, share).isel(share=0)
    rows = fit.rows
    solved = rows.groupby("model")["successes"].sum().reindex(horizons["model"].values) > 0
    years = np.array(draws.reference["years"])
    # In the order of their dates, in which those that lead are named.
    order = np.argsort(years, kind="stable")
    names, years, solved = horizons["model"].values[order], years[order], solved.to_numpy()[order]
    low, middle, high = ends(quote_draws(fit, horizons), level)[:, order]
    dates, logs = dates_of(years), np.where(solved, np.log(middle), -np.inf)
    texts = leaders(names, logs, APART * np.log(high.max() / low.min()), NAMED)[1]
    span = float(dates[-1] - dates[0])
    # The margin of the share is the same for every model of a draw.
    margin = np.log(horizons.isel(model=0)) - draws.named()["horizon"].isel(model=0)
    means = np.exp(levels(fit, dates) + margin.transpose("chain", "draw").values.reshape(-1, 1))
    best = int(np.where(solved, middle, 0).argmax())
    days = doubling_days(fit).iloc[-1]
    layers = median_and_band(dates, ends(means, level), Look(ORANGE), "trend")
    without = Look(GREY, marker="diamond")
    for name, at, look in (("with successes", solved, Look(BLUE)), ("without any, an upper bound", ~solved, without)):
        if at.any():
            bars = frame(x=years[at], low=low[at], high=high[at])
            points = frame(x=years[at], y=middle[at])
            layers.append(Layer("upright", f"{percent(level)} interval", bars, look, False, 0.8, 0.3))
            layers.append(Layer("points", name, points, look, width=4.0, texts=tuple(texts[at])))
    return Picture(
        title=f"Time horizons double every {months({end: float(days[end]) for end in (LOW, MIDDLE, HIGH)})} days; "
        f"{names[best]} has {in_words((low[best], middle[best], high[best]), durations)}",
        caption=f"Human time of the typical task that a model does in {percent(share)} of its runs. Points are medians "
        f"and bars {percent(level)} intervals; the line is the mean by date, and named models led.",
        x=Axis("Date of release", "year", range=(dates[0] - ROOM * span, dates[-1] + 0.03 * span)),
        y=Axis("Time that people need", "minutes", log=True),
        layers=tuple(layers),
        height=4.6,
    )


@figure
def plot_ranks(fit: Fit, *, most: int = 25, **drawing: Unpack[Drawing]) -> Picture:
    """Plot the ranks of models, the best on top.

    Parameters
    ----------
    fit : Fit
        Of the law ``scores`` or ``horizons``.
    most : int
        Models that are drawn at most.

    Examples
    --------
    >>> import bayescaling as bs
    >>> table = bs.load("weirdml")
    >>> few = table[table["model"].isin(table["model"].unique()[::6]) & table["threshold"].isin([50, 90])]
    >>> law = bs.laws.Horizons(noise="binomial", family_effects=False, estimates=False)
    >>> fit = bs.fit(law, few, seed=1, draws=300, tune=500)
    >>> axes = bs.plot_ranks(fit)
    >>> axes.finding[:30]
    'gpt-5.2 (xhigh) is the best of'
    """
    if isinstance(most, bool) or not (isinstance(most, int) and most >= 1):
        raise InputError(f"most must be a number of models such as 25, not {most!r}")
    table = ranks(fit)
    shown = table.head(most)
    low, middle, high = (shown[name].to_numpy() for name in (LOW, MIDDLE, HIGH))
    first, alike = shown.iloc[0], int(shown["similar"].iloc[0])
    others = f"{alike} other{'s' * (alike != 1)} may be as good" if alike else "no other may be as good"
    return Picture(
        title=f"{shown.index[0]} is the best of {len(table)} models with probability {probability(first['p_best'])}; "
        f"{others}",
        caption=f"Ranks by {record_of(fit).ranked_by[1]}: medians and 95% intervals"
        + (f" of the first {most} of {len(table)} models." if len(table) > most else "."),
        x=Axis("Rank"),
        y=Axis("", names=tuple(shown.index)),
        layers=(Layer("level", "95% interval", frame(x=middle, y=np.arange(len(shown)), low=low, high=high),
                      Look(BLUE), False, 5),),
        height=1.7 + 0.3 * len(shown),
    )  # fmt: skip
