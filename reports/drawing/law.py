"""Figures of a fitted law of N and D: its runs, its posterior and its loss surface."""

import numpy as np
import xarray as xr

from ...datasets.units import in_unit_of_loss, unit_of_loss
from ...models.draws import DRAWS
from ...models.loss.budget import FLOP_PER_PARAMETER_TOKEN
from ...plots.density import density
from .style import (
    BLUE,
    GREY,
    LEGEND,
    LOSS,
    ORANGE,
    OTHER,
    PARAMETERS,
    PUBLISHED,
    RED,
    SIZES,
    TOKENS,
    figure,
    line,
    panels,
    points,
)


def data(runs):
    """Plot the loss of each run against its parameters, coloured by compute."""
    decades = np.log10(runs["training_flop"])
    ticks = np.arange(np.ceil(decades.min()), np.floor(decades.max()) + 1)
    bar = {"title": {"text": "C (FLOP)"}, "tickvals": ticks, "ticktext": [f"10<sup>{t:.0f}</sup>" for t in ticks]}
    return figure(
        points(
            runs["parameters"],
            runs["loss"],
            decades,
            None,
            "run %{customdata[2]}<br>N %{x:.3s}<br>D %{customdata[0]:.3s}<br>C %{customdata[1]:.3~e} FLOP"
            f"<br>loss %{{y:.3f}} {unit_of_loss(runs)}<extra></extra>",
            size=8,
            marker={"colorscale": SIZES, "line": {"width": 0.5, "color": "#374151"}, "colorbar": bar},
            customdata=np.stack([runs["tokens"], runs["training_flop"], np.arange(len(runs))], axis=1),
        ),
        x={"title": PARAMETERS, "type": "log"},
        y={"title": in_unit_of_loss(LOSS, runs)},
        caption="Loss of the runs by parameters; larger training compute C is darker",
    )


