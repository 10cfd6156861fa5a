"""Draw a picture with Plotly."""

import numpy as np

from .style import FONTS, THEMES, wrapped

INCH = 96  # pixels
CHARACTERS = 80  # of a line of the title
YEAR_TICKS = 8
LARGE = 1000  # numbers from here on are written in full
SOURCE = "source"  # name of the annotation on the data and the date


def draw(picture):
    """Return a picture as a plotly Figure, with its caption and table."""
    import plotly.graph_objects as go
    from plotly.subplots import make_subplots

    theme, panels = THEMES[picture.theme], (picture, *picture.panels)
    figure = make_subplots(len(panels), 1) if picture.panels else go.Figure()
    for row, panel in enumerate(panels, 1):
        traces = [options for layer in panel.layers for options in DRAWERS[layer.kind](layer)]
        where = {"rows": [row] * len(traces), "cols": [1] * len(traces)} if picture.panels else {}
        shown = {"showlegend": False} if row > 1 else {}
        figure.add_traces([go.Scatter(**options | shown) for options in traces], **where)
    figure.update_traces(textfont={"size": 10, "color": theme.soft})
    lines = wrapped(picture.title, CHARACTERS)
    figure.update_layout(
        template="none",
        title={"text": "<br>".join(lines), "x": 0, "xref": "paper", "font": {"size": 15}},
        font={"family": FONTS, "size": 13, "color": theme.ink},
        paper_bgcolor=theme.paper,
        plot_bgcolor=theme.paper,
        width=None if picture.width is None else round(INCH * picture.width),
        height=round(INCH * picture.height) + 20 * (len(lines) - 1),
        margin={"l": 70, "r": 30, "t": 40 + 20 * len(lines), "b": 80},
        legend={"bgcolor": _faded(theme.paper, 0.7)},
        hoverlabel={"align": "left"},
        meta={"caption": picture.caption},
    )
    figure.add_annotation(name=SOURCE, text=picture.source, x=0, y=0, xref="paper", yref="paper", yshift=-56,
                          showarrow=False, xanchor="left", yanchor="top",
                          font={"size": 10, "color": theme.soft})  # fmt: skip
    for row, panel in enumerate(panels, 1):
        for which in "xy":
            place = {"row": row, "col": 1} if picture.panels else {}
            _set_axis(figure, which, getattr(panel, which), panel.ends(which), theme, place)
    # Plotly refuses new attributes by assignment.
    for name, value in (("finding", picture.title), ("caption", picture.caption), ("table", picture.table)):
        object.__setattr__(figure, name, value)
    return figure


def _set_axis(figure, which, axis, ends, theme, place):
    title = {"text": axis.title, "standoff": 8}
    options = {"title": title, "gridcolor": theme.grid, "zeroline": False, "automargin": True}
    if axis.log:
        options |= {"type": "log", "range": np.log10(ends).tolist()}
    else:
        numbers = ",.0f" if max(map(abs, ends)) >= LARGE else ".3~g"
        options |= {"range": list(ends), "tickformat": {"percent": ".3~%", "year": "d"}.get(axis.form, numbers)}
        if axis.form == "year":
            options["dtick"] = max(1, round((ends[1] - ends[0]) / YEAR_TICKS))
    if axis.log or axis.names:
        places, texts = axis.ticks(*ends)
        options |= {"tickvals": places, "ticktext": texts}
    getattr(figure, f"update_{which}axes")(**options, **place)


def _faded(colour, alpha):
    r, g, b = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({r},{g},{b},{alpha})"


def _named(layer):
    return {"name": layer.key or layer.name, "showlegend": bool(layer.key)}


# Each returns the options of the traces of a layer.


def _band(layer):
    edge = {"x": layer.data["x"], "line": {"width": 0}, "mode": "lines", "hoverinfo": "skip"}
    fill = {"fill": "tonexty", "fillcolor": _faded(layer.look.colour, layer.opacity)}
    return [
        {"y": layer.data["high"], "name": layer.name, "showlegend": False, **edge},
        {"y": layer.data["low"], **fill, **_named(layer), **edge},
    ]


def _line(layer):
    style = {"color": layer.look.colour, "dash": layer.look.dash, "width": layer.width}
    return [_at_points(layer, "lines") | {"line": style}]


def _points(layer):
    marker = {"color": layer.look.colour, "symbol": layer.look.marker, "size": 1.4 * layer.width}
    return [_at_points(layer, "markers") | {"marker": marker}]


def _at_points(layer, mode):
    options = {"x": layer.data["x"], "y": layer.data["y"], "opacity": layer.opacity, "mode": mode, **_named(layer)}
    if not layer.texts:
        return options
    return options | {"mode": f"{mode}+text", "text": layer.texts, "textposition": "top left"}


def _upright(layer):
    x, y = layer.segments("x")
    style = {"color": layer.look.colour, "width": layer.width}
    bars = {"x": x, "y": y, "mode": "lines", "line": style, "opacity": layer.opacity, "hoverinfo": "skip"}
    return [bars | _named(layer)]


def _level(layer):
    y, x = layer.segments("y")
    style = {"color": layer.look.colour, "width": 2.5}
    bars = {"x": x, "y": y, "mode": "lines", "line": style, "hoverinfo": "skip"}
    return [bars | {"name": layer.name, "showlegend": False}, *_points(layer)]


DRAWERS = {"band": _band, "line": _line, "points": _points, "upright": _upright, "level": _level}
