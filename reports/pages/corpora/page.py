"""The page on corpora: whether the exponent of the optimal size depends on the text that models are trained on."""

from ...html import tables, verdicts
from ...groups import CLOSE
from ...html import prose
from . import figures
from .analysis import ALIKE, APART, BY, DECADES, MAIN, ONE, PLAIN, STUDY

WORDS = {
    APART: "exponents that have nothing in common",
    MAIN: "exponents drawn from a population (partly pooled)",
    ALIKE: "one α and one β for all corpora",
    ONE: "one law for all runs",
}
LABELS = {
    "exponent_parameters": "β/(α+β), exponent of N* in C",
    "alpha": "α, exponent of parameters",
    "beta": "β, exponent of tokens",
    "kappa": "κ, outer exponent",
    "E": "E (nats/token)",
    "A": "A",
    "B": "B",
    "sigma": "σ, relative scatter at the centre",
}


def _interval(q):
    return tables.interval(q, "{:.3f}")


def _scores_table(entry):
    rows = []
    for law, words in WORDS.items():
        score = entry["left_out"][law]
        rows.append(
            {
                "law": law,
                "exponents and constants": words,
                "elpd": f"{score['elpd']:.1f}",
                "difference": f"{score['difference']:+.1f}" if score["difference"] else "best",
                **{name: f"{x:.1f}" for name, x in score["corpora"].items()},
                "Monte-Carlo se": f"{score['monte_carlo_se']:.2f}",
                "tests of the law": entry["laws"][law]["verdict"]["verdict"],
            }
        )
    note = (
        "Elpd: log predictive density, in nats, of all runs of a corpus given those of the other two, summed over "
        "corpora; higher is better. Three corpora are too few for a standard error of a difference. Check instead "
        "whether the difference has one sign on all three."
    )
    return tables.html(rows, note=note, fits=[f"corpora, {law}" for law in WORDS])


def _quantities_table(entry):
    rows = []
    for name, label in LABELS.items():
        form = "{:.4f}" if name == "sigma" else "{:.1f}" if name in ("A", "B") else "{:.3f}"
        row = {"quantity": label}
        for corpus, q in entry["quantities"][MAIN][name].items():
            robust = entry["robust"].get(f"{name}[{corpus}]", entry["robust"].get(name))
            row[corpus] = tables.interval(q, form)
            row[f"sd, robust sd: {corpus}"] = f"{q['sd']:.2g}, {robust['robust_sd']:.2g}" if robust else "–"
        rows.append(row)
    note = (
        "Medians and 95% intervals, exponents pooled. Robust sd: by the infinitesimal jackknife over runs, which holds "
        "whatever the noise. Where it is larger than the sd, the interval is too narrow by about that ratio."
    )
    return tables.html(rows, note=note, fits=f"corpora, {MAIN}")


def _differences_table(entry):
    rows = [
        {"difference of exponents": pair, "median [95%]": _interval(q), "P(above 0)": f"{q['p_above_0']:.2f}"}
        for pair, q in entry["differences"]["pairs"].items()
    ]
    factor = (10**DECADES) ** CLOSE - 1
    note = (
        f"Exponents that differ by {CLOSE:g} give optimal sizes {factor:.0%} apart at {10**DECADES} times the compute "
        "at which they agree."
    )
    return tables.html(rows, note=note, title="Differences between corpora", fits=f"corpora, {MAIN}")


def sections(findings, published):
    """Return the sections of the page, in order; see `Page.sections`."""
    entry = findings.entry
    scores, of = entry["left_out"], entry["exponent"]["by_corpus"]
    shifts = [of[PLAIN][name]["q50"] - q["q50"] for name, q in of[MAIN].items()]
    lost = {name: scores[ONE]["corpora"][name] - scores[ALIKE]["corpora"][name] for name in entry["rows"]}
    blocks = {
        "exponents": figures.exponents(entry),
        "differences": _differences_table(entry),
        "scores": _scores_table(entry),
        "constants": figures.constants(entry),
        "quantities": _quantities_table(entry),
        "tests_of_coupled": tables.tests_of_law(entry["laws"][MAIN], "Tests of the coupled law"),
        "tests_of_chinchilla": tables.tests_of_law(entry["laws"][PLAIN], "Tests of the Chinchilla law"),
    }
    return prose.sections(
        __file__,
        blocks,
        findings=findings,
        entry=entry,
        runs=findings.runs,
        best=max(scores, key=lambda name: scores[name]["elpd"]),
        worst=min(lost, key=lost.get),
        shift=sum(shifts) / len(shifts),
        words=WORDS,
        labels=LABELS,
        of_law=verdicts.of_law,
        of_pit=verdicts.of_pit,
        MAIN=MAIN,
        PLAIN=PLAIN,
        ALIKE=ALIKE,
        APART=APART,
        ONE=ONE,
        BY=BY,
        STUDY=STUDY,
    )