def posterior_and_published(fit, published, names):
    """Plot the posterior density of each quantity with published estimates and intervals marked.

    `published` is a table with the columns quantity (a name of `names`), estimate, low, high and source.
    """
    posterior = fit["posterior"]
    columns = 3
    rows = -(-len(names) // columns)
    caption = (
        "Posterior of the law's constants; vertical lines are published estimates, thick segments their 95% intervals"
    )
    spacing = {"vertical_spacing": 0.2, "horizontal_spacing": 0.07}
    drawn = panels(rows, columns, height=270 * rows, caption=caption, **spacing)
    for i, (name, label) in enumerate(names.items()):
        place = {"row": i // columns + 1, "col": i % columns + 1}
        values = posterior[name].values
        grid, height = density(values)
        once, hover = {"showlegend": i == 0, "legendgroup": "posterior"}, f"{name} %{{x:.4g}}<extra>posterior</extra>"
        drawn.add_trace(line(grid, height, BLUE, "posterior", fill="tozeroy", hovertemplate=hover, **once), **place)
        top = height.max()
        for j, row in enumerate(published[published["quantity"] == name].itertuples()):
            colour, dash = PUBLISHED.get(row.source, OTHER)
            same = {"showlegend": i == 0, "legendgroup": row.source, "name": row.source}
            text = f"{row.source}<br>{name} {row.estimate:g}"
            if np.isfinite(row.low):
                text += f" [{row.low:g}, {row.high:g}]"
                level = top * (0.12 + 0.12 * j)
                bar = {"width": 5, "opacity": 0.35, "hoverinfo": "skip", "showlegend": False}
                drawn.add_trace(line([row.low, row.high], [level] * 2, colour, row.source, **bar), **place)
            drawn.add_trace(
                line([row.estimate] * 2, [0, top], colour, dash=dash, hovertemplate=text + "<extra></extra>", **same),
                **place,
            )
        marked = published.loc[published["quantity"] == name, ["estimate", "low", "high"]].to_numpy()
        ends = np.nanmin([grid[0], *marked.ravel()]), np.nanmax([grid[-1], *marked.ravel()])
        margin = 0.04 * (ends[1] - ends[0])
        drawn.update_xaxes(title={"text": label, "standoff": 4}, range=[ends[0] - margin, ends[1] + margin], **place)
    drawn.update_layout(legend=LEGEND, margin={"l": 20})
    drawn.update_xaxes(showgrid=False)
    drawn.update_yaxes(showgrid=False, showticklabels=False, ticks="", showline=False, rangemode="tozero")
    return drawn


def _grid(values, points, margin):
    low, high = np.log10(values.min()) - margin, np.log10(values.max()) + margin
    return np.logspace(low, high, points)


def loss_surface(fit):
    """Plot iso-loss lines of the posterior median over (N, D), with iso-FLOP lines, the runs and the optimal path."""
    import plotly.graph_objects as go

    runs, law = fit.rows, fit.law
    n, d = _grid(runs["parameters"], 60, 0.25), _grid(runs["tokens"], 60, 0.25)
    draws = fit["posterior"].to_dataset().isel(draw=slice(None, None, 10))
    at = {"parameters": xr.DataArray(n, dims="n"), "tokens": xr.DataArray(d, dims="d")}
    median = law.mean(draws, at).median(DRAWS).transpose("d", "n").values
    hover = "N %{x:.3s}<br>D %{y:.3s}<br>observed loss %{customdata:.3f}<extra></extra>"
    traces = [
        go.Contour(
            x=n,
            y=d,
            z=median,
            contours={
                "coloring": "lines",
                "showlabels": True,
                "start": np.floor(10 * median.min()) / 10,
                "end": np.ceil(10 * np.quantile(median, 0.98)) / 10,
                "size": 0.1 if np.ptp(median) < 5 else 0.5,
                "labelfont": {"size": 10},
            },
            colorscale=[[0, "#0b2f57"], [1, "#9cc3e6"]],
            showscale=False,
            name="iso-loss (nats/token)",
            showlegend=True,
            hovertemplate="N %{x:.3s}<br>D %{y:.3s}<br>loss %{z:.3f}<extra></extra>",
        ),
        points(runs["parameters"], runs["tokens"], GREY, "runs", hover, size=4, customdata=runs["loss"]),
    ]
    decades = np.arange(*np.round(np.log10(FLOP_PER_PARAMETER_TOKEN * np.array([n[0] * d[0], n[-1] * d[-1]]))))
    for decade in decades:
        slots = 10.0**decade / FLOP_PER_PARAMETER_TOKEN
        inside = n[(slots / n > d[0]) & (slots / n < d[-1])]
        if len(inside):
            traces.append(
                line(
                    inside,
                    slots / inside,
                    ORANGE,
                    "iso-FLOP",
                    width=1,
                    dash="dot",
                    legendgroup="flop",
                    showlegend=not any(trace.name == "iso-FLOP" for trace in traces),
                    hovertemplate=f"C 10^{decade:.0f} FLOP<extra></extra>",
                )
            )
    path = _optimal_path(fit, np.geomspace(n[0] * d[0], 100 * n[-1] * d[-1], 60), n, d)
    traces.append(line(path["parameters"], path["tokens"], RED, "compute-optimal (median)", width=3, hoverinfo="skip"))
    return figure(
        *traces,
        x={"title": PARAMETERS, "type": "log", "range": np.log10([n[0], n[-1]])},
        y={"title": TOKENS, "type": "log", "range": np.log10([d[0], d[-1]])},
        height=560,
        caption="Where the loss is equal: median loss by parameters and tokens, iso-FLOP lines, runs and optima",
    ).update_layout(legend=LEGEND)


def _optimal_path(fit, compute, n, d):
    median = fit.allocate(compute)[["parameters", "tokens"]].median(DRAWS)
    inside = (
        (median["parameters"] > n[0])
        & (median["parameters"] < n[-1])
        & (median["tokens"] > d[0])
        & (median["tokens"] < d[-1])
    )
    return median.isel(compute=inside.values)
