"""Figures of laws of other tables: doubling times, the loss by year at fixed compute, and accuracy by length."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Unpack

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike

from ..datasets import load
from ..datasets.kinds.counts import COUNTS
from ..datasets.kinds.evaluations import EVALUATIONS
from ..datasets.wording import check_choice
from ..errors import InputError
from ..inference.fitted import Fit, of_kind, place_of
from ..inference.intervals import quantiles
from ..inference.lengths.quantities import accuracy_at_length, length_at_accuracy
from ..inference.progress.rate_at_optimum import GrowthAt, doubling_times
from ..inference.progress.rate_at_rows import gain_times
from ..inference.quoted import quote_draws
from ..inference.words import digits, flop, months, plain, position
from ..models.draws import DRAWS
from ..models.loss.budget import log_slots
from ..models.loss.plan import training_compute
from .figure import Drawing, figure
from .intervals import interval_layers
from .picture import Axis, Layer, Picture, frame, median_and_band
from .shared import budgets_of, check_level, ends, in_words, named_fits, percent, wanted, with_looks
from .style import GREY, Look, look_of, ramp

AT_EVALUATIONS = "evaluations"
HO = "Ho et al. 2024"
PUBLISHED = "progress.doubling_months.closed_form"
CLOSED_FORM = "; the published row is the rate at the best size, another quantity"
SHARE, POINTS = 0.5, 49
YEARS, MOST = 25, 3  # MOST: curves by default
NEAR = 3.0  # Evaluations within this factor of a budget are drawn with it.
BENCHMARKS = {"wt103": "WikiText-103", "wt2": "WikiText-2", "ptb": "Penn Treebank"}


@figure
def plot_doubling(
    fits: Fit | Sequence[Fit] | Mapping[str, Fit],
    *,
    at: str | tuple[float, float] = AT_EVALUATIONS,
    published: bool | None = None,
    level: float = 0.95,
    **drawing: Unpack[Drawing],
) -> Picture:
    """Plot the months in which progress doubles effective compute, one row a fit.

    Parameters
    ----------
    fits : Fit, sequence of Fit, or mapping of str to Fit
        Of laws of progress.
    at : "evaluations" or tuple of float
        At the evaluations' own sizes and dates, or at a budget in FLOP and a year, such as ``(1e25, 2023)``.
    published : bool, optional
        Whether to add the closed form of specification 7 of Ho et al. (2024), which is the rate at the best size; by
        default to fits of ``lm_progress``. Rows at the evaluations are the gain at their own sizes, another quantity.

    Examples
    --------
    >>> import bayescaling as bs
    >>> fit = bs.progress.fit_all(specifications=[7], draws=500, tune=500)[7]
    >>> axes = bs.plot_doubling(fit)
    >>> axes.get_title(loc="left")[:33]
    'Effective compute doubles every 1'
    """
    level, named = check_level(level), named_fits(fits, EVALUATIONS)
    probabilities = ((1 - level) / 2, 0.5, (1 + level) / 2)
    rows = {}
    for name, look in with_looks(named):
        times = _times(named[name], at, probabilities)
        labels = times.index if len(named) == 1 else times.index[:1]
        for label in labels:
            three = times.loc[label, [f"q{100 * p:g}" for p in probabilities]].to_numpy(float)
            rows |= {name: (three, look)} if label == "all" else {str(label): (three, Look(GREY))}
    first, (first_three, _) = next(iter(rows.items()))
    published = wanted(published, named.values())
    if published:
        table = load("published").set_index("quantity").loc[PUBLISHED]
        rows[f"{HO}, closed form"] = (table[["low", "estimate", "high"]].to_numpy(float), look_of(HO))
    layers, limits = interval_layers(rows, log=True)
    other = CLOSED_FORM if published and at == AT_EVALUATIONS else ""
    where = "at the evaluations" if at == AT_EVALUATIONS else f"at {flop(at[0])} in {at[1]:g}"
    return Picture(
        title=f"Effective compute doubles every {in_words(first_three, months)} months {where} ({first})",
        caption=f"Points are medians and bars {percent(level)} intervals{other}. An arrow at the right edge: the "
        "interval includes that there is no progress.",
        x=Axis("Doubling time of effective compute (months)", log=True, range=limits),
        y=Axis("", names=tuple(rows)),
        layers=tuple(layers),
        height=1.7 + 0.36 * len(rows),
    )


def _times(fit, at, probabilities):
    if at == AT_EVALUATIONS:
        return gain_times(fit, probabilities=probabilities)
    try:
        compute, year = at
    except (TypeError, ValueError):
        raise InputError(f"at must be 'evaluations' or a budget in FLOP and a year, not {at!r}") from None
    return doubling_times(fit, compute=compute, year=year, probabilities=probabilities)


@figure
def plot_progress(
    fit: Fit,
    compute: ArrayLike | None = None,
    *,
    benchmark: str | None = None,
    level: float = 0.95,
    **drawing: Unpack[Drawing],
) -> Picture:
    """Plot the loss by year at fixed training compute, with the evaluations near each budget.

    Parameters and tokens are the geometric means of the evaluations of the benchmark, scaled alike to C = 6ND.
    D is as the law counts tokens: by default those of the data set, not of its repetitions.

    Parameters
    ----------
    fit : Fit
        Of a law of progress.
    compute : float or array_like, optional
        Budgets in FLOP; by default up to three that span the evaluations. The title is of the middle one.
    benchmark : {"wt103", "wt2", "ptb"}, optional
        By default the one with most evaluations.

    Examples
    --------
    >>> import bayescaling as bs
    >>> fit = bs.progress.fit_all(specifications=[7], draws=500, tune=500)[7]
    >>> axes = bs.plot_progress(fit, 1e20)
    >>> axes.get_title(loc="left")[:20]
    'At 1e20 FLOP, the lo'
    """
    level, draws = check_level(level), of_kind(fit, EVALUATIONS).draws
    benchmarks = draws.rows["benchmark"].value_counts()
    benchmark = benchmarks.index[0] if benchmark is None else benchmark
    check_choice(f"for {place_of(fit)}, the benchmark", benchmark, list(benchmarks.index))
    rows = draws.rows[(draws.rows["benchmark"] == benchmark).to_numpy()]
    sizes = rows["parameters"].to_numpy(float), draws.law.tokens(rows)
    spent = training_compute(*sizes)
    count = int(np.clip(np.log(spent.max() / spent.min()) / (2 * np.log(NEAR)), 1, MOST))
    # The middles of as many equal steps from the least evaluation to the largest.
    usual = [float(f"{x:.1g}") for x in np.geomspace(spent.min(), spent.max(), 2 * count + 1)[1::2]]
    budgets = np.sort(budgets_of(usual if compute is None else compute))
    years = np.linspace(rows["year"].min(), rows["year"].max(), YEARS)
    middles = np.array([np.log(x).mean() for x in sizes])
    at_years = [GrowthAt(draws, year=year, benchmark=benchmark) for year in years]
    distance = np.abs(np.log(spent[:, None] / budgets))
    nearest, near = distance.argmin(1), distance.min(1) <= np.log(NEAR)
    log_sizes = [middles + (log_slots(budget) - middles.sum()) / 2 for budget in budgets]
    losses = {
        budget: xr.DataArray(np.stack([at.loss(*sizes) for at in at_years], -1), dims=(*DRAWS, "year"))
        for budget, sizes in zip(budgets, log_sizes, strict=True)
    }
    quoted = quote_draws(fit, losses)
    layers, answers = [], []
    for i, (budget, colour) in enumerate(zip(budgets, ramp(len(budgets)), strict=True)):
        three, look = ends(quoted[budget], level), Look(colour)
        layers += median_and_band(years, three, look, flop(budget))
        group = rows[near & (nearest == i)]
        data = frame(x=group["year"], y=np.log(group["perplexity"].to_numpy(float)))
        layers.append(Layer("points", f"evaluations, {flop(budget)}", data, look, False, 4, 0.8))
        answers.append([in_words(three[:, place], plain) for place in (0, -1)])
    middle = len(budgets) // 2
    first, last = answers[middle]
    return Picture(
        title=f"At {flop(budgets[middle])}, the loss on {BENCHMARKS[benchmark]} is {first} nats/token in "
        f"{years[0]:.0f} and {last} in {years[-1]:.0f}",
        caption=f"Lines are medians of the mean loss of a transformer at fixed compute under {fit.law.label}, with "
        f"{percent(level)} bands. Points are evaluations within a factor of {NEAR:g} of the budget.",
        x=Axis("Year of publication", "year"),
        y=Axis("Loss (nats/token)", log=True),
        layers=tuple(layers),
    )


@figure
def plot_lengths(fit: Fit, *, longest: float | None = None, level: float = 0.95, **drawing: Unpack[Drawing]) -> Picture:
    """Plot the share of sums that the median run of each condition has right, against the length of both operands.

    Parameters
    ----------
    fit : Fit
        Of the law ``lengths``.
    longest : float, optional
        Digits up to which curves are drawn; by default the longest tested.

    Examples
    --------
    >>> import bayescaling as bs
    >>> fit = bs.fit(bs.laws.Lengths(), bs.load("arithmetic_runs"), seed=1, draws=300, tune=500)
    >>> axes = bs.plot_lengths(fit)
    >>> axes.get_title(loc="left")[:22]
    'Accuracy has halved at'
    """
    level, rows = check_level(level), of_kind(fit, COUNTS).rows
    longest = float(rows["length_a"].max()) if longest is None else float(longest)
    lengths = np.linspace(1, longest, POINTS)
    accuracy = accuracy_at_length(fit, lengths)
    half = length_at_accuracy(fit, SHARE).isel(share=0)
    layers, answers = [], {}
    for name, look in with_looks(accuracy["condition"].values):
        label = position(str(name))
        layers += median_and_band(lengths, ends(accuracy.sel(condition=name), level), look, label)
        answers[label] = quantiles(half.sel(condition=name).values.ravel(), ((1 - level) / 2, 0.5, (1 + level) / 2))
    best = max(answers, key=lambda label: answers[label][1])
    trained = float(rows["train_digits"].max())
    layers.append(Layer("line", "longest trained", frame(x=[trained, trained], y=[0.0, 1.0]), Look(GREY, "dot"),
                        width=1.2))  # fmt: skip
    return Picture(
        title=f"Accuracy has halved at {in_words(answers[best], digits)} digits with {best}, the longest median of "
        f"{len(answers)} conditions",
        caption=f"Lines are medians of the median run of a condition, with {percent(level)} bands. Beyond the dotted "
        "line no run was trained.",
        x=Axis("Digits of both operands"),
        y=Axis("Sums right", "percent", range=(0.0, 1.02)),
        layers=tuple(layers),
    )
