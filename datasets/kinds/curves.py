"""Tables of loss curves: the readings of runs while they train, as logs and trackers write them."""

import re

import numpy as np
import pandas as pd

from ...errors import InputError
from .. import logs
from ..cells import as_names, as_numbers
from ..checks import in_file, refuse_first
from ..columns import Called, recognise_with_unit
from ..fixes import choice
from ..meaning.readings import READINGS
from ..panels import melted, spelled
from ..schedules import EXAMPLE, RateSchedule
from ..schemas import NONNEGATIVE, POSITIVE, check
from ..selection import hashable
from ..units import scale_columns, split_header
from ..wording import listed, plural, quoted
from .kind import Kind, register_kind

CLOCKS = ("step", "tokens", "epoch")
LOSS = re.compile(
    r"(?!.*(?<![a-z])(?:scale|aux|auxiliary|balanc\w*|router|z|min|max|std|halfwidth)(?![a-z])).*(?:loss|cross_?entropy)",
    re.IGNORECASE,
)
EVALUATED = re.compile("(?<![a-z])(?:val|eval|test|dev|held)", re.IGNORECASE)
IN_BYTES = "bits-per-byte"  # a loss in this unit stays so
UNORDERED = 0.1  # share of readings that go back, above which they are in no order
DIVERGED = "train on from a checkpoint before it, or leave rows out with drop_missing=True (--drop-missing)"
SHOWN = 5  # columns in a message


def parse(table, changes, columns, where, drop_missing, schedule, until):
    """Check readings of runs, in order, with the learning rate of each: logged, of a schedule, or constant."""
    label = changes.label
    table, headers = CURVES.select(table, changes, _chosen(table, columns, changes), where, False)
    if "loss" not in columns and not LOSS.match(headers["loss"]):
        changes.add("columns", f"column {quoted(headers['loss'])} is read as loss", column=headers["loss"])
    clocks = CURVES.present(table, CLOCKS)
    if not clocks:
        table, clocks = _number_readings(table, headers["loss"], changes), ["epoch"]
    blank = table["loss"].isna() | (table["loss"].map(str).str.strip() == "")
    cells, faults = as_numbers(table, CURVES.present(table, (*CLOCKS, "rate", "loss")))
    loss = {} if split_header(headers["loss"])[1] == IN_BYTES else {"loss": headers["loss"]}
    cells = scale_columns(pd.DataFrame(cells), loss, None, None, changes)
    texts, nameless = as_names(table, CURVES.present(table, ("run",)))
    if not texts:
        _refuse_runs(table.assign(**cells)[~blank], clocks[0], label)
        texts = {"run": pd.Series(label, index=table.index, dtype=object)}
    clock = min(clocks, key=lambda name: int(cells[name][~blank].isna().sum()))
    table = table.assign(**cells, **texts, clock=cells[clock])
    faulty = table.index.isin([fault.row for fault in (*faults, *nameless)])
    finite = np.isfinite(table["loss"])
    trained_on = finite[::-1].groupby(table["run"], dropna=False).cummax().astype(bool) & ~finite & ~faulty
    blank |= trained_on  # a step that the trainer skipped
    lost = (~np.isfinite(table["loss"]) & ~blank & ~faulty) | _after_the_last(table["run"], blank)
    if drop_missing:
        bad = lost | faulty | ~((table["loss"] > 0) & table["clock"].notna() | blank)
        _note(changes, "drop_missing", bad, "without a positive finite loss or its place")
        table, blank, lost, faults, nameless = table[~bad], blank[~bad], lost[~bad], [], []
    shown = table["loss"].map(str).where(~blank, "nothing (a blank or NaN)")
    refuse_first(lost, headers["loss"], shown.get, DIVERGED, table, label, ", and so in {} later readings")
    _note(changes, "loss", blank, "without a loss")
    if clock == "epoch":
        changes.add("epoch", "no column has steps or tokens, so that places of runs are epochs")
    names = [x for x in ("run", *CLOCKS, "clock", "rate", "loss") if x in table and (x != "epoch" or clock == x)]
    ordered = table.sort_values("clock", kind="stable").groupby("run")
    for name in [x for x in ("tokens", "rate") if x in names and x != clock and table.loc[~blank, x].isna().any()]:
        changes.add(name, f"blanks of {quoted(headers[name])} take the last value before them")
        table = table.assign(**{name: ordered[name].transform(lambda x: x.ffill().bfill())})
    if "rate" in table:  # 0 throughout a run that logged none
        table = table.assign(rate=table["rate"].where(table.groupby("run")["rate"].transform("count") > 0, 0.0))
    readings = table[~blank]
    if readings.empty:
        raise InputError(f"{label}: no reading has a loss in column {quoted(headers['loss'])}; log it")
    faults = [fault for fault in (*faults, *nameless) if fault.row in readings.index]
    readings = check(readings, CURVES, label=label, names=headers, faults=in_file(faults, headers))
    runs = [_in_order(of, clock, changes) for _, of in readings.groupby("run", sort=False)]
    return _with_rate(pd.concat(runs)[names], changes, schedule, until)


def _chosen(table, columns, changes):
    """Return the columns that are chosen, and of several that could play a part the best one, which is reported."""
    columns = dict(columns)
    for name in ("loss", *CLOCKS, "rate"):
        called = Called((name,), {}, CURVES.aliases)
        free = [x for x in table if (LOSS.match(str(x)) if name == "loss" else x in called)]
        free = free or [x for x in table if recognise_with_unit(x) == name]
        free = [x for x in free if x not in columns.values()]
        if name in columns or not free or (name in free and name != "loss"):
            continue
        ranks = {
            x: (not EVALUATED.search(str(x)), "globalstep" in spelled(x), pd.to_numeric(table[x], "coerce").count())
            for x in free
        }
        columns[name], *others = sorted(free, key=ranks.get, reverse=True)
        if others:
            text = f"{quoted(columns[name])} is read as {name}, not {listed(others, SHOWN)}; take another with "
            changes.add("columns", text + choice(name, others[-1]), column=str(columns[name]))
    return columns


