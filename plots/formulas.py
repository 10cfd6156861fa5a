"""Figures of a formula: its rows and its curve along each column, a colour for each group, and answers to questions."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from ..datasets.formula_nodes import spell
from ..datasets.wording import check_choice, printable, shorten_number
from ..errors import InputError
from ..inference.formulas.ask import ask, respond
from ..inference.words import HIGH, LOW, MIDDLE, plain
from ..models.draws import DRAWS
from .figure import Drawing, figure
from .intervals import plot_intervals
from .picture import Axis, Layer, Picture, frame, median_and_band
from .shared import check_level, ends, in_words, percent, with_looks
from .style import GREY, Look

if TYPE_CHECKING:
    from ..inference.fitted import Fit

AHEAD, POINTS = 10.0, 60  # times the largest row, to which the curve is drawn, and its places
MOST_GROUPS, MOST_PANELS = 6, 4
ALIKE = 100.0  # medians within this factor are drawn in their own units


@figure
def plot_ask(fit: Fit, *questions: str, **drawing: Unpack[Drawing]) -> Picture:
    """Plot the answers of a formula to questions, an interval each.

    Parameters
    ----------
    fit : Fit
        Of a formula.
    *questions : str
        As for `ask`, of numbers. Answers of very different size are drawn as multiples of their medians.

    Examples
    --------
    >>> import bayescaling as bs
    >>> import pandas as pd
    >>> table = pd.DataFrame({"n": [1e6, 3e6, 1e7, 3e7, 1e8, 3e8], "loss": [4.12, 3.61, 3.22, 2.92, 2.71, 2.54]})
    >>> axes = bs.plot_ask(bs.fit("loss ~ E + A * n**-alpha", table, seed=1), "alpha", "E")
    >>> axes.finding[:8]
    'alpha is'
    """
    answers = ask(fit, *questions)
    answers = answers[np.isfinite(answers[MIDDLE])]
    if answers.empty:
        raise InputError("no question has an interval; ask for a number such as a constant or a value")
    names = [f"{label}: {plain(row, '{:.3g}')}" for label, row in answers.iterrows()]
    middle = np.abs(answers[MIDDLE])
    own = (answers[LOW] <= 0).any() or middle.max() < ALIKE * middle.min()
    drawn = answers[[LOW, MIDDLE, HIGH]].to_numpy(float) / (1.0 if own else middle.to_numpy()[:, None])
    draw: Any = plot_intervals
    picture = draw.picture(dict(zip(names, drawn, strict=True)), "value" if own else "times the median", log=not own)
    return replace(
        picture,
        title=" is ".join(names[0].rsplit(": ", 1)),
        caption="Medians and 95% intervals, draw by draw. An arrow: the interval ends beyond the axis.",
        y=Axis("", names=tuple(names)),
        source="",
        checked=False,
    )


def draw_formula(fit, *, along=None, level=0.95):
    """Return the picture of a fit of a formula along a column, by default a panel for each, others at their centre.

    Raises
    ------
    InputError
        If the formula has no such column.
    """
    law, rows, level = fit.law, fit.rows, check_level(level)
    if not law.columns:
        return _draw_groups(fit, level)
    check_choice("along", along or law.columns[0], law.columns)
    columns = [along] if along else sorted(law.columns, key=lambda name: -rows[name].nunique())[:MOST_PANELS]
    first, *others = [_panel(fit, name, level) for name in columns if name == columns[0] or rows[name].nunique() > 1]
    panels = (replace(one, layers=tuple(replace(layer, legend=False) for layer in one.layers)) for one in others)
    return replace(first, panels=tuple(panels), height=4.2 + 2.8 * len(others))


def _groups_of(fit):
    """Return the rows of each group by its name, and the values that are given of it; of no groups all rows."""
    by = fit.law.apart
    labels = np.array(fit.law.group_labels(fit.rows, by)) if by else np.full(len(fit.rows), "")
    parts = {name: fit.rows[labels == name] for name in dict.fromkeys(labels)}
    return {name: (of, {column: str(of[column].iloc[0]) for column in by}) for name, of in parts.items()}


def _panel(fit, column, level):
    law, rows = fit.law, fit.rows
    x, response, layers = rows[column].to_numpy(float), law.response(rows), []
    log = bool((x > 0).all())
    scale = np.log if log else np.asarray
    last = AHEAD * x.max() if log else x.max()
    grid = np.geomspace(x.min(), last, POINTS) if log else np.linspace(x.min(), last, POINTS)
    centre = {name: fit.draws.reference[f"centre of {name}"] for name in law.columns if name != column}
    groups = dict([*_groups_of(fit).items()][:MOST_GROUPS])
    places = [centre | given | {column: place} for _, given in groups.values() for place in grid]
    three = ends(respond(fit, places), level).reshape(3, len(groups), POINTS)
    for k, (name, look) in enumerate(with_looks(list(groups))):
        of, label = groups[name][0], printable(name) or "the formula"
        layers += median_and_band(grid, three[:, k], look, label, legend=bool(name))
        at, y = of[column].to_numpy(float), law.response(of)
        if centre:  # to the centre, with what the law leaves of them
            mean = np.median(fit.draws.mean(of).transpose(*DRAWS, ...).values, axis=(0, 1))
            mean = mean / of[law.counts[1]].to_numpy(float) if law.counts else mean
            there = np.interp(scale(at), scale(grid), three[1, k])
            y = law.from_scale(law.on_scale(y) - law.on_scale(mean) + law.on_scale(there))
        if (sd := _errors(law, of, y)) is not None:
            error = frame(x=at, low=y - 2 * sd, high=y + 2 * sd)
            layers.append(Layer("upright", f"two standard errors, {label}", error, look, False, 0.8, 0.4))
        layers.append(Layer("points", f"rows, {label}", frame(x=at, y=y), look, False, 4.0, 0.5 if centre else 0.9))
    for name in (name for name in law.floors if name not in law.groups):
        floor = float(fit["posterior"][name].median())
        if response.min() / 2 < floor < 2 * response.max():
            layers.append(Layer("line", name, frame(x=[x.min(), last], y=floor), Look(GREY, "dot"), name, 1.2, 0.8))
    if log:
        edge = frame(x=[x.max(), x.max()], y=[float(response.min()), float(response.max())])
        layers.append(Layer("line", "the largest row", edge, Look(GREY), "largest row", 1.0, 0.6))
    caption = f"Points are rows, the line is the median of {law.label}, with {percent(level)} bands of its mean."
    if centre:
        others = f"Of the other columns ({', '.join(centre)}) the curve has the centre"
        caption += f" {others}, and rows are moved there by the law."
    value = in_words(three[:, -1, -1], lambda q: plain(q, "{:.3g}"))
    of_name = f" of {name}" if (name := [*groups][-1]) else ""
    return Picture(
        title=f"{law.parsed.left}{of_name} is {value} at {spell(column)} = {shorten_number(float(f'{last:.3g}'))}",
        caption=caption,
        x=Axis(column, "flop" if last >= 1e4 else "number", log=log),
        y=Axis(str(law.parsed.left), log=law.noise == "relative" and response.max() > 2 * response.min()),
        layers=tuple(layers),
        height=4.2,
    )


def _errors(law, rows, y):
    """Return the standard errors of rows, None where there are none."""
    if law.counts:
        return np.sqrt(y * (1 - y) / rows[law.counts[1]].to_numpy(float))
    return law.error_sizes(rows)[0] if law.error_columns else None


def _draw_groups(fit, level):
    """Return the picture of a formula of groups alone: the rows of each, and its interval."""
    layers, groups = [], _groups_of(fit)
    three = ends(respond(fit, [given for _, given in groups.values()]), level)
    for k, (name, look) in enumerate(with_looks(list(groups))):
        y = fit.law.response(groups[name][0])
        layers.append(Layer("points", f"rows, {name}", frame(x=y, y=k + 0.25), look, False, 3.0, 0.5))
        of = frame(x=three[1, k], y=k, low=three[0, k], high=three[2, k])
        layers.append(Layer("level", name, of, look, False, 5.0))
    texts = [f"{name}: {in_words(three[:, k], lambda q: plain(q, '{:.3g}'))}" for k, name in enumerate(groups)]
    return Picture(
        title=f"{fit.law.parsed.left} of {texts[0].replace(': ', ' is ')}",
        caption=f"Small points are rows; large ones are medians of {fit.law.label} with {percent(level)} intervals.",
        x=Axis(str(fit.law.parsed.left)),
        y=Axis("", names=tuple(texts)),
        layers=tuple(layers),
        height=1.7 + 0.5 * len(groups),
    )
