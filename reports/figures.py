"""Figures of a fitted law of N and D: each function takes draws and returns one Plotly figure."""

import numpy as np
import xarray as xr

from ..inference import allocate, law_of, predict, runs_of
from ..inference.allocate import compute_range
from ..inference.diagnostics import PARETO_K_LIMIT
from ..models.chinchilla import FLOP_PER_PARAMETER_TOKEN
from .style import BLUE, GREEN, GREY, ORANGE, RED, SIZES, axis, band, figure, line

LOSS = "Loss (nats/token)"
COMPUTE = "Training compute C = 6ND (FLOP)"
PARAMETERS = "Parameters N"
TOKENS = "Training tokens D"
DRAWS = ("chain", "draw")
PUBLISHED_COLOURS = {"Hoffmann et al. 2022": RED, "Besiroglu et al. 2024": GREEN}


def data(runs):
    """Loss of each run against its parameters, coloured by compute."""
    import plotly.graph_objects as go

    decades = np.log10(runs["training_flop"])
    ticks = np.arange(np.ceil(decades.min()), np.floor(decades.max()) + 1)
    return figure(
        go.Scatter(
            x=runs["parameters"],
            y=runs["loss"],
            mode="markers",
            marker={
                "color": decades,
                "colorscale": SIZES,
                "size": 8,
                "line": {"width": 0.5, "color": "#374151"},
                "colorbar": {
                    "title": {"text": "C (FLOP)"},
                    "tickvals": ticks,
                    "ticktext": [f"10<sup>{t:.0f}</sup>" for t in ticks],
                },
            },
            customdata=np.stack([runs["tokens"], runs["training_flop"], np.arange(len(runs))], axis=1),
            hovertemplate="run %{customdata[2]}<br>N %{x:.3s}<br>D %{customdata[0]:.3s}<br>C %{customdata[1]:.2e} FLOP"
            "<br>loss %{y:.3f} nats/token<extra></extra>",
        ),
        x={"title": PARAMETERS, "type": "log"},
        y={"title": LOSS},
    )


def density(draws, points=160):
    """Grid and kernel density of one quantity's draws over its central 99.8%."""
    from scipy.stats import gaussian_kde

    values = np.ravel(draws)
    low, high = np.quantile(values, [0.001, 0.999])
    grid = np.linspace(low, high, points)
    return grid, gaussian_kde(values)(grid)


