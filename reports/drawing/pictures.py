"""Figures of `bayescaling.plots` on a page: the finding above them, and the code that draws them."""

from ...errors import InputError
from ...plots.with_plotly import SOURCE

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
    source = next(one.text for one in drawn.layout.annotations if one.name == SOURCE)  # a page has it in the caption
    others = [one for one in drawn.layout.annotations if one.name != SOURCE]
    meta = {"caption": f"{drawn.caption} {source}.", "finding": f"{drawn.finding}.", "code": code}
    drawn.update_layout(meta=meta, title=None, legend=LEGEND, margin=MARGIN)
    drawn.layout.annotations = others  # an update of the layout would not remove one
    return drawn
