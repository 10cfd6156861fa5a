"""Figures that check a fit: its predictions against its runs, Pareto k, joint posteriors and ranks of chains."""

import numpy as np

from ...datasets.units import unit_of_loss
from ...datasets.wording import p_value
from ...inference.checks import law_tests
from ...inference.checks.chains import PARETO_K_LIMIT
from ...inference.checks.uniformity import RANKS, p_uniform, shares_below
from ...inference.checks.uniformity import band as uniform_band
from ...inference.words import symbols
from ...models.draws import DRAWS
from .style import BLUE, COMPUTE, GREY, LEGEND, RED, SERIES, band, figure, line, panels, points

WITHIN = "the line stays inside the band"
NEAR = 1e-9  # shares of rows this near an edge of the band are on it


def predictive_check(fit):
    """Plot observed over predicted median loss against compute, with predictive intervals of single runs."""
    runs = fit.rows.sort_values("training_flop")
    predicted = fit.predict(runs)["loss"]
    low, middle, high = predicted.quantile([0.025, 0.5, 0.975], DRAWS).values
    percent = [100 * (x / middle - 1) for x in (low, runs["loss"].to_numpy(), high)]
    outside = (runs["loss"] < low) | (runs["loss"] > high)
    # Where sizes scatter very differently, intervals of a few rows would hide all the others.
    seen = 1.3 * np.abs(percent[1]).max()
    widest = max(seen, 1.3 * float(np.median(percent[2])), -1.3 * float(np.median(percent[0])))
    traces = band(runs["training_flop"], percent[0], percent[2], BLUE, "95% predictive interval")
    hover = (
        "N %{customdata[0]:.3s}<br>D %{customdata[1]:.3s}<br>observed %{customdata[2]:.3f}, "
        f"predicted %{{customdata[3]:.3f}} {unit_of_loss(fit.rows)}<br>%{{y:+.2f}}%<extra></extra>"
    )
    for name, chosen, colour in (("run within", ~outside, BLUE), ("run outside", outside, RED)):
        of_runs = np.stack([runs["parameters"], runs["tokens"], runs["loss"], middle], axis=1)[chosen]
        label = f"{name} ({int(chosen.sum())})"
        at = runs["training_flop"][chosen], percent[1][chosen]
        traces.append(points(*at, colour, label, hover, opacity=0.8, customdata=of_runs))
    return figure(
        *traces,
        x={"title": COMPUTE, "type": "log"},
        y={"title": "Observed minus predicted median (%)", "range": [-widest, widest]},
        caption="Which runs the law misses: observed loss minus the predicted median, with 95% predictive intervals",
    ).update_layout(legend=LEGEND)


def loo_pit(fit, of=None):
    """Plot the distribution of leave-one-out PIT values minus the uniform, with a simultaneous band.

    `of` names the fit, if a page has several.
    """
    values = law_tests.loo_pit(fit)
    drawn = _deviations({"leave-one-out PIT": values * RANKS}, "calibrated models", "Leave-one-out PIT value")
    whose = f" of {of}" if of else ""
    caption = f"Leave-one-out PIT{whose}, its distribution minus the uniform: {deviation(values * RANKS)}"
    return drawn.update_layout(meta={"caption": caption})


def simulated_ranks(calibrated, names):
    """Plot the ranks of truths among draws of fits to simulated tables: distribution minus the uniform, with a band.

    Parameters
    ----------
    calibrated : mapping of str to array_like
        Ranks from 0 to 99 by quantity.
    names : mapping of str to str
        Labels by quantity.
    """
    ranks = {label: np.asarray(calibrated[name]) for name, label in names.items()}
    drawn = _deviations(ranks, "calibrated fits", "Rank of the truth among the draws (share)")
    outside = {label: deviation(values) for label, values in ranks.items() if deviation(values) != WITHIN}
    places = (
        "; ".join(f"that of {label} {words}" for label, words in outside.items()) or "every line stays inside the band"
    )
    return drawn.update_layout(meta={"caption": f"Ranks of the truth, their distribution minus the uniform: {places}"})


