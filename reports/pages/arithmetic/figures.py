"""Figures of length generalisation: heat maps with the training square, and accuracy by length."""

import numpy as np

from ....inference.words import position
from ....models.draws import DRAWS
from ....training.arithmetic.exposure import rows_trained
from ...drawing.intervals import rows_named
from ...drawing.style import BLUE, GREEN, GREY, LEGEND, ORANGE, RED, SKY, band, figure, line, panels, points

COLOURS = {"abacus": BLUE, "nope": ORANGE, "fire": GREEN, "rope": RED}
DASHES = {"abacus": "solid", "nope": "dash", "fire": "dot", "rope": "dashdot"}
SHADES = [[0, "#fbf3e7"], [0.5, "#7fb2dc"], [1, "#0b2f57"]]
# Lengths beyond training whose lines are drawn.
SHOWN = 4
OPERAND = "Digits of the {} operand"
OF_RUNS = {"symbol": "circle-open", "showlegend": False}


def heat_maps(counts):
    """Plot the share right by the lengths of both operands, a panel for each embedding; training lengths framed."""
    import plotly.graph_objects as go

    embeddings = list(counts["embedding"].unique())
    caption = "Share of sums right by the digits of both operands, mean over runs; red frame: the lengths of training"
    options = {"shared_yaxes": True, "horizontal_spacing": 0.04, "subplot_titles": list(map(position, embeddings))}
    drawn = panels(1, len(embeddings), height=340, caption=caption, **options)
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
        edge = chosen["train_digits"].iloc[0] + 0.5
        square = {"type": "rect", "x0": 0.5, "y0": 0.5, "x1": edge, "y1": edge, "line": {"color": RED, "width": 2}}
        square |= {"fillcolor": "rgba(0,0,0,0)", "opacity": 1}
        drawn.add_shape(**square, row=1, col=column)
    drawn.update_xaxes(title={"text": OPERAND.format("second")}, showgrid=False, constrain="domain")
    drawn.update_yaxes(showgrid=False)
    drawn.update_yaxes(title={"text": OPERAND.format("first")}, col=1)
    for column in range(1, len(embeddings) + 1):
        drawn.update_yaxes(scaleanchor=f"x{column if column > 1 else ''}", constrain="domain", col=column)
    return drawn


def curves(findings, labels):
    """Plot accuracy at equal lengths: the median run of each condition with a 95% band, and the shares of runs."""
    traces = []
    digits = findings.curves["length_a"].values
    equal = findings.counts[findings.counts["length_a"] == findings.counts["length_b"]]
    for i, (label, row) in enumerate(labels.iterrows()):
        embedding = row["embedding"]
        colour = COLOURS.get(embedding, GREY) if labels["embedding"].is_unique else (BLUE, ORANGE, GREEN, RED)[i % 4]
        low, middle, high = findings.curves.sel(condition=label).quantile([0.025, 0.5, 0.975], DRAWS).values
        traces += band(digits, low, high, colour, f"{position(label)}: 95%", group=label)
        ends = np.stack([low, high], axis=1)
        hover = "%{x:.0f} digits<br>%{y:.0%} [%{customdata[0]:.0%}, %{customdata[1]:.0%}] right"
        options = {"legendgroup": label, "customdata": ends, "hovertemplate": f"{hover}<extra>{label}</extra>"}
        traces.append(line(digits, middle, colour, f"{position(label)}: median run", **options))
        chosen = equal
        for column in set(row.index) & set(equal.columns):
            chosen = chosen[chosen[column] == row[column]]
        for run, rows in chosen.groupby("run"):
            rows = rows.sort_values("length_a")
            hover = f"%{{x}} digits<br>%{{y:.1%}} right<extra>{findings.entry['runs'][run]}</extra>"
            shares = rows["correct"] / rows["total"]
            traces.append(points(rows["length_a"], shares, colour, None, hover, legendgroup=label, **OF_RUNS))
    edge = float(findings.counts["train_digits"].max())
    if findings.counts["train_digits"].nunique() == 1:
        traces.append(line([edge, edge], [0, 1], GREY, "longest in training", dash="dash"))
    caption = "How accuracy falls with length: the median run of each condition, its 95% band and the runs (circles)"
    return _shares(traces, caption)


def _shares(traces, caption, across="Digits of both operands", of="problems"):
    """Return a figure of shares right."""
    y = {"title": f"Share of {of} right", "tickformat": ".0%", "range": [-0.02, 1.02]}
    return figure(*traces, x={"title": across}, y=y, caption=caption).update_layout(legend=LEGEND)


