"""Figures of the exponent of the best size: with and without embeddings, and by group of runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from ..datasets import load
from ..datasets.kinds.runs import RUNS
from ..datasets.wording import unknown
from ..errors import InputError
from ..inference.estimands.predict_group import predict_group
from ..inference.estimands.study_exponents import BASES, NAMED, study_exponents
from ..inference.fitted import of_kind
from ..inference.quoted import quote_draws
from ..inference.words import plain, probability, symbols
from ..models.loss.grouping import GROUP
from .checks import EXPONENT, NAMES
from .figure import Drawing, figure
from .picture import Axis, Layer, Picture, frame
from .published import PREFIX
from .shared import check_level, ends, in_words, percent
from .style import BLUE, GREY, Look, look_of

if TYPE_CHECKING:
    from ..inference.fitted import Fit

KAPLAN = "reconciliation.kaplan_exponent"
UNSEEN = {"typical": "typical group", "new": "a new group"}


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

    Raises
    ------
    InputError
        If the fit is of another law, or an option cannot be used.

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

    Raises
    ------
    InputError
        If the law of the fit has no groups, or no such quantity of each of them.

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
    if quantity not in by_group:
        raise InputError(unknown(f"for a fit of {law.name}, the quantity of groups", quantity, by_group))
    names = [str(name) for name in posterior[GROUP].values]
    draws = {name: posterior[quantity].sel({GROUP: name}, drop=True) for name in names}
    if law.pooled and {*(law.exponents if quantity == EXPONENT else [quantity])} <= {*law.pooled, *law.shared}:
        draws |= {label: _unseen(fit, quantity, names, kind) for kind, label in UNSEEN.items()}
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


def _unseen(fit, quantity, names, kind):
    """Return draws of a quantity of a group without runs."""
    label = kind
    while label in names:
        label += "_"
    added = predict_group(fit, name=label, typical=kind == "typical")
    return added["posterior"][quantity].sel({GROUP: label}, drop=True)
