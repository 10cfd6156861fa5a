"""Figures of algorithmic progress: doubling times, comparison of specifications, and what they rest on."""

import numpy as np

from ..inference.diagnostics import PARETO_K_LIMIT
from ..models.growth import doubling_months
from .style import BLUE, GREEN, GREY, ORANGE, RED, SIZES, figure, line

MONTHS = "Doubling time of effective compute (months)"
SHORTEST, LONGEST = 1.0, 120.0
NEVER = 170.0
PUBLISHED = "Ho et al. 2024"
LEVELS = ("q2.5", "q25", "q50", "q75", "q97.5")
LEGEND = {"orientation": "h", "yanchor": "bottom", "y": 1.0, "x": 0, "traceorder": "normal"}


def months(x):
    """Write a doubling time; infinite is "never"."""
    if not np.isfinite(x):
        return "never"
    return f"{x:,.0f}" if x >= 100 else f"{x:.1f}"


def forest(rows, *, title=MONTHS, longest=LONGEST, row_height=24):
    """Medians with 50% and 95% intervals of doubling times on a logarithmic axis of months.

    Parameters
    ----------
    rows : list of dict
        From top to bottom: ``label``; ``group`` (its name in the legend) and ``colour``; ``q50`` and, where known,
        ``q2.5``, ``q25``, ``q75`` and ``q97.5`` in months; ``said``, more lines of its hover; ``beside`` True for a row
        that shares the place of the row above.
    title : str
        Of the axis.
    longest : float
        Times beyond it end in a triangle at the right edge.
    row_height : int
    """
    place, places, labels = 0, [], []
    for row in rows:
        if not row.get("beside"):
            place += 1
            labels.append(row["label"])
        places.append(place - (0.0 if not row.get("beside") else -0.28))
    drawn = figure(height=110 + row_height * max(len(labels), 3))
    groups = dict.fromkeys((row["group"], row["colour"]) for row in rows)
    for group, colour in groups:
        kept = [(row, y) for row, y in zip(rows, places, strict=True) if row["group"] == group]
        drawn.add_traces(_intervals(kept, colour, group, longest))
    ticks = [t for t in (1, 2, 5, 10, 20, 50, 100) if t < longest]
    edge = longest * NEVER / LONGEST
    drawn.update_xaxes(
        title={"text": title, "standoff": 8},
        type="log",
        range=np.log10([SHORTEST * 0.95, edge * 1.1]),
        tickvals=[*ticks, edge],
        ticktext=[*map(str, ticks), "never"],
    )
    drawn.update_yaxes(
        tickvals=list(range(1, len(labels) + 1)),
        ticktext=labels,
        range=[len(labels) + 0.8, 0.2],
        automargin=True,
        showgrid=False,
        ticks="",
        showline=False,
    )
    return drawn.update_layout(legend=LEGEND, margin={"t": 50})


def _intervals(kept, colour, group, longest):
    import plotly.graph_objects as go

    edge = longest * NEVER / LONGEST

    def clipped(x):
        return np.clip(x, SHORTEST, longest if np.isfinite(x) and x <= longest else edge)

    traces = []
    for low, high, width, opacity in (("q2.5", "q97.5", 2, 0.8), ("q25", "q75", 6, 0.55)):
        x, y = [], []
        for row, place in kept:
            if np.isfinite(row.get(low, np.nan)):
                x += [clipped(row[low]), clipped(row[high]), None]
                y += [place, place, None]
        if x:
            style = {"width": width, "opacity": opacity, "hoverinfo": "skip", "showlegend": False, "legendgroup": group}
            traces.append(line(x, y, colour, group, **style))
    beyond = [(row, place) for row, place in kept if row.get("q97.5", 0) > longest]
    if beyond:
        traces.append(
            go.Scatter(
                x=[edge] * len(beyond),
                y=[place for _, place in beyond],
                mode="markers",
                marker={"symbol": "triangle-right", "size": 9, "color": colour},
                hoverinfo="skip",
                showlegend=False,
                legendgroup=group,
            )
        )
    traces.append(
        go.Scatter(
            x=[clipped(row["q50"]) for row, _ in kept],
            y=[place for _, place in kept],
            mode="markers",
            marker={
                "color": colour,
                "size": 9,
                "symbol": ["circle" if row["q50"] <= longest else "circle-open" for row, _ in kept],
                "line": {"color": colour if group else "white", "width": 1},
            },
            name=group,
            legendgroup=group,
            text=[_hover(row) for row, _ in kept],
            hovertemplate="%{text}<extra>" + group + "</extra>",
        )
    )
    return traces


