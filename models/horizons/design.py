"""The arrays of a table of successes: what is known of models and tasks, and its rows by whether others come before."""

import numpy as np
import pandas as pd

from ...datasets.deferred import special
from ..member_draws import places
from ..trends import span_of
from .outcomes import FEW, log_choose

BEFORE, AT_RISK = "minutes_before", "at_risk"  # columns that `nested` adds
SEVERAL = 2  # thresholds of a task, from which minutes are settled better than logits
SLOPE, MODEL_SD, TASK_SD, PRECISION = 0.74, 3.0, 1.5, 7.4  # of estimates: medians of the priors, and logits
LEAST_ANCHORS = 2  # tasks that were timed and estimated
SWEEPS, RELATIVE = 30, (0.2, 5.0)  # of estimates, and of the slope of a task over that of the typical one
STEEP = 0.25  # of the information about a log slope: rows that a task separates allow any steeper slope
SIDES, SIZES = ("right", "wrong"), ("few", "many")
# Of models, by their dates.
OF_DATED = "year", "break_low", "break_high", "whole", "logit", "minutes", "information", "in_logits"
OF_THRESHOLDS = "task", "log_minutes", "gap", "nested"


def nested(table):
    """Return the rows that some run was at risk of, with what comes before each in its cell of a model and a task.

    Column ``at_risk`` has the runs that reached the next lower threshold, or all of them; ``minutes_before`` has the
    minutes of that threshold, NaN where there is none. Where no run reached it, the next has nothing to tell and is
    left out.
    """
    rows = table.reset_index(drop=True)
    cells = rows.sort_values("minutes", kind="stable").groupby(["model", "task"], sort=False)
    at_risk, before = (cells[name].shift().reindex(rows.index) for name in ("successes", "minutes"))
    rows = rows.assign(**{AT_RISK: at_risk.fillna(rows["runs"]), BEFORE: before})
    return rows[rows[AT_RISK] > 0].reset_index(drop=True)


def has_families(table):
    """Return whether tasks of a table are of families, of which some have several."""
    known = "task_family" in table and table["task_family"].notna().all()
    return bool(known and 1 < table["task_family"].nunique() < table["task"].nunique())


def has_anchors(table):
    """Return whether human times are estimates of which timed tasks tell the bias."""
    known = "time_source" in table and table["time_source"].notna().all()
    return bool(known and is_estimate(table).any() and len(anchors(table)) >= LEAST_ANCHORS)


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
    """Return the arrays that the model holds as data, each named after what its first axis is of; rows are `nested`.

    ``model_...`` is by model, ``task_...`` by task, ``whole_tasks`` the number of tasks; ``family_tasks`` and
    ``anchor_log_ratio`` are there where there are any. ``threshold_...`` is by threshold of a task. ``few_...`` and
    ``many_...`` are rows with at most `FEW` runs at risk and with more. ``total_...`` goes by the number of runs at
    risk.
    """
    data = {"model_year": np.array(reference.get("years", np.zeros(len(reference["models"]))), float)}
    if law.trend == "break":
        ends = zip(("low", "high"), reference["break_span"], strict=True)
        data |= {f"model_break_{end}": np.full(len(reference["models"]), date) for end, date in ends}
    data |= {f"{axis}_whole": np.zeros(len(reference[f"{axis}s"]), int) for axis in ("model", "task")}
    data["task_one"], data["whole_tasks"] = np.ones(len(reference["tasks"])), np.array([float(len(reference["tasks"]))])
    if law.family_effects:
        family = np.array(reference["family_of"])
        data |= {"task_family": family, "family_tasks": np.bincount(family).astype(float)}
    if law.estimates:
        data["task_estimated"] = np.array(reference["estimated"], float)
        data["anchor_log_ratio"] = np.array(reference["anchors"], float)
    of_rows = rowwise(rows, reference)
    total, (of_thresholds, threshold) = of_rows["right"] + of_rows["wrong"], thresholds(of_rows)
    data |= {f"threshold_{name}": x for name, x in of_thresholds.items()}
    columns = {"threshold": threshold} | {name: of_rows[name] for name in ("model", *SIDES)}
    for size, chosen in zip(SIZES, (total <= FEW, total > FEW), strict=True):
        data |= {f"{size}_{name}": x[chosen] for name, x in columns.items()}
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


