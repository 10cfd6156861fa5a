"""The arrays of a table of successes: what is known of models and tasks, and its rows by whether others come before."""

import numpy as np
import pandas as pd

from ...datasets.wording import quoted
from ...errors import InputError
from ..trends import span_of
from .outcomes import FEW, log_choose

BEFORE, AT_RISK = "minutes_before", "at_risk"  # columns that `nested` adds
SEVERAL = 2  # thresholds of a task, from which minutes are settled better than logits
WHERE, SIDES, SIZES = ("first", "next"), ("right", "wrong"), ("few", "many")


def nested(table):
    """Return the rows that some run was at risk of, with what comes before each in its cell of a model and a task.

    Column ``at_risk`` has the runs that reached the next lower threshold, or all of them; ``minutes_before`` has the
    minutes of that threshold, NaN where there is none. Where no run reached it, the next has nothing to tell and is
    left out.
    """
    rows = table.reset_index(drop=True)
    rows.attrs = dict(table.attrs)
    cells = rows.sort_values("minutes", kind="stable").groupby(["model", "task"], sort=False)
    at_risk, before = (cells[name].shift().reindex(rows.index) for name in ("successes", "minutes"))
    rows = rows.assign(**{AT_RISK: at_risk.fillna(rows["runs"]), BEFORE: before})
    return rows[rows[AT_RISK] > 0].reset_index(drop=True)


def is_estimate(rows):
    """Return whether the human time of each row was estimated, not timed: an ndarray of bool."""
    return rows["time_source"].astype(str).str.lower().str.startswith("estimat").to_numpy()


def reference(law, rows):
    """Name models, tasks and families, and state what is known of each, in plain values."""
    models = rows.drop_duplicates("model").sort_values("model")
    tasks = rows.drop_duplicates("task").sort_values("task")
    middle = float(np.log(rows["minutes"]).median())
    thresholds = rows.drop_duplicates(["task", "minutes"])
    longer = np.log(thresholds["minutes"]).groupby(thresholds["task"]).mean() - middle
    entries = {
        "models": models["model"].tolist(),
        "tasks": tasks["task"].tolist(),
        "middle": middle,
        "task_longer": longer.loc[tasks["task"]].tolist(),
        "in_logits": bool(len(thresholds) < SEVERAL * len(tasks)),
    }
    if law.trend is not None:
        entries["years"] = models["year"].tolist()
        entries["break_span"] = span_of(models["year"].to_numpy(float))
    if law.family_effects:
        entries["families"] = sorted(tasks["task_family"].unique())
        entries["family_of"] = pd.Index(entries["families"]).get_indexer(tasks["task_family"]).tolist()
    if law.estimates:
        entries["estimated"] = is_estimate(tasks).tolist()
        entries["anchors"] = anchors(rows)
    return entries


def anchors(rows):
    """Return the mean log of estimated over timed minutes of each task that has both, plain values."""
    if "estimated_minutes" not in rows:
        return []
    timed = rows[~is_estimate(rows) & rows["estimated_minutes"].notna()].drop_duplicates(["task", "minutes"])
    return np.log(timed["estimated_minutes"] / timed["minutes"]).groupby(timed["task"]).mean().tolist()


def arrays(law, rows, reference):
    """Return the arrays that the model holds as data, each named after what its first axis is of.

    Parameters
    ----------
    law : Horizons
    rows : DataFrame
        From `nested`, of models and tasks of the reference.
    reference : dict

    Returns
    -------
    dict of str to ndarray
        ``model_...`` by model, ``task_...`` by task, ``whole_tasks``, the number of tasks, ``family_tasks`` and
        ``anchor_log_ratio`` where there are any.
        ``first_...`` and ``next_...`` are rows without and with a lower threshold. ``...rightfew_row`` and the like
        are the places of their counts from 1 to `FEW`, ``...rightmany_row`` of those above. ``total_...`` goes by the
        number of runs at risk.
    """
    data = {"model_year": np.array(reference.get("years", np.zeros(len(reference["models"]))), float)}
    if law.trend == "break":
        ends = zip(("low", "high"), reference["break_span"], strict=True)
        data |= {f"model_break_{end}": np.full(len(reference["models"]), date) for end, date in ends}
    for axis in ("model", "task"):
        members = np.ones(len(reference[f"{axis}s"]))
        data |= {f"{axis}_whole": 0 * members.astype(int), f"{axis}_in_logits": reference["in_logits"] * members}
    data |= {"model_middle": np.full(len(reference["models"]), reference["middle"])}
    data |= {"task_one": np.ones(len(reference["tasks"])), "task_longer": np.array(reference["task_longer"])}
    data["whole_tasks"] = np.array([float(len(reference["tasks"]))])
    if law.family_effects:
        family = np.array(reference["family_of"])
        data |= {"task_family": family, "family_tasks": np.bincount(family).astype(float)}
    if law.estimates:
        data["task_estimated"] = np.array(reference["estimated"], float)
        data["anchor_log_ratio"] = np.array(reference["anchors"], float)
    of_rows = rowwise(rows, reference)
    total, later = of_rows["right"] + of_rows["wrong"], of_rows["nested"] > 0
    for where, chosen in zip(WHERE, (~later, later), strict=True):
        data |= {f"{where}_{name}": of_rows[name][chosen] for name in ("model", "task", "log_minutes", "gap")}
        for side in SIDES:
            counts = of_rows[side][chosen]
            for size, there in zip(SIZES, ((counts > 0) & (counts <= FEW), counts > FEW), strict=True):
                data[f"{where}{side}{size}_row"] = np.flatnonzero(there)
                data[f"{where}{side}{size}_count"] = counts[there]
    data["total_count"], code, cells = np.unique(total, return_inverse=True, return_counts=True)
    return data | {"total_cells": cells.astype(float), "total_choose": np.bincount(code, of_rows["log_choose"])}


def rowwise(rows, reference):
    """Return what the density of each row follows from: places of its model and task, minutes and counts."""
    right = rows["successes"].to_numpy(float)
    wrong = rows[AT_RISK].to_numpy(float) - right
    log_minutes, before = np.log(rows["minutes"].to_numpy(float)), rows[BEFORE].to_numpy(float)
    later = np.isfinite(before)
    return {
        "model": places(rows, "model", reference["models"]),
        "task": places(rows, "task", reference["tasks"]),
        "log_minutes": log_minutes,
        "gap": np.where(later, log_minutes - np.log(np.where(later, before, 1.0)), 1.0),
        "nested": later.astype(float),
        "right": right,
        "wrong": wrong,
        "log_choose": log_choose(right, wrong),
    }


def places(rows, column, names):
    """Return the places of the rows' models or tasks among names.

    Raises
    ------
    InputError
        If one is not there.
    """
    codes = pd.Index(names).get_indexer(rows[column])
    if (codes < 0).any():
        row = int(np.argmax(codes < 0))
        raise InputError(
            f"{rows.attrs.get('source', 'the table')}: {column} {quoted(rows[column].iloc[row])} in row "
            f"{rows.index[row] + 1} is none of those fitted; fit a table that has it"
        )
    return codes