def posterior_beside_published(fit, published, names):
    """Posterior density of each quantity with published estimates and intervals marked.

    `published` is a table with the columns quantity (a name of `names`), estimate, low, high and source.
    """
    from plotly.subplots import make_subplots

    posterior = fit["posterior"]
    columns = 3
    rows = -(-len(names) // columns)
    drawn = make_subplots(rows=rows, cols=columns, vertical_spacing=0.2, horizontal_spacing=0.07)
    for i, (name, label) in enumerate(names.items()):
        place = {"row": i // columns + 1, "col": i % columns + 1}
        values = posterior[name].values
        grid, height = density(values)
        once = {"showlegend": i == 0, "legendgroup": "posterior"}
        drawn.add_trace(
            line(
                grid,
                height,
                BLUE,
                "posterior",
                fill="tozeroy",
                hovertemplate=f"{name} %{{x:.4g}}<extra>posterior</extra>",
                **once,
            ),
            **place,
        )
        top = height.max()
        for j, row in enumerate(published[published["quantity"] == name].itertuples()):
            colour = PUBLISHED_COLOURS.get(row.source, ORANGE)
            same = {"showlegend": i == 0, "legendgroup": row.source, "name": row.source}
            text = f"{row.source}<br>{name} {row.estimate:g}"
            if np.isfinite(row.low):
                text += f" [{row.low:g}, {row.high:g}]"
                level = top * (0.12 + 0.12 * j)
                drawn.add_trace(
                    line(
                        [row.low, row.high],
                        [level] * 2,
                        colour,
                        row.source,
                        width=5,
                        opacity=0.35,
                        hoverinfo="skip",
                        showlegend=False,
                    ),
                    **place,
                )
            drawn.add_trace(
                line([row.estimate] * 2, [0, top], colour, dash="dash", hovertemplate=text + "<extra></extra>", **same),
                **place,
            )
        marked = published.loc[published["quantity"] == name, ["estimate", "low", "high"]].to_numpy()
        ends = np.nanmin([grid[0], *marked.ravel()]), np.nanmax([grid[-1], *marked.ravel()])
        margin = 0.04 * (ends[1] - ends[0])
        drawn.update_xaxes(title={"text": label, "standoff": 4}, range=[ends[0] - margin, ends[1] + margin], **place)
    styled = figure(height=270 * rows)
    drawn.update_layout(styled.layout)
    drawn.update_layout(legend={"orientation": "h", "y": 1.08}, margin={"l": 20})
    drawn.update_xaxes(showgrid=False)
    drawn.update_yaxes(showgrid=False, showticklabels=False, ticks="", showline=False, rangemode="tozero")
    return drawn


def _grid(values, points, margin):
    low, high = np.log10(values.min()) - margin, np.log10(values.max()) + margin
    return np.logspace(low, high, points)


def loss_surface(fit):
    """Iso-loss lines of the posterior median loss over (N, D), with iso-FLOP lines, the runs and the optimal path."""
    import plotly.graph_objects as go

    runs, law = runs_of(fit), law_of(fit)
    n, d = _grid(runs["parameters"], 60, 0.25), _grid(runs["tokens"], 60, 0.25)
    draws = fit["posterior"].to_dataset().isel(draw=slice(None, None, 10))
    at = {"parameters": xr.DataArray(n, dims="n"), "tokens": xr.DataArray(d, dims="d")}
    median = law.mean(draws, at).median(DRAWS).transpose("d", "n").values
    traces = [
        go.Contour(
            x=n,
            y=d,
            z=median,
            contours={
                "coloring": "lines",
                "showlabels": True,
                "start": 1.9,
                "end": 5,
                "size": 0.1,
                "labelfont": {"size": 10},
            },
            colorscale=[[0, "#0b2f57"], [1, "#9cc3e6"]],
            showscale=False,
            name="iso-loss (nats/token)",
            showlegend=True,
            hovertemplate="N %{x:.3s}<br>D %{y:.3s}<br>loss %{z:.3f}<extra></extra>",
        ),
        go.Scatter(
            x=runs["parameters"],
            y=runs["tokens"],
            mode="markers",
            marker={"color": GREY, "size": 4},
            name="runs",
            customdata=runs["loss"],
            hovertemplate="N %{x:.3s}<br>D %{y:.3s}<br>observed loss %{customdata:.3f}<extra></extra>",
        ),
    ]
    decades = np.arange(18, 25)
    for i, decade in enumerate(decades):
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
                    showlegend=i == 0,
                    hovertemplate=f"C 10^{decade} FLOP<extra></extra>",
                )
            )
    path = _optimal_path(fit, np.logspace(17, 25, 60), n, d)
    traces.append(line(path["parameters"], path["tokens"], RED, "compute-optimal (median)", width=3, hoverinfo="skip"))
    return figure(
        *traces,
        x={"title": PARAMETERS, "type": "log", "range": np.log10([n[0], n[-1]])},
        y={"title": TOKENS, "type": "log", "range": np.log10([d[0], d[-1]])},
        height=560,
    ).update_layout(legend={"orientation": "h", "y": 1.06})


def _optimal_path(fit, compute, n, d):
    median = allocate(fit, compute)[["parameters", "tokens"]].median(DRAWS)
    inside = (
        (median["parameters"] > n[0])
        & (median["parameters"] < n[-1])
        & (median["tokens"] > d[0])
        & (median["tokens"] < d[-1])
    )
    return median.isel(compute=inside.values)