def _number_readings(table, loss, changes):
    """Return a table of lists by epoch, as Keras has them, with the epoch; refuse one in which a column may count."""
    headings = table.drop(columns="loss").select_dtypes("number")
    whole = [name for name in headings if len(table) > 1 and not (headings[name] % 1).any()]
    rising = [name for name in whole if (headings[name].diff()[1:] > 0).all()]
    if table.index.name != "row" or rising or table.columns.isin(["run"]).any():
        fix = choice("step", rising[0] if rising else "NAME")
        names = listed([loss if name == "loss" else name for name in table.columns], SHOWN)
        raise InputError(f"{changes.label}: no column of steps, tokens or epochs among {names}; name one with {fix}")
    changes.add("epoch", "nothing states places of readings, which are numbered from 1 as epochs", rows=len(table))
    return table.assign(epoch=np.arange(1.0, len(table) + 1))


def _refuse_runs(readings, clock, label):
    """Refuse readings of several runs that a column may name, where none is recognised."""
    names = [*readings.select_dtypes(exclude="number"), *({"parameters"} & {*readings})]
    for name in [] if readings[clock].is_monotonic_increasing else names:
        groups = readings.groupby(hashable(readings[name]))[clock]
        if 1 < groups.ngroups <= len(readings) / READINGS and groups.is_monotonic_increasing.all():
            raise InputError(
                f"{label}: readings go back, and column {quoted(name)} may name their runs; name it with "
                f"{choice('run', name)}, or read rows of one run with where (--where)"
            )


def _after_the_last(runs, blank):
    """Return the readings after the last loss of a run, where they are more than blanks between its losses."""
    after = pd.Series(False, index=blank.index)
    for _, of in blank.groupby(runs) if blank.any() else ():
        places = np.flatnonzero(~of)
        if len(places) and len(of) - places[-1] > np.diff(places).max(initial=READINGS):
            after[of.index[places[-1] + 1 :]] = True
    return after


def _note(changes, option, rows, what):
    if count := int(rows.sum()):
        changes.add(option, f"{plural(count, 'reading')} {what} left out", rows=count)


def _in_order(readings, unit, changes):
    """Return the readings of one run in order: those that a restart made again are taken once, the last time."""
    run, back = quoted(readings["run"].iloc[0]), readings["clock"].diff() < 0
    if back.sum() > UNORDERED * len(readings):
        changes.add("order", f"readings of run {run} are in no order and are sorted by {unit}")
        readings = readings.sort_values("clock", kind="stable")
    clock = readings["clock"].to_numpy()
    last = clock < np.append(np.minimum.accumulate(clock[::-1])[::-1][1:], np.inf)
    if not last.all():
        what = f"goes back {plural(int(back.sum()), 'time')}, as after a restart" if back.any() else f"repeats a {unit}"
        changes.add("restart", f"run {run} {what}: {plural(int((~last).sum()), 'reading')} made again left out")
    return readings[last]


def _with_rate(table, changes, schedule, until):
    """Return the table with the rate of each reading, stating where it was not logged."""
    none = pd.Series(0.0, index=table.index)
    logged = table.assign(rate=table.get("rate", none)).groupby("run")["rate"].transform("max") > 0
    if schedule is not None and logged.any():
        changes.add("schedule", "rates were logged, so that the schedule is of the readings to come alone")
    if logged.all():
        return table
    rates = np.ones(len(table))
    if schedule is None:
        runs = table.loc[~logged, "run"].unique().tolist()
        fix = f"where they fall, give the schedule (--schedule {EXAMPLE})"
        changes.add("constant", f"run {listed(runs, SHOWN)} has no rates above 0, taken as constant; {fix}", runs=runs)
    else:
        planned = RateSchedule(schedule)
        ends = table.groupby("run")["clock"].transform("max").to_numpy() if until is None else until
        if until is None and planned.shape != "constant":
            changes.add("schedule", "each run is taken to end at its last reading; state its end with until (--until)")
        rates = planned.rates(table["clock"], ends)
    return table.assign(rate=table.get("rate", none).where(logged, rates))


CURVES = Kind(
    name="curves",
    built_in="schedule_curves",
    dimension="row",
    parse=parse,
    needed=("loss",),
    optional=("run", *CLOCKS, "rate"),
    text=("run",),
    cells={"loss": POSITIVE} | dict.fromkeys(("step", "tokens", "rate"), NONNEGATIVE.spare),
    form=lambda frame, label, columns: melted(frame, label),
    readers=logs.READERS,
    aliases={
        "loss": "trainloss trainingloss losstrain lmloss crossentropy valloss evalloss lossmean value",
        "step": "iter iteration iterations globalstep trainerglobalstep trainglobalstep trainstep updates iternum",
        "tokens": "tokensseen totaltokens consumedtokens trainedtokens ntokens ntokensseen numtokens traintokens",
        "epoch": "trainepoch epochs",
        "rate": "lr learningrate currentlr optimizerlr schedulerlr trainlr lrrate trainlearningrate lradamw lradam",
        "run": "runname runid file name",
    },
)
register_kind(CURVES)
