"""Exports of trackers: panels with a column a run, curves of one metric, metrics by key, and a file for each metric."""

import os
import re

import numpy as np
import pandas as pd

from ..errors import InputError
from .checks import place
from .columns import RUN, recognise, recognise_later, recognise_with_unit
from .meaning.names import sounds_like
from .notation import parsed
from .selection import hashable
from .wording import listed, plural, quoted

STEPS = frozenset(["step", "globalstep", "trainerglobalstep", "relativetimeprocess", "relativetimewall", "walltime"])
RUNS = frozenset(["run", "runid", "runname", "runuuid", "file"])
MORE_STEPS = STEPS | {"iter", "iteration", "iterations", "steps"}
TIMES = {"walltime", "relativetimewall", "relativetimeprocess", "timestamp", "time"}
KEYS = frozenset(["key", "metric", "tag", "metrickey", "metricname"])
INTERNAL = frozenset(["_step", "_runtime", "_timestamp"])
LIMIT = re.compile(r"__(MIN|MAX)$")
TENSORBOARD = re.compile(r"(?:run-)?(?P<run>.+?)-tag-(?P<metric>.+?)(?:\.csv|\.tsv)?(?:\.gz|\.xz|\.zst)?")
OF_SIZE = re.compile(r"(?:(?:val|eval|test)?_?loss[ _/-]*|N ?= ?)?([0-9]+(?:\.[0-9]+)?[kKmMbBtT])", re.IGNORECASE)
LEAST_SIZES = 3  # columns
LADDER = re.compile(r"(.*?)[\s,_-]*([0-9]+(?:\.[0-9]+)?)\s*x\s*C(?:hinchilla)?", re.IGNORECASE)
MULTIPLE = "chinchilla_multiple"
AT_END = re.compile(r"[0-9]+(?:\.[0-9]+)?\s?[kmb]$", re.IGNORECASE)
MOST_CELLS = 5 * 10**7
SHOWN = 5


def melted(frame, name):
    """Return the readings of an export of a tracker as a table, and any other frame unchanged.

    Examples
    --------
    >>> panel = pd.DataFrame({"Step": [0, 9], "a - loss": [5.0, 4.0], "a - loss__MIN": [5, 4], "b - loss": [None, 3]})
    >>> melted(panel.rename_axis(index="row"), "panel.csv").to_dict("records")
    [{'run': 'a', 'Step': 0, 'loss': 5.0}, {'run': 'a', 'Step': 9, 'loss': 4.0}, {'run': 'b', 'Step': 9, 'loss': 3.0}]
    """
    for form in (_read_panel, _read_curve, _read_keys, _read_wide, _read_ladder):
        table, sentence = form(frame, name)
        if table is not None:
            table.attrs["sentences"] = [*frame.attrs.get("sentences", []), sentence]
            return table
    return frame


def spelled(name):
    """Return the letters of a name in lower case."""
    return re.sub(r"[^a-z]", "", str(name).lower())


def _read_panel(frame, name):
    of_runs = [column for column in frame if isinstance(column, str) and " - " in column.strip()]
    limits = {column for column in of_runs if LIMIT.search(column) and LIMIT.sub("", column) in frame}
    # Those of groups of runs tell their scatter, those of one run repeat it.
    of_seeds = {x for x in limits if (frame[x] != frame[LIMIT.sub("", x)])[frame[x].notna()].any()}
    shared = [column for column in frame if column not in of_runs]
    columns = {}
    for column in of_runs if limits or (shared and all(spelled(x) in STEPS for x in shared)) else ():
        run, _, metric = map(str.strip, column.rpartition(" - "))
        if (column not in limits or column in of_seeds) and metric not in INTERNAL:
            columns.setdefault(run, {})[column] = metric
    if not columns:
        return None, ""
    metrics = list(dict.fromkeys(metric for of_run in columns.values() for metric in of_run.values()))
    _refuse_size(len(frame) * len(columns), len(metrics) + len(shared) + 1, name)
    taken = [metric for metric in metrics if metric in (*shared, "run")]
    if taken:
        raise InputError(f"{name}: {listed(taken)} is a column and a metric of runs; rename one of them")
    parts, places = [], []
    for number, (run, of_run) in enumerate(columns.items(), 1):
        if len(set(of_run.values())) < len(of_run):
            raise InputError(f"{name}: run {quoted(run)} has a metric twice; rename or delete one of {listed(of_run)}")
        part = frame[[*shared, *of_run]].rename(columns=of_run)
        part = part[part[list(of_run.values())].notna().any(axis=1)]
        places += [f"{place(frame, row)}, run {number} ({quoted(run)})" for row in part.index]
        parts.append(part.assign(run=run)[["run", *shared, *of_run.values()]])
    table = pd.concat([part for part in parts if len(part)] or parts[:1]).set_axis(
        pd.Index(places, name="place", dtype=object)
    )
    left = len(limits - of_seeds)
    aside = f"; {plural(left, 'column')} of minima and maxima left out" if left else ""
    return table, (
        f"a panel of {plural(len(columns), 'run')} is read as {plural(len(table), 'reading')} with the columns "
        f"{listed(['run', *shared])} and {listed(metrics, SHOWN)}, without blanks{aside}"
    )


