"""Figures that check a fit: its constants, its predictions of its runs and of later ones, and laws compared."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy.special

from ..datasets import load
from ..datasets.wording import quoted, unknown
from ..errors import InputError
from ..inference.checks.check import percent as share
from ..inference.checks.sandwich import quotable
from ..inference.comparison.differences import TOLD_APART
from ..inference.comparison.rollout import LEVELS
from ..inference.needs import of_kind
from ..inference.words import borne, flop, symbols
from ..models.draws import DRAWS
from .density import density
from .picture import Axis, Layer, Picture, drawn, frame
from .published import chinchilla_estimates
from .runs import COMPUTE, SOURCE, run_sizes
from .shared import check_level, ends, in_words, named_fits, percent, with_looks
from .style import BLUE, GREY, INNER, OUTER, RED, Look, look_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd
    import xarray as xr
    from matplotlib.axes import Axes
    from plotly.graph_objects import Figure

    from ..inference.fit import Fit
    from .density import density
from .picture import Backend

EXPONENT = "exponent_parameters"
OF_LOSS = ("E", "A", "B")  # constants that depend on the corpus and on how tokens are counted
NAMES = {EXPONENT: "Exponent of the best size in compute", "E": "Irreducible loss E (nats/token)"}
RESIDUALS = {"compute": COMPUTE, "parameters": Axis("Parameters N", "size", log=True),
             "tokens": Axis("Training tokens D", "size", log=True),
             "tokens_per_parameter": Axis("Tokens per parameter D/N", log=True)}  # fmt: skip


def plot_posterior(
    fits: Fit | Sequence[Fit] | Mapping[str, Fit],
    quantity: str = EXPONENT,
    *,
    ax: Axes | None = None,
    backend: Backend = "matplotlib",
    published: bool = True,
    level: float = 0.95,
) -> Axes | Figure:
    """Plot the posterior density of one quantity, for one or several fits, with published estimates.

    Parameters
    ----------
    fits : Fit, sequence of Fit, or mapping of str to Fit
        Of laws of runs.
    quantity : str
        A scalar of the posterior, such as ``"alpha"``; by default the exponent of the best size in compute.
    ax, backend, level
        As for `plot_fit`.
    published : bool
        Whether to mark published estimates of the constants of Chinchilla's law: its exponents and, of a fit of
        ``chinchilla_runs``, E, A and B.

    Returns
    -------
    matplotlib Axes or plotly Figure
        With ``caption``, and ``table``, a DataFrame of the numbers that are drawn.

    Raises
    ------
    InputError
        If a fit is of another kind of law, or has no such scalar.

    Examples
    --------
    >>> import bayescaling as bs
    >>> fit = bs.fit(bs.laws.Chinchilla(), bs.load("chinchilla_runs"), seed=1, draws=500, tune=500)
    >>> axes = bs.plot_posterior(fit)
    >>> axes.get_title(loc="left")[:43]
    'The exponent of the best size in compute is'
    """
    level, named = check_level(level), named_fits(fits, "runs")
    layers, answers, top = [], [], 0.0
    for name, look in with_looks(named):
        draws = _quoted_draws(named[name], quantity)
        grid, height = density(draws)
        three = ends(draws, level)
        inside = (grid >= three[0]) & (grid <= three[2])
        shade = frame(x=grid[inside], low=0.0, high=height[inside])
        layers.append(Layer("band", f"{name}, {percent(level)}", shade, look, False, opacity=OUTER))
        layers.append(Layer("line", name, frame(x=grid, y=height), look))
        answers.append(in_words(three, borne) + (f" ({name})" if len(named) > 1 else ""))
        top = max(top, float(height.max()))
    table = chinchilla_estimates(load("published"))
    of_runs = all(fit.record["data"]["source"] == SOURCE for fit in named.values())
    if published and (quantity not in OF_LOSS or of_runs):
        for row in table[table["quantity"] == quantity].itertuples():
            look = look_of(row.source)
            layers.append(Layer("line", row.source, frame(x=row.estimate, y=[0.0, top]), look))
            if np.isfinite(row.low):
                bar = frame(x=row.estimate, y=0.06 * top, low=row.low, high=row.high)
                layers.append(Layer("level", f"{row.source}, 95%", bar, look, False, width=5))
    called = NAMES.get(quantity, symbols(quantity))
    subject = called.partition(" (")[0]
    subject = f"The {subject[0].lower()}{subject[1:]}" if quantity in NAMES else subject
    picture = Picture(
        title=f"{subject} is {' and '.join(answers)}",
        caption=f"Curves are densities of the draws, shaded over the central {percent(level)}. Where the rows reject a "
        "law, its draws are spread to the robust standard error.",
        x=Axis(called),
        y=Axis("Posterior density", range=(0.0, 1.05 * top)),
        layers=tuple(layers),
    )
    return drawn(picture, ax, backend)


def _quoted_draws(fit, quantity):
    posterior = fit["posterior"]
    scalars = [name for name, x in posterior.data_vars.items() if x.dims == DRAWS]
    if quantity not in scalars:
        raise InputError(unknown(f"for a fit of {fit.law.name}, the quantity", quantity, scalars))
    draws = posterior[quantity]
    if not float(draws.std()) > 0:
        raise InputError(f"{quantity} of a fit of {fit.law.name} does not vary; choose another quantity")
    return quotable(fit, {quantity: draws})[quantity]


def plot_residuals(
    fit: Fit,
    *,
    against: str = "compute",
    ax: Axes | None = None,
    backend: Backend = "matplotlib",
    level: float = 0.95,
) -> Axes | Figure:
    """Plot the residuals of the runs in units of the law's noise.

    A residual is the normal quantile of the posterior mean probability of a loss of at most the observed one, so that
    residuals are standard normal if the law and its noise are true.

    Parameters
    ----------
    fit : Fit
        Of a law of runs.
    against : {"compute", "parameters", "tokens", "tokens_per_parameter"}
    ax, backend
        As for `plot_fit`.
    level : float
        Of the band that holds this share of residuals if the law is true.

    Returns
    -------
    matplotlib Axes or plotly Figure
        With ``caption``, and ``table``, a DataFrame of the numbers that are drawn.

    Raises
    ------
    InputError
        If the fit is of another kind of law, or `against` is none of these.

    Examples
    --------
    >>> import bayescaling as bs
    >>> fit = bs.fit(bs.laws.Chinchilla(), bs.load("chinchilla_runs"), seed=1, draws=500, tune=500)
    >>> axes = bs.plot_residuals(fit, against="tokens_per_parameter")
    >>> axes.get_title(loc="left")[:30]
    'The law misses the runs by 0.2'
    """
    level, runs = check_level(level), run_sizes(fit)
    if against not in RESIDUALS:
        raise InputError(unknown("against", against, RESIDUALS))
    runs["tokens_per_parameter"] = runs["tokens"] / runs["parameters"]
    residuals = standardised_residuals(fit)
    edge = scipy.special.ndtri((1 + level) / 2)
    x = runs[against].to_numpy()
    span = np.array([x.min(), x.max()])
    outside = np.abs(residuals) > edge
    layers = [
        Layer("band", f"{percent(level)} if true", frame(x=span, low=-edge, high=edge), Look(BLUE), opacity=OUTER),
        Layer("line", "no residual", frame(x=span, y=0.0), Look(GREY), False, 1.2),
        *_in_and_out(x, residuals, outside),
    ]
    check = fit.check()
    if check["size"] is None:
        finding = f"{(~outside).mean():.0%} of the residuals lie within the band of {percent(level)}"
    else:
        misfit = f"{share(check['size'])} of {check['share_of']}"
        finding = f"The law misses the runs by {misfit} on average, more than noise explains"
    picture = Picture(
        title=finding,
        caption=f"Each point is a run's residual under {fit.law.label} in units of the law's noise; {percent(level)} "
        "lie in the band if the law is true. A trend or a group on one side shows what the law misses.",
        x=RESIDUALS[against],
        y=Axis("Standardised residual"),
        layers=tuple(layers),
    )
    return drawn(picture, ax, backend)


def standardised_residuals(fit):
    """Return the normal quantile of the posterior mean probability of each run's loss, (run,)."""
    cdf = of_kind(fit, "runs").draws.cdf().transpose(*DRAWS, ...).values
    return scipy.special.ndtri(np.clip(cdf.mean((0, 1)), 1e-12, 1 - 1e-12))


