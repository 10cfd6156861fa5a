"""Figures of the sensitivity of progress, and of what follows: attribution, frontiers, build-up, data and rules."""

import numpy as np

from ....inference.checks.chains import PARETO_K_LIMIT
from ....inference.progress import contributions
from ....models.draws import DRAWS
from ...drawing.intervals import rows_named
from ...drawing.style import (
    BLUE,
    GREEN,
    GREY,
    INNER,
    LEGEND,
    ORANGE,
    OVER_TITLES,
    PARAMETERS,
    RED,
    TOKENS,
    axis,
    band,
    faded,
    figure,
    line,
    median_and_bands,
    panels,
    points,
)
from .wording import months

MOVES = {
    "parameter_scaling": ("parameter scaling", "#1f5f99"),
    "data_scaling": ("data scaling", "#7fb0dc"),
    "parameter_efficiency": ("progress in parameters", "#b5403a"),
    "data_efficiency": ("progress in data", "#e3a29e"),
}
WITHIN = 1000.0
EDGE = {"line": {"color": "white", "width": 1}}


def influence(table, *, shown=15):
    """Plot the change of the median doubling time without each of the papers that change it most."""
    import plotly.graph_objects as go

    table = table.head(shown)
    place = np.arange(len(table))
    finite = table["shift"].where(np.isfinite(table["shift"]))
    short = [f"{t[:46]}…" if len(t) > 47 else t for t in table["title"]]
    caption = "The papers that change the median doubling time most when they are left out"
    drawn = figure(height=110 + 26 * len(table), caption=caption)
    for name, chosen, colour in (
        (f"Pareto k at most {PARETO_K_LIMIT}", table["pareto_k"] <= PARETO_K_LIMIT, BLUE),
        (f"Pareto k above {PARETO_K_LIMIT}: not reliable", ~(table["pareto_k"] <= PARETO_K_LIMIT), RED),
    ):
        if not chosen.any():
            continue
        drawn.add_trace(
            go.Bar(
                x=finite[chosen],
                y=place[chosen],
                orientation="h",
                width=0.55,
                marker={"color": colour},
                name=name,
                text=[
                    f"{row.title}<br>{row.rows} rows<br>median without it {months(row.median)} months, change "
                    f"{row.shift:+.2f}<br>P(progress) without it {row.p_progress:.3f}<br>Pareto k {row.pareto_k:.2f}"
                    for row in table[chosen].itertuples()
                ],
                textposition="none",
                hovertemplate="%{text}<extra></extra>",
            )
        )
    drawn.add_vline(x=0, line={"color": GREY, "width": 1})
    drawn.update_xaxes(title={"text": "Change of the median doubling time without the paper (months)", "standoff": 8})
    return rows_named(drawn, short).update_layout(legend=LEGEND, margin={"t": 50}, showlegend=True)


def shares(attribution, published):
    """Plot stacked median shares of each move, with the published shares in a paler bar below.

    Parameters
    ----------
    attribution : Dataset
        From `contributions.attribution`.
    published : dict of (str, str) to float
        Percent, by pair and move.
    """
    import plotly.graph_objects as go

    pairs = list(attribution["pair"].values)
    place = np.arange(len(pairs))
    low, middle, high = (100 * attribution["share"].quantile([0.025, 0.5, 0.975], DRAWS)).values
    moves = list(attribution["move"].values)
    caption = (
        "What made the loss fall between two systems: median share of each cause, above the published one (hatched)"
    )
    drawn = figure(height=130 + 46 * len(pairs), barmode="relative", caption=caption)
    for j, (move, (name, colour)) in enumerate((m, MOVES[m]) for m in moves):
        drawn.add_trace(
            go.Bar(
                x=middle[:, j],
                y=place - 0.18,
                orientation="h",
                width=0.38,
                marker={"color": colour},
                name=name,
                legendgroup=move,
                text=[
                    f"{_arrow(p)}<br>{name}: {m:.1f}% [{a:.1f}, {b:.1f}]"
                    for p, a, m, b in zip(pairs, low[:, j], middle[:, j], high[:, j], strict=True)
                ],
                textposition="none",
                hovertemplate="%{text}<extra>posterior median</extra>",
            )
        )
        drawn.add_trace(
            go.Bar(
                x=[published.get((p, move), np.nan) for p in pairs],
                y=place + 0.22,
                orientation="h",
                width=0.24,
                marker={
                    "color": faded(colour, 0.55),
                    "pattern": {"shape": "/", "size": 5, "solidity": 0.35, "fgcolor": "#ffffff"},
                },
                legendgroup=move,
                showlegend=False,
                hovertemplate=name + ": %{x:.1f}%<extra>published</extra>",
            )
        )
    drawn.update_xaxes(title={"text": "Share of the fall of loss (%); hatched: published", "standoff": 8})
    return rows_named(drawn, [_arrow(p) for p in pairs]).update_layout(legend=LEGEND, margin={"t": 50})


