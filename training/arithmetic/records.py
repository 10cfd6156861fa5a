"""Records of arithmetic models, and their table, with a row for each run and cell."""

import math

import numpy as np
import xarray as xr

from ..sweeps import records
from .departures import DEPARTURES

MEASURED = ("loss_train", "loss_eval", "accuracy", "wall_seconds")
CURVE = (*MEASURED, "learning_rate", "samples_done", "flop_done")
COUNTS = ("correct", "total", "split")
OF_SORTING = ("correct_minimum", "axis")
CELL = ("offset", "length_a", "length_b")
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
    *("seed", "parameters", "samples", "flop", "offset", "length_a", "length_b", "correct", "total", "split"),
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
        Dimensions run (of length 1), offset (of Abacus embeddings), length_a, length_b and step (updates). Variables
        correct and total (problems) and split (``"id"``, ``"ood"``, ``"ood100"``, empty where nothing was asked) by
        offset and cell; loss_train (mean since the evaluation before), loss_eval and accuracy (of problems like those
        trained on), learning_rate, samples_done, flop_done and wall_seconds by step. What describes the run are
        coordinates along run.
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
        departures=DEPARTURES,
        counts=together(parts),
    )


def together(parts):
    """Merge the counts of several parts of a grid, over the union of their lengths.

    Parameters
    ----------
    parts : sequence of xarray.Dataset
        As `evaluation.evaluate` gives them at some offsets, the same in all; no cell is in two of them.

    Returns
    -------
    xarray.Dataset
        Dimensions offset, length_a and length_b; in cells that were not judged, counts are 0 and text is empty.
    """
    lengths = [sorted(set().union(*(part[side].values.tolist() for part in parts))) for side in CELL[1:]]
    offsets = parts[0]["offset"].values
    shape = (len(offsets), *map(len, lengths))
    variables = {}
    for name in parts[0].data_vars:
        text = parts[0][name].dtype.kind not in "iu"
        values = np.full(shape, "", object) if text else np.zeros(shape, int)
        for part in parts:
            asked = part["total"].values > 0
            places = (np.searchsorted(whole, part[side].values) for whole, side in zip(lengths, CELL[1:], strict=True))
            rows, columns = (np.broadcast_to(each, asked.shape)[asked] for each in np.ix_(*places))
            # What has no offset is the same at all.
            values[:, rows, columns] = part[name].values[..., asked]
        variables[name] = (CELL, values)
    return xr.Dataset(variables, dict(zip(CELL, (offsets, *lengths), strict=True)))


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
        Dimensions run, offset, length_a, length_b and step. Attributes that all runs share are kept.
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
    """Make a table of counts, with a row for each run, offset and cell.

    Parameters
    ----------
    dataset : xarray.Dataset
        As `merged` gives it.

    Returns
    -------
    pandas.DataFrame
        Columns run, arm, task, embedding, architecture, layers, recurrences, d_model, k_max, train_digits, seed,
        parameters, samples, flop, offset, length_a, length_b, correct, total and split, and where a run sorts
        correct_minimum and axis, empty for other tasks. Cells that were not judged are left out.
    """
    more = [name for name in OF_SORTING if name in dataset]
    rows = dataset[[*COUNTS, *more]].to_dataframe().reset_index()
    if more:
        rows["correct_minimum"] = rows["correct_minimum"].astype("Int64").where(rows["task"] == "sorting")
    return rows.loc[rows["total"] > 0, [*COLUMNS, *more]].reset_index(drop=True)


def accuracies(dataset):
    """Compute the share of problems that are right, by run, offset and region, for people to read.

    Parameters
    ----------
    dataset : xarray.Dataset
        As `merged` gives it.

    Returns
    -------
    list of dict
        With the keys run, arm, task, embedding, architecture, layers, recurrences, train_digits, seed, status, offset,
        and for each region the share of its cells' problems, None where the grid has no cell of it.
    """
    entries = []
    described = ("arm", "task", "embedding", "architecture", "layers", "recurrences", "train_digits", "seed", "status")
    for name in dataset["run"].values:
        run = dataset.sel(run=name)
        for offset in run["offset"].values:
            one = run.sel(offset=offset)
            if not int(one["total"].sum()):
                continue
            entry = {"run": str(name)} | {key: one[key].item() for key in described} | {"offset": int(offset)}
            for region in REGIONS:
                inside = one["split"] == region
                total = int(one["total"].where(inside, 0).sum())
                entry[region] = float(one["correct"].where(inside, 0).sum()) / total if total else None
            entries.append(entry)
    return entries
