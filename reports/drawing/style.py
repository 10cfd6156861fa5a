"""The look that all figures share: colours, axes and their titles, number formats."""

from ...plots import style
from ...plots.style import BLACK, BLUE, GREEN, GRID, INK, INNER, ORANGE, OUTER, PURPLE, RED

GREY, SKY = style.GREY, style.SKY
# Colours and dashes of curves that stand in one figure, in this order.
SERIES = ((BLUE, "solid"), (ORANGE, "dash"), (GREEN, "dot"), (RED, "dashdot"), (PURPLE, "longdash"), (BLACK, "solid"))
FONT = {"family": style.FONTS, "size": 13, "color": INK}
SIZES = [[0, "#dbe9f6"], [0.5, "#5b9bd0"], [1, "#0b2f57"]]
PUBLISHED = {source: (look.colour, look.dash) for source, look in style.PUBLISHED.items()}
OTHER = (style.OTHER.colour, style.OTHER.dash)  # a source without a look in `PUBLISHED`
LOSS = "Loss (nats/token)"
COMPUTE = "Training compute C = 6ND (FLOP)"
PARAMETERS = "Parameters N"
TOKENS = "Training tokens D"
BASIS_LABELS = {"total": "all parameters", "nonembedding": "without embeddings"}
# Above the panels, growing upwards, so that it never covers the data, however many rows it takes.
LEGEND = {"orientation": "h", "yanchor": "bottom", "y": 1.02, "x": 0, "traceorder": "normal"}
OVER_TITLES = LEGEND | {"y": 1.08}  # where panels have titles
POWER = {"exponentformat": "power", "showexponent": "all", "dtick": 1}


def faded(colour, alpha):
    """Return a hex colour as rgba with `alpha`."""
    r, g, b = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({r},{g},{b},{alpha})"


def figure(*traces, x=None, y=None, height=420, caption=None, **layout):
    """Make a figure with the shared look; `x` and `y` are axis options, their ``title`` a string with its unit.

    The `caption` states what to see, where the titles of the axes do not.
    """
    import plotly.graph_objects as go

    drawn = go.Figure([*traces])
    if caption:
        layout["meta"] = {"caption": caption}
    drawn.update_layout(
        template="none",  # a page has one for all its figures
        font=FONT,
        height=height,
        margin={"l": 70, "r": 55, "t": 30, "b": 60},
        legend={"bgcolor": "rgba(255,255,255,0.7)"},
        hoverlabel={"align": "left"},
        modebar={"orientation": "v"},
        **layout,
    )
    for update, options in ((drawn.update_xaxes, x), (drawn.update_yaxes, y)):
        update(showgrid=True, gridcolor=GRID, zeroline=False, **axis(**(options or {})))
    return drawn


def panels(rows, cols, *, height, caption, **options):
    """Make a figure of panels with the shared look; options are of `make_subplots`."""
    from plotly.subplots import make_subplots

    drawn = make_subplots(rows=rows, cols=cols, **options)
    drawn.update_layout(figure(height=height, caption=caption).layout)
    return drawn.update_xaxes(showgrid=True, gridcolor=GRID).update_yaxes(showgrid=True, gridcolor=GRID)


def axis(title=None, **options):
    """Return axis options with a title; logarithmic axes show decades as powers of ten."""
    powers = POWER if options.get("type") == "log" else {}
    return {"title": {"text": title, "standoff": 8}} | powers | options if title else powers | options


def band(x, low, high, colour, name, *, group=None, shade=OUTER):
    """Draw a shaded band between two lines."""
    import plotly.graph_objects as go

    edge = {"line": {"width": 0}, "hoverinfo": "skip", "legendgroup": group, "mode": "lines"}
    return [
        go.Scatter(x=x, y=high, showlegend=False, **edge),
        go.Scatter(x=x, y=low, fill="tonexty", fillcolor=faded(colour, shade), name=name, **edge),
    ]


def line(x, y, colour, name, **options):
    """Draw a line."""
    import plotly.graph_objects as go

    style = {"color": colour, "width": options.pop("width", 2), "dash": options.pop("dash", "solid")}
    return go.Scatter(x=x, y=y, mode="lines", line=style, name=name, **options)


def points(x, y, colour, name, hover=None, *, size=6, symbol=None, opacity=None, marker=None, **options):
    """Draw points with a hover text; `marker` has more of their look."""
    import plotly.graph_objects as go

    look = {"color": colour, "size": size, "symbol": symbol, "opacity": opacity} | (marker or {})
    return go.Scatter(x=x, y=y, mode="markers", marker=look, name=name, hovertemplate=hover, **options)


def median_and_bands(x, quantiles, colour, hover_format, *, name="median"):
    """Draw a median with its 50% and 95% bands, whose hover text includes the interval.

    Parameters
    ----------
    x : array_like, shape (point,)
    quantiles : array_like, shape (5, point)
        The ends of the central 95% and 50%, and the median, in ascending order.
    colour : str
    hover_format : tuple of str
        The text before the numbers, the format of a number (of d3), and its unit.
    name : str
        Of the median in the legend.
    """
    before, form, unit = hover_format
    ends = [[low, high] for low, high in zip(quantiles[0], quantiles[4], strict=True)]
    low, high = (f"%{{customdata[{i}]:{form}}}" for i in (0, 1))
    hover = f"{before}<br>%{{y:{form}}} [{low}, {high}] {unit}<extra>{name}, 95%</extra>"
    return [
        *band(x, quantiles[0], quantiles[4], colour, "95%"),
        *band(x, quantiles[1], quantiles[3], colour, "50%", shade=INNER),
        line(x, quantiles[2], colour, name, customdata=ends, hovertemplate=hover),
    ]
