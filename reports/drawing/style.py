"""The look that all figures share: colours, axes and their titles, number formats."""

BLUE, RED, GREEN, ORANGE, GREY = "#1f5f99", "#b5403a", "#3a7d44", "#d07f1b", "#6b7280"
PURPLE, BLACK = "#6d4aa0", "#111827"
FONT = {"family": "Inter, Helvetica, Arial, sans-serif", "size": 13, "color": "#1f2937"}
SIZES = [[0, "#dbe9f6"], [0.5, "#5b9bd0"], [1, "#0b2f57"]]
PUBLISHED_COLOURS = {"Hoffmann et al. 2022": RED, "Besiroglu et al. 2024": GREEN}
LOSS = "Loss (nats/token)"
COMPUTE = "Training compute C = 6ND (FLOP)"
PARAMETERS = "Parameters N"
TOKENS = "Training tokens D"
BASIS_LABELS = {"total": "all parameters", "nonembedding": "without embeddings"}
LEGEND = {"orientation": "h", "yanchor": "bottom", "y": 1.0, "x": 0, "traceorder": "normal"}
ABOVE = {"orientation": "h", "y": 1.2}
POWER = {"exponentformat": "power", "showexponent": "all", "dtick": 1}


def faded(colour, alpha):
    """Return a hex colour as rgba with `alpha`."""
    r, g, b = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({r},{g},{b},{alpha})"


def figure(*traces, x=None, y=None, height=420, **layout):
    """Make a figure with the shared look; `x` and `y` are axis options, their ``title`` a string with its unit."""
    import plotly.graph_objects as go

    drawn = go.Figure([*traces])
    drawn.update_layout(
        template="simple_white",
        font=FONT,
        height=height,
        margin={"l": 70, "r": 55, "t": 30, "b": 60},
        legend={"bgcolor": "rgba(255,255,255,0.7)"},
        hoverlabel={"align": "left"},
        modebar={"orientation": "v"},
        **layout,
    )
    for update, options in ((drawn.update_xaxes, x), (drawn.update_yaxes, y)):
        update(showgrid=True, gridcolor="#eef0f3", zeroline=False, **axis(**(options or {})))
    return drawn


def axis(title=None, **options):
    """Axis options with a title; logarithmic axes show decades as powers of ten."""
    powers = POWER if options.get("type") == "log" else {}
    return {"title": {"text": title, "standoff": 8}} | powers | options if title else powers | options


def band(x, low, high, colour, name, *, group=None):
    """Draw a shaded band between two lines."""
    import plotly.graph_objects as go

    edge = {"line": {"width": 0}, "hoverinfo": "skip", "legendgroup": group, "mode": "lines"}
    return [
        go.Scatter(x=x, y=high, showlegend=False, **edge),
        go.Scatter(x=x, y=low, fill="tonexty", fillcolor=faded(colour, 0.22), name=name, **edge),
    ]


def line(x, y, colour, name, **options):
    """Draw a line."""
    import plotly.graph_objects as go

    style = {"color": colour, "width": options.pop("width", 2), "dash": options.pop("dash", "solid")}
    return go.Scatter(x=x, y=y, mode="lines", line=style, name=name, **options)


def si(x):
    """Write a number in the short form of model sizes: 70B, 1.4T."""
    for size, letter in ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "k")):
        if abs(x) >= size:
            return f"{x / size:.3g}{letter}"
    return f"{x:.3g}"