def _read_curve(frame, name):
    """Return the curve of one metric that TensorBoard wrote, with run and metric from the name of the file."""
    match = TENSORBOARD.fullmatch(str(name).rpartition("/")[2])
    if match is None or {spelled(column) for column in frame} != {"walltime", "step", "value"}:
        return None, ""
    value = next(column for column in frame if spelled(column) == "value")
    table = frame.rename(columns={value: match["metric"]})
    table.insert(0, "run", match["run"])
    return table, f"the column {quoted(value)} is read as {quoted(match['metric'])}, as the name of the file states"


def _read_keys(frame, name):
    """Return metrics by key and value as one column a metric."""
    names = {spelled(column): column for column in frame}
    keys = [names[word] for word in KEYS if word in names]
    if len(keys) != 1 or not {"value", "step"} <= set(names) or not frame[keys[0]].map(type).eq(str).all():
        return None, ""
    key, value, step = keys[0], names["value"], names["step"]
    groups = [column for column in frame if spelled(column) in RUNS]
    metrics = list(frame[key].unique())
    _refuse_size(len(frame), len(metrics), name)
    taken = [metric for metric in metrics if metric in (*groups, step)]
    if taken:
        raise InputError(f"{name}: {listed(taken)} is a column and a value of {quoted(key)}; rename one of them")
    numbers = frame[[*groups, step]].map(repr).groupby([*groups, step], sort=False).ngroup().to_numpy()
    values = pd.Series(frame[value].to_numpy(), [numbers, frame[key]])
    values = values[~values.index.duplicated(keep="last")].unstack()[metrics].rename_axis(columns=None)
    first = frame[[*groups, step]].iloc[np.unique(numbers, return_index=True)[1]]
    table = pd.concat([first, values.set_axis(first.index)], axis=1)
    return table, (
        f"{plural(len(frame), 'value')} by {quoted(key)} are read as {plural(len(table), 'row')} with the columns "
        f"{listed(metrics, SHOWN)}; of equal steps of a metric the last value is read"
    )


def _read_wide(frame, name):
    r"""Return losses with a column a size, such as 70M and 160M next to tokens, as one row a run.

    Next to parameters they are of tokens, also under a corner such as params\tokens.
    """
    corner = {x: x.partition("\\")[0].strip() for x in map(str, frame) if "\\" in x}
    frame = frame.rename(columns=corner)
    roles = {recognise(x) or recognise_with_unit(x) or recognise_later(x): x for x in frame}
    given = {"parameters", "tokens", "training_flop", "loss"} & set(roles)
    sizes = {column: match[1] for column in frame if (match := OF_SIZE.fullmatch(str(column).strip()))}
    of = "tokens" if given == {"parameters"} else "parameters"
    if len(given) != 1 or "loss" in given or len(sizes) < LEAST_SIZES:
        return None, ""
    (known,) = given
    rows = frame[roles[known]]
    if of == "tokens" and recognise(rows.name) is None and _largest(sizes.values()) < _largest(rows):  # "size" alone
        frame, of = frame.rename(columns={rows.name: "tokens"}), "parameters"
    columns = one_row_each(frame, list(sizes), name, lambda x: {of: sizes[x], "loss": frame[x]})
    table = columns[columns["loss"].notna()]
    sentence = f"{plural(len(sizes), 'column')} named by sizes are read as {plural(len(table), 'row')}"
    return table, f"{sentence} with {of} and loss"


def _largest(cells):
    return max(parsed(str(cell))[0] or 0 for cell in cells)


