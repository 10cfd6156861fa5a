"""Files of one metric each, such as the losses, the tokens and the FLOP of a run by step, joined into one table."""

import os

import numpy as np
import pandas as pd

from ..errors import InputError
from .columns import RUN, recognise
from .meaning.names import sounds_like
from .panels import RUNS, STEPS, TENSORBOARD, spelled
from .selection import hashable
from .wording import listed, plural

MORE_STEPS = STEPS | {"iter", "iteration", "iterations", "steps"}
TIMES = {"walltime", "relativetimewall", "relativetimeprocess", "timestamp", "time"}
SHOWN = 5


def join_metrics(frames, paths, label):
    """Return the table of files that have one metric by step each, and what to report; None of other files.

    Metrics of one run, which a column or else the folder names, are joined by step.
    """
    folders = [os.path.relpath(path.parent, os.path.commonpath({path.parent for path in paths})) for path in paths]
    folders = [path.parent.name if folder == "." else folder for folder, path in zip(folders, paths, strict=True)]
    curves = [_read_curve(*file, len(set(folders)) > 1) for file in zip(frames, paths, folders, strict=True)]
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


def _read_curve(frame, path, folder, several):
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
