"""Tables of loss curves: the readings of runs while they train, as logs and trackers write them."""

import numpy as np
import pandas as pd

from ...errors import InputError
from ..cells import as_names, as_numbers
from ..checks import in_file
from ..panels import melted
from ..schedules import EXAMPLE, Schedule
from ..schemas import check
from ..wording import plural, quoted
from .kind import Kind

CLOCKS = ("step", "tokens")


def parse(table, changes, columns, where, drop_missing, schedule, until):
    """Check readings of runs, in order, with the learning rate of each: of a column, of a schedule, or constant."""
    label = changes.label
    table, headers = CURVES.select(table, changes, columns, where, drop_missing)
    clock = next((name for name in CLOCKS if name in table), None)
    if clock is None:
        raise InputError(
            f"{label}: no column of steps or tokens among {', '.join(map(str, table.columns))}; name one with "
            'columns={"step": ...} (--column step=NAME)'
        )
    table = _with_loss(table, changes)
    cells, faults = as_numbers(table, CURVES.present(table, (*CLOCKS, "rate", "loss")))
    texts, nameless = as_names(table, CURVES.present(table, ("run",)))
    table = check(table.assign(**cells, **texts), "curves", label=label, names=headers,
                  faults=in_file([*faults, *nameless], headers))  # fmt: skip
    table = table.assign(run=table["run"].astype(str) if "run" in table else str(changes.label), clock=table[clock])
    table = pd.concat([_resumed(readings, changes) for _, readings in table.groupby("run", sort=False)])
    table = _with_rate(table, changes, schedule, until)
    names = [name for name in ("run", "step", "tokens", "clock", "rate", "loss") if name in table]
    return table[names]


def _with_loss(table, changes):
    """Leave out readings without a loss, which a log has between evaluations."""
    blank = table["loss"].isna() | (table["loss"].astype(str).str.strip() == "")
    if blank.any():
        changes.add("loss", f"{plural(int(blank.sum()), 'reading')} without a loss left out", rows=int(blank.sum()))
    return table[~blank]


def _resumed(readings, changes):
    """Return the readings of one run in order: those that a restart made again are taken once, the last time."""
    clock = readings["clock"].to_numpy(float)
    ahead = np.concatenate([np.minimum.accumulate(clock[::-1])[::-1][1:], [np.inf]])
    last = clock < ahead
    if not last.all():
        count, run = int((~last).sum()), readings["run"].iloc[0]
        changes.add("restart", f"run {quoted(run)} was restarted: {plural(count, 'reading')} made again left out")
    return readings[last]


def _with_rate(table, changes, schedule, until):
    """Return the table with the rate of each reading, stating where it was not logged."""
    if schedule is not None:
        planned = Schedule(schedule)
        ends = table.groupby("run")["clock"].transform("max").to_numpy() if until is None else until
        if until is None and planned.shape != "constant":
            changes.add("schedule", "each run is taken to end at its last reading; state its end with until (--until)")
        return table.assign(rate=planned.rates(table["clock"], ends))
    if "rate" in table:
        return table
    changes.add("schedule", f"no column has learning rates, which are taken as constant; state others as {EXAMPLE}")
    return table.assign(rate=1.0)


CURVES = Kind(
    name="curves",
    built_in="schedule_curves",
    dimension="row",
    parse=parse,
    needed=("loss",),
    optional=("run", "step", "tokens", "rate"),
    text=("run",),
    form=lambda frame, label, columns: melted(frame, label),
    aliases={
        "loss": "trainloss trainingloss losstrain lmloss crossentropy valloss evalloss lossmean",
        "step": "iter iteration iterations globalstep trainerglobalstep trainstep updates iternum",
        "tokens": "tokensseen totaltokens consumedtokens trainedtokens ntokens numtokens traintokens",
        "rate": "lr learningrate currentlr optimizerlr schedulerlr trainlr lrrate",
        "run": "runname runid file name",
    },
)
