"""What loss a run in flight will reach, under its schedule or another, draw by draw."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from ...datasets.kinds.curves import CURVES
from ...datasets.schedules import HELD, RateSchedule, followed
from ...datasets.wording import number, quoted, unknown
from ...errors import InputError
from ...models.curves.areas import areas
from ..fitted import Fit, of_kind
from ..intervals import IntervalTable, name_quantiles, printed

PLACES = 400  # of a schedule
# How the law misses losses to come, of greatest log score on the curves of all three sizes (`evidence/curves.json`).
UNSEEN = 0.18  # sd of what a fall of the rate removes, as a share
OTHER = (0.069, 0.046)  # mean and sd of what it removes less, of a schedule that no run of the table has
FALLEN = 0.5  # of the peak: a fall in the table from which what one removes is known, so that `OTHER` serves
BEYOND = 0.00155  # sd of the loss, as a share, for each e-fold of steps beyond the readings
FARTHEST = 1000.0  # times its last reading, that a run may end at: farther, the end is of another unit
SOON = 0.2  # of the run so far, over which the rate falls if it falls now
STEADY = 0.99  # of the peak: rates above it have not fallen
LOW = 0.1  # of the peak: where it falls to
ENDS = ("at the end, rate held", "at the end, falling from now")  # of a run whose rate may still fall


def losses(
    fit: Fit, until: float, *, schedule: str | None = None, run: str | None = None, seed: int = 1
) -> tuple[np.ndarray, xr.DataArray]:
    """Draw the losses of a run from its last reading until it ends.

    Parameters
    ----------
    fit : Fit
        Of the law ``curve``.
    until : float
        Where the run ends on its clock: steps, or tokens of a table without steps.
    schedule : str, optional
        Of its learning rate, such as ``"cosine:peak=3e-4,warmup=2000,final=3e-5"``; by default rates fall on in the
        shape that was logged, else the last one is held, as by ``"held"``.
    run : str, optional
        A run of the table, by default its last one. A name that the table lacks is another run of the model, whose
        `schedule` is given.
    seed : int

    Returns
    -------
    clock : ndarray, shape (place,)
    loss : DataArray, dims (chain, draw, place)
        Averaged over readings, with the errors that the law has on other curves.

    Raises
    ------
    InputError
        If the fit is of another law, the run has ended by `until` or it is a thousand times as far, or another run has
        no schedule.
    """
    rows = of_kind(fit, CURVES).rows
    names, source = rows["run"].unique().tolist(), fit.record["data"]["source"]
    run = names[-1] if run is None else run
    planned = None if schedule in (None, HELD) else RateSchedule(schedule)
    if run in names:
        last = rows[rows["run"] == run].iloc[-1]
        if not until > last["clock"]:
            place = f"{source}: run {quoted(run)} has readings beyond {number(float(until))}"
            raise InputError(f"{place}, near {number(float(last['clock']))}; give where it ends (until, --until)")
        if until > FARTHEST * last["clock"]:
            place = f"{source}: run {quoted(run)} has come to {number(float(last['clock']))} {unit_of(rows)}s"
            raise InputError(f"{place}; an end at {number(float(until))} is too far, give it in {unit_of(rows)}s")
        clock = np.linspace(last["clock"], until, PLACES)
        shares = np.full(PLACES, last["rate"])
        if schedule is None:
            planned = continued(fit, until, run)
        if planned:  # from the last rate that was logged, whatever the scale and the start of the log
            rates = planned.rates(clock, until)
            shares = last["rate"] * rates / rates[0]
    elif planned is None:
        text = unknown(f"{source}: run", run, names)
        raise InputError(f"{text}; of another run of the model give its schedule")
    else:
        clock = np.linspace(0.0, until, PLACES)[1:]
        shares = planned.rates(clock, until) / planned.options["peak"]
    return clock, _drawn(fit, run, clock, shares, seed)


def continued(fit: Any, until, run):
    """Return the schedule that the rates of a run have followed and that ends at `until`, or None."""
    of = fit.rows[fit.rows["run"] == run]
    return followed(of["clock"].to_numpy(), of["rate"].to_numpy(), until)


def _drawn(fit: Any, run, clock, shares, seed):
    """Draw the losses of a run at places of its clock, from its rates as shares of the peak."""
    rows, rng = fit.rows, np.random.default_rng(seed)
    of = rows[rows["run"] == run]
    before = None if of.empty else tuple(of[["area", "annealed"]].iloc[-1])
    memory = fit.law.memory if "step" in rows else 0.0
    area, annealed = areas(clock, shares, memory=memory, peak=1.0, before=before)
    loss, gain = fit.draws.ahead(None if of.empty else run, area, annealed, clock, rng)
    mean, sd = OTHER if of.empty and rows["annealed"].max() > FALLEN else (0.0, UNSEEN)
    of_gain, of_loss = rng.standard_normal((2, *gain.shape[:2], 1))
    seen = rows["clock"].max() if of.empty else of["clock"].iloc[-1]
    farther = BEYOND * np.log(np.maximum(clock / seen, 1.0))
    return loss * (1.0 + farther * of_loss) + gain * (mean + sd * of_gain)


def forecast(
    fit: Fit,
    until: float,
    *,
    schedule: str | None = None,
    run: str | None = None,
    below: float | None = None,
    seed: int = 1,
) -> IntervalTable:
    """Forecast the loss of a run when it ends, if its rate is held, and if its rate falls now.

    Parameters
    ----------
    fit, until, schedule, run, seed
        As for `losses`.
    below : float, optional
        A loss to beat, such as that of another run. Its row has where the run reaches it.

    Returns
    -------
    IntervalTable
        A DataFrame, which prints a short table. By scenario, the end first: quantiles ``q2.5``, ``q50``, ``q97.5`` of
        the loss and the ``clock`` that it is at. With `below` also ``p_below``, the probability of a lower
        loss. Where no `schedule` is given and the rate may still fall there are two ends, with the rate held and
        falling from now, and no number is strong.

    Raises
    ------
    InputError
        As for `losses`, or if `below` is no positive number.

    Examples
    --------
    >>> import bayescaling as bs
    >>> curves = bs.load("schedule_curves")
    >>> readings = curves[(curves["run"] == "100M cosine_24000") & (curves["step"] < 12_000)]
    >>> fit = bs.fit("curve", readings, seed=1, draws=300, tune=500)
    >>> table = bs.curves.forecast(fit, 24_000, schedule="cosine:peak=3e-4,warmup=2160,final=3e-5")
    >>> bool(table.loc["at the end", "q2.5"] < 2.98 < table.loc["at the end", "q97.5"])
    True
    """
    if below is not None and not (isinstance(below, int | float) and below > 0):
        raise InputError(f"below must be a loss, such as 2.9, not {below!r}")
    rows: dict[str, dict[str, Any]] = {}
    clock, ends = losses(fit, until, schedule=schedule, run=run, seed=seed)
    run = fit.rows["run"].iloc[-1] if run is None else run
    readings = fit.rows[fit.rows["run"] == run]
    of_rate, guessed = _of_rate(fit, until, schedule, readings)
    rows[ENDS[0] if guessed else "at the end"] = _row(ends[..., -1], clock[-1], below)
    if len(readings):
        last, share = (float(readings[name].iloc[-1]) for name in ("clock", "rate"))
        held, soon = losses(fit, until, schedule=HELD, run=run, seed=seed), last * (1 + SOON)

        def fall(end):
            places = np.linspace(last, end, PLACES)
            return _drawn(fit, run, places, np.linspace(share, min(LOW, share), PLACES), seed)[..., -1]

        rows |= {} if guessed else {"if the rate is held": _row(held[1][..., -1], until, below)}
        rows |= {ENDS[1]: _row(fall(until), until, below)} if guessed else {}
        rows[f"if it falls now, by {number(float(f'{soon:.3g}'))}"] = _row(fall(soon), soon, below)
        rows["what is left to gain"] = _row(ends[..., 0] - ends[..., -1], clock[-1], None)
    table = pd.DataFrame.from_dict(rows, orient="index")
    note = f"At {number(until)} {unit_of(fit.rows)}s: medians and 95% intervals of the loss averaged over readings. "
    note += f"{of_rate}Spikes and divergence of the training are not modelled."
    return printed(table, "loss", "Loss of a run in flight", note, fit, quoted=table.index[0], guessed=guessed)


def _of_rate(fit, until, schedule, readings):
    """Return a sentence on the rate to come, "" where its schedule was given, and what is guessed of it, if anything.

    A rate that has not come down to `LOW` of its peak may still fall, unless its fall has a shape.
    """
    if schedule is not None or readings.empty:
        return "", None
    run, rate = readings["run"].iloc[0], readings["rate"].iloc[-1]
    planned = continued(fit, until, run)
    if planned is not None:
        final = planned.options["final"] / planned.options["peak"]
        return f"The rate falls on as logged: {planned.shape}, to {final:.0%} of its peak. ", None
    unlogged = [run for entry in _recorded(fit.rows, "constant") for run in entry["runs"]]
    if rate <= STEADY:
        said = "The last rate is held: its fall so far tells no shape that ends there"
    elif run in unlogged:
        said = "No rates were logged, and they are taken as constant"
    else:
        said = "The rate was held until now and is taken as held to the end"
    if rate <= LOW:
        return f"{said}. ", None
    return (
        f"{said}; if rates fall, the loss comes near the second row. Give the schedule. ",
        "the rate to come is guessed",
    )


def unit_of(rows):
    """Return what the places of runs are, a step, a token or an epoch, as the record of their reading has it."""
    return "step" if "step" in rows else "epoch" if _recorded(rows, "epoch") else "token"


def _recorded(rows, option):
    """Return what the reading of the table changed by an option."""
    return [entry for entry in rows.attrs.get("reading", []) if entry["option"] == option]


def _row(draws, clock, below):
    row = name_quantiles(draws) | {"clock": float(clock)}
    return row if below is None else row | {"p_below": float((draws < below).mean())}
