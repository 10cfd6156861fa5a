"""Figures of algorithmic progress: doubling times, comparison of specifications, the ridge, residuals and years."""

import numpy as np
import scipy.special

from ....inference.intervals import QUANTILES
from ....inference.progress.change_points import NONE
from ....inference.words import probability
from ....models.progress.growth import doubling_months
from ...drawing.intervals import rows_named
from ...drawing.style import BLUE, GREEN, GREY, LEGEND, ORANGE, RED, SIZES, band, figure, line, panels, points
from ...laws import MAIN
from .entries import PROBABILITIES
from .forest import forest
from .published import DIRECT_PUBLISHED, DOUBLING, VARIANT_PUBLISHED
from .specifications import TEN_BEST
from .wording import (
    EFFECTS_WORDS,
    POOLED,
    VARIANT_NAMES,
    formula,
    name_of,
    quantiles_of,
    quoted_times,
    with_progress,
)

COLOURS = {"wt103": BLUE, "wt2": ORANGE, "ptb": GREEN}


def doubling(findings, published):
    """Plot doubling times by specification, best elpd on top, and pooled, with the published ones."""
    rows = []
    for k in with_progress(findings):
        by_label = findings.compared["times"][str(k)]
        for label, q in by_label.items():
            name = name_of(k) if len(by_label) == 1 else f"{k}  {label}"
            hover = [formula(k), f"P(progress) {probability(q['p_progress'])}"]
            group, colour = (f"specification {MAIN}", RED) if k == MAIN else ("specifications, best elpd on top", BLUE)
            rows.append({"label": name, "group": group, "colour": colour, "hover": hover} | quantiles_of(q))
        if k == MAIN:
            rows += published.row(DOUBLING + "closed_form", name_of(k), same_row=True)
    for key, name in POOLED.items():
        q = findings.compared["pooled"][key]
        hover = [f"P(progress) {probability(q['p_progress'])}"]
        rows.append({"label": f"pooled: {name}", "group": "pooled", "colour": GREEN, "hover": hover} | quantiles_of(q))
        if key == TEN_BEST:
            rows += published.row(DOUBLING + TEN_BEST, "published, ten best pairs", same_row=True)
    return forest(
        rows, caption="Doubling times by specification, best first, pooled and published, at 1e25 FLOP in 2023"
    )


def gains(findings):
    """Plot doubling times at the evaluations' own sizes: the quoted one, specifications mixed, and each alone."""
    label, quoted = quoted_times(findings)
    noises = list(findings.noises.index)
    rows = [{"label": label, "group": "quoted", "colour": RED, "hover": [EFFECTS_WORDS[noises[0]]]} | quoted]
    rows += [
        {"label": f"mixed, {EFFECTS_WORDS[noise]}", "group": "specifications mixed", "colour": RED, "hover": []}
        | quantiles_of(findings.compared["by_noise"][noise])
        for noise in noises
    ]
    for k in with_progress(findings):
        q = findings.document["progress"][str(k)]["compute_equivalent_gain"]["all"]
        hover = [formula(k), f"P(progress) {probability(q['p_progress'])}"]
        group = "one specification, without random effects by paper, best elpd on top"
        row = {"label": name_of(k), "group": group, "colour": BLUE, "hover": hover}
        rows.append(row | quantiles_of(q["doubling_months"]))
    caption = (
        "Doubling times at the evaluations' own sizes and dates: the quoted one, mixtures and single specifications"
    )
    return forest(rows, caption=caption)


