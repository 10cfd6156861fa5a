"""Results of the checks of a fit, each a sentence with a mark of whether something needs attention."""

from html import escape

from ...datasets.wording import p_value
from ...inference.checks.chains import PARETO_K_LIMIT
from ...inference.words import in_words
from ..laws import name_of_fit

MARKS = {True: ("fine", "●"), False: ("bad", "▲"), None: ("none", "○")}
SAMPLING = {True: "converged", False: "did not converge"}
FIT = {True: "not rejected by the rows", False: "rejected by the rows", None: "not tested"}
LINE = 0.05  # of a band that holds 95% of calibrated models


def marked(fine, text):
    """Return the result of a check, HTML, with its mark in front."""
    kind, sign = MARKS[bool(fine)]
    return f'<span class="dot {kind}" aria-hidden="true">{sign}</span> {text}'


def marks(fit, page=""):
    """Return the two marks of a fit, HTML, which follow each of its numbers: sampling, then fit of the law.

    A fit has ``name``, ``ok`` and ``sentence`` of its sampling, and ``law``: True if the rows do not reject the law,
    None if that was not tested. `page` is the file that has the diagnostics, empty for the page itself.

    Examples
    --------
    >>> html = marks({"name": "coupled", "ok": True, "sentence": "converged", "law": None})
    >>> html.count("●"), html.count("○")
    (1, 1)
    """
    both = ("sampling", fit["ok"], SAMPLING, fit["sentence"]), ("fit of the law", fit["law"], FIT, None)
    links = []
    for of, fine, words, sentence in both:
        kind, sign = MARKS[fine]
        label, title = escape(f"{fit['name']}, {of}: {words[fine]}"), escape(f"{of}: {sentence or words[fine]}")
        links.append(f'<a class="dot {kind}" href="{page}#diagnostics" aria-label="{label}" title="{title}">{sign}</a>')
    return f'<span class="marks">{"".join(links)}</span>'


def laws_of(document):
    """Return by its name whether the rows of each fit do not reject its law, from the content of results.json."""
    of_corpora, small = document.get("corpora", {}), document.get("small_lm", {})
    entries = {
        **document.get("laws", {}),
        **document.get("since", {}).get("laws", {}),
        **{f"corpora, {name}": entry for name, entry in of_corpora.get("laws", {}).items()},
        **{f"small models, {scheme}": entry["law"] for scheme, entry in small.get("schemes", {}).items()},
        "lengths": document.get("lengths", {}),
        "time horizons": document.get("time_horizons", {}),
    }
    fine = {name: entry["verdict"]["verdict"] == "fits" for name, entry in entries.items() if "verdict" in entry}
    for k, entry in document.get("progress", {}).items():
        for noise, tests in entry.get("misfit", {}).items():
            fine[name_of_fit(k, noise)] = all(test["fits"] for test in tests.values())
    return fine


def of_law(name, entry):
    """Return whether a law fits its rows, from its entry of results.json, as a sentence with a mark."""
    sentence = escape(in_words(entry["verdict"]["sentence"]))
    return marked(entry["verdict"]["verdict"] == "fits", f"{escape(name)}: {sentence}.")


def of_pit(name, entry):
    """Return whether leave-one-out predictions are calibrated, from the tests of a law; None if not tested."""
    test = entry["misfit"].get("loo_pit")
    if test is None:
        return None
    p, fine = test["p"], test["p"] >= LINE
    outcome = "stays inside its band" if fine else "leaves its band: the noise differs from that of the law"
    return marked(fine, f"{escape(name)}: the line of leave-one-out PIT values {outcome} ({escape(p_value(p))}).")


def of_pareto(name, entry):
    """Return at how many rows leave-one-out is not reliable, as a sentence with a mark; None if it is not known."""
    if entry["pareto_k_max"] is None:
        return None
    count = entry["k_above_0.7"]
    return marked(
        count == 0,
        f"{escape(name)}: Pareto k above {PARETO_K_LIMIT:g} at {count} of {entry['rows']} rows, largest "
        f"{entry['pareto_k_max']:.2f}.",
    )


def of_fit(name, entry):
    """Return the sentences of the checks of a fitted law: its tests, its PIT values if tested, and Pareto k."""
    return [*filter(None, (check(name, entry) for check in (of_law, of_pit, of_pareto)))]


def of_calibration(name, entry, labels):
    """Return whether intervals cover, from an entry of a calibration, as a sentence with a mark."""
    off = [labels.get(quantity, quantity) for quantity in entry["not_uniform"]]
    outcome = f"ranks of the truth are not uniform for {', '.join(off)}" if off else "ranks of the truth are uniform"
    return marked(not off, f"{escape(name)}: in {entry['simulations']} simulated tables {outcome}.")
