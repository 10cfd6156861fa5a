"""The page of laws of scores fitted to a custom table of models and benchmarks."""

from ....datasets.wording import p_value, printable
from ....inference.intervals import finite, summary
from ....inference.scores.capabilities import capabilities, pit_by_benchmark
from ....inference.words import plain
from ....plots import plot_capability, plot_ranks
from ...html import tables
from ..since import tables as since_tables
from ..since.periods import periods

QUESTION = "How able are these models?"
OF_BENCHMARKS = ("difficulty", "slope", "noise", "ceiling")
MOST = 30  # models that the page shows; results.json has all


def entry(fit):
    """Return what the entry of a law has here: ``models``, ``benchmarks`` and, of a dated law, ``periods``."""
    law, posterior, pit = fit.law, fit["posterior"].to_dataset(), pit_by_benchmark(fit)
    named = {"models": {str(x["model"].values): summary(x) for x in capabilities(fit).transpose("model", ...)}}
    named["benchmarks"] = {
        str(name): {part: summary(posterior[part].sel(benchmark=name)) for part in OF_BENCHMARKS if part in posterior}
        | {column: finite(x) for column, x in pit.loc[name].items()}
        for name in posterior["benchmark"].values
    }
    if law.pace is None:
        return named
    return named | {"periods": periods(fit), "break_year": law.break_year, "pace": law.pace}


def first_screen(custom, stage):
    """Answer which model is the most capable, and by how much, and draw models by date, or by rank without dates."""
    (first, q), *others = models = _ranked(custom)
    following = (printable(others[0][0]), others[0][1]) if others else None
    named = {"best": printable(first), "q": q, "count": len(models), "next": following}
    custom.document["answers"] = [custom.answered("scores", named)]
    return [custom.drawn(plot_capability) or custom.drawn(plot_ranks)]


def sections(custom):
    """Return the sections of the page."""
    blocks = {
        "models": _models_table(custom),
        "periods": since_tables.periods(custom.entry) if "periods" in custom.entry else None,
        "benchmarks": _benchmarks_table(custom.entry["benchmarks"]),
    }
    return custom.sections("scores.md.jinja", blocks)


def _ranked(custom):
    return sorted(custom.entry["models"].items(), key=lambda item: -item[1]["q50"])


def _models_table(custom):
    ranked = _ranked(custom)
    rows = [{"model": name, "capability, logits": plain(q, "{:.2f}")} for name, q in ranked[:MOST]]
    note = (
        f"The {len(rows)} ablest of {len(ranked)}; medians and 95% intervals, in logits of the typical benchmark above "
        "the mean difficulty."
    )
    return tables.html(rows, note=note)


def _benchmarks_table(benchmarks):
    ranked = sorted(benchmarks.items(), key=lambda item: -item[1]["difficulty"]["q50"])
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