def _in_and_out(x, y, outside):
    """Return layers of the points inside and outside of their intervals."""
    pairs = (("inside", ~outside, Look(BLUE)), ("outside", outside, Look(RED, marker="diamond")))
    return [
        Layer("points", f"{name} ({int(chosen.sum())})", frame(x=x[chosen], y=y[chosen]), look, width=3.5, opacity=0.8)
        for name, chosen, look in pairs
        if chosen.any()
    ]


def plot_ppc(
    fit: Fit,
    *,
    ax: Axes | None = None,
    backend: Backend = "matplotlib",
    level: float = 0.95,
) -> Axes | Figure:
    """Plot the observed losses against their posterior predictive intervals, in percent of the predicted median.

    Parameters
    ----------
    fit : Fit
        Of a law of runs.
    ax, backend, level
        As for `plot_fit`.

    Returns
    -------
    matplotlib Axes or plotly Figure
        With ``caption``, and ``table``, a DataFrame of the numbers that are drawn.

    Raises
    ------
    InputError
        If the fit is of another kind of law.

    Examples
    --------
    >>> import bayescaling as bs
    >>> fit = bs.fit(bs.laws.Chinchilla(), bs.load("chinchilla_runs"), seed=1, draws=500, tune=500)
    >>> axes = bs.plot_ppc(fit)
    >>> axes.get_title(loc="left")[:30]
    'Predictive intervals of 95% ho'
    """
    level, runs = check_level(level), run_sizes(fit)
    order = np.argsort(runs["compute"].to_numpy(), kind="stable")
    low, middle, high = ends(fit.predict(fit.rows)["loss"], level)
    observed = runs["loss"].to_numpy()
    outside = (observed < low) | (observed > high)
    low, high, away = (x / middle - 1 for x in (low, high, observed))
    # Where sizes scatter very differently, intervals of a few runs would hide all the others.
    bottom = 1.15 * min(away.min(), float(np.quantile(low, 0.02)))
    top = 1.15 * max(away.max(), float(np.quantile(high, 0.98)))
    x = runs["compute"].to_numpy()
    band = frame(x=x[order], low=low[order], high=high[order])
    picture = Picture(
        title=f"Predictive intervals of {percent(level)} hold {(~outside).mean():.0%} of {len(runs)} fitted runs",
        caption=f"Bars are {percent(level)} posterior predictive intervals of single runs under {fit.law.label}; "
        "points are observed losses. These runs were fitted; plot_rollout shows runs that were not.",
        x=COMPUTE,
        y=Axis("Observed against predicted median", "percent", range=(bottom, top)),
        layers=(
            Layer("upright", f"{percent(level)} interval", band, Look(BLUE), width=1.0, opacity=0.35),
            *_in_and_out(x, away, outside),
        ),
    )
    return drawn(picture, ax, backend)


