"""Marks of the checks of a fit, which follow its numbers; `verdicts.html.jinja` has them in sentences."""

from html import escape

from ..laws import name_of_fit

MARKS = {True: ("fine", "●"), False: ("bad", "▲"), None: ("none", "○")}
SAMPLING = {True: "converged", False: "did not converge"}
FIT = {True: "not rejected by the rows", False: "rejected by the rows", None: "not tested"}


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
