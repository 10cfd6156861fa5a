"""Figures of embedding parameters: how they grow, what leaving them out does to exponents, how much they count."""

import numpy as np

from ....inference.estimands.study_exponents import KAPLAN_EXPONENT
from ....models.draws import DRAWS
from ....models.loss import embeddings
from ....plots.density import density
from ...drawing.style import (
    BASIS_LABELS,
    BLUE,
    GREY,
    LEGEND,
    ORANGE,
    PUBLISHED,
    RED,
    SERIES,
    band,
    figure,
    line,
    points,
)

NONEMBEDDING = "Parameters outside the embeddings N<sub>x</sub>"


def sizes(table, fit):
    """Plot all parameters over those outside the embeddings: models and the fitted relation."""
    posterior = fit["posterior"]
    n = np.logspace(4, 11.5, 76)
    total = embeddings.total(n, posterior["gamma"].values[..., None], posterior["delta"].values[..., None]) / n
    low, middle, high = np.quantile(total, [0.025, 0.5, 0.975], axis=(0, 1))
    x = table["parameters_nonembedding"]
    hover = "N<sub>x</sub> %{x:.3s}<br>N<sub>T</sub>/N<sub>x</sub> %{y:.3f}<extra></extra>"
    models = points(x, table["parameters"] / x, RED, "50 models", hover, size=7)
    relation = line(n, middle, BLUE, "N<sub>x</sub> + γ N<sub>x</sub><sup>δ</sup>, median")
    return figure(
        *band(n, low, high, BLUE, "95%"),
        relation,
        models,
        x={"title": NONEMBEDDING, "type": "log"},
        y={"title": "N<sub>T</sub>/N<sub>x</sub>", "type": "log"},
        caption="How much embeddings add: all parameters over those outside the embeddings, models and fitted relation",
    ).update_layout(legend=LEGEND)


def local_exponent(local):
    """Plot the exponent of the optimal N_x in C_x at each size, of the posterior and of published constants."""
    ours = local["posterior"]
    n = ours["size"].values
    q = ours["exponent"].quantile([0.025, 0.5, 0.975], DRAWS).values
    hover = "N<sub>x</sub> %{x:.3s}<br>%{y:.3f} [%{customdata[0]:.3f}, %{customdata[1]:.3f}]<extra>posterior</extra>"
    ours = line(n, q[1], BLUE, "posterior median", customdata=np.stack([q[0], q[2]], axis=1), hovertemplate=hover)
    traces = [*band(n, q[0], q[2], BLUE, "95%"), ours]
    traces += [
        line(n, curve["exponent"].values, PUBLISHED[source][0], f"constants of {source}", dash=PUBLISHED[source][1])
        for source, curve in local.items()
        if source != "posterior"
    ]
    traces.append(line(n[[0, -1]], [KAPLAN_EXPONENT] * 2, GREY, "Kaplan et al. 2020: 0.73", dash="dot"))
    return figure(
        *traces,
        x={"title": NONEMBEDDING, "type": "log"},
        y={"title": "Local exponent of N<sub>x</sub>* in C<sub>x</sub>"},
        caption="How the exponent without embeddings depends on the size of the models, compared with Kaplan et al.",
    ).update_layout(legend=LEGEND)


def by_law(entries):
    """Plot the exponents that a study would have measured, by law and noise, counting embeddings or not."""
    names = list(entries)
    labels = [f"{name} (rejected)" if entries[name]["rejected"] else name for name in names]
    traces = []
    for basis, colour in {"total": BLUE, "nonembedding": ORANGE}.items():
        low, middle, high = ([entries[name][basis][q] for name in names] for q in ("q2.5", "q50", "q97.5"))
        errors = {
            "type": "data",
            "array": np.subtract(high, middle),
            "arrayminus": np.subtract(middle, low),
            "color": colour,
        }
        hover = "%{text}<br>%{x:.3f} [%{customdata[0]:.3f}, %{customdata[1]:.3f}]<extra></extra>"
        options = {"size": 8, "error_x": errors, "customdata": np.stack([low, high], axis=1), "text": names}
        traces.append(points(middle, list(range(len(names))), colour, BASIS_LABELS[basis], hover, **options))
    ends = [-0.5, len(names) - 0.5]
    traces.append(line([KAPLAN_EXPONENT] * 2, ends, GREY, "Kaplan et al. 2020: 0.73", dash="dot"))
    return figure(
        *traces,
        x={"title": "Exponent of the optimal size in compute"},
        y={"tickvals": list(range(len(names))), "ticktext": labels, "range": ends[::-1]},
        height=110 + 38 * len(names),
        caption="Exponent that the study of Kaplan et al. would have measured, by law and noise, the best law first",
    ).update_layout(legend=LEGEND, margin={"l": 190})


def measured_exponents(exponents, fixed):
    """Plot the density of the exponent that a study would have measured, counting embeddings or not."""
    traces = []
    for basis, colour in {"nonembedding": ORANGE, "total": BLUE}.items():
        grid, height = density(exponents[basis]["size"].values)
        traces.append(line(grid, height, colour, BASIS_LABELS[basis], fill="tozeroy"))
    top = max(trace.y.max() for trace in traces)
    for (source, basis, exact), result in fixed.items():
        if not exact:
            x, shown = float(result["size"][0]), basis == "nonembedding"
            colour, dash = PUBLISHED[source]
            name = f"constants of {source}"
            traces.append(line([x, x], [0, top], colour, name, dash=dash, showlegend=shown, legendgroup=source))
    ends = np.concatenate([np.ravel(trace.x) for trace in traces])
    traces.append(line([KAPLAN_EXPONENT] * 2, [0, top], GREY, "Kaplan et al. 2020: 0.73", dash="dot"))
    return figure(
        *traces,
        x={"title": "Exponent of the optimal size in compute"},
        y={"title": "Density"},
        height=380,
        caption="Posterior of the exponent that a study would have measured, with and without embedding parameters",
    ).update_layout(legend=LEGEND, xaxis={"range": [ends.min() - 0.02, ends.max() + 0.02]})


def omega(fits):
    """Plot posterior densities of omega under several laws and noises, and its prior."""
    densities = {name: density(fit["posterior"]["omega"].values) for name, fit in fits.items()}
    wide = np.linspace(0, max(3.5, *(grid[-1] for grid, _ in densities.values())), 200)
    prior = np.exp(next(iter(fits.values())).law.prior_of["omega"].log_density(wide))
    top = max(height.max() for _, height in densities.values())
    return figure(
        *(
            line(grid[grid >= 0], height[grid >= 0], colour, name, dash=dash)
            for (name, (grid, height)), (colour, dash) in zip(densities.items(), SERIES, strict=False)
        ),
        line(wide, prior, GREY, "prior", dash="dot"),
        line([0, 0], [0, top], GREY, "0: Kaplan's counting", dash="dash"),
        line([1, 1], [0, top], GREY, "1: Hoffmann's counting", dash="dashdot"),
        x={"title": "ω, weight of an embedding parameter"},
        y={"title": "Density"},
        height=420,
        caption="Posterior of ω, the weight of an embedding parameter, by law and noise, and its prior",
    ).update_layout(legend=LEGEND)
