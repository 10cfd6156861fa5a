"""What every figure takes and states: where it is drawn and how, its title, a rejected law, its data and their date."""

from __future__ import annotations

import functools
import inspect
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, ParamSpec, TypedDict

from ..datasets.wording import quoted, unknown
from ..errors import InputError
from ..inference.checks.verdict import FITS
from ..inference.fitted import Fit, table_named
from ..inference.standing import known_check
from .shared import by_name
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


def figure(make: Callable[P, Picture]) -> Callable[P, Axes | Figure]:
    """Return a function that draws the picture which `make` returns, and takes the options of `Drawing`.

    The figure has the attributes ``finding``, the title on one line, ``caption``, a str, and ``table``, a DataFrame of
    every number that is drawn.
    """
    signature = inspect.signature(make)
    named = [p for p in signature.parameters.values() if p.name != "drawing"]
    places = [p for p in named if p.kind is not p.VAR_KEYWORD]
    options = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=DEFAULTS[name], annotation=annotation)
        for name, annotation in Drawing.__annotations__.items()
    ]
    parameters = [*places, *options, *named[len(places) :]]
    signature = signature.replace(parameters=parameters, return_annotation="Axes | Figure")

    @functools.wraps(make)
    def plot(*arguments, **chosen):
        bound = signature.bind(*arguments, **chosen)
        drawing = DEFAULTS | {name: chosen.pop(name) for name in DEFAULTS if name in chosen}
        _check(**drawing)
        return _drawn(make(*arguments, **chosen), next(iter(bound.arguments.values())), **drawing)

    plot.__doc__ = str(make.__doc__).replace("**drawing", ", ".join(DEFAULTS))
    plot.__signature__ = signature  # type: ignore[attr-defined]
    return plot


def _check(ax, backend, title, figsize, theme):
    """Refuse options of a drawing before any work."""
    for name, value, choices in (("backend", backend, BACKENDS), ("theme", theme, THEMES)):
        if value not in choices:
            raise InputError(unknown(name, value, choices))
    if ax is not None and (backend == "plotly" or figsize is not None):
        other = "backend='plotly'" if backend == "plotly" else "figsize, which is of a new figure"
        raise InputError(f"ax is an Axes of matplotlib; leave it out with {other}")
    if title is not None and not isinstance(title, str):
        raise InputError(f"title must be a text, not {title!r}")
    try:
        correct = figsize is None or (len(figsize) == 2 and min(figsize) > 0)
    except TypeError:
        correct = False
    if not correct:
        raise InputError(f"figsize must be a width and a height in inches, such as (7, 4), not {figsize!r}")


def _drawn(picture, subject, *, ax, backend, title, figsize, theme):
    """Draw a picture of fits or of a result."""
    several = subject if isinstance(subject, Mapping | Sequence) else [subject]
    if all(isinstance(fit, Fit) for fit in (several.values() if isinstance(several, Mapping) else several)):
        fits = by_name(several)
        tables = " and ".join(dict.fromkeys(map(table_named, fits.values())))
        date = max(fit.record["created"] for fit in fits.values())[:10]
        source = f"Data: {tables}; fit{'s' * (len(fits) > 1)} of {date}"
    else:
        fits, source = {}, f"{picture.source}; drawn on {time.strftime('%Y-%m-%d')}"
    picture = replace(picture, title=picture.title if title is None else title, source=source + picture.thin_bands)
    if figsize is not None:
        picture = replace(picture, width=figsize[0], height=figsize[1])
    if not picture.checked:
        picture = with_rejected(picture, fits)
    if backend == "plotly":
        from .with_plotly import draw

        return draw(picture.themed(theme))
    from .with_matplotlib import draw as draw_axes

    return draw_axes(picture.themed(theme), ax)


def with_rejected(picture, fits):
    """Return a picture whose title names the laws that the rows reject, as far as their check is known or quick.

    Parameters
    ----------
    picture : Picture
    fits : dict of str to Fit
    """
    rejected = [name for name, fit in fits.items() if (known_check(fit) or {}).get("verdict", FITS) != FITS]
    if not rejected:
        return picture
    every = "the law" if len(fits) == 1 else "every law"
    which = every if len(rejected) == len(fits) else f"the law of {' and '.join(map(quoted, rejected))}"
    return replace(picture, title=f"{picture.title}; the rows reject {which}")