def by_seed(arms, offsets):
    """Plot the share right against length at equal cost: the mean over seeds as a line, each seed as a mark.

    Parameters
    ----------
    arms : DataFrame
        As ``load("arithmetic_offsets")`` returns it.
    offsets : sequence of int
        Those of Abacus embeddings that are drawn.
    """
    traces = []
    for (embedding, offset), rows in arms[arms["offset"].isin(offsets)].groupby(["embedding", "offset"]):
        rows = rows.assign(share=rows["correct"] / rows["total"])
        mean = rows.groupby("length")["share"].mean()
        name = f"{position(embedding)}, offset {offset}" if offset else position(embedding)
        colour = SKY if offset else COLOURS.get(embedding, GREY)
        traces.append(line(mean.index, mean.values, colour, name, dash=DASHES.get(embedding, "solid"),
                           legendgroup=name, hovertemplate="%{x} digits<br>%{y:.0%} right<extra>" + name + ", mean"
                           "</extra>"))  # fmt: skip
        hover = "%{x} digits<br>%{y:.0%} right<extra>" + name + ", seed %{customdata}</extra>"
        options = {"legendgroup": name, "customdata": rows["seed"]} | OF_RUNS
        traces.append(points(rows["length"], rows["share"], colour, f"{name}, each seed", hover, **options))
    edge = float(arms["train_digits"].max())
    traces.append(line([edge, edge], [0, 1], GREY, "longest in training", dash="dash", hoverinfo="skip"))
    caption = "How far each embedding generalises at equal cost: lines are means over seeds, circles are seeds"
    return _shares(traces, caption, of="sums")


def by_offset(offsets):
    """Plot the share right against the offset of the test, a line for each length beyond training, and each run."""
    longer = offsets[offsets["length"] > offsets["train_digits"]]
    lengths = sorted(longer["length"].unique())[:SHOWN]
    traces = []
    for length, colour in zip(lengths, (BLUE, GREEN, ORANGE, RED), strict=False):
        rows = longer[longer["length"] == length].assign(share=lambda rows: rows["correct"] / rows["total"])
        mean = rows.groupby("offset")["share"].mean()
        traces.append(line(mean.index, mean.values, colour, f"{length} digits", legendgroup=str(length)))
        hover = f"{length} digits, offset %{{x}}<br>seed %{{customdata}}: %{{y:.0%}}<extra></extra>"
        options = {"legendgroup": str(length), "customdata": rows["seed"]} | OF_RUNS
        traces.append(points(rows["offset"], rows["share"], colour, None, hover, size=5, **options))
    caption = "Share of sums right at each offset of the test, by length beyond training: means and seeds (circles)"
    return _shares(traces, caption, "Offset of the test")


def rows_seen(offsets):
    """Plot how often training shows each row of the table of Abacus embeddings."""
    import plotly.graph_objects as go

    first = offsets.iloc[0]
    seen = rows_trained(int(first["train_digits"]), int(first["k_max"]))[1:]
    bars = go.Bar(
        x=np.arange(1, 1 + len(seen)),
        y=seen,
        marker={"color": BLUE},
        showlegend=False,
        hovertemplate="row %{x}<br>%{y:.3f} digits a problem<extra></extra>",
    )
    return figure(
        bars,
        x={"title": "Row of the table of embeddings"},
        y={"title": "Digits a problem", "rangemode": "tozero"},
        height=260,
        caption="How often training shows each row of the table of Abacus embeddings: the first and last rows least",
    )


def own_runs(findings):
    """Plot the length at which accuracy is one half, each run with its 95% interval."""
    table = findings.lengths["runs"].xs(0.5, level="share")
    embedding = findings.counts.drop_duplicates("run").set_index("run")["embedding"]
    names = sorted(table.index, key=lambda run: (embedding[run], run))
    traces = []
    for i, run in enumerate(names):
        row, colour = table.loc[run], COLOURS.get(embedding[run], GREY)
        traces.append(line([row["q2.5"], row["q97.5"]], [i, i], colour, "", hoverinfo="skip", showlegend=False))
        hover = (
            f"half right at %{{x:.1f}} digits [{row['q2.5']:.1f}, {row['q97.5']:.1f}]"
            f"<extra>{findings.entry['runs'][run]}</extra>"
        )
        traces.append(points([row["q50"]], [i], colour, None, hover, size=9, showlegend=False))
    labels = [position(findings.entry["runs"][run]) for run in names]
    title = "Digits at which half of the problems are right"
    caption = "How far each run generalises: the length at which half of its problems are right, with 95% intervals"
    drawn = figure(*traces, x={"title": title}, height=140 + 26 * len(names), caption=caption)
    return rows_named(drawn, labels)
