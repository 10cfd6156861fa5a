"""Figures of scores: capabilities of models by date, and the yearly gain against what compute buys."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Unpack

import numpy as np

from ..datasets.kinds.scores import SCORES
from ..errors import InputError
from ..inference.fitted import of_kind, place_of
from ..inference.scores.capabilities import capabilities
from ..inference.scores.compute import progress_at_fixed_compute
from ..inference.words import month, plain, yearly
from .figure import Drawing, figure
from .picture import Axis, Layer, Picture, frame
from .shared import check_level, ends, in_words, leaders, percent
from .style import BLUE, GREY, ORANGE, Look

if TYPE_CHECKING:
    from ..inference.fitted import Fit

APART, ROOM = 0.045, 0.22  # shares of an axis: between two names, and left of the first model
PAIRS = 300  # draws in a figure
DECADE = math.log(10)
TWO_DECIMALS = partial(plain, form="{:.2f}")
FACTORS = (3, 10, 30, 100, 300, 1000)  # a year, of which lines are drawn
PERIODS = {"all": Look(BLUE), "before": Look(BLUE), "after": Look(ORANGE, "dash", "diamond")}


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

    Raises
    ------
    InputError
        If the fit is of another kind of law, or its table has no dates.

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

    Raises
    ------
    InputError
        If the fit is of another kind of law, or its ``pace`` is None.

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
    """Name the periods of a law in a sentence."""
    if law.pace == "break":
        return {"before": f"before {month(law.break_year)}", "after": "after"}
    if law.pace == "sampled_break":
        return {"before": "before the break", "after": "after"}
    return {"before": "in mid-2023", "after": "in mid-2025", "all": "all dates"}