def prior_grid(grid):
    """Plot doubling times at the evaluations' own sizes under other priors."""
    grid = grid[grid["estimand"] == "rows"]
    colours = dict(zip(sorted(grid["yearly_sd"].unique()), (BLUE, GREEN, RED), strict=False))
    rows = [
        {
            "label": f"shares' sd {row['share_sd']:g}, yearly sd {row['yearly_sd']:g}",
            "group": f"yearly falls' prior sd {row['yearly_sd']:g} a year",
            "colour": colours[row["yearly_sd"]],
            "hover": [f"P(progress) {probability(row['p_progress'])}"],
        }
        | {name: row[name] for name in ("q2.5", "q50", "q97.5")}
        for _, row in grid.iterrows()
    ]
    return forest(
        rows,
        caption=f"Doubling times of specification {MAIN} under other priors, at the evaluations' own sizes and dates",
    )


def variants(entries, published):
    """Plot doubling times of variants, entries by name, with the published ones."""
    rows = []
    for name, entry in entries.items():
        label = VARIANT_NAMES.get(name, name)
        hover = [f"P(progress) {probability(entry['p_progress'])}"]
        rows.append({"label": label, "group": "posterior", "colour": BLUE, "hover": hover} | entry["times"])
        quantity = DOUBLING + VARIANT_PUBLISHED.get(name, name)
        rows += published.row(quantity, label, same_row=True)
    return forest(
        rows,
        row_height=30,
        caption=f"Doubling times under variants of specification {MAIN}, compared with published ones",
    )


def acceleration(cutoffs):
    """Plot doubling times before and after a change at each whole year, entries by cutoff."""
    rows = []
    changes = {int(float(x)): of for x, of in cutoffs.items() if x != NONE and float(x).is_integer()}
    for cutoff, change in changes.items():
        for name, colour in (("before", GREY), ("after", BLUE)):
            hover = [f"P(faster after) {probability(change['p_faster'])}"]
            row = {"label": str(cutoff), "group": f"{name} the cutoff", "colour": colour, "hover": hover}
            rows.append(row | quantiles_of(change[name]) | {"same_row": name == "after"})
    return forest(
        rows, row_height=34, caption="Doubling times before and after a change of the rate, by the year of the change"
    )


def direct(findings, published):
    """Plot direct estimates of doubling times, with the published ones."""
    rows = []
    for system, estimate in findings.direct.items():
        quantity = f"{DOUBLING}direct.{DIRECT_PUBLISHED.get(system)}"
        if estimate.rate is not None:
            q = dict(zip(PROBABILITIES, estimate.doubling_quantiles(tuple(PROBABILITIES.values())), strict=True))
            hover = [f"{len(estimate.rows)} systems", f"P(progress) {probability(estimate.p_progress)}"]
            rows.append({"label": system, "group": "posterior", "colour": BLUE, "hover": hover} | q)
            rows += published.row(quantity, system, same_row=True)
        else:
            rows += published.row(quantity, system)
    return forest(
        rows, row_height=40, caption="Direct estimates of doubling times, by reference system, and published ones"
    )


def elpd_differences(comparison, names):
    """Plot the difference of elpd to the best specification, with two standard errors by rows and by papers."""
    place = np.arange(len(comparison))
    caption = "How well each specification predicts: difference of leave-one-out elpd to the best, in nats"
    drawn = figure(height=110 + 26 * len(comparison), caption=caption)
    for name, column, colour, shift in (
        ("rows as if independent", "dse", BLUE, -0.14),
        ("summed by paper", "dse_by_paper", ORANGE, 0.14),
    ):
        bars = {"type": "data", "array": 2 * comparison[column], "thickness": 1.5, "width": 3}
        text = [
            f"{names[k]}<br>elpd {row['elpd']:.1f}<br>difference {row['elpd_diff']:.1f} ± {row[column]:.1f} "
            f"(1 se)<br>largest Pareto k {row['pareto_k_max']:.2f}, {row['refitted']:.0f} rows refitted"
            for k, row in comparison.iterrows()
        ]
        options = {"size": 7, "error_x": bars, "text": text}
        label, hover = f"± 2 standard errors, {name}", "%{text}<extra>" + name + "</extra>"
        drawn.add_trace(points(comparison["elpd_diff"], place + shift, colour, label, hover, **options))
    drawn.add_vline(x=0, line={"color": GREY, "width": 1, "dash": "dash"})
    drawn.update_xaxes(title={"text": "Difference of leave-one-out elpd to the best (nats)", "standoff": 8})
    return rows_named(drawn, [names[k] for k in comparison.index]).update_layout(legend=LEGEND, margin={"t": 50})


