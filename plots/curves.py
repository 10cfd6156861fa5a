"""The figure of a run in flight: its readings, and the loss to come under its schedule."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

from ..datasets.kinds.curves import CURVES
from ..datasets.schedules import HELD
from ..inference.curves import losses
from ..inference.curves.forecast import unit_of
from ..inference.fitted import of_kind
from ..inference.words import plain
from .figure import Drawing, figure
from .picture import Axis, Layer, Picture, frame, median_and_band
from .shared import check_level, ends, in_words, percent
from .style import BLUE, GREY, ORANGE, Look

if TYPE_CHECKING:
    from ..inference.fitted import Fit


@figure
def plot_curve(
    fit: Fit,
    until: float,
    *,
    schedule: str | None = None,
    run: str | None = None,
    level: float = 0.95,
    seed: int = 1,
    **drawing: Unpack[Drawing],
) -> Picture:
    """Plot the loss of a run while it trains, and what it will reach.

    Parameters
    ----------
    fit : Fit
        Of the law ``curve``.
    until, schedule, run, seed
        As for `curves.losses`.

    Raises
    ------
    InputError
        As for `curves.losses`.

    Examples
    --------
    >>> import bayescaling as bs
    >>> curves = bs.load("schedule_curves")
    >>> readings = curves[(curves["run"] == "100M cosine_24000") & (curves["step"] < 12_000)]
    >>> fit = bs.fit("curve", readings, seed=1, draws=300, tune=500)
    >>> axes = bs.plot_curve(fit, 24_000, schedule="cosine:peak=3e-4,warmup=2160,final=3e-5")
    >>> axes.finding[:26]
    'At step 24,000 the loss is'
    """
    level, rows = check_level(level), of_kind(fit, CURVES).rows
    clock, ahead = losses(fit, until, schedule=schedule, run=run, seed=seed)
    of, three = rows[rows["run"] == (rows["run"].iloc[-1] if run is None else run)], ends(ahead, level)
    unit = unit_of(rows)
    held = [] if of.empty else [losses(fit, until, schedule=HELD, run=run, seed=seed)[1]]
    held = [x for x in held if not x.equals(ahead)]
    readings = [Layer("points", "readings, averaged", frame(x=of["clock"], y=of["loss"]), Look(BLUE), True, 4.0)]
    return Picture(
        title=f"At {unit} {clock[-1]:,.10g} the loss is {in_words(three[:, -1], plain)} nats/token",
        caption=f"Points are averaged readings; the line is the median of the loss to come with its {percent(level)} "
        "band, in grey if the rate is held. Spikes are not modelled.",
        x=Axis(f"{unit[0].upper()}{unit[1:]}s", "size"),
        y=Axis("Loss (nats/token)"),
        layers=(
            *(Layer("line", "rate held", frame(x=clock, y=ends(x, level)[1]), Look(GREY, "dash")) for x in held),
            *median_and_band(clock, three, Look(ORANGE), "to come"),
            *(readings if len(of) else []),
        ),
    )
