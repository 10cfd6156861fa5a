"""Counts of right answers by cell: merged over parts of a grid and over runs, and as a table and as shares."""

import numpy as np
import xarray as xr

from .cells import ID, OOD, OOD100

COUNTS = ("correct", "total", "split")
OF_SORTING = ("correct_minimum", "axis")
CELL = ("offset", "length_a", "length_b")
COLUMNS = (
    *("run", "arm", "task", "embedding", "architecture", "layers", "recurrences", "d_model", "k_max", "train_digits"),
    *("seed", "parameters", "samples", "flop", "offset", "length_a", "length_b", "correct", "total", "split"),
)


def together(parts):
    """Merge the counts of parts of a grid, as `evaluate` returns them at the same offsets; no cell is in two of them.

    The dataset has dimensions offset, length_a and length_b, over the union of the lengths; in cells that were not
    tested, counts are 0 and text is empty.
    """
    flat = [part.stack(cell=CELL[1:]) for part in parts]
    whole = lay_on_grid(xr.concat([part.isel(cell=part["total"].values > 0) for part in flat], "cell"))
    # What has no offset is the same at all.
    return whole.broadcast_like(whole["correct"]).transpose(*CELL)


def lay_on_grid(flat):
    """Lay counts along cell, an index of length_a and length_b, out on the grid of all pairs of these lengths."""
    empty = {name: 0 if variable.dtype.kind in "iu" else "" for name, variable in flat.data_vars.items()}
    return flat.unstack("cell", fill_value=empty)


def table(dataset):
    """Make a table of counts from merged records, with a row for each run, offset and cell that was tested.

    Its columns are `COLUMNS`, and where a run sorts correct_minimum and axis, empty for other tasks.
    """
    more = [name for name in OF_SORTING if name in dataset]
    rows = dataset[[*COUNTS, *more]].to_dataframe().reset_index()
    if more:
        rows["correct_minimum"] = rows["correct_minimum"].astype("Int64").where(rows["task"] == "sorting")
    return rows.loc[rows["total"] > 0, [*COLUMNS, *more]].reset_index(drop=True)


def accuracies(dataset):
    """Compute the share of problems that are right, by run, offset and region, of merged records, for people to read.

    Each dict has run, arm, task, embedding, architecture, layers, recurrences, train_digits, seed, status and offset.
    For each region it has the share of its cells' problems, None if the grid has no cell of it. A run that sorts has
    the shares of `SORTED` too: those of table 1 of McLeish et al. (2024).
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
            parts = {region: one["split"] == region for region in (ID, OOD, OOD100)}
            if entry["task"] == "sorting":
                parts |= {name: part(one) for name, part in SORTED.items()}
            for name, inside in parts.items():
                total = int(one["total"].where(inside, 0).sum())
                entry[name] = float(one["correct"].where(inside, 0).sum()) / total if total else None
            entries.append(entry)
    return entries


def _longer(longest):
    """Make the choice of the cells out of distribution whose lengths are both at most `longest`."""
    return lambda run: (run["axis"] != "") & (np.maximum(run["length_a"], run["length_b"]) <= longest)


# Cells out of distribution by what is longer than in training, and all of them up to a length.
SORTED = {
    "number_length": lambda run: run["axis"] == "digits",
    "array_length": lambda run: run["axis"] == "numbers",
    "all_30x30": _longer(30),
    "all_20x20": _longer(20),
}