def ridge(alpha_year, beta_year, rate, marks):
    """Plot the joint posterior of the two yearly falls, coloured by the doubling time.

    Parameters
    ----------
    alpha_year, beta_year, rate : array_like
        Draws.
    marks : dict of str to (float, float, str)
        By name: the two slopes, and a line of hover text.
    """
    pick = np.random.default_rng(0).permutation(np.size(rate))[:2500]
    a, b, g = (np.ravel(x)[pick] for x in (alpha_year, beta_year, rate))
    time = doubling_months(np.where(g > 0, g, np.nan))
    ticks = [3, 5, 10, 20, 50]
    bar = {
        "title": {"text": "doubling time (months)", "side": "right"},
        "tickvals": np.log10(ticks),
        "ticktext": [f"≤ {ticks[0]}", *map(str, ticks[1:-1]), f"≥ {ticks[-1]}"],
        "len": 0.85,
    }
    scale = {"cmin": np.log10(ticks[0]), "cmax": np.log10(ticks[-1]), "colorbar": bar}
    marker = {"colorscale": SIZES, "reversescale": True} | scale
    at = "α<sub>year</sub> %{x:.4f}<br>β<sub>year</sub> %{y:.4f}<br>"
    hover = at + "doubling %{customdata:.1f} months<extra>draw</extra>"
    options = {"size": 5, "opacity": 0.7, "marker": marker, "customdata": time[g > 0]}
    traces = [points(a[g > 0], b[g > 0], np.log10(time[g > 0]), "draw with progress", hover, **options)]
    if (g <= 0).any():
        name, hover = "draw without progress (never doubles)", at.removesuffix("<br>") + "<extra>never doubles</extra>"
        traces.append(points(a[g <= 0], b[g <= 0], GREY, name, hover, size=5, opacity=0.7))
    looks = (("circle-open", RED, 22), ("x", ORANGE, 12), ("diamond", GREEN, 14))
    for (name, (x, y, hover)), (symbol, colour, size) in zip(marks.items(), looks, strict=False):
        edge = {"color": colour, "width": 3} if symbol.endswith("open") else {"color": "white", "width": 1.5}
        text = f"α<sub>year</sub> {x:.4f}<br>β<sub>year</sub> {y:.4f}<br>{hover}<extra>{name}</extra>"
        traces.append(points([x], [y], colour, name, text, size=size, symbol=symbol, marker={"line": edge}))
    return figure(
        *traces,
        x={"title": "α<sub>year</sub>, yearly fall in the parameter term (per year)"},
        y={"title": "β<sub>year</sub>, yearly fall in the data term (per year)"},
        height=520,
        caption="Trade-off between the yearly falls of the two terms: posterior draws, coloured by doubling time",
    ).update_layout(legend=LEGEND, margin={"t": 60})


def residuals(fit):
    """Plot standardised residuals of evaluations by date and benchmark: posterior means and 95% intervals."""
    table, draws = fit.rows, fit.draws
    z = scipy.special.ndtri(np.clip(draws.cdf().transpose(..., "evaluation").values, 1e-300, 1 - 1e-16))
    low, high = np.quantile(z, [0.025, 0.975], axis=(0, 1))
    middle = z.mean((0, 1))
    traces = []
    for name, colour in COLOURS.items():
        rows = (table["benchmark"] == name).to_numpy()
        spread = {"type": "data", "array": (high - middle)[rows], "arrayminus": (middle - low)[rows], "width": 0,
                  "thickness": 1, "color": "#d1d5db"}  # fmt: skip
        label, hover = f"{name} ({rows.sum()})", "%{text}<br>%{x:.1f}<br>%{y:+.2f}<extra>" + name + "</extra>"
        options = {"error_y": spread, "text": table["system"][rows]}
        traces.append(points(table["year"][rows], middle[rows], colour, label, hover, **options))
    caption = f"Standardised residuals of specification {MAIN} by date: posterior means and 95% intervals"
    titles = {"x": {"title": "Date"}, "y": {"title": "Standardised residual"}}
    drawn = figure(*traces, **titles, height=380, caption=caption)
    return drawn.update_layout(legend=LEGEND, margin={"t": 50})


