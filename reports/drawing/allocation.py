"""Figures of what is compute-optimal under a fitted law, against compute."""

import numpy as np

from ...datasets.units import unit_of_loss
from ...inference.estimands.allocate import compute_range
from ...models.draws import DRAWS
from ...models.loss import chinchilla
from .style import BLUE, COMPUTE, GREY, LEGEND, OTHER, PUBLISHED, axis, band, figure, line, median_and_bands, panels

BUDGETS = np.logspace(17, 27, 101)
AT = "C %{x:.2~e} FLOP"


def allocation(fit, published, *, budgets=BUDGETS, backdrop=None):
    """Plot compute-optimal N and D against compute with 50% and 95% bands, and the optimum of published laws.

    `published` maps a source to its constants; `backdrop`, a name and a fit, adds the 95% band of that fit.
    """
    optimum = fit.allocate(budgets)
    others = None if backdrop is None else backdrop[1].allocate(budgets)
    caption = "Compute-optimal parameters and tokens, by training compute: median, 50% and 95% bands"
    drawn = panels(1, 2, height=430, caption=caption, horizontal_spacing=0.1)
    for column, name in enumerate(("parameters", "tokens"), 1):
        q = optimum[name].quantile([0.025, 0.25, 0.5, 0.75, 0.975], DRAWS).values
        first = {"row": 1, "col": column}
        shown = column == 1
        traces = median_and_bands(budgets, q, BLUE, (AT, ".3s", name))
        for source, constants in published.items():
            sizes = dict(zip(("parameters", "tokens"), chinchilla.optimum(budgets, **constants), strict=True))
            colour, dash = PUBLISHED.get(source, OTHER)
            traces.append(
                line(budgets, sizes[name], colour, source, dash=dash,
                     hovertemplate=f"{AT}<br>%{{y:.3s}} {name}<extra>{source}</extra>")
            )  # fmt: skip
        if backdrop is not None:
            low, high = others[name].quantile([0.025, 0.975], DRAWS).values
            traces += band(budgets, low, high, GREY, backdrop[0])
        for trace in traces:
            trace.showlegend = shown and bool(trace.name)
            drawn.add_trace(trace, **first)
        drawn.update_yaxes(
            **axis({"parameters": "Optimal parameters N*", "tokens": "Optimal tokens D*"}[name], type="log"), **first
        )
        drawn.update_xaxes(**axis(COMPUTE, type="log"), **first)
    return drawn.update_layout(legend=LEGEND).update_xaxes(dtick=2)


def tokens_per_parameter(fit, published, *, budgets=BUDGETS):
    """Plot tokens per parameter at the optimum against compute."""
    ratio = fit.allocate(budgets)["tokens_per_parameter"].quantile([0.025, 0.25, 0.5, 0.75, 0.975], DRAWS).values
    traces = median_and_bands(budgets, ratio, BLUE, (AT, ".3~r", "tokens a parameter"))
    for source, constants in published.items():
        n, d = chinchilla.optimum(budgets, **constants)
        colour, dash = PUBLISHED.get(source, OTHER)
        traces.append(
            line(budgets, d / n, colour, source, dash=dash,
                 hovertemplate=f"{AT}<br>%{{y:.3~r}} tokens a parameter<extra>{source}</extra>")
        )  # fmt: skip
    traces.append(line(budgets[[0, -1]], [20, 20], GREY, "20 tokens per parameter", dash="dot", hoverinfo="skip"))
    drawn = figure(
        *traces,
        x={"title": COMPUTE, "type": "log"},
        y={
            "title": "Optimal tokens per parameter D*/N*",
            "type": "log",
            "tickvals": [m * 10**k for k in range(-4, 7) for m in (1, 3)],
        },
        caption="Compute-optimal tokens per parameter, by training compute, compared with the rule of 20",
    ).update_layout(legend=LEGEND)
    return _with_range(drawn, fit)


def optimal_loss(fit, *, budgets=BUDGETS):
    """Plot the mean loss at the optimum against compute, with the posterior of E."""
    loss = fit.allocate(budgets)["loss"].quantile([0.025, 0.25, 0.5, 0.75, 0.975], DRAWS).values
    unit = unit_of_loss(fit.rows)
    floor = np.quantile(fit["posterior"]["E"], [0.025, 0.5, 0.975])
    drawn = figure(
        *band(budgets[[0, -1]], floor[[0, 0]], floor[[2, 2]], GREY, "irreducible loss E, 95%"),
        line(budgets[[0, -1]], floor[[1, 1]], GREY, "E, median", dash="dot"),
        *median_and_bands(budgets, loss, BLUE, (AT, ".3f", unit)),
        x={"title": COMPUTE, "type": "log"},
        y={"title": f"Loss at the optimum ({unit})"},
        caption="Loss of the best model for a budget, and the irreducible loss E that no budget reaches",
    ).update_layout(legend=LEGEND)
    return _with_range(drawn, fit)


def _with_range(drawn, fit):
    low, high = compute_range(fit)
    drawn.add_vrect(x0=low, x1=high, fillcolor=GREY, opacity=0.08, line_width=0)
    middle = (np.log10(low) + np.log10(high)) / 2
    text = {"text": "fitted runs", "font": {"size": 11, "color": GREY}, "showarrow": False}
    return drawn.add_annotation(x=middle, y=0.99, yref="paper", yanchor="top", **text)
