"""Figures that compare a law with later runs, and laws with each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

import numpy as np

from ..datasets.wording import quoted
from ..errors import InputError
from ..inference.comparison.differences import DISTINGUISHED
from ..inference.comparison.rollout import LEVELS, Rollout, cutoff_named
from .checks import in_and_out
from .figure import Drawing, figure
from .picture import Axis, Layer, Picture, frame
from .runs import COMPUTE
from .shared import percent, sources
from .style import BLUE, GREY, INNER, Look

if TYPE_CHECKING:
    import pandas as pd


@figure
def plot_rollout(
    result: Rollout, *, cutoff: float | None = None, level: float = 0.9, **drawing: Unpack[Drawing]
) -> Picture:
    """Plot what was observed beyond a cutoff against what a law fitted below it predicted.

    Parameters
    ----------
    result : Rollout
        What `rollout` returned.
    cutoff : float, optional
        One of those of the rollout, the least by default.
    level : {0.5, 0.8, 0.9}
        Of the predictive intervals that the title counts.

    Raises
    ------
    InputError
        If the result is no rollout, or it lacks the cutoff or the level.

    Examples
    --------
    >>> import bayescaling as bs
    >>> law, runs = bs.laws.Chinchilla(), bs.load("chinchilla_runs")
    >>> result = bs.rollout(law, runs, "compute", 1e21, seed=1, draws=250, tune=500, chains=2)
    >>> axes = bs.plot_rollout(result)
    >>> axes.get_title(loc="left")[:29]
    'Fitted below 1e21 FLOP, the 9'
    """
    if not isinstance(result, Rollout):
        raise InputError(f"a {type(result).__name__} is no rollout; pass what rollout() returned")
    scores, rows = result
    if level not in LEVELS:
        raise InputError(f"level must be one of {', '.join(map(_number, LEVELS))}, of a rollout, not {level!r}")
    cutoffs = [float(x) for x in scores.index]
    cutoff = cutoffs[0] if cutoff is None else cutoff
    if cutoff not in cutoffs:
        raise InputError(f"the rollout has no cutoff {cutoff!r}; it has {', '.join(map(_number, cutoffs))}")
    rows = rows.isel(prediction=(rows["cutoff"] == cutoff).values)
    relative = rows.attrs["scale"].startswith("log_")
    away = {}
    for name in ("observed", *LEVELS[level], *LEVELS[0.5]):
        difference = rows[name].values - rows["q50"].values
        away[name] = np.expm1(difference) if relative else difference
    low, high = LEVELS[level]
    outside = (away["observed"] < away[low]) | (away["observed"] > away[high])
    x, by = rows["value"].values, rows.attrs["by"]
    bars = [
        Layer("upright", f"{percent(p)} interval", frame(x=x, low=away[a], high=away[b]), Look(BLUE), True, w, o)
        for p, (a, b), w, o in ((level, LEVELS[level], 1.0, 0.4), (0.5, LEVELS[0.5], 3.0, INNER))
    ]
    row, name = scores.loc[cutoff], f"coverage_{100 * level:.0f}"
    interval = f"{row[name]:.0%} [{row[f'{name}_low']:.0%}, {row[f'{name}_high']:.0%}]"
    return Picture(
        title=f"Fitted below {cutoff_named(by, cutoff)}, the {percent(level)} intervals hold {interval} of {len(x)} "
        "later rows",
        caption=f"Bars are predictive intervals of {rows.attrs['law']} fitted to the rows below the cutoff alone, "
        "about their median; points are what was observed. The title's interval treats rows as independent.",
        x=COMPUTE if by == "compute" else Axis(by, log=bool(x.min() > 0 and x.max() / x.min() > 10)),
        y=Axis("Observed against predicted median", "percent") if relative else Axis("Observed minus predicted median"),
        layers=(*bars, Layer("line", "median", frame(x=[x.min(), x.max()], y=0.0), Look(GREY), False, 1.2),
                *in_and_out(x, away["observed"], outside)),
        source=f"Data: {scores.attrs['source']}",
    )  # fmt: skip


def _number(x):
    return f"{x:g}".replace("e+", "e")


@figure
def plot_compare(table: pd.DataFrame, **drawing: Unpack[Drawing]) -> Picture:
    """Plot how much worse each fit predicts than the best one.

    Parameters
    ----------
    table : DataFrame
        What `compare` returned.

    Raises
    ------
    InputError
        If the table is no comparison.

    Examples
    --------
    >>> import bayescaling as bs
    >>> runs = bs.load("chinchilla_runs")
    >>> fits = {name: bs.fit(bs.law(name), runs, seed=1, draws=500, tune=500) for name in ("chinchilla", "coupled")}
    >>> axes = bs.plot_compare(bs.compare(fits))
    >>> axes.get_title(loc="left").startswith("coupled")
    True
    """
    needed = ("elpd_diff", "dse")
    missing = [name for name in needed if name not in getattr(table, "columns", ())]
    missing += ["sentence"] if "sentence" not in getattr(table, "attrs", ()) else []
    if missing:
        text = f"a {type(table).__name__} without {quoted(missing[0])} is no comparison; pass what compare() returned"
        raise InputError(text)
    difference, error = (table[name].to_numpy(float) for name in needed)
    places = np.arange(len(table))
    data = frame(
        x=difference, y=places, low=difference - DISTINGUISHED * error, high=difference + DISTINGUISHED * error
    )
    best = frame(x=0.0, y=[-0.5, len(table) - 0.5])
    finding, _, rest = table.attrs["sentence"].rstrip(".").partition(". ")
    rest = rest or "a bar that reaches the line does not tell two fits apart"
    return Picture(
        title=finding,
        caption="Points are differences of expected log predictive density from the best fit, with bars of "
        f"{DISTINGUISHED:g} standard errors either way. {rest[:1].upper()}{rest[1:]}.",
        x=Axis("Difference of elpd from the best fit (nats)"),
        y=Axis("", names=tuple(map(str, table.index))),
        layers=(
            Layer("line", "best", best, Look(GREY), False, 1.2),
            Layer("level", "difference", data, Look(BLUE), False, 6),
        ),
        height=1.7 + 0.4 * len(table),
        source=sources(table.attrs.get("standing", {})),
    )
