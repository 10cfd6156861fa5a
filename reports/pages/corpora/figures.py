"""Figures of corpora: the exponent of the optimal size by corpus, and the constants that differ."""

from ...drawing.intervals import intervals, rows_named, spanned
from ...drawing.style import BLUE, GREY, ORANGE, figure, panels
from .analysis import APART, MAIN, PLAIN

EXPONENT = "Exponent of N* in C"
LAWS = {
    MAIN: (BLUE, "circle", "exponents pooled", -0.2),
    APART: (GREY, "diamond", "nothing pooled", 0.05),
    PLAIN: (ORANGE, "square", "Chinchilla law, pooled", 0.3),
}
PANELS = {"E": "E (nats/token)", "alpha": "α", "beta": "β"}


def exponents(entry):
    """Plot the exponent of each corpus under three laws, of the typical corpus and of a new one."""
    names, of = list(entry["rows"]), entry["exponent"]
    labels = [*names, "typical corpus", "a new corpus"]
    traces = []
    for law, (colour, symbol, label, offset) in LAWS.items():
        summaries = list(of["by_corpus"][law].values())
        if law == MAIN:
            summaries += [of["typical"], of["new"]]
        places = [i + offset for i in range(len(summaries))]
        traces += intervals(summaries, places, colour, label, symbol=symbol, text=labels[: len(summaries)])
    caption = f"{EXPONENT} of each corpus, of the typical and of a new one, under three laws: medians and 95% intervals"
    drawn = figure(*traces, x={"title": EXPONENT, "range": spanned(traces)}, height=430, caption=caption)
    return rows_named(drawn, labels).update_layout(legend={"orientation": "h", "y": -0.2, "yanchor": "top"})


def constants(entry):
    """Plot E and the exponents of each term by corpus, pooled and not, one panel under the other."""
    names = list(entry["rows"])
    caption = "Constants by corpus, with exponents pooled and with nothing pooled: medians and 95% intervals"
    drawn = panels(len(PANELS), 1, height=620, caption=caption, vertical_spacing=0.13)
    for row, (quantity, title) in enumerate(PANELS.items(), 1):
        traces = []
        for law in (MAIN, APART):
            colour, symbol, label, offset = LAWS[law]
            summaries = list(entry["quantities"][law][quantity].values())
            places = [i + offset for i in range(len(names))]
            shown = {"symbol": symbol, "text": names, "showlegend": row == 1, "legendgroup": label}
            traces += intervals(summaries, places, colour, label, **shown)
        for trace in traces:
            drawn.add_trace(trace, row=row, col=1)
        drawn.update_xaxes(title={"text": title, "standoff": 4}, range=spanned(traces), row=row, col=1)
    return rows_named(drawn, names).update_layout(
        legend={"orientation": "h", "y": -0.11, "yanchor": "top"}, margin={"t": 20, "b": 90}
    )
