"""One self-contained HTML page from parts, each a question with sections of text, figures and tables."""

import base64
import functools
import gzip
import json
import re
import time
from collections import Counter
from pathlib import Path

import jinja2
import numpy as np
from markupsafe import Markup, escape

from ...datasets.wording import plural
from ..drawing.captions import alternative, caption, named
from ..drawing.sources import SOURCES, software
from ..drawing.tables import MINUS, Table
from ..drawing.verdicts import FIT, laws_of, marks
from .anchors import Anchors
from .front import Panel
from .glossary import TERMS, linked
from .share import share_image

HERE = Path(__file__).parent
TEMPLATE = "page.html.jinja"
LOOK = "simple_white"  # Plotly's template of all figures.
HEIGHT = 450  # Pixels, where a figure has none.
WIDE = 7  # Columns from which a table is small in print.
SORTABLE = 4  # Rows from which a table can be sorted.
LOWERED = re.compile(r"&lt;(/?su[bp])&gt;")
FOLDED = "details"  # The role of a section that is folded.
# Names of places of the templates.
PLACES = (
    "top", "content", "diagnostics", "data", "cite", "theme", "plotly", "plotly-template", "optimum",
    "budget", "budget-slider", "budget-units", "at-budget", "what-to-quote", "what-not-to-quote", "published-and-ours",
    "glossary", "print-all", *(term.anchor for term in TERMS),
)  # fmt: skip
DOTS = {"strong": "●●●", "fair": "●●○", "weak": "●○○"}


class _Blocks:
    """Numbers figures and tables in order, folded ones S1, S2 ...; `fits` has the place of the diagnostics of each."""

    def __init__(self, fits):
        self.drawn = False
        self._numbers, self._fits = Counter(), fits

    def __call__(self, block, section, *, folded=False):
        """Return what a template needs of a figure or a table."""
        if isinstance(block, Panel):
            return {"kind": "panel", "panel": block, "number": self.number("figure", folded)}
        return self._table(block, section, folded) if isinstance(block, Table) else self._figure(block, folded)

    def number(self, kind, folded=False):
        """Return the next number of a figure or a table, as text."""
        self._numbers[kind, folded] += 1
        return f"{'S' if folded else ''}{self._numbers[kind, folded]}"

    def _table(self, table, section, folded):
        return {
            "kind": "table",
            "number": self.number("table", folded),
            "caption": escape(table.title or section),
            "wide": len(table.header) > WIDE,
            "table": table,
            "sortable": len(table.rows) >= SORTABLE,
            "marks": [self._marks(names) for names in table.fits or [None] * len(table.rows)],
            "of": self._marks(table.of),
        }

    def _marks(self, names):
        """Return the marks of a fit, or of each of several."""
        every = [names] if isinstance(names, str) else names or ()
        return Markup(" ").join(Markup(marks(self._fits[name])) for name in every if name in self._fits)

    def _figure(self, drawn, folded):
        self.drawn = True
        named(drawn)
        shown = json.loads(drawn.to_json())
        for name, axis in shown["layout"].items():
            if isinstance(axis, dict) and "tickvals" in axis:
                axis["tickvals"] = np.asarray(drawn.layout[name].tickvals).tolist()  # not packed: the script reads them
        for name in ("template", "meta"):
            shown["layout"].pop(name, None)
        meta = drawn.layout.meta or {}
        return {
            "kind": "figure",
            "number": self.number("figure", folded),
            "finding": meta.get("finding"),
            "code": meta.get("code"),
            "caption": Markup(LOWERED.sub(r"<\1>", str(escape(caption(drawn).rstrip("."))))),
            "alternative": alternative(drawn),
            "height": drawn.layout.height or HEIGHT,
            "drawn": _script(shown),
        }


def _script(content):
    """JSON that may stand within a script element."""
    return Markup(json.dumps(content, separators=(",", ":"), ensure_ascii=False).replace("<", "\\u003c"))


