"""The page on corpora: whether the exponent of the optimal size hangs on the text that models are trained on."""

import pandas as pd

from ....inference.words import si
from ...drawing import tables, verdicts
from ...groups import CLOSE
from . import figures
from .analysis import ALIKE, APART, BY, DECADES, MAIN, ONE, PLAIN

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


def _answer(entry):
    """Say whether exponents differ: by which law foretells a corpus that it has not seen best."""
    scores = {name: each["elpd"] for name, each in entry["left_out"].items()}
    best, apart = max(scores, key=scores.get), entry["differences"]
    found = (
        "<b>Not that these runs show.</b>"
        if best in (ALIKE, ONE)
        else "<b>A little.</b>"
        if best == MAIN
        else "<b>Yes.</b>"
    )
    beside = [
        f"{scores[best] - scores[name]:.1f} nats better than with {WORDS[name]}"
        for name in (ALIKE, APART)
        if name != best
    ]
    return (
        f"{found} A corpus left out is foretold best with {WORDS[best]}, {' and '.join(beside)}. The highest and the "
        f"lowest of the three exponents of optimal size lie {_interval(apart['range'])} apart; that it is less than "
        f"{apart['close']:g} has probability {apart['p_close']:.2f}."
    )


def _findings(entry):
    of, scores = entry["exponent"], entry["left_out"]
    exponents = ", ".join(f"{_interval(q)} on {name}" for name, q in of["by_corpus"][MAIN].items())
    beside = ", ".join(f"{_interval(q)} on {name}" for name, q in of["by_corpus"][PLAIN].items())
    floor = ", ".join(f"{_interval(q)} on {name}" for name, q in entry["quantities"][MAIN]["E"].items())
    spreads = "; ".join(
        f"{LABELS[name].split(',')[0]} {_interval(q)} (prior {_interval(q['prior'])})"
        for name, q in entry["spread"].items()
    )
    laws = entry["laws"]
    lost = scores[ONE]["elpd"] - scores[ALIKE]["elpd"]
    worst = min(entry["rows"], key=lambda name: scores[ONE]["corpora"][name] - scores[ALIKE]["corpora"][name])
    return [
        f"Compute-optimal parameters grow as C<sup>a</sup>, with a = {exponents}: exponents pooled, each with its own "
        f"E, A, B and scatter. One exponent for all three would be {_interval(of['shared'][ALIKE])}.",
        f"What does differ is the level. One law for all runs costs {-lost:.1f} nats against shared exponents, most of "
        f"it on {worst}. E is {floor}.",
        f"For a corpus that nobody has trained on, by the same recipe, the exponent is {_interval(of['new'])}; that of "
        f"the typical corpus is {_interval(of['typical'])}. The spread between corpora, on log scale: {spreads}. "
        "Three corpora say little more of it than its prior, so that this interval rests on the prior too.",
        f"{_of_law(laws[MAIN], 'The coupled law, whose terms interact,')}. "
        f"{_of_law(laws[PLAIN], 'The Chinchilla law')}; under it the exponents are {beside}. The law moves them "
        f"{_moved(of)} on average, corpora move them {_interval(entry['differences']['range'])}.",
        "All runs are of one laboratory with one recipe, and all losses are on one text, the validation set of C4. "
        "Exponents of different laboratories differ by more than this, by design as much as by corpus, and are not to "
        "be pooled with these.",
    ]


def _moved(of):
    """By how much the Chinchilla law's exponents are above those of the coupled law, on average over corpora."""
    shifts = [of["by_corpus"][PLAIN][name]["q50"] - q["q50"] for name, q in of["by_corpus"][MAIN].items()]
    return f"{sum(shifts) / len(shifts):+.3f}"


def _of_law(entry, name):
    """Sentence of the verdict on a law, called by a name."""
    return entry["verdict"]["sentence"].replace("the law", name, 1)


def _interval(q):
    return tables.interval(q, "{:.3f}")


def _scores_table(entry):
    rows = []
    for law, words in WORDS.items():
        each = entry["left_out"][law]
        rows.append(
            {
                "law": law,
                "what it says": words,
                "elpd": f"{each['elpd']:.1f}",
                "difference": f"{each['difference']:+.1f}" if each["difference"] else "best",
                **{name: f"{x:.1f}" for name, x in each["corpora"].items()},
                "Monte-Carlo se": f"{each['monte_carlo_se']:.2f}",
                "tests of the law": entry["laws"][law]["verdict"]["verdict"],
            }
        )
    note = (
        "Log predictive density, in nats, of all runs of a corpus given those of the other two, and its sum over "
        "corpora; higher is better. Three corpora give no standard error of a difference worth the name: look whether "
        "it is of one sign on each."
    )
    return tables.html(pd.DataFrame(rows), rowname="law", note=note, fits=[f"corpora, {law}" for law in WORDS])


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
        "Medians and 95% intervals, exponents pooled. Robust sd: by the infinitesimal jackknife over runs, which does "
        "not trust the law's noise; where it is above the sd, the interval is too narrow by about that ratio."
    )
    return tables.html(pd.DataFrame(rows), rowname="quantity", note=note, fits=f"corpora, {MAIN}")


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
    return tables.html(
        pd.DataFrame(rows),
        rowname="difference of exponents",
        note=note,
        title="Differences between corpora",
        fits=f"corpora, {MAIN}",
    )


def sections(found, published):
    """Sections of the page, in order; see `Page.sections`."""
    entry, runs = found.entry, found.runs
    main, plain = entry["laws"][MAIN], entry["laws"][PLAIN]
    counts = ", ".join(f"{count} on {name}" for name, count in entry["rows"].items())
    return [
        {
            "role": "answer",
            "title": "Answer",
            "text": [
                _answer(entry),
                f"{len(runs)} models of {si(runs['parameters'].min())} to {si(runs['parameters'].max())} parameters "
                f"({counts}), {runs['token_multiplier'].min()} to {runs['token_multiplier'].max()} tokens per "
                "parameter (Gadre et al. 2024).",
            ],
            "blocks": [figures.exponents(entry), _differences_table(entry)],
        },
        {"role": "moves", "title": "What could change it", "points": _findings(entry), "blocks": []},
        {
            "role": "checks",
            "title": "Checks",
            "points": [
                verdicts.of_law("Coupled law, exponents pooled", main),
                verdicts.of_pit("Coupled law, exponents pooled", main),
                verdicts.of_law("Chinchilla law, exponents pooled", plain),
                verdicts.of_pit("Chinchilla law, exponents pooled", plain),
            ],
            "blocks": [],
        },
        {
            "role": "details",
            "title": "A corpus left out",
            "text": [
                "Each law foretells the runs of one corpus from those of the other two: what corpora have in common "
                "helps, what they have not hurts. In the first three E, A, B and σ are each corpus's own, while κ and "
                "how the scatter depends on the sizes are one for all."
            ],
            "blocks": [_scores_table(entry)],
        },
        {
            "role": "details",
            "title": "Constants by corpus",
            "text": [],
            "blocks": [figures.constants(entry), _quantities_table(entry)],
        },
        {
            "role": "details",
            "title": f"Does the law fit the runs of each {BY}?",
            "text": [
                f"{_of_law(main, 'The coupled law, exponents pooled,')} (first table). "
                f"{_of_law(plain, 'The Chinchilla law')} (second)."
            ],
            "blocks": [
                tables.tests_of_law(main, "Tests of the coupled law"),
                tables.tests_of_law(plain, "Tests of the Chinchilla law"),
            ],
        },
    ]
