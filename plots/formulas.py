"""The figure of a formula: its rows and its curve along one column, a colour for each group."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ..datasets.formula_nodes import names_in, spell
from ..datasets.wording import check_choice
from ..inference.quoted import quote_draws
from ..inference.words import plain
from .picture import Axis, Layer, Picture, frame, median_and_band
from .shared import check_level, ends, in_words, percent, with_looks
from .style import GREY, Look

AHEAD, POINTS = 10.0, 60  # times the largest row, to which the curve is drawn, and its places
MOST_GROUPS = 6


def draw_formula(fit, *, along=None, level=0.95):
    """Return the picture of a fit of a formula along a column, by default that of most values, others at their centre.

    Raises
    ------
    InputError
        If the formula has no such column.
    """
    law, rows, level = fit.law, fit.rows, check_level(level)
    column = along or max(law.columns, key=lambda name: rows[name].nunique())
    check_choice("along", column, law.columns)
    x = rows[column].to_numpy(float)
    log = bool((x > 0).all())
    last = AHEAD * x.max() if log else x.max()
    grid = np.geomspace(x.min(), last, POINTS) if log else np.linspace(x.min(), last, POINTS)
    key, groups = law.levels[0] if law.levels else ((), ("",))
    response, layers = law.response(rows), []
    of_group = np.array(law.group_labels(rows, key), object) if key else np.full(len(rows), "")
    others = [name for name in law.columns if name != column and rows[name].nunique() > 1]
    for name, look in with_looks(list(groups[:MOST_GROUPS])):
        at = _rows_along(fit, column, grid, key, name)
        three = ends(quote_draws(fit, fit.draws.mean(at).rename(None)), level)
        label = name or "the formula"
        layers += median_and_band(grid, three, look, label, legend=bool(key))
        of = of_group == name
        if law.error_columns:
            sd = law.error_sizes(rows.loc[of])[0]
            ends_of_rows = frame(x=x[of], low=response[of] - 2 * sd, high=response[of] + 2 * sd)
            layers.append(Layer("upright", f"two standard errors, {label}", ends_of_rows, look, False, 0.8, 0.4))
        points = frame(x=x[of], y=response[of])
        layers.append(Layer("points", f"rows, {label}", points, look, False, 4.0, 0.4 if others else 0.9))
    if log:
        edge = frame(x=[x.max(), x.max()], y=[float(response.min()), float(response.max())])
        layers.append(Layer("line", "the largest row", edge, Look(GREY), "beyond it no row", 1.0, 0.6))
    centre = f" Of the other columns ({', '.join(others)}) the curve has the centre." if others else ""
    value = in_words(three[:, -1], lambda q: plain(q, "{:.3g}"))
    where = f"{spell(column)} = {last:.3g}".replace("e+0", "e").replace("e+", "e")
    of_name = f" of {groups[:MOST_GROUPS][-1]}" if key else ""
    return Picture(
        title=f"{law.parsed.left}{of_name} is {value} at {where}",
        caption=f"Points are rows, the line is the median of {law.label}, with {percent(level)} bands of its mean."
        + centre,
        x=Axis(column, "flop" if x.max() >= 1e4 else "number", log=log),
        y=Axis(str(law.parsed.left), log=law.noise == "relative" and response.max() > 2 * response.min()),
        layers=tuple(layers),
        height=4.2,
    )


def _rows_along(fit, column, grid, key, group):
    """Return rows along a column at the centre of the others, of a group; what is observed there is of no meaning."""
    law, rows = fit.law, fit.rows
    table = pd.DataFrame({name: np.full(len(grid), fit.draws.reference[f"centre of {name}"]) for name in law.columns})
    table[column] = grid
    for name in key:
        table[name] = rows.loc[np.array(law.group_labels(rows, key), object) == group, name].iloc[0]
    of_response = [name.name for name in names_in(law.parsed.left)]
    return table.assign(**{name: 1.0 for name in (law.observed, *of_response, *law.error_columns) if name not in table})
