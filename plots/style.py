"""The look that all figures share: colours, dashes and markers of fits and of published values."""

import colorsys
import re
import textwrap
from collections import namedtuple
from typing import NamedTuple

# After Okabe and Ito (2008), so that whoever sees no red or no green tells them apart.
BLUE, RED, GREEN, ORANGE, GREY = "#1f5f99", "#c8460a", "#009e73", "#e69f00", "#6b7280"
PURPLE, BLACK, SKY = "#cc79a7", "#111827", "#56b4e9"
OUTER, INNER = 0.16, 0.42  # opacity of a band: of the whole interval, and of the central half
GRID, INK, SOFT = "#eef0f3", "#1f2937", "#4b5563"
DARKEST = 0.85  # share of the lightness by which a colour is lighter on dark paper
FONTS = "Inter, Helvetica, Arial, sans-serif"
INTERVAL = re.compile(r"(?:[\d.,]+ )?\S+ \[[^\]]*\]")


class Look(NamedTuple):
    """Colour, dash (a name of Plotly's) and marker of one series; a marker is a circle, square, diamond or so."""

    colour: str
    dash: str = "solid"
    marker: str = "circle"


# Colours of the paper, the lines of the grid, the words, and the small print.
Theme = namedtuple("Theme", ("paper", "grid", "ink", "soft"))
THEMES = {"light": Theme("#ffffff", GRID, INK, SOFT), "dark": Theme("#111827", "#263142", "#e5e7eb", "#aab2bf")}
# Of the fits in one figure, in this order; none has the colour of a published source.
SERIES = (
    Look(BLUE), Look(PURPLE, "longdash", "triangle-up"), Look(GREY, "dashdot", "x"),
    Look(GREEN, "dot", "triangle-down"), Look(BLUE, "dash", "square"),
)  # fmt: skip
# The same source looks the same in every figure, and in the report.
PUBLISHED = {
    "Hoffmann et al. 2022": Look(RED, "dash", "square"),
    "Besiroglu et al. 2024": Look(BLACK, "dot", "diamond"),
    "Ho et al. 2024": Look(ORANGE, "dashdot", "triangle-up"),
    "Kaplan et al. 2020": Look(SKY, "longdash", "x"),
}
OTHER = Look(GREEN, "dashdot", "cross")  # a source that has no entry in PUBLISHED


def look_of(name):
    """Return the look of a published source, which a name begins with.

    Examples
    --------
    >>> look_of("Besiroglu et al. 2024, their E").marker
    'diamond'
    """
    return next((look for source, look in PUBLISHED.items() if name.startswith(source)), OTHER)


def on_dark(colour):
    """Return a colour for dark paper: its hue, with a lightness that falls where the one for white paper rises.

    Examples
    --------
    >>> on_dark("#1f5f99"), on_dark("#111827")
    ('#7db3e5', '#dee4f1')
    """
    hue, lightness, saturation = colorsys.rgb_to_hls(*(int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)))
    mirrored = colorsys.hls_to_rgb(hue, 1 - DARKEST * lightness, saturation)
    return "#" + "".join(f"{round(255 * x):02x}" for x in mirrored)


def ramp(count):
    """Return colours from light to dark blue, one for each of several sizes or budgets in order.

    Examples
    --------
    >>> ramp(2)
    ['#8fbbe0', '#0b2f57']
    """
    ends = (0x8F, 0xBB, 0xE0), (0x0B, 0x2F, 0x57)
    shares = [i / max(count - 1, 1) for i in range(count)]
    return ["#" + "".join(f"{round(a + s * (b - a)):02x}" for a, b in zip(*ends, strict=True)) for s in shares]


def wrapped(text, width):
    """Return the lines of a text, none of which breaks inside an interval.

    Examples
    --------
    >>> wrapped("the size is 2B [1B, 3B]", 15)
    ['the size is', '2B [1B, 3B]']
    """
    joined = INTERVAL.sub(lambda interval: interval[0].replace(" ", "\N{NO-BREAK SPACE}"), text)
    lines = textwrap.wrap(joined, width, break_long_words=False, break_on_hyphens=False)
    return [line.replace("\N{NO-BREAK SPACE}", " ") for line in lines]
