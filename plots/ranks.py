"""The figure of ranks of models, with their intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

import numpy as np

from ..errors import InputError
from ..inference.fitted import record_of
from ..inference.scores.ranks import ranks
from ..inference.words import HIGH, LOW, MIDDLE, probability
from .figure import Drawing, figure
from .picture import Axis, Layer, Picture, frame
from .style import BLUE, Look

if TYPE_CHECKING:
    from ..inference.fitted import Fit


@figure
def plot_ranks(fit: Fit, *, most: int = 25, **drawing: Unpack[Drawing]) -> Picture:
    """Plot the ranks of models, the best on top.

    Parameters
    ----------
    fit : Fit
        Of the law ``scores`` or ``horizons``.
    most : int
        Models that are drawn at most.

    Raises
    ------
    InputError
        If the fit is of another law, or `most` is no number of models.

    Examples
    --------
    >>> import bayescaling as bs
    >>> table = bs.load("weirdml")
    >>> few = table[table["model"].isin(table["model"].unique()[::6]) & table["threshold"].isin([50, 90])]
    >>> fit = bs.fit(bs.laws.Horizons(noise="binomial"), few, seed=1, draws=300, tune=500)
    >>> axes = bs.plot_ranks(fit)
    >>> axes.finding[:30]
    'gpt-5.2 (xhigh) is the best of'
    """
    if isinstance(most, bool) or not (isinstance(most, int) and most >= 1):
        raise InputError(f"most must be a number of models such as 25, not {most!r}")
    table = ranks(fit)
    shown = table.head(most)
    low, middle, high = (shown[name].to_numpy() for name in (LOW, MIDDLE, HIGH))
    first, alike = shown.iloc[0], int(shown["similar"].iloc[0])
    others = f"{alike} other{'s' * (alike != 1)} may be as good" if alike else "no other may be as good"
    return Picture(
        title=f"{shown.index[0]} is the best of {len(table)} models with probability {probability(first['p_best'])}; "
        f"{others}",
        caption=f"Ranks by {record_of(fit).ranked_by[1]}: medians and 95% intervals"
        + (f" of the first {most} of {len(table)} models." if len(table) > most else "."),
        x=Axis("Rank"),
        y=Axis("", names=tuple(shown.index)),
        layers=(Layer("level", "95% interval", frame(x=middle, y=np.arange(len(shown)), low=low, high=high),
                      Look(BLUE), False, 5),),
        height=1.7 + 0.3 * len(shown),
    )  # fmt: skip