def render(title, parts, document, warned, front=None, coming=()):
    """HTML text of a report.

    Parameters
    ----------
    title : str
    parts : list of dict
        ``name``, ``title`` and ``sections``, as `Page.sections` returns them. Optional are ``answer``, an entry of the
        answers of results.json, and ``fits``, names of the fits that the part depends on.
    document : dict
        The content of results.json.
    warned : list of str
        Diagnostics of steps, each shown once.
    front : Front, optional
        The first screen, before the first part.
    coming : sequence of str
        Titles of parts that are not ready; a browser loads the page again until there are none.
    """
    import plotly.io as pio

    anchor = Anchors()
    for name in PLACES:
        anchor(name)
    laws = laws_of(document)
    fits = {name: {"name": name, "anchor": anchor(f"fit {name}"), "law": laws.get(name)} | entry
            for name, entry in document["diagnostics"].items()}  # fmt: skip
    block = _Blocks(fits)
    # Names of parts are taken first, so that no section has that of a part.
    names = [anchor(part["name"]) for part in parts]
    today = time.strftime("%Y-%m-%d")
    screen = {
        "front": front,
        "figures": [block(figure, "") for figure in front.figures],
        "table": block.number("table") if front.claims else None,
        "anchors": {"cards": [anchor(f"answer {answer['question']}") for answer in front.answers]},
        "images": [share_image(answer, _source(answer, document, today)) for answer in front.answers],
        "terms": set,
        "dots": DOTS,
        "glossary": TERMS,
    } if front else {"front": None}  # fmt: skip
    shown = [_part(part, name, anchor, block) for part, name in zip(parts, names, strict=True)]
    itself, entry = software(document["provenance"]["versions"]["bayescaling"], today[:4])
    return _template().render(
        **screen,
        title=title,
        parts=shown,
        coming=coming,
        plural=plural,
        warned=list(dict.fromkeys(warned)),
        fits=fits,
        tested=FIT,
        provenance=document["provenance"],
        seconds=document["seconds"],
        made=today,
        itself=itself,
        sources=SOURCES,
        bibtex="\n".join([entry, *(source.bibtex for source in SOURCES)]),
        css=(HERE / "page.css").read_text(encoding="utf-8"),
        script=(HERE / "page.js").read_text(encoding="utf-8"),
        template=_script(pio.templates[LOOK].to_plotly_json()),
        optimum=_script(document["optimum"]) if document.get("optimum") else "",
        plotly=_packed_plotly() if block.drawn else "",
    )


@functools.cache
def _template():
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(HERE), autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True,
        lstrip_blocks=True,
    )  # fmt: skip
    environment.filters["linked"] = linked
    return environment.get_template(TEMPLATE)


@functools.cache
def _packed_plotly():
    from plotly.offline import get_plotlyjs

    return base64.b64encode(gzip.compress(get_plotlyjs().encode(), mtime=0)).decode()


def _source(answer, document, today):
    """Write what an answer was made from, by which version and when."""
    versions, seed = document["provenance"]["versions"], document["provenance"]["seed"]
    origin = f"bayescaling {versions['bayescaling']}, {today}, seed {seed}"
    return f"{origin}. Brackets are 95% intervals. Data: {', '.join(answer['data'])}."


def _part(part, name, anchor, block):
    sections = [_section(section, name, anchor, block) for section in part["sections"]]
    return {"answer": None, "fits": ()} | part | {
        "anchor": name,
        "sections": sections,
        "open": [section for section in sections if section["role"] != FOLDED],
        "folded": [section for section in sections if section["role"] == FOLDED],
        "details": anchor(f"{name} details"),
    }  # fmt: skip


def _section(section, part, anchor, block):
    # Several parts have sections of one role and one title.
    of_part = section.get("role") not in (None, FOLDED)
    return (
        {"role": None}
        | section
        | {name: [MINUS.sub("\N{MINUS SIGN}", text) for text in section.get(name, ())] for name in ("text", "points")}
        | {
            "anchor": anchor(f"{part} {section['title']}" if of_part else section["title"]),
            "blocks": [
                block(drawn, section["title"], folded=section.get("role") == FOLDED) for drawn in section["blocks"]
            ],
        }
    )
