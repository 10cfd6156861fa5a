"""The HTML pages of a report: the first screen, a page for each claim, and an appendix with the tables."""

import base64
import functools
import re
import time
import unicodedata
from collections import Counter
from pathlib import Path

import jinja2
from markupsafe import Markup, escape

from ...datasets.wording import plural
from ..laws import name_of_fit
from .glossary import TERMS, linked, used
from .illustrations import Illustration, numbered
from .share import share_image
from .sources import SOURCES, software
from .tables import MINUS

MARKS = {True: ("fine", "●"), False: ("bad", "▲"), None: ("none", "○")}
SAMPLING = {True: "converged", False: "did not converge"}
FIT = {True: "not rejected by the rows", False: "rejected by the rows", None: "not tested"}
HERE = Path(__file__).parent
INDEX, APPENDIX = "index.html", "appendix.html"
WIDE = 7  # Columns from which a table is small in print.
SORTABLE = 4  # Rows from which a table can be sorted.
CARD = ("question", "answer", "doubt", "strength")  # Texts of a card.
CHART = "chart"  # The role of the section whose figure is that of the claim.
ENDS = {"published-and-ours": "Published estimates and ours", "glossary": "What the terms mean",
        "diagnostics": "Diagnostics", "data": "Data, versions and time", "cite": "How to cite"}  # fmt: skip
# Names of places of the templates.
PLACES = ("top", "content", "theme", "optimum", "budget", "budget-slider", "budget-units", "at-budget", "what-to-quote",
          "what-not-to-quote", *ENDS, *(term.anchor for term in TERMS))  # fmt: skip
DOTS = {"strong": "●●●", "fair": "●●○", "weak": "●○○"}


class Anchors:
    """Names every place of a page after its content, each name once.

    Examples
    --------
    >>> name = Anchors()
    >>> name("Which law, and which noise?"), name("Which law and which noise")
    ('which-law-and-which-noise', 'which-law-and-which-noise-2')
    """

    def __init__(self):
        self._taken = {}

    def __call__(self, text):
        """Return the name of the next place called `text`."""
        plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
        name = re.sub(r"[^a-z0-9]+", "-", plain.replace("'", "")).strip("-") or "part"
        self._taken[name] = self._taken.get(name, 0) + 1
        return name if self._taken[name] == 1 else self(f"{name}-{self._taken[name]}")


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


class _Blocks:
    """Numbers the figures and tables of one page in order."""

    def __init__(self, fits, appendix):
        self._numbers, self._fits, self._appendix = Counter(), fits, appendix

    def __call__(self, block, title=""):
        if isinstance(block, Illustration):
            number = self.number("figure")
            drawings = {name: numbered(getattr(block, name), f"{number}{name[0]}") for name in ("wide", "narrow")}
            return vars(block) | {"kind": "figure", "number": number} | drawings
        return {
            "kind": "table",
            "number": self.number("table"),
            "caption": escape(block.title or title),
            "wide": len(block.header) > WIDE,
            "table": block,
            "sortable": len(block.rows) >= SORTABLE,
            "marks": [self.marks(names) for names in block.fits or [None] * len(block.rows)],
            "of": self.marks(block.of),
        }

    def number(self, kind):
        """Return the next number of a figure or a table, as text."""
        self._numbers[kind] += 1
        return str(self._numbers[kind])

    def marks(self, names):
        """Return the marks of a fit, or of each of several."""
        every = [names] if isinstance(names, str) else names or ()
        links = (Markup(marks(self._fits[name], self._appendix)) for name in every if name in self._fits)
        return Markup(" ").join(links)


