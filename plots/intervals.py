"""Figures of one interval a row: any quantity by fit, specification or study, with published values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InputError
from ..inference.words import HIGH, LOW, MIDDLE, months, plain, sizes
from .figure import Drawing, figure
from .picture import Axis, Layer, Picture, frame
from .style import BLUE, GREY, Look, look_of

LONGEST = 10.0  # times the largest finite median: intervals that end beyond it are cut there, with an arrow
LARGE = 1000  # from which numbers are written as 47k
OURS = Look(BLUE)


@figure
def plot_intervals(
    intervals: Mapping[str, Mapping[str, float | None] | ArrayLike],
    quantity: str,
    *,
    published: Mapping[str, Mapping[str, float | None] | ArrayLike] | None = None,
    references: Mapping[str, float] | None = None,
    log: bool = False,
    caption: str = "",
    source: str = "",
    **drawing: Unpack[Drawing],
) -> Picture:
    """Plot the interval of a quantity, one row each, with published values and references.

    Parameters
    ----------
    intervals : mapping of str to mapping or array_like of three numbers
        By row: low end, median and high end, or a summary with ``q2.5``, ``q50`` and ``q97.5``. None is infinite.
    quantity : str
        With its unit in brackets.
    published : mapping, optional
        As `intervals`, or one number, by source and what it is: ``"Ho et al. 2024, closed form"``.
    references : mapping of str to float, optional
        Values that a dotted line marks, by name.
    log : bool
        Whether the axis is logarithmic.
    caption, source : str
        What to see, and the data.

    Examples
    --------
    >>> import bayescaling as bs
    >>> axes = bs.plot_intervals({"coupled": (0.45, 0.5, 0.55), "offsets": (0.4, 0.52, 0.6)}, "Exponent")
    >>> axes.get_title(loc="left")
    'Exponent: 0.500 [0.450, 0.550], coupled'
    """
    rows = {name: (_three(name, row), OURS) for name, row in intervals.items()}
    if not rows:
        raise InputError("intervals has no row; pass a dict of low end, median and high end by name")
    first = next(iter(rows))
    rows |= {name: (_three(name, row), look_of(name)) for name, row in (published or {}).items()}
    values = [(name, x) for name, x in (references or {}).items()]
    layers, ends = interval_layers(rows, log=log, include=[x for _, x in values])
    lines = [Layer("line", name, frame(x=x, y=[-0.6, len(rows) - 0.4]), Look(GREY, "dot")) for name, x in values]
    name, _, unit = quantity.rstrip(")").partition(" (")
    large = np.median([three[1] for three, _ in rows.values()]) >= LARGE
    form = months if unit == "months" else sizes if large else plain
    return Picture(
        title=f"{name}: {_written(rows[first][0], form)}{f' {unit}' * bool(unit)}, {first}",
        caption=caption or "Points are medians and bars intervals. An arrow: the interval ends beyond the axis.",
        x=Axis(quantity, "size" if large else "number", log=log, range=ends),
        y=Axis("", names=tuple(f"{row}: {_written(three, form)}" for row, (three, _) in rows.items())),
        layers=(*lines, *layers),
        height=1.7 + 0.36 * len(rows),
        source=source,
        checked=True,
    )


def _three(name, row):
    """Return the low end, the median and the high end of a row, infinite where there is none."""
    if isinstance(row, Mapping):
        row = [row[LOW], row[MIDDLE], row[HIGH]]
    values = np.array([np.inf if x is None else x for x in np.atleast_1d(np.asarray(row, object))], float)
    if values.shape not in ((1,), (3,)) or np.isnan(values).any():
        raise InputError(f"intervals[{name!r}] must be a low end, a median and a high end, not {row!r}")
    return np.broadcast_to(values, (3,))


def _written(three, form):
    low, middle, high = (float(x) if np.isfinite(x) else None for x in three)
    return f"{middle:g}" if low == high else form({LOW: low, MIDDLE: middle, HIGH: high})


def interval_layers(rows, *, log=False, include=()):
    """Return the layers of intervals, one row each, and the ends of their axis.

    Rows have low end, median and high end, and a look. What ends beyond ten times the largest median is cut there, with
    an arrow. The axis shows what `include` holds, too.
    """
    every = np.array([three for three, _ in rows.values()])
    finite = np.concatenate([every[np.isfinite(every)], np.asarray(include, float)])
    middles = np.abs(every[:, 1][np.isfinite(every[:, 1])])
    longest = min(LONGEST * middles.max(initial=0.0) or np.inf, 1.25 * np.abs(finite).max(initial=1.0))
    cut = bool((every > longest).any()), bool((every < -longest).any())
    low, high = max(finite.min(), -longest), longest if cut[0] else min(finite.max(), longest)
    if log:
        margin = max((high / low) ** 0.04, 1.02)
        ends = low / margin, high * margin
    else:
        margin = 0.04 * (high - low or abs(high) or 1.0)
        ends = low - margin, high + margin
    layers = []
    for place, (name, (three, look)) in enumerate(rows.items()):
        left, middle, right = np.clip(three, *ends)
        middle = middle if np.isfinite(three[1]) else np.nan
        layers.append(Layer("level", name, frame(x=middle, y=place, low=left, high=right), look, False, 6))
        for end, sign, marker in ((ends[1], 1, "triangle-right"), (ends[0], -1, "triangle-left")):
            if (sign * three > sign * end).any():
                arrow = look._replace(marker=marker)
                layers.append(Layer("points", f"{name}, beyond", frame(x=end, y=place), arrow, False, 7))
    return layers, ends