def _hover(row):
    said = [row["label"], f"median {months(row['q50'])} months"]
    for name, low, high in (("95%", "q2.5", "q97.5"), ("50%", "q25", "q75")):
        if low in row and not np.isnan(row[low]):
            said.append(f"{name}: {months(row[low])} to {months(row[high])}")
    return "<br>".join([*said, *row.get("said", [])])


def elpd_differences(comparison, names):
    """Difference of elpd to the best specification, with two standard errors by rows and by papers."""
    import plotly.graph_objects as go

    place = np.arange(1, len(comparison) + 1)
    drawn = figure(height=110 + 26 * len(comparison))
    for name, column, colour, shift in (
        ("rows as if independent", "dse", BLUE, -0.14),
        ("summed by paper", "dse_by_paper", ORANGE, 0.14),
    ):
        drawn.add_trace(
            go.Scatter(
                x=comparison["elpd_diff"],
                y=place + shift,
                error_x={"type": "data", "array": 2 * comparison[column], "thickness": 1.5, "width": 3},
                mode="markers",
                marker={"color": colour, "size": 7},
                name=f"± 2 standard errors, {name}",
                text=[
                    f"{names[k]}<br>elpd {row['elpd']:.1f}<br>difference {row['elpd_diff']:.1f} ± {row[column]:.1f} "
                    f"(1 se)<br>largest Pareto k {row['pareto_k_max']:.2f}, {row['refitted']:.0f} rows refitted"
                    for k, row in comparison.iterrows()
                ],
                hovertemplate="%{text}<extra>" + name + "</extra>",
            )
        )
    drawn.add_vline(x=0, line={"color": GREY, "width": 1, "dash": "dash"})
    drawn.update_xaxes(title={"text": "Difference of leave-one-out elpd to the best (nats)", "standoff": 8})
    drawn.update_yaxes(
        tickvals=place, ticktext=[names[k] for k in comparison.index], autorange="reversed", automargin=True, ticks=""
    )
    return drawn.update_layout(legend=LEGEND, margin={"t": 50})


def ridge(alpha_year, beta_year, rate, marks):
    """Joint posterior of the two yearly falls, coloured by the doubling time.

    Parameters
    ----------
    alpha_year, beta_year, rate : array_like
        Draws.
    marks : dict of str to (float, float, str)
        By name: the two slopes, and what to say of them.
    """
    import plotly.graph_objects as go

    pick = np.random.default_rng(0).permutation(np.size(rate))[:4000]
    a, b, g = (np.ravel(x)[pick] for x in (alpha_year, beta_year, rate))
    time = doubling_months(np.where(g > 0, g, np.nan))
    ticks = [3, 5, 10, 20, 50]
    traces = [
        go.Scattergl(
            x=a[g > 0],
            y=b[g > 0],
            mode="markers",
            marker={
                "size": 5,
                "opacity": 0.7,
                "color": np.log10(time[g > 0]),
                "colorscale": SIZES[::-1],
                "cmin": np.log10(ticks[0]),
                "cmax": np.log10(ticks[-1]),
                "colorbar": {
                    "title": {"text": "doubling<br>time (months)"},
                    "tickvals": np.log10(ticks),
                    "ticktext": [f"≤ {ticks[0]}", *map(str, ticks[1:-1]), f"≥ {ticks[-1]}"],
                    "len": 0.85,
                },
            },
            customdata=time[g > 0],
            name="draw with progress",
            hovertemplate="α<sub>year</sub> %{x:.4f}<br>β<sub>year</sub> %{y:.4f}<br>"
            "doubling %{customdata:.1f} months<extra>draw</extra>",
        )
    ]
    if (g <= 0).any():
        traces.append(
            go.Scattergl(
                x=a[g <= 0],
                y=b[g <= 0],
                mode="markers",
                marker={"size": 5, "color": GREY, "opacity": 0.7},
                name="draw without progress (never doubles)",
                hovertemplate="α<sub>year</sub> %{x:.4f}<br>β<sub>year</sub> %{y:.4f}<extra>never doubles</extra>",
            )
        )
    symbols = zip(("star", "x", "diamond"), (RED, ORANGE, GREEN), strict=True)
    for (name, (x, y, said)), (symbol, colour) in zip(marks.items(), symbols, strict=False):
        traces.append(
            go.Scatter(
                x=[x],
                y=[y],
                mode="markers",
                marker={"symbol": symbol, "size": 14, "color": colour, "line": {"color": "white", "width": 1.5}},
                name=name,
                hovertemplate=f"α<sub>year</sub> {x:.4f}<br>β<sub>year</sub> {y:.4f}<br>{said}<extra>{name}</extra>",
            )
        )
    return figure(
        *traces,
        x={"title": "α<sub>year</sub>, yearly fall in the parameter term (per year)"},
        y={"title": "β<sub>year</sub>, yearly fall in the data term (per year)"},
        height=520,
    ).update_layout(legend=LEGEND, margin={"t": 60})


