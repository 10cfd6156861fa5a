"""Figures of length generalisation: accuracy by length, and heat maps with the training square."""

import numpy as np

from ....inference.words import position
from ....models.draws import DRAWS
from ...drawing.style import BLUE, GREEN, GREY, LEGEND, ORANGE, RED, SKY, band, figure, line, panels, points

COLOURS = {"abacus": BLUE, "abacus+equals": SKY, "nope": ORANGE, "fire": GREEN, "rope": RED}
SHADES = [[0, "#fbf3e7"], [0.5, "#7fb2dc"], [1, "#0b2f57"]]
OPERAND = "{} operand, digits"


def curves(findings):
    """Plot accuracy at equal lengths: the median run of each condition with a 95% band, and the shares of runs."""
    traces = []
    digits = findings.curves["length_a"].values
    counts = findings.counts
    equal = counts[counts["length_a"] == counts["length_b"]]
    for label, row in findings.entry["conditions"].items():
        colour = COLOURS.get(row["embedding"], GREY)
        low, middle, high = findings.curves.sel(condition=label).quantile([0.025, 0.5, 0.975], DRAWS).values
        traces += band(digits, low, high, colour, f"{position(label)}: 95%", group=label)
        ends = np.stack([low, high], axis=1)
        hover = "%{x:.0f} digits<br>%{y:.0%} [%{customdata[0]:.0%}, %{customdata[1]:.0%}] right"
        options = {"legendgroup": label, "customdata": ends, "hovertemplate": f"{hover}<extra>{label}</extra>"}
        traces.append(line(digits, middle, colour, f"{position(label)}: median run", **options))
        for run, rows in equal[equal["embedding"] == row["embedding"]].groupby("run"):
            hover = f"%{{x}} digits<br>%{{y:.0%}} right<extra>{findings.entry['runs'][run]}</extra>"
            options = {"symbol": "circle-open", "showlegend": False, "legendgroup": label}
            shares = rows["correct"] / rows["total"]
            traces.append(points(rows["length_a"], shares, colour, None, hover, size=4, **options))
    edge = float(counts["train_digits"].max())
    traces.append(line([edge, edge], [0, 1], GREY, "longest in training", dash="dash", hoverinfo="skip"))
    return figure(
        *traces,
        x={"title": "Digits of both operands"},
        y={"title": "Share of sums right", "tickformat": ".0%", "range": [-0.02, 1.02]},
        caption="How accuracy falls with length: the median run of each embedding, its 95% band and the runs (circles)",
    ).update_layout(legend=LEGEND)


def heat_maps(counts):
    """Plot the share right by the lengths of both operands, a panel for each embedding; training lengths framed."""
    import plotly.graph_objects as go

    embeddings = list(counts["embedding"].unique())
    caption = "Share of sums right by the digits of both operands, mean over runs; red frame: the lengths of training"
    options = {"shared_yaxes": True, "horizontal_spacing": 0.04, "subplot_titles": list(map(position, embeddings))}
    drawn = panels(1, len(embeddings), height=340, caption=caption, **options)
    counts = counts.assign(accuracy=counts["correct"] / counts["total"])
    start = counts["length_a"].min() / 2
    for column, embedding in enumerate(embeddings, 1):
        chosen = counts[counts["embedding"] == embedding]
        table = chosen.pivot_table(index="length_a", columns="length_b", values="accuracy", aggfunc="mean")
        drawn.add_trace(
            go.Heatmap(
                x=table.columns,
                y=table.index,
                z=table.to_numpy(),
                zmin=0,
                zmax=1,
                colorscale=SHADES,
                showscale=column == len(embeddings),
                colorbar={
                    "title": {"text": "share right", "side": "right"},
                    "tickformat": ".0%",
                    "len": 0.8,
                    "y": 0.42,
                },
                hovertemplate="%{y} and %{x} digits<br>%{z:.1%} right<extra>" + embedding + "</extra>",
            ),
            row=1,
            col=column,
        )
        edge = chosen["train_digits"].iloc[0] + start
        square = {"type": "rect", "x0": start, "y0": start, "x1": edge, "y1": edge, "line": {"color": RED, "width": 2}}
        square |= {"fillcolor": "rgba(0,0,0,0)", "opacity": 1}
        drawn.add_shape(**square, row=1, col=column)
    drawn.update_xaxes(title={"text": OPERAND.format("Second")}, showgrid=False, constrain="domain")
    drawn.update_yaxes(showgrid=False)
    drawn.update_yaxes(title={"text": OPERAND.format("First")}, col=1)
    for column in range(1, len(embeddings) + 1):
        drawn.update_yaxes(scaleanchor=f"x{column if column > 1 else ''}", constrain="domain", col=column)
    return drawn
