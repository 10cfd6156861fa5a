"""The figure of time horizons: the horizon of each model by date, with the trend and its doubling time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

import numpy as np

from ..datasets.kinds.horizons import HORIZONS
from ..errors import InputError
from ..inference.fitted import of_kind, place_of
from ..inference.horizons.quantities import minutes
from ..inference.progress.trends import doubling_days, levels
from ..inference.quoted import quote_draws
from ..inference.words import HIGH, LOW, MIDDLE, durations, months
from .figure import Drawing, figure
from .picture import Axis, Layer, Picture, frame, median_and_band
from .scores import APART, ROOM
from .shared import check_level, ends, in_words, leaders, percent
from .style import BLUE, GREY, ORANGE, Look
from .trends import dates_of

NAMED = 8  # models at most

if TYPE_CHECKING:
    from ..inference.fitted import Fit


@figure
def plot_horizons(fit: Fit, *, share: float = 0.5, level: float = 0.95, **drawing: Unpack[Drawing]) -> Picture:
    """Plot the time horizon of each model against its release date, with the trend.

    Parameters
    ----------
    fit : Fit
        Of the law ``horizons``, with release dates.
    share : float
        Share of runs that succeed, between 0 and 1.

    Raises
    ------
    InputError
        If the fit is of another kind of law, or has no trend.

    Examples
    --------
    >>> import bayescaling as bs
    >>> table = bs.load("weirdml")
    >>> few = table[table["model"].isin(table["model"].unique()[::6]) & table["threshold"].isin([50, 90])]
    >>> fit = bs.fit(bs.laws.Horizons(noise="binomial"), few, seed=1, draws=300, tune=500)
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
