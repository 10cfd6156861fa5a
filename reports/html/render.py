"""One self-contained HTML page from parts, each a question with sections of text, figures and tables."""

import base64
import gzip
import json
import re
import time
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

HERE = Path(__file__).parent
TEMPLATE = "page.html.jinja"
LOOK = "simple_white"  # Plotly's template of all figures, which is long
HEIGHT = 450  # pixels, of a figure that says none
WIDE = 7  # columns from which a table is set small in print
SORTABLE = 4  # rows from which a table can be sorted
LOWERED = re.compile(r"&lt;(/?su[bp])&gt;")
FOLDED = "details"  # the role of a section that is folded
# Names of places that templates have themselves.
PLACES = (
    "top", "content", "diagnostics", "data", "cite", "theme", "plotly", "plotly-template", "optimum",
    "budget", "at-budget", "what-to-quote", "what-not-to-quote", "published-beside-ours", "how-to-read-it",
)  # fmt: skip


class _Blocks:
    """Numbers figures and tables as they come; `fits` says where the diagnostics of each fit stand."""

    def __init__(self, fits):
        self.figures = self.tables = 0
        self._fits = fits

    def __call__(self, block, section):
        return self._table(block, section) if isinstance(block, Table) else self._figure(block)

    def _table(self, table, section):
        self.tables += 1
        return {
            "kind": "table",
            "number": self.tables,
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

    def _figure(self, drawn):
        self.figures += 1
        named(drawn)
        shown = json.loads(drawn.to_json())
        for name, axis in shown["layout"].items():
            if isinstance(axis, dict) and "tickvals" in axis:
                axis["tickvals"] = np.asarray(drawn.layout[name].tickvals).tolist()  # not packed: the script reads them
        shown["layout"].pop("template", None)
        return {
            "kind": "figure",
            "number": self.figures,
            "caption": Markup(LOWERED.sub(r"<\1>", str(escape(caption(drawn))))),
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
        ``name``, ``title`` and ``sections``, as `Page.sections` returns them; where they are known ``answer``, an entry
        of the answers of results.json, and ``fits``, names of the fits that the part rests on.
    document : dict
        The content of results.json.
    warned : list of str
        Diagnostics of steps, each shown once.
    front : str, optional
        HTML that stands before the first part.
    coming : sequence of str
        Titles of parts that are still being made; a browser reads the page again until there are none.
    """
    import plotly.io as pio
    from plotly.offline import get_plotlyjs

    anchor = Anchors()
    for name in PLACES:
        anchor(name)
    laws = laws_of(document)
    fits = {name: {"name": name, "anchor": anchor(f"fit {name}"), "law": laws.get(name)} | each
            for name, each in document["diagnostics"].items()}  # fmt: skip
    block = _Blocks(fits)
    # Names of parts are taken first, so that no section has that of a part.
    names = [anchor(part["name"]) for part in parts]
    shown = [_part(part, name, anchor, block) for part, name in zip(parts, names, strict=True)]
    made = time.strftime("%Y-%m-%d")
    itself, entry = software(document["provenance"]["versions"]["bayescaling"], made[:4])
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(HERE), autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True,
        lstrip_blocks=True,
    )  # fmt: skip
    return environment.get_template(TEMPLATE).render(
        title=title,
        parts=shown,
        front=front,
        coming=coming,
        plural=plural,
        warned=list(dict.fromkeys(warned)),
        fits=fits,
        tested=FIT,
        provenance=document["provenance"],
        seconds=document["seconds"],
        made=made,
        itself=itself,
        sources=SOURCES,
        bibtex="\n".join([entry, *(source.bibtex for source in SOURCES)]),
        css=(HERE / "page.css").read_text(encoding="utf-8"),
        script=(HERE / "page.js").read_text(encoding="utf-8"),
        template=_script(pio.templates[LOOK].to_plotly_json()),
        optimum=_script(document["optimum"]) if document.get("optimum") else "",
        plotly=base64.b64encode(gzip.compress(get_plotlyjs().encode(), mtime=0)).decode() if block.figures else "",
    )


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
            "blocks": [block(each, section["title"]) for each in section["blocks"]],
        }
    )
