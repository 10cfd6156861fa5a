"""The figure of what a change is worth: the compute multiplier of each group against the budget."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..inference.decisions.worth import check_baseline, multipliers
from ..inference.estimands.allocate import compute_range
from ..inference.words import factor, flop, probability
from ..models.loss.grouping import GROUP, GROUPS
from .figure import figure
from .picture import Axis, Layer, Picture, frame, median_and_band
from .shared import budgets_of, check_level, ends, in_words, percent, with_looks
from .style import GREY, Look

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from ..inference.fitted import Fit

POINTS, FURTHER, MOST = 25, 30.0, 30.0  # budgets, how far above the largest run, and the largest factor drawn


@figure
def plot_worth(
    fit: Fit, baseline: str, compute: ArrayLike | None = None, *, level: float = 0.95, **options: Any
) -> Picture:
    """Plot the compute multiplier of each group of runs against the budget.

    Parameters
    ----------
    fit : Fit
        Of a `Grouped` law.
    baseline : str
        Group with which the others are compared.
    compute : array_like, shape (compute,), optional
        Budgets in FLOP; by default from the least run to 30 times the largest one.
    **options
        ``tokens_per_parameter``, ``beyond``, ``robust`` and what is planned, as for `worth`.

    Raises
    ------
    InputError
        As for `worth`.

    Examples
    --------
    >>> import bayescaling as bs
    >>> runs = bs.load("chinchilla_runs")
    >>> halves = runs.assign(half=["a", "b"] * 122 + ["a"])
    >>> law = bs.laws.Grouped(bs.laws.Chinchilla(noise="normal", scatter="one"), "half")
    >>> fit = bs.fit(law, halves, seed=1, draws=500, tune=500)
    >>> axes = bs.plot_worth(fit, "a")
    >>> axes.finding[:26]
    'At 3.89e23 FLOP, b is wort'
    """
    level = check_level(level)
    check_baseline(fit, baseline)
    ranges = np.array([compute_range(fit, group=name) for name in fit.draws.reference[GROUPS]])
    largest = np.nanmax(ranges)
    if compute is None:
        compute = np.geomspace(np.nanmin(ranges), FURTHER * largest, POINTS)
    budgets = np.sort(budgets_of(compute))
    multiplier = multipliers(fit, baseline, budgets, **options)[0]["multiplier"]
    layers = [Layer("line", "baseline", frame(x=budgets, y=1.0), Look(GREY, "dash"), False, 1.0)]
    names = [str(name) for name in multiplier[GROUP].values]
    three = {name: ends(multiplier.sel({GROUP: name}), level) for name in names}
    for name, look in with_looks(names):
        layers += median_and_band(budgets, three[name].clip(1 / MOST, MOST), look, name)
    first = names[0]
    last = [three[first][i][-1] for i in range(3)]
    better = float((multiplier.sel({GROUP: first}).isel(compute=-1) > 1).mean())
    return Picture(
        title=f"At {flop(budgets[-1])}, {first} is worth {in_words(last, factor)} times the compute of {baseline}; "
        f"it is better with probability {probability(better)}",
        caption=f"Lines are medians and bands {percent(level)} intervals of the compute that {baseline} needs for the "
        f"same loss, over the budget. The largest run has {flop(largest)}; factors end at {MOST:g}.",
        x=Axis("Training compute (FLOP)", "flop", log=True),
        y=Axis("Compute multiplier", log=True),
        layers=tuple(layers),
    )
