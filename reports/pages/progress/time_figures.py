"""Figures of progress in time: how well the next year was predicted, and the pace by year."""

import numpy as np

from ....models.draws import DRAWS
from ...drawing.style import BLUE, GREY, LEGEND, ORANGE, band, figure, line


def leave_future_out(future, whole):
    """Log predictive density and root mean squared error of the year after each cutoff.

    Parameters
    ----------
    future : DataFrame
        From `by_cutoff`.
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


def pace(path, walk):
    """Growth of effective compute at the evaluations' own sizes by year.

    Parameters
    ----------
    path : DataArray, dims (year, sample)
        Over all dates of a change and none.
    walk : DataArray, dims (year, chain, draw)
        Of a random walk.
    """
    traces = []
    for name, colour, rates, dims in (("one change", BLUE, path, "sample"), ("random walk", ORANGE, walk, DRAWS)):
        years = rates["year"].values
        low, middle, high = rates.quantile([0.025, 0.5, 0.975], dims).values / np.log(2)
        ends = np.stack([low, high], axis=1)
        hover = f"{name}, %{{x}}<br>%{{y:.2f}} [%{{customdata[0]:.2f}}, %{{customdata[1]:.2f}}] doublings a year"
        options = {"customdata": ends, "hovertemplate": f"{hover}<extra></extra>"}
        drawn = *band(years, low, high, colour, f"{name}, 95%"), line(years, middle, colour, name, **options)
        # The pace of a walk stays as it is from one step to the next.
        traces += [trace.update(line_shape="hv" if rates is walk else "linear") for trace in drawn]
    return figure(
        *traces,
        x={"title": "Year", "dtick": 1},
        y={"title": "Doublings of effective compute a year", "rangemode": "tozero"},
        height=340,
    ).update_layout(legend=LEGEND)
