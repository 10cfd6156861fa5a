"""The prose of a page: `page.md.jinja` in the folder of its code, rendered and read as sections.

The template is Markdown with HTML inside lines. A section begins with ``## Title {role}``, and blank lines separate
paragraphs. Lines that begin with ``- `` are points. A line ``::: name other`` is the place of the figures and tables of
these names.
"""

import re
from html import unescape
from pathlib import Path

import jinja2
from markupsafe import Markup

from ...datasets.wording import p_value, plural
from ...inference import words
from . import tables

HERE, NAME = Path(__file__).parent, "page.md.jinja"
HEADING = re.compile(r"## (?P<title>.*?)(?: \{(?P<role>\w+)\})?$")
POINT, BLOCKS = "- ", ":::"
NUMBERS = ("dates", "digits", "durations", "flop", "in_words", "months", "plain", "probability", "si", "size", "sizes",
           "times", "yearly")  # fmt: skip
FILTERS = {name: getattr(words, name) for name in NUMBERS} | {"f": format}
FILTERS |= {"interval": tables.interval, "p_value": p_value, "plural": plural}


def sections(module, blocks, *, template=NAME, escaped=False, **values):
    """Return the sections of a page, as `Page.sections` describes them, from the template in the folder of a module.

    Blocks are figures, tables, lists of these or functions, by their names in the template; None is left out. What is
    not HTML of the template is `escaped`, on one line, for names and texts of users' tables. Other values have the
    names that the template has for them.
    """
    parts = list(_read(_template(module, template, escaped).render(**values), blocks))
    # The page escapes titles.
    return [section | {"title": unescape(section["title"])} for section in parts] if escaped else parts


def texts(module, template, **values):
    """Return the texts that a template sets, by name: each on one line, or a list of its points where it has any."""
    named = vars(_template(module, template).make_module(values))
    lines = {name: text.strip().split("\n") for name, text in named.items() if isinstance(text, str)}
    return {name: _points(of) if of[0].startswith(POINT) else " ".join(of) for name, of in lines.items()}


def _template(module, name, escaped=False):
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader([Path(module).parent, HERE]), undefined=jinja2.StrictUndefined, trim_blocks=True,
        lstrip_blocks=True, autoescape=escaped, finalize=_one_line if escaped else None,
    )  # fmt: skip
    environment.filters |= FILTERS
    return environment.get_template(name)


def _one_line(value):
    """Return a value without the line breaks of its text, which would end a paragraph."""
    return " ".join(value.splitlines()) if isinstance(value, str) and not isinstance(value, Markup) else value


def _read(text, blocks):
    section = None
    for part in re.split(r"\n\s*\n", text.strip()):
        lines = [line.strip() for line in part.strip().split("\n")]
        if heading := HEADING.match(lines[0]):
            if section:
                yield section
            section = {"title": heading["title"], "text": [], "points": [], "blocks": []}
            section |= {"role": heading["role"]} if heading["role"] else {}
            del lines[0]
        if not lines:
            continue
        if lines[0].startswith(POINT):
            section["points"] += _points(lines)
        elif lines[0].startswith(BLOCKS):
            section["blocks"] += [block for line in lines for block in _blocks(line, blocks)]
        else:
            section["text"].append(" ".join(lines))
    yield section


def _points(lines):
    points = []
    for line in lines:
        if line.startswith(POINT):
            points.append(line.removeprefix(POINT))
        else:
            points[-1] += f" {line.strip()}"
    return points


def _blocks(line, blocks):
    chosen = []
    for name in line.removeprefix(BLOCKS).split():
        block = blocks[name]() if callable(blocks[name]) else blocks[name]
        chosen += block if isinstance(block, list) else [] if block is None else [block]
    return chosen