def deviation(ranks):
    """Return in words where ranks from 0 to 100 leave the simultaneous band of uniform ones, with a p-value.

    Examples
    --------
    >>> deviation(np.arange(100))
    'the line stays inside the band'
    >>> deviation(np.full(100, 40))
    'the line leaves the band between 0.07 and 0.93 (p < 1e-16)'
    """
    ranks = np.asarray(ranks)
    low, high = uniform_band(len(ranks))
    shares = shares_below(ranks)
    outside = np.flatnonzero((shares < low - NEAR) | (shares > high + NEAR)) + 1
    if not outside.size:
        return WITHIN
    where = (
        f"at {outside[0] / RANKS:g}"
        if outside.size == 1
        else (f"between {outside[0] / RANKS:g} and {outside[-1] / RANKS:g}")
    )
    p = p_uniform(np.minimum(np.floor(ranks).astype(int), RANKS - 1))
    return f"the line leaves the band {where} ({p_value(p)})"


def _deviations(ranks, what, title):
    """Plot distributions of ranks from 0 to 100 minus the uniform, by label, with a band of 95% of uniform ones."""
    places = np.arange(1, RANKS) / RANKS
    low, high = uniform_band(len(next(iter(ranks.values()))))
    return figure(
        *band(places, low - places, high - places, GREY, f"95% of {what} (simultaneous)"),
        *(
            line(places, shares_below(values) - places, colour, label, dash=dash,
                 hovertemplate="%{y:+.3f} at %{x:.2f}<extra>" + label + "</extra>")
            for (label, values), (colour, dash) in zip(ranks.items(), SERIES, strict=False)
        ),
        x={"title": title, "range": [0, 1]},
        y={"title": "Distribution minus the uniform"},
        height=340,
    ).update_layout(legend=LEGEND)  # fmt: skip


def pareto_k(results):
    """Plot Pareto k of each observation under each fit."""
    colours = [colour for colour, _ in SERIES]
    traces = [
        points(
            np.arange(result.n_data_points),
            result.pareto_k.values,
            colour,
            name,
            "run %{x}<br>k %{y:.2f}<extra>" + name + "</extra>",
            size=5,
            opacity=0.75,
        )
        for colour, (name, result) in zip(colours * 5, results.items(), strict=False)
    ]
    top = max(PARETO_K_LIMIT, *(float(result.pareto_k.max()) for result in results.values())) + 0.1
    drawn = figure(
        *traces,
        x={"title": "Run (row of the table)"},
        y={"title": "Pareto k after moment matching", "range": [-0.4, top]},
        height=340,
        caption="Where leave-one-out is not reliable: runs whose Pareto k is above the dashed limit",
    ).update_layout(legend=LEGEND)
    rows = max(result.n_data_points for result in results.values())
    return drawn.add_trace(
        line([0, rows], [PARETO_K_LIMIT] * 2, GREY, f"limit {PARETO_K_LIMIT}", dash="dash", hoverinfo="skip")
    )


def pairs(fit, names):
    """Plot the joint posterior of pairs of quantities."""
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
    """Plot rank histograms of each chain, which are flat if the chains explored the same distribution."""
    import plotly.graph_objects as go
    from scipy.stats import rankdata

    posterior = fit["posterior"]
    caption = (
        "Do the chains agree? Ranks of the draws of each chain among all draws, over their mean: near 1 if they do"
    )
    titles = [symbols(name) for name in names]
    drawn = panels(1, len(names), height=280, caption=caption, horizontal_spacing=0.03, subplot_titles=titles)
    for column, name in enumerate(names, 1):
        values = posterior[name].values
        rank = rankdata(values).reshape(values.shape)
        edges = np.linspace(0, values.size, 21)
        for chain, (colour, dash) in zip(range(len(values)), SERIES * len(values), strict=False):
            count, _ = np.histogram(rank[chain], edges)
            bars = go.Scatter(
                x=100 * edges[:-1] / values.size,
                y=count / count.mean(),
                line={"shape": "hv", "color": colour, "dash": dash, "width": 1.3},
                mode="lines",
                name=f"chain {chain}",
                legendgroup=str(chain),
                showlegend=column == 1,
                hovertemplate=f"{name}, chain {chain}<br>%{{y:.2f}} of uniform<extra></extra>",
            )
            drawn.add_trace(bars, row=1, col=column)
    drawn.update_layout(legend={"orientation": "h", "y": -0.35}, margin={"t": 40})
    drawn.update_xaxes(title={"text": "Rank (%)", "standoff": 4})
    drawn.update_yaxes(range=[0, 2], showticklabels=False)
    drawn.update_yaxes(showticklabels=True, title={"text": "Share of uniform"}, col=1)
    return drawn
