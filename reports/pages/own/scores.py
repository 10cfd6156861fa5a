"""The page of laws of scores fitted to a custom table of models and benchmarks."""

import html

from ....datasets.wording import p_value, printable
from ....inference.intervals import finite, summary
from ....inference.scores.capabilities import capabilities, pit_by_benchmark
from ....inference.words import plain
from ...html import tables
from ...drawing.intervals import intervals, rows_named, spanned
from ...drawing.style import BLUE, figure
from ...entries import fit_entry
from ..since import tables as since_tables
from ..since.periods import periods
from . import fronts
from .runs import main_of, short_sections

QUESTION = "How able are these models?"
STEPS = ()
OF_BENCHMARKS = ("difficulty", "slope", "noise", "ceiling")
MOST = 30  # models that the page shows; results.json has all
DRAWN = 15  # models of the figure


def entries(fits):
    """Return entries of results.json: each law, with ``models``, ``benchmarks`` and, of a dated law, ``periods``."""
    return {"laws": {name: fit_entry(fit) | _entry(fit) for name, fit in fits.items()}}


def _entry(fit):
    law, posterior, pit = fit.law, fit["posterior"].to_dataset(), pit_by_benchmark(fit)
    entry = {"models": {str(x["model"].values): summary(x) for x in capabilities(fit).transpose("model", ...)}}
    entry["benchmarks"] = {
        str(name): {part: summary(posterior[part].sel(benchmark=name)) for part in OF_BENCHMARKS if part in posterior}
        | {column: finite(x) for column, x in pit.loc[name].items()}
        for name in posterior["benchmark"].values
    }
    if law.pace is None:
        return entry
    return entry | {"periods": periods(fit), "break_year": law.break_year, "pace": law.pace}


def first_screen(stage, fits, document, comparison):
    """Answer which model is the most capable, and by how much, and draw the most capable ones."""
    best = main_of(fits, comparison)
    (first, q), *others = models = _ranked(document["laws"][best])
    following = (printable(others[0][0]), others[0][1]) if others else None
    named = {"best": printable(first), "q": q, "count": len(models), "next": following}
    document["answers"] = [fronts.answered("scores", document, best, named)]
    return [_models_figure(document, best)]


def sections(fits, document, elpd, comparison, backdrop):
    """Return the sections of the page; parameters as for `runs.sections`; there is no backdrop of scores."""
    entry = document["laws"][main_of(fits, comparison)]
    blocks = {
        "models": _models_table(entry),
        "periods": since_tables.periods(entry) if "periods" in entry else None,
        "benchmarks": _benchmarks_table(entry),
    }
    return short_sections("scores.md.jinja", fits, document, elpd, comparison, blocks)


def _ranked(entry):
    return sorted(entry["models"].items(), key=lambda item: -item[1]["q50"])


def _models_figure(document, best):
    """Draw the capabilities of the most capable models."""
    ranked = _ranked(document["laws"][best])[:DRAWN]
    labels = [html.escape(name) for name, _ in ranked]
    traces = intervals([q for _, q in ranked], range(len(ranked)), BLUE, "median, 95%", text=labels)
    axis = {"title": "Capability (logits)", "range": spanned(traces)}
    drawn = rows_named(figure(*traces, x=axis, height=120 + 26 * len(labels)), labels).update_layout(showlegend=False)
    text = f"Capabilities of the {len(labels)} most capable models, medians and 95% intervals"
    meta = {"caption": text, "finding": document["answers"][0]["answer"]}
    return drawn.update_layout(meta=meta)


def _models_table(entry):
    ranked = _ranked(entry)
    rows = [{"model": name, "capability, logits": plain(q, "{:.2f}")} for name, q in ranked[:MOST]]
    note = (
        f"The {len(rows)} ablest of {len(ranked)}; medians and 95% intervals, in logits of the typical benchmark above "
        "the mean difficulty."
    )
    return tables.html(rows, note=note)


def _benchmarks_table(entry):
    ranked = sorted(entry["benchmarks"].items(), key=lambda item: -item[1]["difficulty"]["q50"])
    rows = [
        {
            "benchmark": name,
            "difficulty, logits": plain(scores["difficulty"], "{:.2f}"),
            "slope": plain(scores["slope"], "{:.2f}"),
            "sd of a score near 1/2": plain(scores["noise"]),
            **({"highest mean score": plain(scores["ceiling"])} if "ceiling" in scores else {}),
            "scores": f"{scores['rows']:.0f}",
            "p of PIT values so uneven": p_value(scores["p_uniform"], ""),
        }
        for name, scores in ranked
    ]
    note = "Hardest first; medians and 95% intervals. PIT values by leave-one-out, uniform where the law is true."
    return tables.html(rows, note=note)