def thresholds(of_rows):
    """Return what is known of each threshold of a task, and the place of each row's among them, from `rowwise`."""
    columns = {name: of_rows[name] for name in OF_THRESHOLDS}
    _, first, codes = np.unique(np.stack([*columns.values()]), axis=1, return_index=True, return_inverse=True)
    return {name: x[first] for name, x in columns.items()}, codes.ravel()


def estimates(rows, reference):
    """Return estimates of models and tasks and their information, which place what is sampled: constants of the data.

    The logit of reaching a threshold of t minutes is ``a - e - slope (log t - middle)``. Newton's method finds the mode
    of a by model, e by task and one slope, with a normal prior of each. The information is that of the rows about the
    logit at the mode, with runs of a cell as those of a beta-binomial.

    There are ``..._logit``, ``..._minutes`` and ``..._information`` by model and task: horizons and effects less the
    mean effect are ``logit / slope + minutes``. Information is of logits, and ``task_log_slope`` relative, where
    coordinates are in logits.
    """
    of_rows, middle = rowwise(rows, reference), reference["middle"] + np.mean(reference["task_longer"])
    model, task, right, later = (of_rows[name] for name in ("model", "task", "right", "nested"))
    total, x = right + of_rows["wrong"], of_rows["log_minutes"] - middle
    a, e, slope = np.zeros(len(reference["models"])), np.zeros(len(reference["tasks"])), SLOPE

    def informed():
        eta = a[model] - e[task] - slope * x
        before = np.where(later > 0, special.expit(eta + slope * of_rows["gap"]), 1.0)
        share, scale = special.expit(eta) / before, (PRECISION + 1) / (PRECISION + total)
        return eta, scale * before * (right - total * share), scale * before**2 * total * share * (1 - share)

    def summed(codes, values, like):
        return np.bincount(codes, values, len(like))

    for _ in range(SWEEPS):
        _, score, weight = informed()
        a = a + _step(summed(model, score, a), summed(model, weight, a), a - a.mean(), MODEL_SD)
        _, score, weight = informed()
        e = e + _step(-summed(task, score, e), summed(task, weight, e), e, TASK_SD)
        _, score, weight = informed()
        slope = max(slope + _step(-(score * x).sum(), (weight * x**2).sum(), slope - SLOPE, SLOPE), SLOPE / 10)
    eta, score, weight = informed()
    of_models, of_tasks = summed(model, weight, a), summed(task, weight, e)
    a = a + summed(model, score, a) / np.where(of_models > 0, of_models, 1.0) - e.mean()
    line = eta - (summed(task, weight * eta, e) / np.where(of_tasks > 0, of_tasks, 1.0))[task]
    e = e - summed(task, score, e) / np.where(of_tasks > 0, of_tasks, 1.0)
    steep = summed(task, weight * line**2, e)
    relative = np.clip(1 + summed(task, score * line, e) / np.where(steep > 0, steep, 1.0), *RELATIVE)
    constants = {
        "model_information": of_models,
        "task_information": of_tasks,
        "model_in_logits": reference["in_logits"] + 0.0 * a,
        "task_in_logits": reference["in_logits"] + 0.0 * e,
        "task_slope_information": STEEP * steep,
    }
    longer = np.array(reference["task_longer"]) + reference["middle"] - middle
    if reference["in_logits"]:
        constants |= {"model_logit": a, "model_minutes": middle + 0.0 * a, "task_logit": e + slope * longer}
        return constants | {"task_minutes": -longer, "task_log_slope": np.log(relative)}
    constants |= {f"{of}_information": slope**2 * constants[f"{of}_information"] for of in ("model", "task")}
    constants |= {"model_logit": 0.0 * a, "model_minutes": middle + a / slope, "task_logit": 0.0 * e}
    return constants | {"task_minutes": e / slope, "task_log_slope": np.log(relative * slope)}


def _step(score, information, away, sd):
    """Return a step of Newton's method, at most 1, of quantities so far away from the mean of their prior."""
    return np.clip((score - away / sd**2) / (information + 1 / sd**2), -1, 1)