def influence(table, *, shown=15):
    """Shift of the median doubling time without each of the papers that shift it most."""
    import plotly.graph_objects as go

    table = table.head(shown)
    place = np.arange(1, len(table) + 1)
    finite = table["shift"].where(np.isfinite(table["shift"]))
    short = [f"{t[:52]}…" if len(t) > 53 else t for t in table["title"]]
    drawn = figure(height=110 + 26 * len(table))
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
                    f"{row.title}<br>{row.rows} rows<br>median without it {months(row.median)} months, shift "
                    f"{row.shift:+.2f}<br>P(progress) without it {row.p_progress:.3f}<br>Pareto k {row.pareto_k:.2f}"
                    for row in table[chosen].itertuples()
                ],
                textposition="none",
                hovertemplate="%{text}<extra></extra>",
            )
        )
    drawn.add_vline(x=0, line={"color": GREY, "width": 1})
    drawn.update_xaxes(title={"text": "Shift of the median doubling time without the paper (months)", "standoff": 8})
    drawn.update_yaxes(tickvals=place, ticktext=short, autorange="reversed", automargin=True, ticks="", showgrid=False)
    return drawn.update_layout(legend=LEGEND, margin={"t": 50}, showlegend=True)


def leave_future_out(future, whole):
    """Log predictive density and root mean squared error of the year after each cutoff.

    Parameters
    ----------
    future : DataFrame
        From `into_the_future`.
    whole : dict
        ``elpd`` (a row) and ``mse`` of leave-one-out over the whole table.
    """
    import plotly.graph_objects as go
    from plotly.subplots import make_subplots

    drawn = make_subplots(rows=1, cols=2, horizontal_spacing=0.12)
    panels = (
        (future["elpd"] / future["predicted"], whole["elpd"], "elpd a predicted row (nats)"),
        (np.sqrt(future["mse"]), np.sqrt(whole["mse"]), "Root mean squared error (nats)"),
    )
    for column, (values, level, title) in enumerate(panels, 1):
        place = {"row": 1, "col": column}
        drawn.add_trace(
            go.Scatter(
                x=future["cutoff"],
                y=values,
                mode="lines+markers",
                line={"color": BLUE},
                name="the year from the cutoff on, trained before it",
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
    drawn.update_layout(figure(height=380).layout)
    drawn.update_xaxes(title={"text": "Cutoff (start of the predicted year)", "standoff": 8}, dtick=1)
    drawn.update_xaxes(showgrid=True, gridcolor="#eef0f3").update_yaxes(showgrid=True, gridcolor="#eef0f3")
    return drawn.update_layout(legend=LEGEND, margin={"t": 50})
