"""Records of arithmetic models, and their table, with a row for each run and cell."""

import math

import numpy as np
import xarray as xr

from ..sweeps import records

MEASURED = ("loss_train", "loss_eval", "accuracy", "wall_seconds")
CURVE = (*MEASURED, "learning_rate", "samples_done", "flop_done")
COUNTS = ("correct", "total", "split")
OF_SORTING = ("correct_minimum", "axis")
CELL = ("length_a", "length_b")
REGIONS = ("id", "ood", "ood100")
UNITS = {
    "loss_train": "nats per token",
    "loss_eval": "nats per token",
    "wall_seconds": "s",
    "flop": "FLOP",
    "flop_done": "FLOP",
    "samples_done": "problems",
    "samples": "problems",
}
COLUMNS = (
    *("run", "arm", "task", "embedding", "architecture", "layers", "recurrences", "d_model", "k_max", "train_digits"),
    *("seed", "parameters", "samples", "flop", "length_a", "length_b", "correct", "total", "split"),
)


def record(run, outcome, parts, device, precision):
    """Make the record of one run.

    Parameters
    ----------
    run : runs.Run
    outcome : Outcome
        Finished or diverged; evaluations that a diverged run did not reach are NaN.
    parts : list of xarray.Dataset
        Counts of the cells, as `experiment.judge` gives them.
    device : torch.device
    precision : str

    Returns
    -------
    xarray.Dataset
        Dimensions run (of length 1), length_a, length_b and step (updates). Variables correct and total (problems) and
        split (``"id"``, ``"ood"``, ``"ood100"``, empty where nothing was asked) by cell; loss_train (mean since the
        evaluation before), loss_eval and accuracy (of problems like those trained on), learning_rate, samples_done,
        flop_done and wall_seconds by step. What describes the run are coordinates along run.
    """
    model, plan = run.model, run.plan

    def computed(steps):
        samples = [float(plan.seen(step)) for step in steps]
        return {"samples_done": samples, "flop_done": [run.flop_done(step) for step in steps]}

    described = {
        "task": run.task.name,
        "embedding": model.embedding,
        "architecture": model.architecture,
        "layers": model.layers,
        "recurrences": model.recurrences,
        "d_model": model.d_model,
        "k_max": model.k_max,
        "train_digits": run.task.largest,
        "parameters": model.parameters,
        "samples": plan.seen(plan.updates),
        "flop": run.matmul_flop,
        "arm": "",
    }
    return records.record(
        run,
        outcome,
        device,
        precision,
        measured=MEASURED,
        computed=computed,
        described=described,
        units=UNITS,
        counts=together(parts),
    )


def together(parts):
    """Merge the counts of several parts of a grid, over the union of their lengths.

    Parameters
    ----------
    parts : sequence of xarray.Dataset
        As `evaluation.evaluate` gives them; no cell is in two of them.

    Returns
    -------
    xarray.Dataset
        Dimensions length_a and length_b; in cells that were not judged, counts are 0 and text is empty.
    """
    first, second = (sorted(set().union(*(part[name].values.tolist() for part in parts))) for name in CELL)
    variables = {}
    for name in parts[0].data_vars:
        text = parts[0][name].dtype.kind not in "iu"
        values = np.full((len(first), len(second)), "", object) if text else np.zeros((len(first), len(second)), int)
        for part in parts:
            asked = part["total"].values > 0
            places = (
                np.searchsorted(whole, part[side].values) for whole, side in zip((first, second), CELL, strict=True)
            )
            rows, columns = (np.broadcast_to(each, asked.shape)[asked] for each in np.ix_(*places))
            values[rows, columns] = part[name].values[asked]
        variables[name] = (CELL, values)
    return xr.Dataset(variables, dict(zip(CELL, (first, second), strict=True)))


def merged(planned, results, arms):
    """Merge all runs, over the unions of their lengths and steps.

    Parameters
    ----------
    planned, results
        As `sweeps.records.merged` takes them.
    arms : mapping of str to collection of str
        Names of the runs of each arm.

    Returns
    -------
    xarray.Dataset
        Dimensions run, length_a, length_b and step. Attributes that all runs share are kept.
    """
    known = {name: variable for dataset in results.values() for name, variable in dataset.data_vars.items()}
    empty = {name: math.nan if name in CURVE else "" if known[name].dtype.kind in "OU" else 0 for name in known}
    # A task may count what another does not.
    filled = {
        run: dataset.assign(
            {name: xr.full_like(dataset["total"], empty[name], known[name].dtype) for name in set(known) - set(dataset)}
        )
        for run, dataset in results.items()
    }
    return records.merged(planned, filled, arms, "arm", fill_value=empty)


def table(dataset):
    """Make a table of counts, with a row for each run and cell.

    Parameters
    ----------
    dataset : xarray.Dataset
        As `merged` gives it.

    Returns
    -------
    pandas.DataFrame
        Columns run, arm, task, embedding, architecture, layers, recurrences, d_model, k_max, train_digits, seed,
        parameters, samples, flop, length_a, length_b, correct, total and split, and where a run sorts correct_minimum
        and axis, empty for other tasks. Cells that were not judged are left out.
    """
    more = [name for name in OF_SORTING if name in dataset]
    rows = dataset[[*COUNTS, *more]].to_dataframe().reset_index()
    if more:
        rows["correct_minimum"] = rows["correct_minimum"].astype("Int64").where(rows["task"] == "sorting")
    return rows.loc[rows["total"] > 0, [*COLUMNS, *more]].reset_index(drop=True)


def accuracies(dataset):
    """Compute the share of problems that are right, by run and region, for people to read.

    Parameters
    ----------
    dataset : xarray.Dataset
        As `merged` gives it.

    Returns
    -------
    list of dict
        With the keys run, arm, task, embedding, architecture, layers, recurrences, train_digits, seed, status, and for
        each region the share of its cells' problems, None where the grid has no cell of it.
    """
    entries = []
    described = ("arm", "task", "embedding", "architecture", "layers", "recurrences", "train_digits", "seed", "status")
    for name in dataset["run"].values:
        one = dataset.sel(run=name)
        entry = {"run": str(name)} | {key: one[key].item() for key in described}
        for region in REGIONS:
            inside = one["split"] == region
            total = int(one["total"].where(inside, 0).sum())
            entry[region] = float(one["correct"].where(inside, 0).sum()) / total if total else None
        entries.append(entry)
    return entries
