"""Figures of `bayescaling.plots` on a page: the finding above them, and the code that draws them."""

from ...errors import InputError

LEGEND = {"orientation": "h", "x": 0, "y": -0.2, "yanchor": "top", "bgcolor": "rgba(0,0,0,0)"}
MARGIN = {"l": 60, "r": 16, "t": 16, "b": 60}


def pictured(plot, *arguments, code, **options):
    """Draw a figure with Plotly for a page, or return None where the fit has nothing to draw.

    Parameters
    ----------
    plot : callable
        A ``plot_*`` function.
    *arguments, **options
        Its arguments.
    code : str
        Python that draws the same figure from the files of the report.

    Returns
    -------
    plotly Figure or None
        Its ``layout.meta`` has ``caption``, ``finding`` and ``code``.
    """
    try:
        drawn = plot(*arguments, backend="plotly", **options)
    except InputError:  # a law without sizes, or a table without tokens
        return None
    meta = {"caption": drawn.caption, "finding": f"{drawn.finding}.", "code": code}
    drawn.update_layout(meta=meta, title=None, legend=LEGEND, margin=MARGIN)
    return drawn
