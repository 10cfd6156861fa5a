"""The figure of runs to make next, in the plane of model sizes and tokens."""

from __future__ import annotations

from typing import Unpack

from ..errors import InputError
from ..inference.decisions.schedule import Schedule
from ..inference.words import flop
from .figure import Drawing, figure
from .picture import Axis, Layer, Picture, frame
from .shared import sources
from .style import BLUE, GREY, ORANGE, Look


@figure
def plot_design(schedule: Schedule, **drawing: Unpack[Drawing]) -> Picture:
    """Plot the runs to make next by size and tokens, with the runs at hand.

    Parameters
    ----------
    schedule : Schedule
        What `design` returned.

    Raises
    ------
    InputError
        If it is not what `design` returned, or the runs have no parameters or no tokens.

    Examples
    --------
    >>> import bayescaling as bs
    >>> runs = bs.load("chinchilla_runs")
    >>> fit = bs.fit("coupled", runs[runs["training_flop"] < 1e20], seed=1, draws=500, tune=500)
    >>> axes = bs.plot_design(bs.design(fit, budget=1e21, compute=1e23, gate=False))
    >>> axes.finding[:8]
    'The next'
    """
    if not isinstance(schedule, Schedule) or "rule" not in schedule.attrs:
        raise InputError(f"plot_design takes what design returned, not {type(schedule).__name__}")
    if not {"parameters", "tokens"} <= set(schedule):
        raise InputError("a figure of runs to make next needs their parameters and tokens; the table prints others")
    fitted = schedule.attrs["fitted"]
    first = schedule["batch"] == 1
    layers = [Layer("points", "runs at hand", frame(x=fitted["parameters"], y=fitted["tokens"]), Look(GREY), width=3.0)]
    for name, rows, colour in (("to make first", schedule[first], ORANGE), ("later", schedule[~first], BLUE)):
        if len(rows):
            layers.append(Layer("points", name, frame(x=rows["parameters"], y=rows["tokens"]), Look(colour), width=5.5))
    return Picture(
        title=_finding(schedule, int(first.sum())),
        caption=f"Runs for {schedule.attrs['target']}, of a budget of {flop(schedule.attrs['budget'])}; those to make "
        "first come before the next fit.",
        x=Axis("Parameters", "size", log=True),
        y=Axis("Training tokens", "size", log=True),
        layers=tuple(layers),
        height=4.6,
        source=sources(schedule.attrs["standing"]),
    )


def _finding(schedule, first):
    """Return what the runs leave unknown, in words."""
    what = f"The next {first} runs" if first > 1 else "The next run"
    text = f"{what} cost{'' if first > 1 else 's'} {flop(schedule['cost'].head(first).sum())}"
    left = schedule["variance_left"].iloc[-1]
    if left != left:
        return f"{text}, spread by cost, as no law passes its rollouts"
    return f"{text}; all {len(schedule)} leave {left:.0%} of the variance of {schedule.attrs['target']}"
