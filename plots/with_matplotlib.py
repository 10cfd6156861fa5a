"""Draw a picture with matplotlib, and write it as a small file that is the same each time."""

import io
import re
from dataclasses import replace

from ..datasets.files import written_whole
from ..datasets.wording import printable, quoted
from ..errors import InputError
from .style import FONTS, THEMES, wrapped

FORMATS = ("svg", "png", "pdf")
WIDTH, NARROW = 7.4, 6.0  # inches; in a narrower figure the legend is within the axes
CHARACTERS, SMALL = 68, 1.6  # of a line of the title, and how many times as many one of small print has
ROOM = 1.3  # times as many characters has a title above names of rows, where there is no legend
DASHES = {"solid": "-", "dash": "--", "dot": ":", "dashdot": "-.", "longdash": (0, (8, 3))}
MARKERS = {"circle": "o", "square": "s", "diamond": "D", "triangle-up": "^", "triangle-down": "v", "x": "x",
           "cross": "P", "triangle-left": "<", "triangle-right": ">"}  # fmt: skip
SHORT = 5  # digits of these names, of which a figure has some dozens
SALT = "bayescaling"  # of the names of an SVG's parts, which are random otherwise
NUMBER = re.compile(r"(?<![\w#.-])(-?\d+\.\d{3,})(?![\w.])")
MARK = re.compile(r'<use xlink:href="(#\w+)" x="([^"]+)" y="([^"]+)" style="([^"]*)"/>')
MARKS = re.compile(r"(?:<use [^>]*/>\s*){2,}")


def draw(picture, ax=None):
    """Draw a picture on an Axes, a new one by default, and return it with its caption and table."""
    theme = THEMES[picture.theme]
    if ax is None:
        import matplotlib.pyplot as plt

        ax = plt.subplots(figsize=(picture.width or WIDTH, picture.height), layout="constrained")[1]
    if picture.panels:
        if len(ax.figure.axes) == 1:
            ax.figure.set_figheight(picture.height)
        grid = ax.get_subplotspec().subgridspec(1 + len(picture.panels), 1)
        ax.set_subplotspec(grid[0])
        for k, panel in enumerate(picture.panels, 1):
            last = picture.source if k == len(picture.panels) else ""
            draw(replace(panel, title="", source=last), ax.figure.add_subplot(grid[k]))
    if picture.theme == "dark":
        ax.figure.set_facecolor(theme.paper)
        ax.set_facecolor(theme.paper)
    for order, layer in enumerate(picture.layers):
        DRAWERS[layer.kind](ax, layer, layer.key, 2 + order / 100)
        _write_texts(ax, layer, theme)
    for which, axis in (("x", picture.x), ("y", picture.y)):
        _set_axis(ax, which, axis, picture.ends(which), theme.ink)
    columns = ax.get_subplotspec().get_gridspec().ncols if ax.get_subplotspec() else 1
    width = ax.figure.get_figwidth() / columns
    characters = round(CHARACTERS * width / WIDTH * (ROOM if picture.y.names else 1))
    ax.set_title("\n".join(wrapped(picture.title, characters)), loc="left", fontsize=10.5, color=theme.ink)
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["bottom", "left"]].set_color(theme.soft)
    ax.grid(True, color=theme.grid, linewidth=0.8)
    ax.set_axisbelow(True)
    ax.tick_params(labelsize=9, colors=theme.ink)
    if ax.get_legend_handles_labels()[1]:
        outside = {"frameon": False, "loc": "upper left", "bbox_to_anchor": (1.01, 1.0), "borderaxespad": 0.0}
        within = {"facecolor": theme.paper, "edgecolor": "none", "framealpha": 0.7, "loc": "best"}
        ax.legend(fontsize=8.5, labelcolor=theme.ink, **(within if width < NARROW else outside))
    below = {"xycoords": (ax.transAxes, ax.xaxis.label), "textcoords": "offset points", "va": "top"}
    small = "" if picture.panels else "\n".join(wrapped(picture.source, round(SMALL * characters)))
    ax.annotate(small, (0, 0), (0, -4), **below, fontsize=6.5, color=theme.soft)
    ax.finding, ax.caption, ax.table = picture.title, picture.caption, picture.table
    return ax


def _write_texts(ax, layer, theme):
    style = {"fontsize": 7.5, "color": theme.soft, "zorder": 4, "ha": "right"}
    paper = {"facecolor": theme.paper, "alpha": 0.7, "linewidth": 0, "pad": 0.5}
    for place, text in enumerate(layer.texts):
        if text:
            point = tuple(layer.data.loc[place, ["x", "y"]])
            ax.annotate(text, point, (-4, 2), textcoords="offset points", bbox=paper, **style)


def _set_axis(ax, which, axis, ends, ink):
    from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator

    getattr(ax, f"set_{which}label")(axis.title, fontsize=9.5, color=ink)
    if axis.log:
        getattr(ax, f"set_{which}scale")("log")
    getattr(ax, f"set_{which}lim")(*ends)
    line = getattr(ax, f"{which}axis")
    if axis.log or axis.names:
        places, texts = axis.ticks(*ends)
        line.set_minor_locator(NullLocator())
        line.set_major_locator(FixedLocator(places))
        getattr(ax, f"set_{which}ticks")(places, texts)
        if axis.names:  # above their rows, so that they take no width
            ax.spines["left"].set_visible(False)
            ax.tick_params(axis="y", length=0, labelleft=False)
            for place, text in zip(places, texts, strict=True):
                above = {"xycoords": ("axes fraction", "data"), "textcoords": "offset points", "annotation_clip": False}
                ax.annotate(text, (0, place), (2, 5), **above, fontsize=9, color=ink, in_layout=False)
    else:
        line.set_major_formatter(FuncFormatter(lambda x, _: axis.text(x)))
        if axis.form == "year":
            line.set_major_locator(MaxNLocator("auto", integer=True, min_n_ticks=1))


