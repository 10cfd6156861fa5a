"""Figures of the best size: along compute, at one budget by law, and its exponent as studies measure it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..datasets import load
from ..datasets.kinds.runs import RUNS
from ..datasets.wording import check_choice
from ..errors import InputError
from ..inference.estimands.allocate import allocate, checked_plan, compute_range
from ..inference.estimands.study_exponents import BASES, NAMED, study_exponents
from ..inference.fitted import Fit, of_kind
from ..inference.words import flop, plain, probability, ratios, sizes
from .checks import EXPONENT, NAMES
from .figure import figure
from .picture import Axis, Layer, Picture, frame, median_and_band
from .runs import COMPUTE
from .shared import (
    PREFIX,
    budgets_of,
    check_level,
    ends,
    in_words,
    named_fits,
    one_budget,
    percent,
    published_optima,
    wanted,
    with_looks,
)
from .style import BLACK, BLUE, GREY, Look, look_of

POINTS, AHEAD, RULE = 31, 100.0, 20.0  # RULE: tokens per parameter, the rule of thumb
BUDGET = Axis("Compute of training and serving (FLOP)", "flop", log=True)
SPAN = 30.0  # times the medians, beyond which intervals are cut


SHOWN = {  # title of the axis, form of its ticks, an interval in words, and what the best model has
    "tokens_per_parameter": ("Best tokens per parameter", "size", ratios, "tokens per parameter"),
    "parameters": ("Best parameters N*", "size", sizes, "parameters"),
    "tokens": ("Best training tokens D*", "size", sizes, "tokens"),
    "loss": ("Loss of the best model (nats/token)", "number", plain, "nats/token of loss"),
}
WIDTHS: dict[str, tuple[dict[str, Any], Look]] = {  # of the interval of an allocation, narrowest first
    "law alone": ({"robust": False, "beyond": "none"}, Look("#8fbbe0")),
    "robust": ({"robust": True, "beyond": "none"}, Look("#1f5f99", marker="square")),
    "robust, with drift": ({}, Look("#0b2f57", marker="diamond")),
}
KAPLAN = "reconciliation.kaplan_exponent"


@figure
def plot_frontier(
    fits: Fit | Sequence[Fit] | Mapping[str, Fit],
    compute: ArrayLike | None = None,
    *,
    show: str = "tokens_per_parameter",
    demand: float | None = None,
    published: bool | None = None,
    level: float = 0.95,
    **planned: Any,
) -> Picture:
    """Plot what is best at each budget against compute, for one or several fits.

    Parameters
    ----------
    fits : Fit, sequence of Fit, or mapping of str to Fit
        Of laws of runs.
    compute : array_like, optional
        Budgets in FLOP, at least two; by default from the least run to 100 times the largest. The title is of the
        last.
    show : {"tokens_per_parameter", "parameters", "tokens", "loss"}
    demand : float, optional
        Tokens that the model serves over its life, as for `Fit.allocate`; budgets then pay for both.
    published : bool, optional
        Whether to draw the optimum under published constants, and the rule of 20 tokens per parameter; by default of
        fits of ``chinchilla_runs``. The optimum is not drawn for the loss, which depends on the corpus, nor with a
        demand.

    Examples
    --------
    >>> import bayescaling as bs
    >>> fit = bs.fit(bs.laws.Chinchilla(), bs.load("chinchilla_runs"), seed=1, draws=500, tune=500)
    >>> axes = bs.plot_frontier(fit, [1e20, 1e24])
    >>> axes.get_title(loc="left")[:28]
    'At 1e24 FLOP, the best model'
    """
    level, named = check_level(level), named_fits(fits, RUNS)
    ranges = [compute_range(fit, **checked_plan(fit.law, planned)) for fit in named.values()]
    least, largest = min(low for low, _ in ranges), max(high for _, high in ranges)
    budgets = np.geomspace(least, AHEAD * largest, POINTS) if compute is None else np.sort(budgets_of(compute))
    if len(budgets) < 2:
        raise InputError("a frontier needs at least two budgets; plot_allocation draws one")
    check_choice("show", show, SHOWN)
    title, form = SHOWN[show][:2]
    published = wanted(published, named.values())
    layers, answers = [], {}
    for name, look in with_looks(named):
        at = allocate(named[name], budgets, demand=demand, **planned)
        at = at.isel(demand=0) if "demand" in at.dims else at
        three = ends(at[show], level)
        half = ends(at[show], 0.5)[[0, 2]] if len(named) == 1 else None
        layers += median_and_band(budgets, three, look, name, half=half)
        answers[name] = three[:, -1]
    if published and demand is None and show != "loss":
        for source, optimum in published_optima(budgets).items():
            layers.append(Layer("line", source, frame(x=budgets, y=optimum[show]), look_of(source)))
    if published and show == "tokens_per_parameter":
        rule = frame(x=budgets[[0, -1]], y=RULE)
        layers.append(Layer("line", "20 per parameter", rule, Look(GREY, "dot"), width=1.5))
    low, high = _span(layers)
    layers.append(Layer("line", "largest run", frame(x=largest, y=[low, high]), Look(BLACK), width=0.8))
    return Picture(
        title=_best_at(budgets[-1], answers, SHOWN[show]),
        caption=f"Lines are medians and bands {percent(level)} intervals, with the drift outside the runs. The "
        f"vertical line is the largest fitted run, {flop(largest)}.",
        x=COMPUTE if demand is None else BUDGET,
        y=Axis(title, form, log=True, range=(low, high)),
        layers=tuple(layers),
    )


def _span(layers):
    """Return ends of an axis that hold the lines and, up to some times the medians, the bands."""
    lines = np.concatenate([layer.data["y"] for layer in layers if layer.kind == "line"])
    bands = np.concatenate([layer.data[["low", "high"]].to_numpy().ravel() for layer in layers if layer.kind == "band"])
    low, high = np.quantile(lines, [0.02, 0.98])
    return max(bands.min(), low / SPAN) / 1.05, min(bands.max(), high * SPAN) * 1.05


def _best_at(compute, answers, shown):
    *_, write, what = shown
    words = [in_words(three, write) for three in answers.values()]
    finding = f"{words[0]} {what}"
    if len(words) > 1:
        phrases = [f"{text} under {name}" for text, name in zip([finding, *words[1:]], answers, strict=True)]
        finding = f"{', '.join(phrases[:-1])} and {phrases[-1]}"
    return f"At {flop(compute)}, the best model has {finding}"


@figure
def plot_allocation(
    fits: Fit | Sequence[Fit] | Mapping[str, Fit],
    compute: float,
    *,
    show: str = "parameters",
    published: bool | None = None,
    level: float = 0.95,
    **planned: Any,
) -> Picture:
    """Plot what is best at one budget, one row a fit: under the law alone, robust, and with the drift.

    Parameters
    ----------
    fits : Fit, sequence of Fit, or mapping of str to Fit
        Of laws of runs.
    compute : float
        Training budget C in FLOP.
    show : {"parameters", "tokens", "tokens_per_parameter", "loss"}
    published : bool, optional
        Whether to draw the optimum under published constants (not of the loss, which depends on the corpus); by default
        of fits of ``chinchilla_runs``.

    Examples
    --------
    >>> import bayescaling as bs
    >>> fit = bs.fit(bs.laws.Chinchilla(), bs.load("chinchilla_runs"), seed=1, draws=500, tune=500)
    >>> axes = bs.plot_allocation(fit, 1e24)
    >>> axes.get_title(loc="left")[:28]
    'At 1e24 FLOP, the best model'
    """
    level, named, compute = check_level(level), named_fits(fits, RUNS), one_budget(compute)
    check_choice("show", show, SHOWN)
    title, form = SHOWN[show][:2]
    ranges = [compute_range(fit, **checked_plan(fit.law, planned)) for fit in named.values()]
    outside = any(compute < least or compute > most for least, most in ranges)
    widths = {name: x for name, x in WIDTHS.items() if outside or name != "robust, with drift"}
    layers, quoted = [], {}
    for offset, (width, (options, look)) in zip(np.linspace(-0.22, 0.22, len(widths)), widths.items(), strict=True):
        rows = []
        for fit in named.values():
            at = allocate(fit, compute, **options, **planned)
            rows.append(ends(at[show].isel(compute=0), level))
        quoted = dict(zip(named, rows, strict=True))
        low, middle, high = np.array(rows).T
        data = frame(x=middle, y=np.arange(len(rows)) + offset, low=low, high=high)
        layers.append(Layer("level", width, data, look, width=6))
    if wanted(published, named.values()) and show != "loss":
        for source, optimum in published_optima([compute]).items():
            data = frame(x=optimum[show][0], y=[-0.5, len(named) - 0.5])
            layers.append(Layer("line", source, data, look_of(source), width=1.5))
    return Picture(
        title=_best_at(compute, quoted, SHOWN[show]),
        caption=f"Points are medians and bars {percent(level)} intervals. The widest interval of a row is the one to "
        "quote: it is robust to what the law misses, inside the runs and beyond them.",
        x=Axis(title, form, log=True),
        y=Axis("", names=tuple(named)),
        layers=tuple(layers),
        height=1.9 + 0.55 * len(named),
    )


@figure
def plot_reconcile(fit: Fit, *, published: bool = True, level: float = 0.95, **models: Any) -> Picture:
    """Plot the exponent that a study would have measured with all parameters, and without those of embeddings.

    Parameters
    ----------
    fit : Fit
        Of ``chinchilla``, ``coupled``, ``offsets`` or ``embedding-corrected``.
    published : bool
        Whether to mark the exponents of Kaplan et al. (2020), Hoffmann et al. (2022) and Besiroglu et al. (2024).
    **models
        ``vocabulary``, ``aspect_ratio``, ``configurations`` or ``study``, as for `Fit.study_exponents`.

    Examples
    --------
    >>> import bayescaling as bs
    >>> fit = bs.fit(bs.laws.Chinchilla(), bs.load("chinchilla_runs"), seed=1, draws=500, tune=500)
    >>> axes = bs.plot_reconcile(fit)
    >>> axes.get_title(loc="left")[:36]
    'Leaving embeddings out changes the e'
    """
    level, exponents = check_level(level), study_exponents(of_kind(fit, RUNS), **models)
    draws = {basis: exponents[basis]["size"] for basis in reversed(BASES)}
    three = {basis: ends(x, level) for basis, x in draws.items()}
    low, middle, high = np.array(list(three.values())).T
    layers = [Layer("level", "exponent", frame(x=middle, y=[0, 1], low=low, high=high), Look(BLUE), False, 6)]
    if published:
        table = load("published").set_index("quantity")
        for place, quantity in enumerate((PREFIX + EXPONENT, KAPLAN)):
            for row in table.loc[[quantity]].itertuples():
                ends_of_row = frame(x=row.estimate, y=[place - 0.4, place + 0.4])
                layers.append(Layer("line", row.source, ends_of_row, look_of(row.source)))
    without, counted = draws["nonembedding"], draws["total"]
    rises = probability(float((without > counted).mean()))
    return Picture(
        title="Leaving embeddings out changes the exponent of the best size from "
        f"{in_words(three['total'], plain)} to {in_words(three['nonembedding'], plain)}",
        caption=f"Points are medians and bars {percent(level)} intervals of the exponent that a study of small models "
        f"would measure under {fit.law.label}. Without embeddings the exponent is larger with probability {rises}.",
        x=Axis(NAMES[EXPONENT]),
        y=Axis("", names=tuple(NAMED[basis] for basis in draws)),
        layers=tuple(layers),
        height=2.6,
    )