def _arrow(pair):
    return pair.replace(">", " → ")


def share_intervals(attribution, published):
    """Plot the median share and 95% interval of each move, with published shares: one panel for each move."""
    pairs, moves = list(attribution["pair"].values), list(attribution["move"].values)
    place = np.arange(len(pairs))
    low, middle, high = (100 * attribution["share"].quantile([0.025, 0.5, 0.975], DRAWS)).values
    titles = [MOVES[m][0] for m in moves]
    caption = "The shares with their 95% intervals, by cause, and the published shares (diamonds)"
    options = {"shared_yaxes": True, "horizontal_spacing": 0.025, "subplot_titles": titles}
    drawn = panels(1, len(moves), height=150 + 32 * len(pairs), caption=caption, **options)
    for j, move in enumerate(moves):
        where = {"row": 1, "col": j + 1}
        once, name = {"showlegend": j == 0}, MOVES[move][0]
        bars = {"type": "data", "array": high[:, j] - middle[:, j], "arrayminus": middle[:, j] - low[:, j]}
        text = [f"[{a:.1f}, {b:.1f}]" for a, b in zip(low[:, j], high[:, j], strict=True)]
        options = {"error_x": bars | {"thickness": 1.5, "width": 3}, "legendgroup": "ours", "text": text}
        hover, label = "%{x:.1f}% %{text}<extra>" + name + "</extra>", "posterior median and 95%"
        drawn.add_trace(points(middle[:, j], place, BLUE, label, hover, size=7, **options, **once), **where)
        estimates = [published.get((p, move), np.nan) for p in pairs]
        hover = "%{x:.1f}%<extra>published, " + name + "</extra>"
        options = {"size": 8, "symbol": "diamond", "legendgroup": "published"}
        drawn.add_trace(points(estimates, place + 0.28, ORANGE, "published", hover, **options, **once), **where)
    drawn.update_xaxes(title={"text": "share (%)", "standoff": 4})
    drawn.update_yaxes(range=[len(pairs) - 0.4, -0.6], ticks="")
    drawn.update_yaxes(tickvals=place, ticktext=[_arrow(p) for p in pairs], automargin=True, col=1)
    drawn.update_annotations(font={"size": 13})
    return drawn.update_layout(legend=OVER_TITLES, margin={"t": 80})


def frontiers(fit, system, years):
    """Plot the sizes that reach the loss of a system by year: N and D within a factor of 1,000.

    Parameters
    ----------
    fit : Fit
    system : Series
        A row of the evaluations: system, perplexity, parameters, dataset_tokens, year.
    years : sequence of float
    """
    n, d = (system[name] * np.array([1 / WITHIN, WITHIN]) for name in ("parameters", "dataset_tokens"))
    log_n = np.linspace(*np.log(n), 121)
    log_d = contributions.frontier(fit, loss=np.log(system["perplexity"]), years=years, log_parameters=log_n)
    quantiles = np.quantile(log_d.values, [0.25, 0.5, 0.75], axis=(2, 3), method="inverted_cdf")
    shades = np.linspace(0, 1, len(years))
    caption = f"Sizes that reach the perplexity of {system['system']} (star), by year: medians"
    drawn = figure(height=520, caption=caption)
    for i, (year, shade) in enumerate(zip(years, shades, strict=True)):
        colour = _between("#9cc3e6", "#0b2f57", shade)
        low, middle = (np.where(q < np.log(d[1] * 3), q, np.nan) for q in quantiles[:2, i])
        if i in (0, len(years) - 1):
            capped = np.minimum(quantiles[2, i], np.log(d[1] * 3))
            seen = np.isfinite(low)
            group = f"{year:.0f}, central 50%"
            drawn.add_traces(band(np.exp(log_n[seen]), np.exp(low[seen]), np.exp(capped[seen]), colour, group))
        drawn.add_trace(
            line(
                np.exp(log_n),
                np.exp(middle),
                colour,
                f"{year:.0f}",
                hovertemplate=f"{year:.0f}<br>N %{{x:.3s}}<br>D %{{y:.3s}} reach perplexity {system['perplexity']:g}"
                "<extra>median</extra>",
            )
        )
    hover = f"N %{{x:.3s}}<br>D %{{y:.3s}}<br>dated {system['year']:.1f}<extra>{system['system']}</extra>"
    at = [system["parameters"]], [system["dataset_tokens"]]
    drawn.add_trace(points(*at, RED, system["system"], hover, size=14, symbol="star", marker=EDGE))
    drawn.update_xaxes(**axis(PARAMETERS, type="log", range=np.log10(n)))
    drawn.update_yaxes(**axis(TOKENS, type="log", range=np.log10(d)))
    return drawn.update_layout(legend={"y": 0.85})


def _between(first, second, share):
    ends = [[int(colour[i : i + 2], 16) for i in (1, 3, 5)] for colour in (first, second)]
    return "#" + "".join(f"{round(a + share * (b - a)):02x}" for a, b in zip(*ends, strict=True))


