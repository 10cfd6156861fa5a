"""Figures of groups of runs: a quantity of each, and what a change is worth."""

from __future__ import annotations

import contextlib
from typing import Any, Unpack

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from ..datasets.kinds.runs import RUNS
from ..datasets.wording import check_choice
from ..errors import InputError
from ..inference.decisions.change import LEVEL, Gains, judged
from ..inference.decisions.worth import check_baseline, multipliers
from ..inference.estimands.allocate import compute_range
from ..inference.estimands.predict_group import predict_group
from ..inference.fitted import Fit, of_kind
from ..inference.quoted import quote_draws
from ..inference.words import HIGH, LOW, MIDDLE, factor, flop, plain, probability, symbols
from ..models.loss.grouping import GROUP, GROUPS
from .checks import EXPONENT, NAMES
from .figure import Drawing, figure
from .picture import Axis, Layer, Picture, frame, median_and_band
from .shared import budgets_of, check_level, ends, in_words, percent, with_looks
from .style import BLUE, GREY, Look

UNSEEN = {"typical": "typical group", "new": "a new group"}
POINTS, FURTHER, MOST = 25, 30.0, 30.0  # budgets, how far above the largest run, and the largest factor drawn
WIDEST = 8.0  # intervals of a look that is drawn, over that of the last


@figure
def plot_groups(fit: Fit, quantity: str = EXPONENT, *, level: float = 0.95, **drawing: Unpack[Drawing]) -> Picture:
    """Plot a quantity of each group of runs, such as a corpus, of the typical group and of one without runs.

    Parameters
    ----------
    fit : Fit
        Of a `Grouped` law.
    quantity : str
        Such as ``"alpha"``; by default the exponent of the best size in compute. The typical and a new group are drawn
        where what it follows from is pooled or shared.

    Examples
    --------
    >>> import bayescaling as bs
    >>> runs = bs.load("chinchilla_runs")
    >>> halves = runs.assign(half=["a", "b"] * 122 + ["a"])
    >>> law = bs.laws.Grouped(bs.laws.Chinchilla(noise="normal", scatter="one"), "half")
    >>> fit = bs.fit(law, halves, seed=1, draws=500, tune=500)
    >>> axes = bs.plot_groups(fit)
    >>> axes.get_title(loc="left")[:40]
    'The exponent of the best size in compute'
    """
    level, law = check_level(level), of_kind(fit, RUNS).law
    if law.grouped_by is None:
        raise InputError(f"a fit of {law.label} has no groups; fit a Grouped law (--group COLUMN)")
    posterior = fit["posterior"].to_dataset()
    by_group = [name for name, x in posterior.data_vars.items() if GROUP in x.dims]
    check_choice(f"for a fit of {law.name}, the quantity of groups", quantity, by_group)
    names = [str(name) for name in posterior[GROUP].values]
    draws = {name: posterior[quantity].sel({GROUP: name}, drop=True) for name in names}
    if law.pooled and {*(law.exponents if quantity == EXPONENT else [quantity])} <= {*law.pooled, *law.shared}:
        draws |= {label: predict_unseen(fit, quantity, kind) for kind, label in UNSEEN.items()}
    rows = {name: ends(x, level) for name, x in quote_draws(fit, draws).items()}
    lowest, highest = (choose(names, key=lambda name: rows[name][1]) for choose in (min, max))
    fitted = len(names)
    low, middle, high = np.array(list(rows.values())).T
    places = np.arange(len(rows))
    called = NAMES.get(quantity, symbols(quantity))
    subject = called.partition(" (")[0]
    subject = f"The {subject[0].lower()}{subject[1:]}" if quantity in NAMES else subject
    of_groups, of_unseen = (
        frame(x=middle[part], y=places[part], low=low[part], high=high[part])
        for part in (slice(fitted), slice(fitted, None))
    )
    layers = [Layer("level", law.grouped_by, of_groups, Look(BLUE), False, 6)]
    if len(rows) > fitted:
        layers.append(Layer("level", "population", of_unseen, Look(GREY, marker="diamond"), False, 6))
    return Picture(
        title=f"{subject} is {in_words(rows[lowest], plain)} for {lowest} and {in_words(rows[highest], plain)} for "
        f"{highest}, the least and the greatest of {fitted} groups",
        caption=f"Points are medians and bars {percent(level)} intervals by {law.grouped_by} under {law.law.label}. "
        "Grey rows are the population: its middle, and a draw from it.",
        x=Axis(called),
        y=Axis("", names=tuple(rows)),
        layers=tuple(layers),
        height=1.7 + 0.36 * len(rows),
    )


def predict_unseen(fit, quantity, kind, *, seed=None):
    """Return draws of a quantity of a group without runs, of the ``kind`` typical or new."""
    label, names = kind, fit["posterior"][GROUP].values
    while label in names:
        label += "_"
    added = predict_group(fit, name=label, typical=kind == "typical", seed=seed)
    return added["posterior"][quantity].sel({GROUP: label}, drop=True)


