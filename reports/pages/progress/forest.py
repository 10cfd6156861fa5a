"""A forest of doubling times: medians with intervals on a logarithmic axis that ends in "never"."""

import numpy as np

from ...drawing.intervals import rows_named
from ...drawing.style import LEGEND, figure, line, points
from .wording import months

MONTHS = "Doubling time of effective compute (months)"
SHORTEST, LONGEST = 1.0, 120.0
NEVER = 170.0


def forest(rows, *, title=MONTHS, longest=LONGEST, row_height=24, caption=None):
    """Draw medians with 50% and 95% intervals of doubling times on a logarithmic axis of months.

    Parameters
    ----------
    rows : list of dict
        From top to bottom, with ``label``, ``group`` (its name in the legend) and ``colour``. Times in months are
        ``q50`` and, if known, ``q2.5``, ``q25``, ``q75`` and ``q97.5``. ``hover`` has more lines of the hover text.
        ``same_row`` is True for a row that shares the place of the row above.
    title : str
        Of the axis.
    longest : float
        Times beyond it end in a triangle at the right edge.
    row_height : int
    caption : str, optional
        What to see, if the title of the axis does not state it.
    """
    place, places, labels = -1, [], []
    for row in rows:
        if not row.get("same_row"):
            place += 1
            labels.append(row["label"])
        places.append(place - (0.0 if not row.get("same_row") else -0.28))
    drawn = figure(height=110 + row_height * max(len(labels), 3), caption=caption)
    groups = dict.fromkeys((row["group"], row["colour"]) for row in rows)
    for group, colour in groups:
        placed = [(row, y) for row, y in zip(rows, places, strict=True) if row["group"] == group]
        drawn.add_traces(_intervals(placed, colour, group, longest))
    ticks = [t for t in (1, 2, 5, 10, 20, 50, 100) if t < longest]
    edge = longest * NEVER / LONGEST
    drawn.update_xaxes(
        title={"text": title, "standoff": 8},
        type="log",
        range=np.log10([SHORTEST * 0.95, edge * 1.1]),
        tickvals=[*ticks, edge],
        ticktext=[*map(str, ticks), "never"],
    )
    rows_named(drawn, labels).update_yaxes(range=[len(labels) - 0.2, -0.8])
    return drawn.update_layout(legend=LEGEND, margin={"t": 50})


def _intervals(placed, colour, group, longest):

    edge = longest * NEVER / LONGEST

    def clipped(x):
        return np.clip(x, SHORTEST, longest if np.isfinite(x) and x <= longest else edge)

    traces = []
    for low, high, width, opacity in (("q2.5", "q97.5", 2, 0.8), ("q25", "q75", 6, 0.55)):
        x, y = [], []
        for row, place in placed:
            if np.isfinite(row.get(low, np.nan)):
                x += [clipped(row[low]), clipped(row[high]), None]
                y += [place, place, None]
        if x:
            style = {"width": width, "opacity": opacity, "hoverinfo": "skip", "showlegend": False, "legendgroup": group}
            traces.append(line(x, y, colour, group, **style))
    beyond = [(row, place) for row, place in placed if row.get("q97.5", 0) > longest]
    if beyond:
        look = {"size": 9, "symbol": "triangle-right", "hoverinfo": "skip", "showlegend": False, "legendgroup": group}
        traces.append(points([edge] * len(beyond), [place for _, place in beyond], colour, None, **look))
    middles, heights = [clipped(row["q50"]) for row, _ in placed], [place for _, place in placed]
    options = {
        "size": 9,
        "symbol": ["circle" if row["q50"] <= longest else "circle-open" for row, _ in placed],
        "marker": {"line": {"color": colour if group else "white", "width": 1}},
        "legendgroup": group,
        "text": [_hover(row) for row, _ in placed],
    }
    hover = "%{text}<extra>" + group + "</extra>"
    return [*traces, points(middles, heights, colour, group, hover, **options)]


def _hover(row):
    lines = [row["label"], f"median {months(row['q50'])} months"]
    for name, low, high in (("95%", "q2.5", "q97.5"), ("50%", "q25", "q75")):
        if low in row and not np.isnan(row[low]):
            lines.append(f"{name}: {months(row[low])} to {months(row[high])}")
    return "<br>".join([*lines, *row.get("hover", [])])
