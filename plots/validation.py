"""Figures of how far a law can be trusted: simulated tables, later runs, other laws, and what the priors decide."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Unpack

import numpy as np
import pandas as pd

from ..datasets.wording import check_choice, quoted
from ..errors import InputError
from ..inference.checks.calibration import Calibration, not_uniform
from ..inference.checks.sensitivity import SENSITIVE, power_scalings
from ..inference.checks.uniformity import PLACES, RANKS, shares_below
from ..inference.checks.uniformity import band as uniform_band
from ..inference.comparison.differences import DISTINGUISHED
from ..inference.comparison.rollout import LEVELS, Rollout, cutoff_named
from ..inference.comparison.scoring import binomial_interval
from ..inference.fitted import Fit, of_kind, place_of
from ..inference.words import symbols
from .checks import in_and_out
from .figure import Drawing, figure
from .picture import Axis, Layer, Picture, frame
from .runs import COMPUTE
from .shared import check_level, percent, sources
from .style import BLUE, GREY, INNER, ORANGE, OUTER, SERIES, Look

NAMED, MOST_LINES = 4, 16  # quantities that a legend names, and that are drawn: those with the least uniform ranks
MOST_LEVELS, MOST_ROWS = 8, 20  # of quantities whose sensitivity is drawn
SHOWS = ("ranks", "coverage")


@figure
def plot_calibration(
    result: Calibration, *, show: str | None = None, level: float = 0.9, **drawing: Unpack[Drawing]
) -> Picture:
    """Plot whether the intervals of fits to simulated tables cover at their nominal rate.

    Parameters
    ----------
    result : Calibration
        What `calibrate` returned.
    show : {"ranks", "coverage"}, optional
        The distribution of the ranks of truths minus the uniform, with a simultaneous band of 95%; or the coverage of
        the intervals, one row a quantity. By default ranks, and coverage where all simulations have one truth, whose
        ranks need not be uniform.
    level : float
        Of the intervals whose coverage is drawn or stated.

    Examples
    --------
    >>> import bayescaling as bs
    >>> law, runs = bs.laws.Chinchilla(noise="normal"), bs.load("chinchilla_runs")
    >>> result = bs.calibrate(law, runs, simulations=3, seed=1, draws=200, tune=300, chains=2)
    >>> axes = bs.plot_calibration(result)
    >>> axes.get_title(loc="left")[:20]
    'Intervals of 90% hol'
    """
    level = check_level(level)
    if not isinstance(result, Calibration):
        raise InputError(f"a {type(result).__name__} is no calibration; pass what calibrate() returned")
    table = result.table((level,))
    show = show or ("ranks" if "p_uniform" in table else "coverage")
    check_choice("show", show, SHOWS)
    if show == "ranks" and "p_uniform" not in table:
        raise InputError("ranks of one truth need not be uniform; use show='coverage'")
    coverage, simulations = table[f"coverage_{100 * level:g}"], table.attrs["simulations"]
    finding = (
        f"Intervals of {percent(level)} hold {coverage.min():.0%} to {coverage.max():.0%} of the truths, by quantity, "
        f"in {simulations} simulated tables"
    )
    draw = _ranks if show == "ranks" else _coverage
    source = f"Data: tables simulated like {result.record['data']['source']}"
    return replace(draw(result, table, coverage, finding, level), source=source)


def _ranks(result, table, coverage, finding, level):
    simulations, names = table.attrs["simulations"], list(table["p_uniform"].sort_values().index[:MOST_LINES])
    low, high = uniform_band(simulations)
    band = frame(x=PLACES, low=low - PLACES, high=high - PLACES)
    places = PLACES[1::2]
    looks = [*SERIES[:NAMED], *[Look(GREY)] * len(names)]
    lines = [
        Layer("line", symbols(name), frame(x=places, y=shares_below(ranks)[1::2] - places), look, number < NAMED,
              2.0 if number < NAMED else 1.0, 1.0 if number < NAMED else 0.5)
        for number, (name, look) in enumerate(zip(names, looks, strict=False))
        for ranks in [result["rank"].sel(quantity=name).values]
    ]  # fmt: skip
    rejected = not_uniform(table)
    off_band = f"ranks of {', '.join(map(symbols, rejected))} are not uniform"
    return Picture(
        title=f"{finding}; {off_band if rejected else 'their ranks agree with uniform ones'}",
        caption="Lines are distributions of the rank of the truth among the draws, minus the uniform; grey lines are "
        f"{max(0, len(names) - NAMED)} more uniform ones. If fits are right, 95% of lines stay in the band.",
        x=Axis(f"Rank of the truth among {RANKS - 1} draws (share)", range=(0.0, 1.0)),
        y=Axis("Share of ranks below, minus the uniform"),
        layers=(Layer("band", "95% if right", band, Look(GREY), opacity=OUTER), *reversed(lines)),
    )


def _coverage(result, table, coverage, finding, level):
    simulations, count = table.attrs["simulations"], len(coverage)
    low, high = np.transpose([binomial_interval(round(share * simulations), simulations) for share in coverage])
    rows = frame(x=coverage.to_numpy(), y=np.arange(count), low=low, high=high)
    nominal = frame(x=level, y=[-0.5, count - 0.5])
    return Picture(
        title=finding,
        caption="Points are shares of simulated tables whose interval holds the truth, with 95% intervals of the "
        "share. The line is the nominal share.",
        x=Axis(f"Coverage of intervals of {percent(level)}", "percent"),
        y=Axis("", names=tuple(map(symbols, coverage.index))),
        layers=(
            Layer("line", percent(level), nominal, Look(GREY, "dash"), False, 1.2),
            Layer("level", "coverage", rows, Look(BLUE), False, 6),
        ),
        height=1.7 + 0.3 * count,
    )


@figure
def plot_sensitivity(fit: Fit, quantities: Sequence[str] | None = None, **drawing: Unpack[Drawing]) -> Picture:
    """Plot how much each quantity depends on the priors and on the likelihood.

    Both are raised to powers near 1, and the posterior is compared with itself (Kallioinen et al. 2024).

    Parameters
    ----------
    fit : Fit
    quantities : sequence of str, optional
        Of the posterior; by default all with at most eight levels, of which the 20 that depend most on the prior are
        drawn.

    References
    ----------
    Kallioinen, N. et al. (2024). Detecting and diagnosing prior and likelihood sensitivity with power-scaling.
    Statistics and Computing 34.

    Examples
    --------
    >>> import bayescaling as bs
    >>> fit = bs.fit(bs.laws.Chinchilla(), bs.load("chinchilla_runs"), seed=1, draws=500, tune=500)
    >>> axes = bs.plot_sensitivity(fit, ["alpha", "beta"])
    >>> axes.get_title(loc="left")
    'No quantity depends on its prior by more than 0.05'
    """
    names = list(of_kind(fit)["posterior"].data_vars)
    quantities = [quantities] if isinstance(quantities, str) else quantities
    for name in quantities or ():
        check_choice(f"for a fit of {fit.law.name}, the quantity", name, names)
    entries = power_scalings(fit, quantities, None if quantities else MOST_LEVELS)
    if not any(np.isfinite(entry["prior"]) for entry in entries.values()):
        raise InputError(f"{place_of(fit)} has chains that do not move; fit again with more warm-up (tune)")
    order = sorted(entries, key=lambda name: -entries[name]["prior"])[:MOST_ROWS]
    places = np.arange(len(order))
    layers = [
        Layer("points", side, frame(x=[entries[name][side] for name in order], y=places), look, width=6)
        for side, look in (("likelihood", Look(BLUE)), ("prior", Look(ORANGE, marker="diamond")))
    ]
    threshold = frame(x=SENSITIVE, y=[-0.5, len(order) - 0.5])
    sensitive = [symbols(name) for name in order if entries[name]["prior"] > SENSITIVE]
    few = f"{', '.join(sensitive[:3])}{f' and {len(sensitive) - 3} others' if len(sensitive) > 3 else ''}"
    if sensitive:
        finding = f"The prior decides part of {few}: more than {SENSITIVE:g} for each doubling of its power"
    else:
        finding = f"No quantity depends on its prior by more than {SENSITIVE:g}"
    return Picture(
        title=finding,
        caption="Points are distances of the posterior from itself for each doubling of the power of the prior or of "
        f"the likelihood. Beyond the line, {SENSITIVE:g}, a quantity is sensitive.",
        x=Axis("Change for each doubling of the power (cumulative Jensen-Shannon distance)"),
        y=Axis("", names=tuple(map(symbols, order))),
        layers=(Layer("line", "sensitive", threshold, Look(GREY, "dash"), False, 1.2), *layers),
        height=1.7 + 0.34 * len(order),
        checked=True,
    )


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