def predictive_check(fit):
    """Observed over predicted median loss against compute, with the posterior predictive intervals of single runs."""
    import plotly.graph_objects as go

    runs = runs_of(fit).sort_values("training_flop")
    predicted = predict(fit, runs)["loss"]
    low, middle, high = predicted.quantile([0.025, 0.5, 0.975], DRAWS).values
    percent = [100 * (x / middle - 1) for x in (low, runs["loss"].to_numpy(), high)]
    outside = (runs["loss"] < low) | (runs["loss"] > high)
    traces = band(runs["training_flop"], percent[0], percent[2], BLUE, "95% predictive interval")
    for name, chosen, colour in (("run within", ~outside, BLUE), ("run outside", outside, RED)):
        traces.append(
            go.Scatter(
                x=runs["training_flop"][chosen],
                y=percent[1][chosen],
                mode="markers",
                marker={"color": colour, "size": 6, "opacity": 0.8},
                name=f"{name} ({int(chosen.sum())})",
                customdata=np.stack([runs["parameters"], runs["tokens"], runs["loss"], middle], axis=1)[chosen],
                hovertemplate="N %{customdata[0]:.3s}<br>D %{customdata[1]:.3s}<br>observed %{customdata[2]:.3f}, "
                "predicted %{customdata[3]:.3f} nats/token<br>%{y:+.2f}%<extra></extra>",
            )
        )
    return figure(
        *traces,
        x={"title": COMPUTE, "type": "log"},
        y={"title": "Observed against predicted median (%)"},
    ).update_layout(legend={"orientation": "h", "y": 1.1})


def loo_pit(fit, *, replications=1000, seed=0):
    """Leave-one-out probability integral transforms: their distribution minus the uniform, with a simultaneous band."""
    import arviz_stats as azs

    (pit,) = azs.loo_pit(fit).data_vars.values()
    rng = np.random.default_rng(seed)
    grid = np.linspace(0, 1, 201)[1:-1]
    n = pit.size

    def departure(values):
        return (np.sort(values, axis=-1)[..., None, :] <= grid[:, None]).mean(axis=-1) - grid

    null = departure(rng.random((replications, n)))
    spread = np.sqrt(grid * (1 - grid) / n)
    width = np.quantile(np.abs(null / spread).max(axis=1), 0.95) * spread
    return figure(
        *band(grid, -width, width, GREY, "95% of calibrated models (simultaneous)"),
        line(grid, departure(pit.values), BLUE, "leave-one-out PIT"),
        x={"title": "Leave-one-out PIT value", "range": [0, 1]},
        y={"title": "Empirical minus uniform distribution"},
        height=340,
    ).update_layout(legend={"orientation": "h", "y": 1.12})


def pareto_k(results):
    """Pareto k of each observation under each fit."""
    import plotly.graph_objects as go

    colours = (BLUE, RED, GREEN, ORANGE, GREY)
    traces = [
        go.Scatter(
            x=np.arange(result.n_data_points),
            y=result.pareto_k.values,
            mode="markers",
            marker={"size": 5, "color": colour, "opacity": 0.75},
            name=name,
            hovertemplate="run %{x}<br>k %{y:.2f}<extra>" + name + "</extra>",
        )
        for colour, (name, result) in zip(colours * 5, results.items(), strict=False)
    ]
    top = max(PARETO_K_LIMIT, *(float(result.pareto_k.max()) for result in results.values())) + 0.1
    drawn = figure(
        *traces,
        x={"title": "Run (row of the table)"},
        y={"title": "Pareto k after moment matching", "range": [-0.4, top]},
        height=340,
    ).update_layout(legend={"orientation": "h", "y": 1.12})
    rows = max(result.n_data_points for result in results.values())
    return drawn.add_trace(
        line([0, rows], [PARETO_K_LIMIT] * 2, GREY, f"limit {PARETO_K_LIMIT}", dash="dash", hoverinfo="skip")
    )