def plot_rollout(
    result: tuple[pd.DataFrame, xr.Dataset],
    *,
    cutoff: float | None = None,
    ax: Axes | None = None,
    backend: Backend = "matplotlib",
    level: float = 0.9,
) -> Axes | Figure:
    """Plot what was observed beyond a cutoff against what a law fitted below it predicted.

    Parameters
    ----------
    result : tuple of DataFrame and Dataset
        What `rollout` returned.
    cutoff : float, optional
        One of those of the rollout, the least by default.
    ax, backend
        As for `plot_fit`.
    level : {0.5, 0.8, 0.9}
        Of the predictive intervals that the title counts.

    Returns
    -------
    matplotlib Axes or plotly Figure
        With ``caption``, and ``table``, a DataFrame of the numbers that are drawn.

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
    scores, rows = _rollout(result)
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
    where = flop(cutoff) if by == "compute" else f"{by} {cutoff:g}"
    picture = Picture(
        title=f"Fitted below {where}, the {percent(level)} intervals hold {interval} of {len(x)} later rows",
        caption=f"Bars are predictive intervals of {rows.attrs['law']} fitted to the rows below the cutoff alone, "
        "about their median; points are what was observed. The title's interval treats rows as independent.",
        x=COMPUTE if by == "compute" else Axis(by, log=bool(x.min() > 0 and x.max() / x.min() > 10)),
        y=Axis("Observed against predicted median", "percent") if relative else Axis("Observed minus predicted median"),
        layers=(*bars, Layer("line", "median", frame(x=[x.min(), x.max()], y=0.0), Look(GREY), False, 1.2),
                *_in_and_out(x, away["observed"], outside)),
    )  # fmt: skip
    return drawn(picture, ax, backend)


def _number(x):
    return f"{x:g}".replace("e+", "e")


def _rollout(result):
    try:
        scores, rows = result
        assert {"observed", "q50"} <= {*rows.data_vars} and "coverage_90" in scores
    except (TypeError, ValueError, AttributeError, AssertionError):
        raise InputError(f"a {type(result).__name__} is no rollout; pass the two results of rollout()") from None
    return scores, rows


def plot_compare(
    table: pd.DataFrame,
    *,
    ax: Axes | None = None,
    backend: Backend = "matplotlib",
) -> Axes | Figure:
    """Plot how much worse each fit predicts than the best one.

    Parameters
    ----------
    table : DataFrame
        What `compare` returned.
    ax, backend
        As for `plot_fit`.

    Returns
    -------
    matplotlib Axes or plotly Figure
        With ``caption``, and ``table``, a DataFrame of the numbers that are drawn.

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
    data = frame(x=difference, y=places, low=difference - TOLD_APART * error, high=difference + TOLD_APART * error)
    best = frame(x=0.0, y=[-0.5, len(table) - 0.5])
    finding, _, rest = table.attrs["sentence"].rstrip(".").partition("; ")
    rest = rest or "a bar that reaches the line does not tell two fits apart"
    picture = Picture(
        title=finding,
        caption="Points are differences of expected log predictive density from the best fit, with bars of "
        f"{TOLD_APART:g} standard errors either way. {rest[:1].upper()}{rest[1:]}.",
        x=Axis("Difference of elpd from the best fit (nats)"),
        y=Axis("", names=tuple(map(str, table.index))),
        layers=(
            Layer("line", "best", best, Look(GREY), False, 1.2),
            Layer("level", "difference", data, Look(BLUE), False, 6),
        ),
        height=1.7 + 0.4 * len(table),
    )
    return drawn(picture, ax, backend)
