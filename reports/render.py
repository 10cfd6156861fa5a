"""One self-contained HTML page from parts, each a question with sections of text, figures and tables."""

import base64
import gzip
import json
import time
from pathlib import Path

import jinja2
import numpy as np
from markupsafe import Markup, escape

from .anchors import Anchors
from .drawing.captions import alternative, caption
from .drawing.sources import SOURCES, software
from .drawing.tables import Table

HERE = Path(__file__).parent
TEMPLATE = "page.html.jinja"
HEIGHT = 450  # pixels, of a figure that says none
WIDE = 7  # columns from which a table is set small in print
# Names of places that templates have themselves.
PLACES = (
    "top", "content", "diagnostics", "data", "cite", "theme", "plotly", "plotly-template",
    "what-to-quote", "what-not-to-quote", "published-beside-ours", "how-to-read-it",
)  # fmt: skip


class _Blocks:
    """Numbers figures and tables as they come."""

    def __init__(self):
        self.figures = self.tables = 0
        self.template = None

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
        }

    def _figure(self, drawn):
        self.figures += 1
        shown = json.loads(drawn.to_json())
        for name, axis in shown["layout"].items():
            if isinstance(axis, dict) and "tickvals" in axis:
                axis["tickvals"] = np.asarray(drawn.layout[name].tickvals).tolist()  # not packed: the script reads them
        # All figures have one template, which is long.
        template = shown["layout"].pop("template", None)
        self.template = self.template or template
        return {
            "kind": "figure",
            "number": self.figures,
            "caption": escape(caption(drawn)),
            "alternative": alternative(drawn),
            "height": drawn.layout.height or HEIGHT,
            "drawn": _script(shown),
        }


def _script(content):
    """JSON that may stand within a script element."""
    return Markup(json.dumps(content, separators=(",", ":"), ensure_ascii=False).replace("<", "\\u003c"))


def render(title, parts, document, warned, front=None):
    """HTML text of a report.

    Parameters
    ----------
    title : str
    parts : list of dict
        ``name``, ``title`` and ``sections``, as `Page.sections` returns them.
    document : dict
        The content of results.json.
    warned : list of str
        Diagnostics of steps, each shown once.
    front : str, optional
        HTML that stands before the first part.
    """
    from plotly.offline import get_plotlyjs

    anchor, block = Anchors(), _Blocks()
    for name in PLACES:
        anchor(name)
    # Names of parts are taken first, so that no section has that of a part.
    names = [anchor(part["name"]) for part in parts]
    shown = [
        part | {"anchor": name, "sections": [_section(section, anchor, block) for section in part["sections"]]}
        for part, name in zip(parts, names, strict=True)
    ]
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
        warned=list(dict.fromkeys(warned)),
        fits={name: {"anchor": anchor(f"fit {name}")} | each for name, each in document["diagnostics"].items()},
        provenance=document["provenance"],
        seconds=document["seconds"],
        made=made,
        itself=itself,
        sources=SOURCES,
        bibtex="\n".join([entry, *(source.bibtex for source in SOURCES)]),
        css=(HERE / "page.css").read_text(encoding="utf-8"),
        script=(HERE / "page.js").read_text(encoding="utf-8"),
        template=_script(block.template),
        plotly=base64.b64encode(gzip.compress(get_plotlyjs().encode(), mtime=0)).decode() if block.figures else "",
    )


def _section(section, anchor, block):
    return (
        {"text": [], "points": []}
        | section
        | {
            "anchor": anchor(section["title"]),
            "blocks": [block(each, section["title"]) for each in section["blocks"]],
        }
    )
