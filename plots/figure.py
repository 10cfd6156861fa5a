"""What every figure takes and states: where it is drawn and how, its title, a rejected law, its data and their date."""

from __future__ import annotations

import functools
import inspect
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, ParamSpec, TypedDict

import numpy as np

from ..datasets.wording import check_choice, quoted
from ..errors import InputError
from ..inference.checks.verdict import FITS
from ..inference.fitted import Fit, table_named
from ..inference.standing import known_check
from .shared import name_fits
from .style import THEMES

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.axes import Axes as Axes
    from plotly.graph_objects import Figure as Figure

    from .picture import Picture

    P = ParamSpec("P")

Backend = Literal["matplotlib", "plotly"]
Theme = Literal["light", "dark"]


class Drawing(TypedDict, total=False):
    """The options that every figure takes; `plot_fit` describes them."""

    ax: Axes | None
    backend: Backend
    title: str | None
    figsize: tuple[float, float] | None
    theme: Theme


DEFAULTS = {"ax": None, "backend": "matplotlib", "title": None, "figsize": None, "theme": "light"}
BACKENDS = ("matplotlib", "plotly")
SHARED = ("level", *DEFAULTS, "planned")  # which the documentation of `plot_fit` describes for all figures
NEXT = re.compile(
    r"\n\n(?=(?:References|Examples)\n-)"
)  # in a docstring, the end of parameters and of what is returned
RAISES = """Raises
------
InputError
    If what is drawn is of another kind, an option cannot be used, or the figure needs what the law or the rows lack."""


def figure(make: Callable[P, Picture]) -> Callable[P, Axes | Figure]:
    """Return a function that draws the picture which `make` returns, and takes the options of `Drawing`.

    The figure has the attributes ``finding``, the title on one line, ``caption``, a str, and ``table``, a DataFrame of
    every number that is drawn. The attribute ``picture`` of the function returns the picture itself, not drawn.
    """
    signature = inspect.signature(make)
    named = [p for p in signature.parameters.values() if p.name != "drawing"]
    places = [p for p in named if p.kind is not p.VAR_KEYWORD]
    options = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=DEFAULTS[name], annotation=of.__forward_arg__)
        for name, of in Drawing.__annotations__.items()
    ]
    parameters = [*places, *options, *named[len(places) :]]
    signature = signature.replace(parameters=parameters, return_annotation="Axes | Figure")

    def picture(*arguments, title=None, **chosen):
        subject = next(iter(signature.bind(*arguments, **chosen).arguments.values()))
        return _stated(make(*arguments, **chosen), subject, title)

    @functools.wraps(make)
    def plot(*arguments, **chosen):
        drawing = DEFAULTS | {name: chosen.pop(name) for name in DEFAULTS if name in chosen}
        _check(**drawing)
        return _drawn(picture(*arguments, title=drawing.pop("title"), **chosen), **drawing)

    plot.picture = picture  # type: ignore[attr-defined]
    plot.__doc__ = _completed(str(inspect.getdoc(make)), parameters)
    plot.__signature__ = signature  # type: ignore[attr-defined]
    return plot


def _completed(doc, parameters):
    """Return a docstring with the parameters that all figures share, after those that it has, and what all raise."""
    documented = re.findall(r"^\**(\w+)(?= :|$)", doc, re.MULTILINE)
    others = [f"{'**' * (p.name == 'planned')}{p.name}" for p in parameters if p.name in {*SHARED} - {*documented}]
    shared = f"\n{', '.join(others)}\n    As for `plot_fit`, which states what is returned." if others else ""
    return NEXT.sub(f"{shared}\n\n{RAISES}\n\n", doc, count=1)


def _check(ax, backend, title, figsize, theme):
    for name, value, choices in (("backend", backend, BACKENDS), ("theme", theme, THEMES)):
        check_choice(name, value, choices)
    if ax is not None and (backend == "plotly" or figsize is not None):
        other = "backend='plotly'" if backend == "plotly" else "figsize, which is of a new figure"
        raise InputError(f"ax is an Axes of matplotlib; leave it out with {other}")
    if not isinstance(title, str | None):
        raise InputError(f"title must be a text, not {title!r}")
    if figsize is not None and not (np.shape(figsize) == (2,) and np.min(figsize) > 0):
        raise InputError(f"figsize must be a width and a height in inches, such as (7, 4), not {figsize!r}")


def _stated(picture, subject, title):
    """Return a picture with its title and small print; the title names the laws that the rows reject."""
    several = subject if isinstance(subject, Mapping | Sequence) else [subject]
    if all(isinstance(fit, Fit) for fit in (several.values() if isinstance(several, Mapping) else several)):
        fits = name_fits(several)
        tables = " and ".join(dict.fromkeys(map(table_named, fits.values())))
        date = max(fit.record["created"] for fit in fits.values())[:10]
        source = f"Data: {tables}; fit{'s' * (len(fits) > 1)} of {date}"
    else:
        fits, source = {}, "; ".join(filter(None, (picture.source, f"drawn on {time.strftime('%Y-%m-%d')}")))
    picture = replace(picture, title=picture.title if title is None else title, source=source + picture.thin_bands)
    return picture if picture.checked else _with_rejected(picture, fits)


def _drawn(picture, *, ax, backend, figsize, theme):
    if figsize is not None:
        picture = replace(picture, width=figsize[0], height=figsize[1])
    picture = picture.themed(theme)
    if backend == "plotly":
        from .with_plotly import draw

        return draw(picture)
    from .with_matplotlib import draw as draw_axes

    return draw_axes(picture, ax)


def _with_rejected(picture, fits):
    """Return a picture whose title names the laws that the rows reject, as far as their check is known or quick."""
    rejected = [name for name, fit in fits.items() if (known_check(fit) or {}).get("verdict", FITS) != FITS]
    if not rejected:
        return picture
    every = "the law" if len(fits) == 1 else "every law"
    which = every if len(rejected) == len(fits) else f"the law of {' and '.join(map(quoted, rejected))}"
    return replace(picture, title=f"{picture.title}; the rows reject {which}")
