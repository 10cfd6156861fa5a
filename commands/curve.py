"""The command ``curve``: the final loss of a run while it trains, from its log."""

import time
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from ..errors import InputError
from . import options, parsing, tables

WAIT = 20.0  # seconds between looks at a log


@options.shares(options.Reading)
def curve(
    log: Annotated[str, Argument(metavar="LOG", help="A log, a tracker's export, or a pattern of files, one a run.")],
    until: Annotated[str, Option(help="Where the run ends: 24000 steps, or 3e9 tokens.", metavar="PLACE")],
    schedule: Annotated[
        str | None, Option(help="Its learning rate: cosine:peak=3e-4,warmup=2000,final=3e-5.", metavar="SCHEDULE")
    ] = None,
    run: Annotated[str | None, Option(help="One run of the log; all by default.", metavar="NAME")] = None,
    below: Annotated[float | None, Option(help="A loss to beat, such as that of another run.", metavar="LOSS")] = None,
    watch: Annotated[bool, Option("--watch", help="Print a line each time the log has grown, until it ends.")] = False,
    out: Annotated[Path | None, Option(help="Write the figure to this file.", metavar="FILE.svg")] = None,
    seed: Annotated[int, Option(help="Seed of the draws.")] = 1,
    *,
    reading,
):
    """Forecast the final loss of a run while it trains, and what a fall of its rate would do. It reads the log."""
    end = parsing.values([f"until={until}"], "--until")["until"]
    if not isinstance(end, int | float) or end <= 0:
        raise InputError(f"--until {until}: give steps or tokens, such as 24000 or 3e9")
    asked = {"until": float(end), "schedule": schedule, "below": below, "seed": seed}
    if watch:
        _watch(log, run, asked, reading)
        return
    fits = _fits(log, run, asked, reading)
    results = {name: {"loss": _forecast(fit, asked)} for name, fit in fits.items()}
    if out:
        from ..plots import plot_curve
        from ..plots.with_matplotlib import check_format, write

        check_format(out)
        fit = next(iter(fits.values()))
        write(plot_curve(fit, asked["until"], schedule=schedule).figure, out)
    tables.print_parts(results, fits, reading.json)
    tables.print_written(out)


def _fits(log, run, asked, reading):
    """Fit the law to each run of a log, or to one."""
    from ..datasets import KINDS
    from ..datasets.wording import unknown
    from ..inference import fit

    more = {"schedule": asked["schedule"], "until": asked["until"] if asked["schedule"] else None}
    table = parsing.read_table(KINDS["curves"], log, reading, **more)
    names = table["run"].unique().tolist()
    if run is not None and run not in names:
        raise InputError(unknown(f"{log}: run", run, names))
    chosen = names if run is None else [run]
    return {str(name): fit("curve", table[table["run"] == name], seed=asked["seed"]) for name in chosen}


def _forecast(fit, asked):
    from ..inference.curves import forecast

    return forecast(fit, **asked)


def _watch(log, run, asked, reading):
    """Print a line for each run whenever its log has grown, until each has come to its end."""
    from ..inference.words import plain, probability

    seen: dict[str, float] = {}
    while True:
        try:
            fits = _fits(log, run, asked, reading)
        except InputError as error:  # a line that is half written, or too few readings
            fits = {}
            if not seen:
                print(f"waiting: {error}", flush=True)
        for name, fit in fits.items():
            last = float(fit.rows["clock"].iloc[-1])
            if seen.get(name) == last or last >= asked["until"]:
                seen[name] = last
                continue
            seen[name] = last
            row = _forecast(fit, asked).loc["at the end"]
            chance = f", P(below {asked['below']:g}) {probability(row['p_below'])}" if asked["below"] else ""
            print(f"{name}, at {last:,.0f}: {plain(row, '{:.3f}')} at the end{chance}", flush=True)
        if fits and all(last >= asked["until"] * 0.99 for last in seen.values()):
            return
        time.sleep(WAIT)