def leave_future_out(future, whole):
    """Plot log predictive density and root mean squared error of the year after each cutoff.

    Parameters
    ----------
    future : DataFrame
        From `by_cutoff`.
    whole : dict
        ``elpd`` (a row) and ``mse`` of leave-one-out over the whole table.
    """
    import plotly.graph_objects as go

    caption = f"How well specification {MAIN} predicts the year after each cutoff, compared with leave-one-out (dashed)"
    drawn = panels(1, 2, height=380, caption=caption, horizontal_spacing=0.12)
    measures = (
        (future["elpd"] / future["predicted"], whole["elpd"], "elpd a predicted row (nats)"),
        (np.sqrt(future["mse"]), np.sqrt(whole["mse"]), "Root mean squared error (nats)"),
    )
    for column, (values, level, title) in enumerate(measures, 1):
        place = {"row": 1, "col": column}
        drawn.add_trace(
            go.Scatter(
                x=future["cutoff"],
                y=values,
                mode="lines+markers",
                line={"color": BLUE},
                name="the year after the cutoff, fitted to the years before",
                showlegend=column == 1,
                text=[f"trained on {r.trained}, predicted {r.predicted} rows" for r in future.itertuples()],
                hovertemplate="cutoff %{x}<br>%{y:.3f}<br>%{text}<extra></extra>",
            ),
            **place,
        )
        ends = [future["cutoff"].min(), future["cutoff"].max()]
        drawn.add_trace(
            line(ends, [level] * 2, GREY, "leave-one-out of the whole table", dash="dash", showlegend=column == 1,
                 hovertemplate=f"leave-one-out {level:.3f}<extra></extra>"),
            **place,
        )  # fmt: skip
        drawn.update_yaxes(title={"text": title, "standoff": 8}, **place)
    drawn.update_xaxes(title={"text": "Cutoff (start of the predicted year)", "standoff": 8}, dtick=1)
    return drawn.update_layout(legend=LEGEND, margin={"t": 50})


def rates(entry):
    """Plot the growth of effective compute by year at the evaluations' own sizes: with one change, and as a walk."""
    traces, walk = [], entry["random_walk"]
    for name, colour, of in (("one change", BLUE, entry), ("random walk", ORANGE, walk)):
        growth = of["growth_per_year"]
        years = np.array(list(growth), float)
        low, middle, high = np.array([[q[end] for q in growth.values()] for end in QUANTILES]) / np.log(2)
        ends = np.stack([low, high], axis=1)
        hover = f"{name}, %{{x}}<br>%{{y:.2f}} [%{{customdata[0]:.2f}}, %{{customdata[1]:.2f}}] doublings a year"
        options = {"customdata": ends, "hovertemplate": f"{hover}<extra></extra>"}
        drawn = *band(years, low, high, colour, f"{name}, 95%"), line(years, middle, colour, name, **options)
        # The rate of a walk is constant between steps.
        traces += [trace.update(line_shape="hv" if of is walk else "linear") for trace in drawn]
    return figure(
        *traces,
        x={"title": "Year", "dtick": 1},
        y={"title": "Doublings of effective compute a year", "rangemode": "tozero"},
        height=340,
        caption="Rate of progress by year, if it changes at most once or follows a random walk: medians and 95% bands",
    ).update_layout(legend=LEGEND)
