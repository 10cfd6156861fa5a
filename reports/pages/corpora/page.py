"""The page on corpora: whether the exponent of the optimal size depends on the text that models are trained on."""

from ....datasets import load
from ....plots import plot_intervals
from ...html import prose, tables
from ...html.illustrations import pictured
from .analysis import ALIKE, APART, MAIN, ONE, PLAIN, STUDY

WORDS = {
    APART: "exponents that have nothing in common",
    MAIN: "exponents drawn from a population (partly pooled)",
    ALIKE: "one α and one β for all corpora",
    ONE: "one law for all runs",
}
LABELS = {"exponent_parameters": "exponent of N* in C", "alpha": "α", "beta": "β", "kappa": "κ", "E": "E (nats/token)"}
SCORES_NOTE = (
    "Elpd: log predictive density, in nats, of all runs of a corpus given those of the other two. Three corpora are "
    "too few for a standard error: check whether the difference has one sign on all."
)


def _scores_table(entry):
    rows = [
        {
            "law": words,
            "elpd": f"{score['elpd']:.1f}",
            **{name: f"{x:.1f}" for name, x in score["corpora"].items()},
            "tests of the law": entry["laws"][law]["verdict"]["verdict"],
        }
        for law, words in WORDS.items()
        for score in (entry["left_out"][law],)
    ]
    return tables.html(rows, note=SCORES_NOTE, title="Corpora left out", fits=[f"corpora, {law}" for law in WORDS])


def _quantities_table(entry):
    rows = [
        {"quantity": label}
        | {corpus: tables.interval(q, "{:.3f}") for corpus, q in entry["quantities"][MAIN][name].items()}
        for name, label in LABELS.items()
    ]
    return tables.html(rows, title="Constants by corpus, exponents pooled", fits=f"corpora, {MAIN}")


def _exponents(entry):
    """Draw the exponent of each corpus, of the typical and of a new one, with those of other poolings."""
    of, single = entry["exponent"], {PLAIN: "Chinchilla law", APART: "nothing pooled"}
    rows = dict(of["by_corpus"][MAIN]) | {"typical corpus": of["typical"], "a new corpus": of["new"]}
    rows |= {f"{corpus}, {name}": q for law, name in single.items() for corpus, q in of["by_corpus"][law].items()}
    medians = [q["q50"] for q in of["by_corpus"][MAIN].values()]
    title = f"The exponent of the best size is {min(medians):.2f} to {max(medians):.2f} on {len(medians)} corpora"
    caption = "Medians and 95% intervals; the first rows are of the coupled law, exponents pooled."
    return pictured(
        plot_intervals, rows, "Exponent of N* in C", title=title, caption=caption, source="Data: overtraining_runs"
    )


def sections(findings, published):
    """Return the sections of the page, in order; see `Page.sections`."""
    entry = findings.document["corpora"]
    scores = entry["left_out"]
    lost = {name: scores[ONE]["corpora"][name] - scores[ALIKE]["corpora"][name] for name in entry["rows"]}
    blocks = {"exponents": _exponents(entry), "scores": _scores_table(entry), "quantities": _quantities_table(entry)}
    return prose.sections(
        __file__,
        blocks,
        findings=findings,
        entry=entry,
        runs=load("overtraining_runs"),
        best=max(scores, key=lambda name: scores[name]["elpd"]),
        worst=min(lost, key=lost.get),
        words=WORDS,
        MAIN=MAIN,
        PLAIN=PLAIN,
        ALIKE=ALIKE,
        ONE=ONE,
        STUDY=STUDY,
    )