@figure
def plot_worth(
    fit: Fit | Gains,
    baseline: str | None = None,
    compute: ArrayLike | None = None,
    *,
    level: float = 0.95,
    **options: Any,
) -> Picture:
    """Plot the compute multiplier of each group of runs against the budget, or the gain of each at every look.

    Parameters
    ----------
    fit : Fit or Gains
        Of a `Grouped` law; or what `worth` returned of a table, whose gain is drawn after each seed, in the order of
        its rows.
    baseline : str, optional
        Group with which the others are compared, of a fit.
    compute : array_like, shape (compute,), optional
        Budgets in FLOP; by default from the least run to 30 times the largest one.
    **options
        ``tokens_per_parameter``, ``beyond``, ``robust`` and what is planned, as for `worth`.

    Examples
    --------
    >>> import bayescaling as bs
    >>> runs = bs.load("chinchilla_runs")
    >>> halves = runs.assign(half=["a", "b"] * 122 + ["a"])
    >>> law = bs.laws.Grouped(bs.laws.Chinchilla(noise="normal", scatter="one"), "half")
    >>> fit = bs.fit(law, halves, seed=1, draws=500, tune=500)
    >>> axes = bs.plot_worth(fit, "a")
    >>> axes.finding[:26]
    'At 3.89e23 FLOP, b is wort'
    """
    if isinstance(fit, Gains):
        if options or baseline is not None or compute is not None or level != LEVEL:
            raise InputError("what worth returned of a table is drawn as it is; leave out all but fit")
        return _looks(fit)
    level = check_level(level)
    check_baseline(fit, baseline)
    ranges = np.array([compute_range(fit, group=name) for name in fit.draws.reference[GROUPS]])
    largest = np.nanmax(ranges)
    if compute is None:
        compute = np.geomspace(np.nanmin(ranges), FURTHER * largest, POINTS)
    budgets = np.sort(budgets_of(compute))
    multiplier = multipliers(fit, baseline, budgets, **options)[0]["multiplier"]
    layers = [Layer("line", "baseline", frame(x=budgets, y=1.0), Look(GREY, "dash"), False, 1.0)]
    names = [str(name) for name in multiplier[GROUP].values]
    three = {name: ends(multiplier.sel({GROUP: name}), level) for name in names}
    for name, look in with_looks(names):
        layers += median_and_band(budgets, three[name].clip(1 / MOST, MOST), look, name)
    first = names[0]
    last = [three[first][i][-1] for i in range(3)]
    better = float((multiplier.sel({GROUP: first}).isel(compute=-1) > 1).mean())
    return Picture(
        title=f"At {flop(budgets[-1])}, {first} is worth {in_words(last, factor)} times the compute of {baseline}; "
        f"it is better with probability {probability(better)}",
        caption=f"Lines are medians and bands {percent(level)} intervals of the compute that {baseline} needs for the "
        f"same loss, over the budget. The largest run has {flop(largest)}; factors end at {MOST:g}.",
        x=Axis("Training compute (FLOP)", "flop", log=True),
        y=Axis("Compute multiplier", log=True),
        layers=tuple(layers),
    )


def _looks(change):
    """Return the picture of gains after each seed, without the first looks, whose intervals are very wide."""
    of = {name: change.attrs[name] for name in ("baseline", "by", "source", "measure")}
    runs, looks = pd.DataFrame(change.attrs["runs"]), {}
    for count in range(2, runs["recipe"].value_counts().max() + 1):
        with contextlib.suppress(InputError):
            looks[count] = judged(runs.groupby("recipe").head(count).to_dict("list"), **of)
    layers = [Layer("line", "no change", frame(x=[min(looks), max(looks)], y=0.0), Look(GREY, "dash"), False, 1.0)]
    for name, look in with_looks([*change.index]):
        gains = np.array([result.loc[name, [LOW, MIDDLE, HIGH]].to_numpy(float) for result in looks.values()]).T
        wide = ~(np.ptp(gains, axis=0) <= min(WIDEST * np.ptp(gains[:, -1]), np.finfo(float).max))
        layers += median_and_band([*looks], np.where(wide & [[True], [False], [True]], np.nan, gains), look, name)
    (first, row), *_ = change.iterrows()
    unit = " nats" if of["measure"] == "loss" else ""
    return Picture(
        title=f"{first} gains {plain(row, '{:.4f}')}{unit} on {of['baseline']}; it is better with probability "
        f"{probability(row['p_better'])}",
        caption="Lines are differences of means after each seed, and bands intervals that hold the true gain at "
        "all looks together with a probability of 95%.",
        x=Axis("Runs of each"),
        y=Axis(f"Gain in {of['measure']} on {of['baseline']}" + (unit and " (nats)")),
        layers=tuple(layers),
        source=f"Data: {of['source']}",
    )
