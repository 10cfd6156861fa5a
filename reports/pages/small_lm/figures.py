"""Figures of small language models: curves, exponents by scheme, the floor against the truth, omega."""

import numpy as np

from ....inference.words import si
from ....models.loss.budget import FLOP_PER_PARAMETER_TOKEN
from ....plots.density import density
from ...drawing.style import (
    BASIS_LABELS,
    BLUE,
    GREEN,
    GREY,
    LEGEND,
    ORANGE,
    OVER_TITLES,
    RED,
    figure,
    line,
    panels,
    points,
)
from .analysis import fitted_floor

COLOURS = {"scheme-1": GREY, "scheme-2": ORANGE, "scheme-3": GREEN, "scheme-4": BLUE}
SHADES = ("#9cc3e6", "#5b9bd0", "#2f75b5", "#1f5f99", "#0b2f57", "#061a33")


def curves(findings, schemes):
    """Plot loss against compute by size, each scheme in a panel, means over seeds; the true entropy as a line."""
    caption = "Loss curves of each size, by scheme, and the entropy of the language that no model can go below (dashed)"
    titles = [f"{scheme.replace('-', ' ')}: {text}" for scheme, text in schemes.items()]
    options = {"shared_xaxes": True, "shared_yaxes": True, "horizontal_spacing": 0.04, "vertical_spacing": 0.1}
    drawn = panels(2, 2, height=640, caption=caption, subplot_titles=titles, **options)
    sizes = sorted(findings.runs["parameters"].unique())
    for i, scheme in enumerate(schemes):
        place = {"row": i // 2 + 1, "col": i % 2 + 1}
        table = findings.tables[scheme]
        for j, size in enumerate(sizes):
            means = table[table["parameters"] == size].groupby("tokens")["loss"].mean()
            compute = FLOP_PER_PARAMETER_TOKEN * size * means.index.to_numpy()
            name = f"N<sub>T</sub> = {si(size)}"
            style = {"legendgroup": name, "showlegend": i == 0}
            hover = f"{name}<br>C %{{x:.2e}} FLOP<br>loss %{{y:.3f}} nats/token<extra>{scheme}</extra>"
            trace = line(compute, means.to_numpy(), SHADES[j % len(SHADES)], name, hovertemplate=hover, **style)
            drawn.add_trace(trace.update(mode="lines+markers", marker={"size": 4}), **place)
        ends = [FLOP_PER_PARAMETER_TOKEN * (table["parameters"] * table["tokens"]).agg(f) for f in ("min", "max")]
        look = {"dash": "dash", "showlegend": i == 0, "legendgroup": "truth"}
        drawn.add_trace(line(ends, [findings.truth["entropy"]] * 2, RED, "true entropy", **look), **place)
    drawn.update_xaxes(type="log", dtick=1, exponentformat="power")
    drawn.update_xaxes(title={"text": "C = 6 N<sub>T</sub> D (FLOP)"}, row=2)
    drawn.update_yaxes(title={"text": "Loss (nats/token)"}, col=1)
    return drawn.update_layout(legend=OVER_TITLES, margin={"t": 90})


def exponents(findings, schemes, published):
    """Plot the exponent of the optimal size by scheme and by what is counted: envelope, law, published."""
    caption = "Exponent of the optimal size by scheme: the fitted law, envelopes of the curves and published values"
    options = {"shared_yaxes": True, "horizontal_spacing": 0.04, "subplot_titles": list(BASIS_LABELS.values())}
    drawn = panels(1, 2, height=480, caption=caption, **options)
    names = list(schemes)
    for column, basis in enumerate(BASIS_LABELS, 1):
        place = {"row": 1, "col": column}
        once = {"showlegend": column == 1}
        laws = [np.ravel(findings.laws[scheme, basis]) for scheme in names]
        steps = [findings.steps[scheme, basis] for scheme in names]
        traces = _intervals(laws, -0.12, BLUE, "the fitted law", once)
        traces += _intervals(steps, 0.12, ORANGE, "envelope of runs replicated from the law", once)
        traces += _estimates(findings, names, basis, published, once)
        for trace in traces:
            drawn.add_trace(trace, **place)
    drawn.update_xaxes(title={"text": "Exponent of the optimal size in compute"}, zeroline=False)
    drawn.update_yaxes(
        tickvals=list(range(len(names))),
        ticktext=[f"{s.replace('-', ' ')}<br>{schemes[s]}" for s in names],
        range=[len(names) - 0.5, -0.5],
        showgrid=False,
    )
    below = {"orientation": "h", "y": -0.24, "yanchor": "top"}  # above, its lines would cover the panels' titles
    return drawn.update_layout(legend=below, margin={"t": 40, "b": 150, "l": 190})


def _intervals(samples, offset, colour, label, once):
    """Draw the median and 95% interval of each array of draws, one under the other."""
    low, middle, high = np.transpose([np.nanquantile(values, [0.025, 0.5, 0.975]) for values in samples])
    places = [i + offset for i in range(len(samples))]
    x = [end for pair in zip(low, high, strict=True) for end in (*pair, None)]
    y = [end for place in places for end in (place, place, None)]
    return [
        line(x, y, colour, label, hoverinfo="skip", legendgroup=label, showlegend=False, width=3),
        points(middle, places, colour, f"{label}: median, 95%", _hover(label), size=9, legendgroup=label, **once),
    ]


def _estimates(findings, names, basis, published, once):
    """Draw envelopes of each seed and of the mean, and the published exponents."""
    by_seed = [(x, i + 0.28) for i, scheme in enumerate(names) for x in findings.seeds[scheme, basis].values()]
    means = [(findings.point[scheme, basis]["exponent"], i + 0.28) for i, scheme in enumerate(names)]
    estimates = [(published[basis, s], i - 0.3) for i, s in enumerate(names) if (basis, s) in published]
    kinds = (
        (by_seed, "circle-open", GREY, "envelope of one seed"),
        (means, "diamond", RED, "envelope of the mean"),
        (estimates, "x", GREEN, "Pearce and Song 2024, on another corpus and scale"),
    )
    traces = []
    for at, symbol, colour, name in kinds:
        x, y = np.array(at, float).reshape(-1, 2).T
        traces.append(points(x, y, colour, name, _hover(name), size=9, symbol=symbol, legendgroup=name, **once))
    return traces


def _hover(name):
    return "%{x:.3f}<extra>" + name + "</extra>"


def floor(findings, schemes):
    """Plot the posterior density of E minus the true entropy, each scheme."""
    traces = []
    for scheme in schemes:
        grid, height = density(fitted_floor(findings.fits[scheme]).values - findings.truth["entropy"])
        traces.append(line(grid, height, COLOURS[scheme], scheme.replace("-", " ")))
    top = max(trace.y.max() for trace in traces)
    truth = line([0, 0], [0, top], RED, "the truth", dash="dash")
    x = {"title": "E minus the true entropy (nats/token)"}
    caption = "The fitted floor E minus the true entropy, by scheme: a law that finds the floor has density at 0"
    return figure(*traces, truth, x=x, y={"title": "Density"}, height=380, caption=caption).update_layout(legend=LEGEND)


def omega(sources):
    """Plot the posterior density of omega on each set of runs, by its label."""
    traces = []
    for (label, draws), colour in zip(sources.items(), (BLUE, GREEN, ORANGE), strict=False):
        grid, height = density(draws)
        positive = grid >= 0
        traces.append(line(grid[positive], height[positive], colour, label))
    wide = np.linspace(0, max(trace.x.max() for trace in traces), 200)
    traces.append(line(wide, np.exp(-wide), GREY, "prior", dash="dot"))
    return figure(
        *traces,
        x={"title": "ω, weight of an embedding parameter"},
        y={"title": "Density"},
        height=380,
        caption="Posterior of ω on the small models, on Chinchilla's runs and on both, and its prior",
    ).update_layout(legend=LEGEND)
