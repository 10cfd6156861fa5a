"""Figures of a law of runs: its runs, iso-FLOP curves, the excess loss of another size, and runs to make next."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Unpack

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from ..datasets.kinds.runs import RUNS
from ..errors import InputError
from ..inference.decisions.schedule import Schedule
from ..inference.estimands.allocate import allocate, checked_plan
from ..inference.estimands.quoted_loss import loss_off_optimum, quoted_loss
from ..inference.fitted import Fit, of_kind, place_of
from ..inference.words import flop, plain, size, sizes
from ..models.formula.law import Formula
from ..models.loss.budget import compute_bins, tokens_at, training_flop
from ..models.loss.plan import training_compute
from .figure import Drawing, figure
from .formulas import draw_formula
from .picture import Axis, Layer, Picture, frame, median_and_band
from .shared import budgets_of, check_level, ends, in_words, one_budget, percent, published_optima, sources, wanted
from .style import BLUE, GREEN, GREY, ORANGE, Look, look_of, ramp

AHEAD = 10.0  # times the largest run, up to which a figure extends
LINES, POINTS, MOST_BUDGETS = 5, 25, 5
RULE = 20.0  # Tokens per parameter, the rule of thumb.
SAME = 0.02  # difference of the logarithms of sizes that are drawn as one
CLOSE = 1.5  # Runs of sizes within this factor set the length of a size's curve.
NEAR = 1.3  # Runs within this factor of a budget are drawn with it.
COMPUTE = Axis("Training compute C = 6ND (FLOP)", "flop", log=True)
LOSS = "Loss (nats/token)"
PARAMETERS = Axis("Parameters N", "size", log=True)


def run_sizes(fit, **planned):
    """Return the parameters, tokens, loss and compute in FLOP of the runs of a fit that inform what is planned."""
    law = of_kind(fit, RUNS).law
    rows = law.planned_rows(fit.rows, **checked_plan(law, planned))
    missing = [name for name in ("parameters", "tokens") if name not in rows]
    if missing:
        raise InputError(f"{place_of(fit)} has no column {missing[0]!r}, which this figure needs")
    return pd.DataFrame({name: rows[name] for name in ("parameters", "tokens", "loss")}).assign(
        compute=training_flop(rows)
    )


@figure
def plot_fit(
    fit: Fit,
    *,
    sizes: Sequence[float] | None = None,
    compute: float | None = None,
    published: bool | None = None,
    along: str | None = None,
    level: float = 0.95,
    **planned: Any,
) -> Picture:
    """Plot the loss against compute: the runs, the law at some model sizes, and the loss of the best model.

    Of a formula, plot its response along a column: the rows, the curve, and what it is beyond them.

    Parameters
    ----------
    fit : Fit
        Of a law of runs, or of a formula.
    sizes : sequence of float, optional
        Parameters whose curves are drawn; by default five of the fitted sizes.
    compute : float, optional
        Budget in FLOP up to which the best size is drawn, and of which the title is; by default ten times the largest
        run.
    published : bool, optional
        Whether to draw the loss at published constants, which are of the table ``chinchilla_runs`` alone. By default
        figures draw published values next to fits of that table.
    along : str, optional
        Of a formula the column; by default that of most values, the others at their centre.
    level : float
        Of the central intervals.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.
    backend : {"matplotlib", "plotly"}
    title : str, optional
        By default the finding. That the rows reject the law is added to either.
    figsize : tuple of float, optional
        Width and height of a new figure in inches.
    theme : {"light", "dark"}
    **planned
        What the law must know of runs, as for `Fit.allocate`, such as ``group``.

    Returns
    -------
    matplotlib Axes or plotly Figure
        With ``finding``, the title on one line, ``caption``, and ``table``, a DataFrame of the numbers that are drawn.
        Small print on it names the data and the date of the fit.

    Examples
    --------
    >>> import bayescaling as bs
    >>> fit = bs.fit(bs.laws.Chinchilla(), bs.load("chinchilla_runs"), seed=1, draws=500, tune=500)
    >>> axes = bs.plot_fit(fit)
    >>> axes.get_title(loc="left")[:41]
    'At ten times the largest run, the best mo'
    """
    if isinstance(getattr(fit, "law", None), Formula):
        if compute is not None or sizes is not None or published or planned:
            raise InputError("compute, sizes, published and planned runs are of laws of runs; a formula takes along")
        return draw_formula(fit, along=along, level=level)
    level, runs = check_level(level), run_sizes(fit, **planned)
    chosen = _sizes_of(runs) if sizes is None else np.sort(budgets_of(sizes, "sizes", "parameters"))
    layers: list[Layer] = []
    nearest = np.abs(np.log(runs["parameters"].to_numpy()[:, None] / chosen)).argmin(1)
    lines = [_line_of_size(runs[nearest == i], n) for i, n in enumerate(chosen)]
    at = pd.concat(lines, keys=range(len(chosen)))
    three = ends(quoted_loss(fit, at["parameters"], at["tokens"], **planned), level)
    off = np.abs(np.log(runs["parameters"].to_numpy() / chosen[nearest]))
    among = off <= max(np.log(CLOSE), np.diff(np.log(chosen)).max(initial=0.0) / 2)
    for i, (n, colour) in enumerate(zip(chosen, ramp(len(chosen)), strict=True)):
        place, look, name = (at.index.get_level_values(0) == i), Look(colour), f"N = {size(n)}"
        layers += median_and_band(at["compute"][place], three[:, place], look, name)
        for label, of, width in ((f"runs, {name}", off <= SAME, 4.0), (f"runs nearest to {name}", off > SAME, 2.5)):
            near = runs[among & of & (nearest == i)]
            layers.append(Layer("points", label, frame(x=near["compute"], y=near["loss"]), look, False, width, 0.8))
    if not among.all():
        data = frame(x=runs["compute"][~among], y=runs["loss"][~among])
        layers.insert(0, Layer("points", "runs of other sizes", data, Look(GREY), width=2.5, opacity=0.5))
    last = AHEAD * float(runs["compute"].max()) if compute is None else one_budget(compute)
    budgets = np.geomspace(runs["compute"].min(), last, POINTS)
    where = "At ten times the largest run" if compute is None else f"At {flop(last)}"
    best = ends(allocate(fit, budgets, **planned)["loss"], level)
    layers += median_and_band(budgets, best, Look(GREEN), "best size")
    if published is not False and wanted(None, [fit]):
        for source, optimum in published_optima(budgets).items():
            layers.append(Layer("line", source, frame(x=budgets, y=optimum["loss"]), look_of(source)))
    return Picture(
        title=f"{where}, the best model has loss {in_words(best[:, -1], plain)} nats/token",
        caption=f"Each line is the median loss of one model size under {fit.law.label}, with {percent(level)} bands. "
        "Runs have the colour of the nearest size, and are small where their own differs; green is the best size.",
        x=COMPUTE,
        y=Axis(LOSS, log=True),
        layers=tuple(layers),
    )


def _sizes_of(runs):
    """Choose model sizes that have several runs, evenly spaced in logarithms."""
    counts = runs["parameters"].value_counts()
    several = np.sort(counts.index[counts >= min(3, counts.max())].to_numpy(float))
    wanted = np.geomspace(several[0], several[-1], LINES)
    return several[sorted({int(np.abs(np.log(several / n)).argmin()) for n in wanted})]


def _line_of_size(runs, n):
    """Return the points of one curve: budgets about those of the runs of nearly this size."""
    near = runs["compute"][np.abs(np.log(runs["parameters"] / n)) < np.log(CLOSE)]
    compute = near if len(near) else pd.Series([training_compute(n, RULE * n)])
    budgets = np.geomspace(compute.min(), compute.max() * 1.5, POINTS // 2)
    return pd.DataFrame({"compute": budgets, "parameters": n, "tokens": tokens_at(budgets, n)})


@figure
def plot_isoflop(
    fit: Fit, compute: ArrayLike | None = None, *, published: bool | None = None, level: float = 0.95, **planned: Any
) -> Picture:
    """Plot the loss against model size at fixed budgets, with the runs near each budget and the best sizes.

    Parameters
    ----------
    fit : Fit
        Of a law of runs.
    compute : float or array_like, optional
        Budgets in FLOP; by default up to five of the runs.
    published : bool, optional
        Whether to mark the best sizes under published constants, of a fit of ``chinchilla_runs``.

    Examples
    --------
    >>> import bayescaling as bs
    >>> fit = bs.fit(bs.laws.Chinchilla(), bs.load("chinchilla_runs"), seed=1, draws=500, tune=500)
    >>> axes = bs.plot_isoflop(fit, [1e20, 1e21])
    >>> axes.get_title(loc="left")[:25]
    'The best size grows from '
    """
    level, runs = check_level(level), run_sizes(fit, **planned)
    if compute is None:  # the middles of bins of compute, near which there are runs
        medians = runs["compute"].groupby(compute_bins(runs["compute"].to_numpy())).median().to_numpy()
        places = np.unique(np.linspace(0, len(medians) - 1, MOST_BUDGETS).round().astype(int))
        compute = [float(f"{x:.2g}") for x in medians[places]]
    budgets = np.sort(budgets_of(compute))
    best = allocate(fit, budgets, **planned)
    if "parameters" not in best:
        raise InputError(f"a fit of {fit.law.name} has no best size; use a law of parameters and tokens")
    n_best, loss_best = ends(best["parameters"], level), ends(best["loss"], level)
    distance = np.abs(np.log(runs["compute"].to_numpy()[:, None] / budgets))
    nearest, layers, curves = distance.argmin(1), [], []
    near = distance.min(1) <= np.log(NEAR)
    for i, c in enumerate(budgets):
        group = runs[near & (nearest == i)]
        span = [*group["parameters"], n_best[0, i], n_best[2, i], n_best[1, i] / 4, n_best[1, i] * 4]
        n = np.geomspace(min(span), max(span), POINTS)
        curves.append(pd.DataFrame({"parameters": n, "tokens": tokens_at(c, n)}))
    at = pd.concat(curves, keys=range(len(budgets)))
    three = ends(quoted_loss(fit, at["parameters"], at["tokens"], **planned), level)
    for i, (c, colour) in enumerate(zip(budgets, ramp(len(budgets)), strict=True)):
        place, look, group = at.index.get_level_values(0) == i, Look(colour), runs[near & (nearest == i)]
        layers += median_and_band(at["parameters"][place], three[:, place], look, flop(c))
        data = frame(x=group["parameters"], y=group["loss"])
        layers.append(Layer("points", f"runs, {flop(c)}", data, look, False, 4))
    level_ends = frame(x=n_best[1], y=loss_best[1], low=n_best[0], high=n_best[2])
    layers.append(Layer("level", "best size", level_ends, Look(GREEN, marker="x"), width=6))
    if published is not False and wanted(None, [fit]):
        for source, optimum in published_optima(budgets).items():
            data = frame(x=optimum["parameters"], y=optimum["loss"])
            layers.append(Layer("points", source, data, look_of(source), width=5))
    first, last = in_words(n_best[:, 0], sizes), in_words(n_best[:, -1], sizes)
    growth = f"grows from {first} at {flop(budgets[0])} to {last} at {flop(budgets[-1])}"
    return Picture(
        title=f"The best size {growth if len(budgets) > 1 else f'at {flop(budgets[0])} is {first} parameters'}",
        caption=f"Each curve is the median loss at one training budget under {fit.law.label}, with {percent(level)} "
        f"bands. Points are runs within a factor of {NEAR:g} of the budget; crosses mark the best sizes.",
        x=PARAMETERS,
        y=Axis(LOSS, log=True),
        layers=tuple(layers),
    )


@figure
def plot_valley(
    fit: Fit,
    compute: float,
    *,
    tolerance: float = 0.01,
    published: bool | None = None,
    level: float = 0.95,
    **planned: Any,
) -> Picture:
    """Plot the excess loss of training another size than the best one at a budget.

    Parameters
    ----------
    fit : Fit
        Of a law of runs.
    compute : float
        Training budget C in FLOP.
    tolerance : float
        Relative excess of the loss that is nearly as good: 0.01 is 1%.
    published : bool, optional
        Whether to mark the best size under published constants; by default of a fit of ``chinchilla_runs``.

    Examples
    --------
    >>> import bayescaling as bs
    >>> fit = bs.fit(bs.laws.Chinchilla(), bs.load("chinchilla_runs"), seed=1, draws=500, tune=500)
    >>> axes = bs.plot_valley(fit, 1e22)
    >>> axes.get_title(loc="left")[:15]
    'At 1e22 FLOP, m'
    """
    level, compute = check_level(level), one_budget(compute)
    at = allocate(of_kind(fit, RUNS), compute, near_optimal=tolerance, **planned).isel(compute=0)
    best = ends(at["parameters"], level)
    low, high = float(at["near_low"]), float(at["near_high"])
    marks = {}
    if wanted(published, [fit]):
        optima = {source: optimum["parameters"] for source, optimum in published_optima([compute]).items()}
        marks = {source: float(x[0]) for source, x in optima.items()}
    reach = [x for x in (*best, low, high, *marks.values()) if np.isfinite(x)]
    n = np.geomspace(min(reach) / 1.6, max(reach) * 1.6, 2 * POINTS - 1)
    n = np.sort([*n, *(x for x in (low, high, best[1]) if np.isfinite(x))])
    off = loss_off_optimum(fit, compute, n, **planned)
    top = max(4 * tolerance, 1.1 * float(ends(off, level)[1].max()))
    layers = median_and_band(n, ends(off, level), Look(BLUE), "excess loss, median", half=ends(off, 0.5)[[0, 2]])
    layers.append(Layer("line", f"{percent(tolerance)}", frame(x=n[[0, -1]], y=tolerance), Look(GREY, "dash"),
                        width=1.2))  # fmt: skip
    best_data = frame(x=best[1], y=0.0, low=best[0], high=best[2])
    layers.append(Layer("level", f"best size, {percent(level)}", best_data, Look(GREEN), width=6))
    for source, x in marks.items():
        layers.append(Layer("line", source, frame(x=[x, x], y=[0, top]), look_of(source), width=1.5))
    return Picture(
        title=_near(compute, tolerance, low, high) + f"; the best size is {in_words(best, sizes)}",
        caption=f"The line is the median excess loss under {fit.law.label}, in percent of the loss of the best size, "
        f"with {percent(level)} and 50% bands. The sizes in the title have less than {percent(tolerance)} excess loss "
        "with probability 0.5 or more.",
        x=PARAMETERS,
        y=Axis("Excess loss over the best size", "percent", range=(-0.02 * top, top)),
        layers=tuple(layers),
    )


def _near(compute, tolerance, low, high):
    if not np.isfinite(low):
        return f"At {flop(compute)}, no size comes within {percent(tolerance)} of the best loss with probability 0.5"
    ends = f"{size(low)} to {size(high)}"
    return f"At {flop(compute)}, models of {ends} parameters come within {percent(tolerance)} of the best loss"


@figure
def plot_design(schedule: Schedule, **drawing: Unpack[Drawing]) -> Picture:
    """Plot the runs to make next by size and tokens, with the runs at hand.

    Parameters
    ----------
    schedule : Schedule
        What `design` returned.

    Examples
    --------
    >>> import bayescaling as bs
    >>> runs = bs.load("chinchilla_runs")
    >>> fit = bs.fit("coupled", runs[runs["training_flop"] < 1e20], seed=1, draws=500, tune=500)
    >>> axes = bs.plot_design(bs.design(fit, budget=1e21, compute=1e23, gate=False))
    >>> axes.finding[:8]
    'The next'
    """
    if not isinstance(schedule, Schedule) or "rule" not in schedule.attrs:
        raise InputError(f"plot_design takes what design returned, not {type(schedule).__name__}")
    if not {"parameters", "tokens"} <= set(schedule):
        raise InputError("a figure of runs to make next needs their parameters and tokens; the table prints others")
    fitted = schedule.attrs["fitted"]
    first = schedule["batch"] == 1
    layers = [Layer("points", "runs at hand", frame(x=fitted["parameters"], y=fitted["tokens"]), Look(GREY), width=3.0)]
    for name, rows, colour in (("to make first", schedule[first], ORANGE), ("later", schedule[~first], BLUE)):
        if len(rows):
            layers.append(Layer("points", name, frame(x=rows["parameters"], y=rows["tokens"]), Look(colour), width=5.5))
    return Picture(
        title=_finding(schedule, int(first.sum())),
        caption=f"Runs for {schedule.attrs['target']}, of a budget of {flop(schedule.attrs['budget'])}; those to make "
        "first come before the next fit.",
        x=Axis("Parameters", "size", log=True),
        y=Axis("Training tokens", "size", log=True),
        layers=tuple(layers),
        height=4.6,
        source=sources(schedule.attrs["standing"]),
    )


def _finding(schedule, first):
    what = f"The next {first} runs" if first > 1 else "The next run"
    text = f"{what} cost{'' if first > 1 else 's'} {flop(schedule['cost'].head(first).sum())}"
    left = schedule["variance_left"].iloc[-1]
    if left != left:
        return f"{text}, spread by cost, as no law passes its rollouts"
    return f"{text}; all {len(schedule)} leave {left:.0%} of the variance of {schedule.attrs['target']}"
