"""The page on progress since 2023: how fast capability grows at fixed compute, and what that depends on."""

from ....inference.words import month, plain
from ....plots import plot_capability, plot_intervals
from ...html import prose
from ...html.illustrations import pictured
from . import analysis, tables
from .forms import DEFAULT, OF_SCORES, PLAIN

CAPABILITY = 'import bayescaling as bs\n\nbs.plot_capability(bs.open("posteriors/since-break.nc"))'


def _chart(entry):
    """Draw the gain before and since the break, of the quoted form, of its rival, and under a constant gain."""
    year, gains, rows = month(entry["break_year"]), entry["gains"], {}
    answers, form = entry["scores"]["answers"], entry["quoted"].replace(", ", " and ")
    for name in dict.fromkeys((entry["quoted"], PLAIN)):
        words = f", {'without' if name == PLAIN else 'with'} {form}" if entry["rival"] else ""
        of = gains if name == entry["quoted"] else entry["rival"]
        rows |= {f"Since {year}{words}": of["after"], f"To {year}{words}": of["before"]}
        rows[f"Constant gain{words}"] = answers[name][analysis.LINEAR]["gains"]["after"]
    after, before = (plain(gains[period], "{:.1f}") for period in ("after", "before"))
    return pictured(
        plot_intervals,
        rows,
        "Gain at fixed training compute (logits a year)",
        title=f"At fixed compute, capability grew by {after} logits a year since {year}, by {before} before",
        caption="Medians and 95% intervals, in logits of the typical benchmark. A gain that changes predicts models "
        "left out better than a constant one.",
        source="Data: eci_scores",
    )


def sections(findings, published):
    """Return the sections of the page, in order; see `Page.sections`."""
    entry = findings.document["since"]
    blocks = {
        "chart": _chart(entry),
        "capability": pictured(
            plot_capability, findings.posteriors[analysis.name_of_fit(analysis.BREAK)], code=CAPABILITY
        ),
        "gains": tables.gains(entry),
        "periods": tables.periods(entry),
        "faster": tables.faster(entry),
        "compared": tables.compared(entry, published),
    }
    return prose.sections(
        __file__,
        blocks,
        entry=entry,
        words=OF_SCORES[entry["quoted"]],
        dates=entry["forms"]["answers"][DEFAULT]["sampled_break"]["break_date"],
        findings=findings,
        month=month,
        LINEAR=analysis.LINEAR,
        BREAK=analysis.BREAK,
    )