def _with_range(drawn, fit):
    low, high = compute_range(fit)
    drawn.add_vrect(x0=low, x1=high, fillcolor=GREY, opacity=0.08, line_width=0)
    middle = (np.log10(low) + np.log10(high)) / 2
    text = {"text": "fitted runs", "font": {"size": 11, "color": GREY}, "showarrow": False}
    return drawn.add_annotation(x=middle, y=0.99, yref="paper", yanchor="top", **text)


BUDGETS = np.logspace(17, 27, 101)


def allocation(fit, published):
    """Compute-optimal N and D against compute with 50% and 95% bands, and the published laws' optimum.

    `published` maps a source to its constants.
    """
    from plotly.subplots import make_subplots

    optimum = allocate(fit, BUDGETS)
    law = law_of(fit)
    drawn = make_subplots(rows=1, cols=2, horizontal_spacing=0.1)
    for column, name in enumerate(("parameters", "tokens"), 1):
        q = optimum[name].quantile([0.025, 0.25, 0.5, 0.75, 0.975], DRAWS).values
        first = {"row": 1, "col": column}
        shown = column == 1
        traces = [*band(BUDGETS, q[0], q[4], BLUE, "95%"), *band(BUDGETS, q[1], q[3], BLUE, "50%")]
        traces.append(line(BUDGETS, q[2], BLUE, "median", hovertemplate="C %{x:.1e}<br>%{y:.3s}<extra>median</extra>"))
        for source, constants in published.items():
            sizes = dict(zip(("parameters", "tokens"), law.optimum(constants, BUDGETS), strict=True))
            traces.append(
                line(BUDGETS, sizes[name], PUBLISHED_COLOURS[source], source, dash="dash",
                     hovertemplate="C %{x:.1e}<br>%{y:.3s}<extra>" + source + "</extra>")
            )  # fmt: skip
        for trace in traces:
            trace.showlegend = shown and bool(trace.name)
            drawn.add_trace(trace, **first)
        drawn.update_yaxes(
            **axis({"parameters": "Optimal parameters N*", "tokens": "Optimal tokens D*"}[name], type="log"), **first
        )
        drawn.update_xaxes(**axis(COMPUTE, type="log"), **first)
    drawn.update_layout(figure(height=430).layout)
    drawn.update_layout(legend={"orientation": "h", "y": 1.12})
    drawn.update_xaxes(dtick=2, showgrid=True, gridcolor="#eef0f3")
    drawn.update_yaxes(showgrid=True, gridcolor="#eef0f3")
    return drawn


def tokens_per_parameter(fit, published):
    """Tokens per parameter at the optimum against compute."""
    ratio = allocate(fit, BUDGETS)["tokens_per_parameter"].quantile([0.025, 0.25, 0.5, 0.75, 0.975], DRAWS).values
    law = law_of(fit)
    traces = [*band(BUDGETS, ratio[0], ratio[4], BLUE, "95%"), *band(BUDGETS, ratio[1], ratio[3], BLUE, "50%")]
    traces.append(
        line(
            BUDGETS,
            ratio[2],
            BLUE,
            "median",
            hovertemplate="C %{x:.1e}<br>%{y:.3g} tokens/parameter<extra>median</extra>",
        )
    )
    for source, constants in published.items():
        n, d = law.optimum(constants, BUDGETS)
        traces.append(
            line(BUDGETS, d / n, PUBLISHED_COLOURS[source], source, dash="dash",
                 hovertemplate="C %{x:.1e}<br>%{y:.3g} tokens/parameter<extra>" + source + "</extra>")
        )  # fmt: skip
    traces.append(line(BUDGETS[[0, -1]], [20, 20], GREY, "20 tokens per parameter", dash="dot", hoverinfo="skip"))
    drawn = figure(
        *traces,
        x={"title": COMPUTE, "type": "log"},
        y={
            "title": "Optimal tokens per parameter D*/N*",
            "type": "log",
            "tickvals": [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000],
        },
    ).update_layout(legend={"orientation": "h", "y": 1.14})
    return _with_range(drawn, fit)


