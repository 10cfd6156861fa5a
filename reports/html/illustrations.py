"""Figures of `bayescaling.plots` on a page: two drawings of one picture, wide and narrow, in light and dark colours."""

import re
from dataclasses import dataclass, replace

import numpy as np
from markupsafe import Markup

from ...errors import InputError
from ...plots.style import THEMES, on_dark
from ...plots.with_matplotlib import WIDTH, as_svg, draw

NARROW = 3.75  # inches: the width of a telephone's screen
DECIMALS = 5  # significant digits of the numbers of a figure
COLOUR = re.compile(r"#[0-9a-f]{6}\b")
NAMED = re.compile(r'(id="|#)(?=[mp][0-9a-f]{5})')  # the parts of an SVG that are referred to
DARK = dict(zip(*THEMES.values(), strict=True))  # colours that the dark theme replaces
HEAD = (  # what a page has no use for: the size in points, a style of every element, names that nothing refers to
    (r' (?:width|height)="[\d.]+pt"', ""), (r"<style.*?</style>\s*", ""), (r' id="matplotlib[^"]*"', ""),
)  # fmt: skip
BOTH = re.compile(r"light-dark\((#\w+), #\w+\)")


@dataclass(frozen=True)
class Illustration:
    """A figure of a page: its finding, its caption, Python that draws it from the files of the report, and its numbers.

    ``wide`` and ``narrow`` are SVG in colours for light and for dark paper, ``rows`` the numbers below their header.
    """

    finding: str
    caption: str
    code: str
    wide: str
    narrow: str
    rows: list


def pictured(plot, *arguments, code="", **options):
    """Draw a figure for a page by a ``plot_*`` function, or return None where the fit has nothing to draw.

    `code` is Python that draws the same figure from the files of the report.
    """
    try:
        picture = plot.picture(*arguments, **options)
    except InputError:  # a law without sizes, or a table without tokens
        return None
    numbers = picture.table.replace({np.nan: None})
    cells = [[f"{x:.{DECIMALS}g}" if isinstance(x, float) else x for x in row] for row in numbers.values.tolist()]
    wide, narrow = (_svg(replace(picture, width=width)) for width in (None, NARROW))
    return Illustration(picture.title, picture.caption, code, wide, narrow, [list(numbers), *cells])


def in_light(svg):
    """Return the SVG of a page in colours for light paper alone, as a file.

    Examples
    --------
    >>> in_light('<path style="fill: light-dark(#ffffff, #111827)"/>')
    '<path style="fill: #ffffff"/>'
    """
    return BOTH.sub(r"\1", svg)


def _svg(picture):
    """Draw a picture as an SVG whose colours follow the scheme of the page."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(picture.width or WIDTH, picture.height), layout="constrained")
    draw(picture, figure.add_subplot())
    text = as_svg(figure)
    text = text[text.index("<svg") :].strip()
    for pattern, new in HEAD:
        text = re.sub(pattern, new, text)
    return COLOUR.sub(lambda colour: f"light-dark({colour[0]}, {DARK.get(colour[0]) or on_dark(colour[0])})", text)


def numbered(svg, number):
    """Return an SVG whose parts have names that no other figure of the page has."""
    return Markup(NAMED.sub(rf"\g<1>f{number}-", svg))