def build_up(fit, published, *, end=2023.0):
    """Plot the growth of effective compute since 2014: algorithms with bands, physical compute, and both."""
    years = np.linspace(2014, end, 46)
    algorithms = contributions.effective_compute(fit, years).values.reshape(len(years), -1)
    algorithms = algorithms[:, np.isfinite(algorithms).all(0)]
    physical = contributions.physical_compute(years)
    tenfold = np.log10(np.e)
    caption = "Growth of effective compute by algorithms alone and with physical compute: medians, 50% and 95% bands"
    drawn = figure(height=480, caption=caption)
    for name, draws, colour in (
        ("algorithms", algorithms, BLUE),
        ("algorithms and physical compute", algorithms + physical[:, None], GREEN),
    ):
        q = 10 ** (tenfold * np.quantile(draws, [0.025, 0.25, 0.5, 0.75, 0.975], axis=1))
        drawn.add_traces(
            [*band(years, q[0], q[4], colour, f"{name}, 95%"), *band(years, q[1], q[3], colour, "50%", shade=INNER)]
        )
        drawn.data[-1].showlegend = False
        drawn.add_trace(
            line(years, q[2], colour, f"{name}, median", customdata=np.stack([q[0], q[4]], axis=1),
                 hovertemplate="%{x:.1f}<br>× %{y:.3s} [%{customdata[0]:.3s}, %{customdata[1]:.3s}]"
                 "<extra>" + name + "</extra>")
        )  # fmt: skip
    drawn.add_trace(
        line(years, np.exp(physical), GREY, "physical compute", dash="dash",
             hovertemplate="%{x:.1f}<br>× %{y:.3s}<extra>physical compute</extra>")
    )  # fmt: skip
    if np.isfinite(published):
        name, hover = f"published, algorithms: × {published:,.0f}", "× %{y:,.0f}<extra>published, algorithms</extra>"
        drawn.add_trace(points([end], [published], ORANGE, name, hover, size=11, symbol="diamond", marker=EDGE))
    drawn.update_xaxes(title={"text": "Date (year)", "standoff": 8}, range=[2014, end + 0.15], dtick=1)
    drawn.update_yaxes(**axis("Growth of compute since 2014 (×)", type="log", dtick=2))
    return drawn.update_layout(legend=LEGEND, margin={"t": 70})


def direct_rows(direct):
    """Plot the compute of the systems near each reference perplexity, relative to the reference, by date."""
    caption = (
        "Compute of later systems of the same perplexity, over that of the reference; below the dashed line it is less"
    )
    drawn = figure(height=400, caption=caption)
    for (system, estimate), colour in zip(direct.items(), (BLUE, RED, GREEN) * len(direct), strict=False):
        rows = estimate.rows
        text = [
            f"{r.system}<br>perplexity {r.perplexity:g}<br>{r.training_compute_flop:.2e} FLOP"
            for r in rows.itertuples()
        ]
        name, hover = (
            f"within {estimate.factor:g}× of {system}",
            "%{text}<br>%{x:.1f} years after, × %{y:.3g}<extra></extra>",
        )
        relative = np.exp(rows["log_relative_compute"])
        drawn.add_trace(points(rows["years_after"], relative, colour, name, hover, size=8, text=text))
    drawn.add_hline(y=1, line={"color": GREY, "width": 1, "dash": "dash"})
    drawn.update_xaxes(title={"text": "Years after the reference", "standoff": 8})
    drawn.update_yaxes(**axis("Compute over the reference's (×)", type="log"))
    return drawn.update_layout(legend=LEGEND, margin={"t": 50})


def rule_gain(gains, published):
    """Plot the compute that Chinchilla's rule saves over Kaplan's, against compute.

    Parameters
    ----------
    gains : Dataset
        From `chinchilla_over_kaplan`.
    published : dict of str to (float, float)
        By scale: compute and gain.
    """
    compute = gains["compute"].values
    q = gains["gain"].quantile([0.025, 0.25, 0.5, 0.75, 0.975], DRAWS).values
    drawn = figure(
        *median_and_bands(compute, q, BLUE, ("C %{x:.2e} FLOP", ".2f", "times")),
        x={"title": "Training compute C (FLOP)", "type": "log"},
        y={"title": "Compute saved by Chinchilla's rule (×)", "type": "log", "tickvals": [1, 1.5, 2, 3, 5, 10, 20]},
        caption="Compute that Chinchilla's rule saves over Kaplan's, by budget: median, 50% and 95%, and published",
    )  # fmt: skip
    for (name, (budget, gain)), symbol in zip(published.items(), ("diamond", "star"), strict=False):
        hover = f"× {gain:g} at {budget:.2g} FLOP<extra>published, {name}</extra>"
        look = {"size": 12, "symbol": symbol, "marker": EDGE}
        drawn.add_trace(points([budget], [gain], ORANGE, f"published, {name}", hover, **look))
    return drawn.update_layout(legend=LEGEND, margin={"t": 50})
