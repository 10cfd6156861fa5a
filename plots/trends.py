"""The figure of dated values: each value by date, with the trend and its rate."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Unpack

import numpy as np

from ..datasets.kinds.values import VALUES
from ..inference.fitted import of_kind
from ..inference.intervals import ends as ends_of_row
from ..inference.progress.trends import by_form, changes, levels, yearly_gain
from ..inference.words import months, plain
from .figure import Drawing, figure
from .picture import Axis, Layer, Picture, frame, median_and_band
from .shared import check_level, ends
from .style import BLUE, ORANGE, Look

if TYPE_CHECKING:
    from ..inference.fitted import Fit

AHEAD = 0.5  # years of the trend after the latest date
DATES = 60
Z = 1.96  # sds of an error in the 95% limits that are drawn
LARGE = 1e5  # values above are written as powers of ten


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
    """Return what the values are, by the name of their table."""
    return Path(fit.record["data"]["source"]).stem.replace("_", " ")


def _finding(fit):
    """Return how fast values grow or fall at the latest rate, in words."""
    name = f"Values of {_name(fit)}"
    if fit.law.linear_unit is not None:
        return f"{name} grow by {plain(ends_of_row(yearly_gain(fit).iloc[-1]), '{:.3g}')} a year"
    period, (change, days) = list(changes(fit).items())[-1]
    when = {"all": "", "after": " after the break"}.get(period, f" in {period}")
    text = f"{name} {change} every {months(ends_of_row(days))} days{when}"
    forms = by_form(fit)
    best, here = forms.index[0], forms.loc[fit.law.trend]
    return text if here["rival"] else f"{text} by a trend that the form {best} beats by {-here['elpd_diff']:.0f} nats"