def _band(ax, layer, label, order):
    data, colour = layer.data, layer.look.colour
    ax.fill_between(data["x"], data["low"], data["high"], color=colour, alpha=layer.opacity, linewidth=0, label=label,
                    zorder=order)  # fmt: skip


def _line(ax, layer, label, order):
    style = {"color": layer.look.colour, "linestyle": DASHES[layer.look.dash], "linewidth": layer.width * 0.8}
    ax.plot(layer.data["x"], layer.data["y"], label=label, zorder=order, alpha=layer.opacity, **style)


def _points(ax, layer, label, order):
    style = {"color": layer.look.colour, "marker": MARKERS[layer.look.marker], "markersize": layer.width}
    ax.plot(layer.data["x"], layer.data["y"], linestyle="none", markeredgewidth=0 if layer.look.marker != "x" else 1.2,
            label=label, zorder=order, alpha=layer.opacity, **style)  # fmt: skip


def _upright(ax, layer, label, order):
    x, y = layer.segments("x")
    style = {"color": layer.look.colour, "alpha": layer.opacity, "linewidth": layer.width}
    ax.plot(x, y, solid_capstyle="butt", label=label, zorder=order, **style)


def _level(ax, layer, label, order):
    y, x = layer.segments("y")
    ax.plot(x, y, color=layer.look.colour, linewidth=2.0, solid_capstyle="butt", zorder=order)
    _points(ax, layer, label, order)


DRAWERS = {"band": _band, "line": _line, "points": _points, "upright": _upright, "level": _level}


def check_format(path, formats=FORMATS):
    """Refuse a file whose ending is no format of figures."""
    if path.suffix.lstrip(".").lower() not in formats:
        *others, last = (f".{name}" for name in formats)
        names = f"{', '.join(others)} or {last}"
        raise InputError(f"{printable(path)}: a figure is written as {names}, not {quoted(path.suffix)}")


def write(figure, path):
    """Write a figure as svg, png or pdf, by the ending of its path, whole or not at all, the same bytes each time."""
    check_format(path)
    kind = path.suffix.lstrip(".").lower()
    # A date would make every file another.
    metadata = {"CreationDate": None} if kind == "pdf" else None
    with written_whole(path, parents=False) as partial:
        if kind == "svg":
            partial.write_text(as_svg(figure), encoding="utf-8")
        else:
            figure.savefig(partial, format=kind, dpi=160, metadata=metadata)


def as_svg(figure):
    """Return a figure as the text of a small SVG, the same each time."""
    import matplotlib as mpl

    buffer = io.StringIO()
    with mpl.rc_context({"svg.hashsalt": SALT, "svg.fonttype": "none"}):
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    return compact(buffer.getvalue())


def compact(svg):
    r"""Return an SVG without what a reader does not see: decimals, breaks, and the style of a marker after the first.

    Examples
    --------
    >>> compact('<use xlink:href="#m" x="1.23456" y="2" style="fill: red"/>')
    '<use xlink:href="#m" x="1.23" y="2" style="fill: red"/>'
    >>> compact('<path d="M 1.26 2 \nL 3 4 \nL 5 6.04 \n"/>')
    '<path d="M 1.3 2 3 4 5 6"/>'
    >>> compact('<text x="1.23456">P = 0.9994</text>')
    '<text x="1.23">P = 0.9994</text>'
    """
    # Of tags alone: the numbers of a text are read.
    svg = re.sub(r"<[^>]*>", lambda tag: NUMBER.sub(lambda number: f"{float(number[1]):.2f}", tag[0]), svg)
    svg = re.sub(r"\s*<metadata>.*?</metadata>|<!--.*?-->", "", svg, flags=re.DOTALL)
    svg = re.sub(r"'DejaVu Sans'[^;\"]*", FONTS, svg)
    svg = re.sub(r' id="\w*[a-z]_\d+"', "", svg)  # of parts that nothing refers to
    svg = re.sub(r"\b([mp])([0-9a-f]{10})\b", lambda name: name[1] + name[2][:SHORT], svg)
    svg = re.sub(r'(?<= d=")[^"]*', _path, MARKS.sub(_grouped, svg))
    return re.sub(r"\s*\n\s*", "\n", svg)


def _path(path):
    """Write a path on one line; one that is straight everywhere with one decimal, and each L but the first implied."""
    text = " ".join(path[0].split())
    if not re.fullmatch(r"[-\d. MLz]*", text):
        return text
    straight = re.sub(r"-?\d+\.\d+", lambda number: f"{float(number[0]):.1f}".removesuffix(".0"), text)
    return straight.replace(" L ", " ")


def _grouped(marks):
    """Give the markers of a series their style once, where all have the same."""
    parsed = MARK.findall(marks[0])
    styles = {(name, style) for name, _, _, style in parsed}
    if len(styles) != 1 or len(parsed) != marks[0].count("<use "):
        return marks[0]
    ((name, style),) = styles
    places = "\n".join(f'<use xlink:href="{name}" x="{float(x):.1f}" y="{float(y):.1f}"/>' for _, x, y, _ in parsed)
    return f'<g style="{style}">\n{places}\n</g>\n'