def _read_ladder(frame, name):
    """Return names such as 190M-2xC parted into the parameters and the multiple of Chinchilla's tokens."""
    for column in frame.select_dtypes(exclude="number"):
        steps = [LADDER.fullmatch(str(cell).strip()) for cell in frame[column]]
        if not steps or not all(steps) or MULTIPLE in frame:
            continue
        table, sizes = frame.assign(**{MULTIPLE: [float(x[2]) for x in steps]}), [AT_END.search(x[1]) for x in steps]
        what = quoted(MULTIPLE)
        if all(sizes) and not any(recognise(x) == "parameters" for x in frame):
            table, what = table.assign(parameters=[x[0] for x in sizes]), f"parameters and {what}"
        return table, f"names in {quoted(column)} such as {quoted(frame[column].iloc[0])} are read as {what}"
    return None, ""


def one_row_each(frame, columns, name, cells):
    """Return a table with one row for each cell of some columns: the other columns, and what `cells` returns of one."""
    _refuse_size(len(frame), len(columns), name)
    parts = [frame.drop(columns=columns).assign(**cells(column)) for column in columns]
    places = [f"{place(frame, row)}, column {quoted(column)}" for column in columns for row in frame.index]
    return pd.concat(parts).set_axis(pd.Index(places, name="place", dtype=object))


def _refuse_size(rows, columns, name):
    if rows * columns > MOST_CELLS:
        raise InputError(
            f"{name}: the export would make {rows} rows of {columns} columns; export fewer runs or metrics"
        )


# Files of one metric each ---------------------------------------------------------------------------------------------


def join_metrics(frames, paths, label):
    """Return the table of files that have one metric by step each, and what to report; None of other files.

    Metrics of one run, which a column or else the folder names, are joined by step.
    """
    folders = [os.path.relpath(path.parent, os.path.commonpath({path.parent for path in paths})) for path in paths]
    folders = [path.parent.name if folder == "." else folder for folder, path in zip(folders, paths, strict=True)]
    curves = [_read_metric(*file, len(set(folders)) > 1) for file in zip(frames, paths, folders, strict=True)]
    if any(curve is None for curve in curves):
        return None, ""
    metrics = list(dict.fromkeys(curve.name for curve in curves))
    loss = [x for x in metrics if recognise(x) == "loss" or sounds_like("loss", x)]
    names = [(curve.name, run) for curve in curves for run in curve.index.get_level_values(0).unique()]
    if len(metrics) < 2 or not loss or len(set(names)) < len(names):
        return None, ""
    columns = {metric: pd.concat([x for x in curves if x.name == metric]) for metric in metrics}
    columns = {metric: x[~x.index.duplicated(keep="last")] for metric, x in columns.items()}
    table = pd.concat(columns, axis=1, join="inner")
    runs, left = table.index.get_level_values(0), len(columns[loss[0]]) - len(table)
    if table.empty:
        raise InputError(f"{label}: {listed(metrics, SHOWN)} have no step of a run in common; log them together")
    places = [f"run {run}, step {step:g}" for run, step in table.index]
    steps = table.index.get_level_values(1).to_numpy()
    table = table.set_axis(pd.Index(places, name="place", dtype=object))
    table = table.assign(**{"step": steps, RUN: np.asarray(runs, dtype=object)})[[RUN, "step", *metrics]]
    sentence = f"{len(paths)} files of {plural(len(metrics), 'metric')} ({listed(metrics, SHOWN)}) are joined by step"
    sentence += f": {plural(len(table), 'reading')} of {plural(runs.nunique(), 'run')}"
    return table, sentence + (f"; {plural(left, 'step')} without every metric left out" if left > 0 else "")


def _read_metric(frame, path, folder, several):
    """Return the numbers of a file by run and step, called as its metric, or None."""
    steps = [x for x in frame if spelled(x) in MORE_STEPS and spelled(x) not in TIMES]
    runs = [x for x in frame if spelled(x) in RUNS]
    rest = [x for x in frame if x not in (*steps, *runs) and spelled(x) not in TIMES]
    if len(steps) != 1 or len(rest) != 1 or len(runs) > 1 or not pd.api.types.is_numeric_dtype(frame[steps[0]]):
        return None
    names = hashable(frame[runs[0]]).map(str) if runs else np.full(len(frame), folder, dtype=object)
    names = f"{folder}/" + names if runs and several else names
    metric = _name_metric(path) if spelled(rest[0]) in ("value", "") else str(rest[0])
    index = pd.MultiIndex.from_arrays([names, frame[steps[0]]])
    return pd.Series(frame[rest[0]].to_numpy(), index=index, name=metric)


def _name_metric(path):
    """Return the metric that a file is called by, without the name of its run or folder."""
    match = TENSORBOARD.fullmatch(path.name)
    return match["metric"] if match else path.name.partition(".")[0].removeprefix(path.parent.name).lstrip("-_ ")