def optimal_loss(fit):
    """Mean loss at the optimum against compute, with the posterior of E."""
    loss = allocate(fit, BUDGETS)["loss"].quantile([0.025, 0.25, 0.5, 0.75, 0.975], DRAWS).values
    floor = np.quantile(fit["posterior"]["E"], [0.025, 0.5, 0.975])
    drawn = figure(
        *band(BUDGETS[[0, -1]], floor[[0, 0]], floor[[2, 2]], GREY, "irreducible loss E, 95%"),
        line(BUDGETS[[0, -1]], floor[[1, 1]], GREY, "E, median", dash="dot"),
        *band(BUDGETS, loss[0], loss[4], BLUE, "95%"),
        line(BUDGETS, loss[2], BLUE, "median", hovertemplate="C %{x:.1e}<br>loss %{y:.3f}<extra>median</extra>"),
        x={"title": COMPUTE, "type": "log"},
        y={"title": "Loss at the optimum (nats/token)"},
    ).update_layout(legend={"orientation": "h", "y": 1.12})
    return _with_range(drawn, fit)


def pairs(fit, names):
    """Joint posterior of pairs of quantities."""
    import plotly.graph_objects as go

    posterior = fit["posterior"].to_dataset()[list(names)].stack(sample=DRAWS).isel(sample=slice(None, None, 4))
    cells = [{"label": label, "values": posterior[name].values} for name, label in names.items()]
    drawn = go.Figure(
        go.Splom(
            dimensions=cells,
            diagonal_visible=False,
            showupperhalf=False,
            marker={"size": 3, "color": BLUE, "opacity": 0.25},
            hovertemplate="%{xaxis.title.text} %{x:.4g}<br>%{yaxis.title.text} %{y:.4g}<extra></extra>",
        )
    )
    return drawn.update_layout(figure(height=560).layout).update_xaxes(showgrid=False).update_yaxes(showgrid=False)


def ranks(fit, names):
    """Rank histograms of each chain: flat where the chains explored the same distribution."""
    import plotly.graph_objects as go
    from plotly.subplots import make_subplots
    from scipy.stats import rankdata

    posterior = fit["posterior"]
    drawn = make_subplots(rows=1, cols=len(names), horizontal_spacing=0.03, subplot_titles=list(names))
    for column, name in enumerate(names, 1):
        values = posterior[name].values
        rank = rankdata(values).reshape(values.shape)
        edges = np.linspace(0, values.size, 21)
        for chain, colour in zip(range(len(values)), (BLUE, RED, GREEN, ORANGE) * len(values), strict=False):
            count, _ = np.histogram(rank[chain], edges)
            bars = go.Scatter(
                x=100 * edges[:-1] / values.size,
                y=count / count.mean(),
                line={"shape": "hv", "color": colour, "width": 1.3},
                mode="lines",
                name=f"chain {chain}",
                legendgroup=str(chain),
                showlegend=column == 1,
                hovertemplate=f"{name}, chain {chain}<br>%{{y:.2f}} of uniform<extra></extra>",
            )
            drawn.add_trace(bars, row=1, col=column)
    drawn.update_layout(figure(height=280).layout)
    drawn.update_layout(legend={"orientation": "h", "y": -0.35}, margin={"t": 40})
    drawn.update_xaxes(title={"text": "Rank (%)", "standoff": 4})
    drawn.update_yaxes(range=[0, 2], showticklabels=False)
    drawn.update_yaxes(showticklabels=True, title={"text": "Share of uniform"}, col=1)
    return drawn
