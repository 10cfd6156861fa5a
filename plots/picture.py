"""What a figure shows, apart from how it is drawn: a title, a caption, axes, and layers of numbers.

Both backends draw a `Picture`, so that they show the same numbers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from ..inference.words import duration, si
from .style import INNER, OUTER, Look, on_dark

COLUMNS = ("x", "y", "low", "high")
BAND, THIN = ", interval", 0.009  # end of a band's name, and the share of an axis that a line covers
NARROW, FEW_DECADES, MANY_DECADES = 0.65, 2.2, 8.0  # decades of a logarithmic axis, by which its ticks are chosen
MINUTES = (1 / 60, 1 / 15, 1 / 4, 1.0, 4.0, 15.0, 60.0, 240.0, 960.0, 3840.0, 15_000.0, 60_000.0)  # ticks of times


@dataclass(frozen=True)
class Axis:
    """An axis.

    Attributes
    ----------
    title : str
        With its unit in brackets.
    form : {"number", "size", "flop", "percent", "year", "minutes"}
        How a tick is written: ``0.3``, ``70B``, ``1e24``, ``5%``, ``2024`` or ``2 h``; ticks of years are whole.
    log : bool
    names : tuple of str
        Of the places 0, 1, 2 ... of a forest, the first on top.
    range : tuple of float, optional
    """

    title: str
    form: str = "number"
    log: bool = False
    names: tuple[str, ...] = ()
    range: tuple[float, float] | None = None

    def ticks(self, low, high):
        """Return places and texts of the ticks of a logarithmic axis between two ends, or of the names of rows."""
        if self.names:
            return list(range(len(self.names))), list(self.names)
        decades = math.log10(high / low)
        if decades < NARROW:
            least = (high - low) / 8
            power = 10.0 ** math.floor(math.log10(least))
            step = next(m * power for m in (1, 2, 5, 10) if m * power >= least * (1 - 1e-9))
            places = [k * step for k in range(math.ceil(low / step), math.floor(high / step) + 1)]
        elif self.form == "minutes":
            places = MINUTES
        else:
            steps = (1, 2, 5) if decades < FEW_DECADES else (1,)
            stride = 1 if decades < MANY_DECADES else 2
            first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
            places = [step * 10.0**k for k in range(first, last + 1) for step in steps if k % stride == 0]
        inside = [x for x in places if low * 0.999 <= x <= high * 1.001]
        return inside, [self.text(x) for x in inside]

    def text(self, x):
        """Write a number as a tick.

        Examples
        --------
        >>> Axis("N", "size").text(7e10), Axis("C", "flop").text(1e24), Axis("share", "percent").text(0.05)
        ('70B', '1e24', '5%')
        """
        if self.form == "minutes":
            return f"{x / 60:,g} h" if x % 60 == 0 else duration(x)
        if self.form == "size":
            return si(x)
        if self.form == "flop":
            return f"{x:.3g}".replace("e+", "e")
        return f"{100 * x:.3g}%" if self.form == "percent" else f"{x:.4g}"


@dataclass(frozen=True)
class Layer:
    """One series of a picture.

    Attributes
    ----------
    kind : {"band", "line", "points", "upright", "level"}
        A band is from ``low`` to ``high`` over ``x``. A line and points are at ``x`` and ``y``. Intervals from ``low``
        to ``high`` are upright at ``x``, or level at ``y`` with a point at ``x``.
    name : str
        In the legend, if `legend`, and in the table of numbers.
    data : DataFrame
    look : Look
    legend : bool or str
        A str is written instead of the name.
    width : float
        Of a line, or of a marker, in points.
    opacity : float
    texts : tuple of str
        Of the points of a line or of points, written to the left of each; none is drawn where it is empty.
    """

    kind: str
    name: str
    data: pd.DataFrame
    look: Look
    legend: bool | str = True
    width: float = 2.0
    opacity: float = 1.0
    texts: tuple[str, ...] = ()

    @property
    def key(self):
        """Return the text in the legend, None where there is none."""
        return self.legend if isinstance(self.legend, str) else self.name if self.legend else None

    def segments(self, across):
        """Return intervals as one broken line: the places ``across`` them, and their ends, NaN between two."""
        data = self.data[np.isfinite(self.data["low"]) & np.isfinite(self.data["high"])]
        gap = np.full(len(data), np.nan)
        places = np.stack([data[across], data[across], gap], axis=1).ravel()
        return places, np.stack([data["low"], data["high"], gap], axis=1).ravel()


@dataclass(frozen=True)
class Picture:
    """What a figure shows.

    Attributes
    ----------
    title : str
        The finding, a sentence without its full stop.
    caption : str
        What to see, in one or two sentences.
    x, y : Axis
    layers : tuple of Layer
        The first is drawn lowest.
    height, width : float, optional
        In inches.
    source : str
        Small print: the data and their date. Of a result that is no fit, a figure gives the data alone.
    checked : bool
        Whether the title states what the rows reject, or the numbers do not depend on it.
    theme : {"light", "dark"}
    panels : tuple of Picture
        Further ones, which are drawn below it; the height is of all.
    """

    title: str
    caption: str
    x: Axis
    y: Axis
    layers: tuple[Layer, ...]
    height: float = 4.2
    width: float | None = None
    source: str = ""
    checked: bool = False
    theme: str = "light"
    panels: tuple[Picture, ...] = ()

    def themed(self, theme):
        """Return the picture with the colours of a theme."""
        if theme == "light":
            return self
        layers = [replace(x, look=x.look._replace(colour=on_dark(x.look.colour))) for x in self.layers]
        panels = tuple(panel.themed(theme) for panel in self.panels)
        return replace(self, theme=theme, layers=tuple(layers), panels=panels)

    @property
    def thin_bands(self):
        """Return a remark on bands that their lines hide, empty where there is none."""
        bands = [layer.data for layer in self.layers if layer.kind == "band" and layer.name.endswith(BAND)]
        scale = np.log if self.y.log else np.asarray
        low, high = scale(self.ends("y"))
        shares = [float(np.nanmedian(scale(band["high"]) - scale(band["low"]))) / (high - low) for band in bands]
        thin = sum(share < THIN for share in shares)
        return f"; {'the' if thin == len(bands) else 'some'} bands are thinner than their lines" if thin else ""

    @property
    def table(self) -> pd.DataFrame:
        """Return every number that is drawn, one row a point: ``series``, ``kind``, ``x``, ``y``, ``low``, ``high``."""
        parts = [
            layer.data.reindex(columns=list(COLUMNS)).astype(float).assign(series=layer.name, kind=layer.kind)
            for picture in (self, *self.panels)
            for layer in picture.layers
        ]
        return pd.concat(parts, ignore_index=True)[["series", "kind", *COLUMNS]]

    def ends(self, which):
        """Return the ends of an axis: its range, or those of the numbers with a margin."""
        axis = getattr(self, which)
        if axis.range is not None:
            return axis.range
        if axis.names:
            return len(axis.names) - 0.4, -0.6
        parts = []
        for layer in self.layers:
            upright = (layer.kind != "level") == (which == "y")
            names = [which, "low", "high"] if upright and layer.kind in ("band", "upright", "level") else [which]
            parts += [layer.data[name].to_numpy(float) for name in names if name in layer.data]
        values = np.concatenate(parts)
        values = values[np.isfinite(values) & ((values > 0) | (not axis.log))]
        low, high = float(values.min()), float(values.max())
        if axis.log:
            margin = max((high / low) ** 0.04, 1.02)
            return low / margin, high * margin
        margin = 0.04 * (high - low or 1.0)
        return low - margin, high + margin


def frame(**columns):
    """Return a DataFrame of columns that are broadcast to one length."""
    arrays = np.broadcast_arrays(*(np.atleast_1d(np.asarray(x, float)) for x in columns.values()))
    return pd.DataFrame(dict(zip(columns, arrays, strict=True)))


def median_and_band(x, ends, look, name, *, half=None, legend=True):
    """Return the layers of a median with its band, and with the band of the central half where there is one.

    Ends are the low end, median and high end of each point, and those of the central half its low and high end.
    """
    low, middle, high = ends
    layers = [Layer("band", f"{name}{BAND}", frame(x=x, low=low, high=high), look, False, opacity=OUTER)]
    if half is not None:
        inner = frame(x=x, low=half[0], high=half[1])
        layers.append(Layer("band", f"{name}, central half", inner, look, False, opacity=INNER))
    return [*layers, Layer("line", name, frame(x=x, y=middle), look, legend)]