def render(title, parts, document, warned, front=None, *, claims=True):
    """Return the HTML text of every page of a report, by the name of its file.

    Parameters
    ----------
    title : str
    parts : list of dict
        ``name``, ``title`` and ``sections``, as `Page.sections` returns them. Optional is ``answer``, an entry of the
        answers of results.json.
    document : dict
        The content of results.json.
    warned : list of str
        Diagnostics of steps, each shown once.
    front : Front, optional
        The first screen.
    claims : bool
        Whether each answer has a page and the tables an appendix; otherwise all is on one page.
    """
    laws, today = laws_of(document), time.strftime("%Y-%m-%d")
    fits = {name: {"name": name, "law": laws.get(name)} | entry for name, entry in document["diagnostics"].items()}
    itself, entry = software(document["provenance"]["versions"]["bayescaling"], today[:4])
    place_of_terms = APPENDIX if claims else ""
    on_cards = [answer[name] for answer in (front.answers if front else ()) for name in CARD]
    unexplained = front.unexplained if front else ()
    shared = {
        "glossary": TERMS if claims else used(on_cards, unexplained),
        "title": title, "plural": plural, "warned": list(dict.fromkeys(warned)), "fits": fits,
        "provenance": document["provenance"], "seconds": document["seconds"], "made": today, "itself": itself,
        "sources": SOURCES, "front": front, "dots": DOTS, "terms": functools.partial(set, unexplained),
        "appendix": place_of_terms,
        "optimum": document.get("optimum"), "css": _text("page.css"), "script": _text("page.js"),
        "bibtex": base64.b64encode("\n".join([entry, *(one.bibtex for one in SOURCES)]).encode()).decode(),
    }  # fmt: skip
    origin = f"bayescaling {document['provenance']['versions']['bayescaling']}, {today}"
    pages = {INDEX: _page(parts, shared, document, origin, whole=not claims)}
    if not claims:
        return pages
    for part in parts:
        if answer := part.get("answer"):
            pages[f"{answer['slug']}.html"] = _claim(part, answer, shared, document, origin)
    alone = shared | {"appendix": "", "place": "appendix"}
    return pages | {APPENDIX: _page(parts, alone, document, origin, whole=True)}


def _page(parts, shared, document, origin, *, whole):
    anchor, block, front = Anchors(), _Blocks(shared["fits"], shared["appendix"]), shared["front"]
    for name in PLACES:
        anchor(name)
    place = shared.get("place", "index")
    screen = {}
    if front and place == "index":
        charts = [_chart(part) for part in parts if part["name"] in front.shown]
        screen = {
            "anchors": [anchor(f"answer {answer['question']}") for answer in front.answers],
            "figures": [block(figure) for figure in [*charts, *front.figures] if figure],
            "images": [share_image(answer, _source(answer, document, origin)) for answer in front.answers],
            "pages": [f"#{answer['page']}" if whole else f"{answer['slug']}.html" for answer in front.answers],
        }
    names = [anchor(part["name"]) for part in parts]
    # The appendix does not repeat the charts of the claims.
    shown = [
        part | {"anchor": name, "sections": [_section(one, name, anchor, block) for one in part["sections"]
                                             if one.get("role") != CHART or place == "index"]}
        for part, name in zip(parts, names, strict=True) if whole
    ]  # fmt: skip
    number = block.number("table") if front and front.claims else None
    ends = [(name, words) for name, words in ENDS.items() if number or name != "published-and-ours"]
    heading = shared["title"] if place == "index" else "Appendix: tables, checks and sources"
    values = {"place": place, "heading_of_page": heading, "whole": whole, "ends": ends, "number": number}
    return _template("page.html.jinja").render(**shared | screen | values, parts=shown)


def _claim(part, answer, shared, document, origin):
    block, chart = _Blocks(shared["fits"], APPENDIX), _chart(part)
    return _template("claim.html.jinja").render(
        **shared,
        place="claim",
        heading_of_page=answer["question"],
        answer=answer,
        part=Anchors()(part["name"]),
        chart=block(chart) if chart else None,
        marks=block.marks(answer["rests_on"][:1]),
        quote=f"95% interval; strength: {answer['strength']}; {origin}",
        command=f"bayescaling report --page {part['name']}",
        image=share_image(answer, _source(answer, document, origin)),
    )


def _chart(part):
    charts = [block for section in part["sections"] if section.get("role") == CHART for block in section["blocks"]]
    return charts[0] if charts else None


@functools.cache
def _text(name):
    return (HERE / name).read_text(encoding="utf-8")


@functools.cache
def _template(name):
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(HERE), autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True,
        lstrip_blocks=True,
    )  # fmt: skip
    environment.filters["linked"] = linked
    return environment.get_template(name)


def _source(answer, document, origin):
    seed = document["provenance"]["seed"]
    return f"{origin}, seed {seed}. Brackets are 95% intervals. Data: {'; '.join(answer['data'])}."


def _section(section, part, anchor, block):
    lines = {name: [MINUS.sub("\N{MINUS SIGN}", text) for text in section.get(name, ())] for name in ("text", "points")}
    blocks = [block(one, section["title"]) for one in section["blocks"]]
    return {"role": None} | section | lines | {"anchor": anchor(f"{part} {section['title']}"), "blocks": blocks}
