"""The command ``curve``: the final loss of a run while it trains, from its log."""

import contextlib
import sys
import time
import warnings
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from ..errors import InputError, TableNote
from . import options, parsing, tables

WAIT = 20.0  # seconds between looks at a log


@options.shares(options.Reading)
def curve(
    log: Annotated[
        str, Argument(metavar="LOG", help="A log, a tracker's export, a folder or pattern of them, or a fit of curve.")
    ],
    until: Annotated[str, Option(help="Where the run ends: 24000 steps, or 3e9 tokens.", metavar="PLACE")],
    schedule: Annotated[
        str | None, Option(help="Its rate: cosine:peak=3e-4,warmup=2000,final=3e-5, or held.", metavar="SCHEDULE")
    ] = None,
    run: Annotated[str | None, Option(help="One run of the log; all by default.", metavar="NAME")] = None,
    below: Annotated[float | None, Option(help="A loss to beat, such as that of another run.", metavar="LOSS")] = None,
    watch: Annotated[bool, Option("--watch", help="Print a line each time the log has grown, until it ends.")] = False,
    out: Annotated[Path | None, Option(help="Write the figure to this file.", metavar="FILE.svg")] = None,
    seed: Annotated[int, Option(help="Seed of the draws.")] = 1,
    *,
    reading,
):
    """Forecast the final loss of a run while it trains."""
    end = parsing.count(until, "--until")
    if not 0 < end < float("inf"):
        raise InputError(f"--until {until}: give steps or tokens, such as 24000 or 3e9")
    asked = {"until": end, "schedule": schedule, "below": below, "seed": seed}
    if watch:
        if out or reading.json:
            raise InputError("--watch prints lines alone; leave out --out and --json")
        _watch(log, run, asked, reading)
        return
    if out:
        from ..datasets.wording import listed
        from ..plots.with_matplotlib import check_format, write

        check_format(out)
    saved = _saved(log)
    runs = _runs(log, run, asked, reading, saved)
    if out and len(runs) > 1:
        raise InputError(f"--out draws one run; name it with --run: {listed([name for name, _ in runs], 5)}")
    forecasts = {str(name): _forecast(of, asked, saved) for name, of in runs}
    fits = {name: fit for name, (fit, _) in forecasts.items()}
    if out:
        from ..plots import plot_curve

        ((name, fit),) = fits.items()
        write(plot_curve(fit, end, schedule=schedule, run=name, seed=seed).figure, out)
    tables.print_parts({name: {"loss": table} for name, (_, table) in forecasts.items()}, fits, reading.json)
    tables.print_written(out)


def _saved(log):
    """Return the fit that a file holds, or None where it is a log."""
    from ..inference import storage

    with contextlib.suppress(InputError):
        return storage.open(log) if log.endswith(".nc") else None


def _runs(log, run, asked, reading, saved=None):
    """Return the name and the readings of each run of a log, or of one."""
    from ..datasets.kinds.curves import CURVES
    from ..datasets.schedules import HELD
    from ..datasets.wording import unknown
    from ..inference.fitted import of_kind

    planned = None if asked["schedule"] == HELD else asked["schedule"]
    more = {"schedule": planned, "until": asked["until"] if planned else None}
    table = of_kind(saved, CURVES).rows if saved else parsing.read_table(CURVES, log, reading, **more)
    names = table["run"].unique().tolist()
    if run is not None and run not in names:
        raise InputError(unknown(f"{log}: run", run, names))
    return [(name, table[table["run"] == name]) for name in names if run in (None, name)]


def _forecast(readings, asked, saved=None):
    """Return the fit of the readings of a run, unless one is `saved`, and the table of its forecast."""
    from ..inference import fit
    from ..inference.curves import forecast

    fitted = saved or fit("curve", readings, seed=asked["seed"], check=False)
    return fitted, forecast(fitted, run=readings["run"].iloc[0], **asked)


def _watch(log, run, asked, reading):
    """Print a line for each run whenever its log has grown, until each has come to its end."""
    from ..datasets.kinds.curves import CURVES
    from ..datasets.schedules import HELD, RateSchedule

    parsing.check_options(CURVES, reading)
    if asked["schedule"] not in (None, HELD):
        RateSchedule(asked["schedule"])
    seen: dict = {}
    waiting = ""
    while True:
        try:
            with warnings.catch_warnings():
                if seen:  # what reading changed is printed once
                    warnings.simplefilter("ignore", TableNote)
                runs = _runs(log, run, asked, reading)
            for name, readings in runs:
                last = readings["clock"].iloc[-1]
                if seen.get(name) != last:
                    print(f"{name}, at {last:,.10g}: {_outlook(readings, asked)}", flush=True)
                    seen[name] = last
            if all(_has_ended(readings, asked) for _, readings in runs):
                return
        except InputError as error:  # a file that is not there, half written, or that has too few readings yet
            if str(error) != waiting:
                print(f"waiting: {error}", file=sys.stderr, flush=True)
            waiting = str(error)
        time.sleep(WAIT)


def _has_ended(readings, asked):
    """Return whether a run would end before its next reading."""
    return readings["clock"].iloc[-1] + readings["clock"].diff().iloc[-1:].fillna(0.0).item() >= asked["until"]


def _outlook(readings, asked):
    from ..inference.words import plain, probability

    if _has_ended(readings, asked):
        return "the run has ended"
    rows = _forecast(readings, asked)[1]
    chances = {
        name: f", P(below {asked['below']:g}) {probability(row['p_below'])}" if asked["below"] else ""
        for name, row in rows.iterrows()
    }
    ends = rows[rows.index.str.startswith("at the end")].iterrows()
    return "; ".join(f"{plain(row, '{:.3f}')} {name}{chances[name]}" for name, row in ends)
