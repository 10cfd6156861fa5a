"""One self-contained HTML page from sections of text, figures and tables."""

import time
from pathlib import Path

import jinja2

TEMPLATE = "page.html.jinja"


def _block(block, number):
    if isinstance(block, str):
        return {"html": block}
    buttons = [["toImage", "zoom2d", "pan2d", "resetScale2d"]]
    options = {"responsive": True, "displaylogo": False, "modeBarButtons": buttons}
    return {"html": block.to_html(full_html=False, include_plotlyjs=False, config=options, div_id=f"figure-{number}")}


def render(sections, document, warned, verdicts):
    """HTML text of a report.

    Parameters
    ----------
    sections : list of dict
        As `Page.sections` returns them.
    document : dict
        The content of results.json.
    warned : list of str
        Diagnostics to show at the top.
    verdicts : dict of str to str
        Convergence of each fit in one line.
    """
    from plotly.offline import get_plotlyjs

    numbered = []
    count = 0
    for section in sections:
        blocks = []
        for block in section["blocks"]:
            blocks.append(_block(block, count))
            count += 1
        numbered.append(
            {"text": [], "points": []}
            | section
            | {"blocks": blocks, "anchor": section["title"].lower().replace(" ", "-")}
        )
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent), autoescape=True, undefined=jinja2.StrictUndefined
    )
    return environment.get_template(TEMPLATE).render(
        sections=numbered,
        warned=warned,
        verdicts=verdicts,
        provenance=document["provenance"],
        seconds=document["seconds"],
        made=time.strftime("%Y-%m-%d"),
        plotly=get_plotlyjs(),
    )
