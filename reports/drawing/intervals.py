"""Medians with intervals, one under the other: an exponent by study, scheme or corpus."""

from .style import line, points

LOW, MIDDLE, HIGH = "q2.5", "q50", "q97.5"


def intervals(summaries, places, colour, label, *, symbol="circle", text=None, **options):
    """Return traces of medians and 95% intervals at some heights, in one colour and marker.

    Parameters
    ----------
    summaries : sequence of dict
        As of `intervals.summary`.
    places : sequence of float
        Heights.
    colour : str
    label : str
        In the legend.
    symbol : str
        Of the medians.
    text : sequence of str, optional
        Names of the rows, for the hover text.
    **options
        Of the trace of medians, such as ``showlegend``.

    Returns
    -------
    list of plotly traces
    """
    ends = [x for q in summaries for x in (q[LOW], q[HIGH], None)]
    heights = [y for place in places for y in (place, place, None)]
    group = options.pop("legendgroup", label)
    bars = line(ends, heights, colour, label, hoverinfo="skip", legendgroup=group, showlegend=False, width=3)
    of_rows = [[q[LOW], q[HIGH], row] for q, row in zip(summaries, text or [""] * len(places), strict=True)]
    hover = "%{customdata[2]}<br>%{x:.3f} [%{customdata[0]:.3f}, %{customdata[1]:.3f}]<extra>" + label + "</extra>"
    options |= {"size": 9, "symbol": symbol, "legendgroup": group, "customdata": of_rows}
    dots = points([q[MIDDLE] for q in summaries], list(places), colour, label, hover, **options)
    return [bars, dots]


def spanned(traces):
    """Return the range of an axis that holds every interval, with a small margin."""
    ends = [x for trace in traces for x in trace.x if x is not None]
    beyond = 0.04 * (max(ends) - min(ends))
    return [min(ends) - beyond, max(ends) + beyond]


def rows_named(drawn, labels):
    """Name the rows of a figure, the first on top."""
    return drawn.update_yaxes(
        tickvals=list(range(len(labels))),
        ticktext=labels,
        range=[len(labels) - 0.4, -0.6],
        automargin=True,
        showgrid=False,
        ticks="",
        showline=False,
    )
