"""The page on corpora: whether the exponent of the optimal size depends on the text that models are trained on."""

from functools import partial

from ....datasets import load
from ....inference import fit, intervals
from ....models.laws import Chinchilla, Coupled, Grouped
from ....plots import plot_intervals
from ... import results
from ...findings import Findings
from ...groups import EXPONENT, NEW, TYPICAL, by_group, group_entries
from ...html import prose, tables
from ...html.illustrations import pictured

STUDY = "corpora_laws"
STAGES = (STUDY,)
STUDIES = (STUDY, "corpora_left_out")
BY = "corpus"
LAW = Coupled()  # its terms interact, and these runs do not reject it

# What 35 runs barely inform: the outer exponent, and how the scatter depends on the sizes.
COMMON = ("kappa", "nu_minus_one", "sigma_parameters", "sigma_tokens")
MAIN, APART, ALIKE, ONE = "exponents pooled", "nothing pooled", "exponents shared", "all shared"
LAWS = {
    APART: Grouped(LAW, BY, pooled=(), shared=COMMON),
    MAIN: Grouped(LAW, BY, shared=COMMON),
    ALIKE: Grouped(LAW, BY, shared=(*LAW.exponents, *COMMON)),
    ONE: Grouped(LAW, BY, shared=tuple(LAW.prior_of)),
}
PLAIN = "Chinchilla law, exponents pooled"
BESIDE = {PLAIN: Grouped(Chinchilla(), BY, shared=COMMON[1:])}
DECADES = 2
SHOWN = (EXPONENT, "alpha", "beta", "kappa", "E", "A", "B", "sigma")
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


def analyse(stage, published, earlier, *, seed=1, sampler=None, **settings):
    """Read what one law of three corpora has in four ways, or fit it again; see `Page.analyse`."""
    runs = load("overtraining_runs")
    entry, fits = stage.study(STUDY, partial(fitted, runs, seed=seed, sampler=sampler, **settings))
    findings = Findings(posteriors=fits, records=entry.pop("records"))
    findings.studies = tuple(name for name in STUDIES if name not in stage.studies)
    findings.document = {"corpora": entry | {"left_out": findings.study("corpora_left_out")}}
    return findings


def fitted(runs, *, seed=1, **options):
    """Fit one law to the runs of three corpora in four ways, and predict a new one.

    Returns the entry of results.json, with the ``records`` of the fits, and the fits by name.
    """
    laws = LAWS | BESIDE
    fits = {name: fit(law, runs, seed=seed, check=False, **options) for name, law in laws.items()}
    groups = group_entries(fits[MAIN], seed=seed)
    entry = {
        "rows": groups["rows"],
        "exponent": {
            "by_corpus": {law: by_group(fits[law], EXPONENT) for law in (MAIN, APART, PLAIN)},
            "shared": {law: intervals.summary(fits[law]["posterior"][EXPONENT]) for law in (ALIKE, ONE)},
            TYPICAL: groups["exponent"][TYPICAL],
            NEW: groups["exponent"][NEW],
        },
        "differences": groups["differences"],
        "spread": groups["spread"],
        "quantities": {law: {name: by_group(fits[law], name) for name in SHOWN} for law in (MAIN, APART)},
        "robust": intervals.robust_entries(fits[MAIN]),
        "laws": {
            name: {"law": law.label, **results.check_entries(fits[name]), "diagnostics": fits[name].diagnostics}
            for name, law in laws.items()
        },
    }
    named = {f"corpora, {name}": of for name, of in fits.items()}
    return entry | {"records": results.records(named)}, named


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
    best, worst = max(scores, key=lambda name: scores[name]["elpd"]), min(lost, key=lost.get)
    named = {"words": WORDS, "MAIN": MAIN, "PLAIN": PLAIN, "ALIKE": ALIKE, "ONE": ONE, "STUDY": STUDY}
    named |= {"findings": findings, "entry": entry, "runs": load("overtraining_runs"), "best": best, "worst": worst}
    return prose.sections(__file__, blocks, **named)
