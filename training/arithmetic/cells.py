"""Cells of problems by the lengths of their operands: those that models are tested on, their regions and counts.

[Mc24] is McLeish et al. 2024, "Transformers can do arithmetic with the right embeddings", arXiv:2405.17399.
"""

import hashlib
import json
from dataclasses import dataclass

import numpy as np
import xarray as xr

from ...errors import InputError
from ..engine.fields import Count, Whole, check_fields
from ..sweeps.keys import Key, add_defaults

# In distribution, out of it, and out of it with more digits than this.
ID, OOD, OOD100, HUNDRED = "id", "ood", "ood100", 100
# The defaults are those of [Mc24], section 4, for addition; other tasks differ in these.
CELLS = {
    "longest": Key(Count, 100, "Models are tested on all pairs of lengths from 1 to it."),
    "every": Key(Count, 1, "Only on its multiples."),
    "diagonal": Key(bool, False, "Only on pairs of equal lengths."),
    "diagonal_to": Key(Whole, 160, "And on pairs of equal lengths above longest and up to it; 0 for none."),
}
LONGEST = {"multiplication": 25, "sorting": 30, "or": 40}
OF_TASK = {task: {"longest": length, "diagonal_to": length} for task, length in LONGEST.items()}
MOST = 100_000  # cells


@dataclass(frozen=True)
class Grid:
    """The cells of problems on which a trained model is tested.

    Parameters
    ----------
    cells : tuple of (int, int)
        Lengths of the operands; for sorting, how many numbers and their most digits.
    count : int
        Problems in a cell.
    seed : int
        Seed of the problems.
    offsets : tuple of int
        Offsets of Abacus embeddings at which a model is tested; McLeish et al. test at 0.
    """

    cells: tuple[tuple[int, int], ...]
    count: Count = 100
    seed: Whole = 0
    offsets: tuple[Whole, ...] = (0,)

    def __post_init__(self):
        check_fields(self, "evaluation")
        if len(set(self.offsets)) < len(self.offsets):
            raise InputError(f"evaluation: offset is {list(self.offsets)!r}; give each once")

    @property
    def fingerprint(self):
        """The grid as few plain values, with its cells hashed, so that they fit into an attribute of a file."""
        cells = hashlib.sha256(json.dumps(self.cells).encode()).hexdigest()
        whole = {"cells": len(self.cells), "cells_sha256": cells, "count": self.count, "seed": self.seed}
        return whole | {"offsets": list(self.offsets)}


def list_cells(table):
    """List the cells of an evaluation with the keys of `CELLS`, (int, int) each; raise `InputError` for too many."""
    longest, every, diagonal, last = (table[name] for name in CELLS)
    lengths = range(every, longest + 1, every)
    if not lengths:
        raise InputError(f"evaluation: every is {every} and longest {longest}; give a longest of at least as much")
    cells = len(lengths) ** (1 if diagonal else 2) + max(0, last - longest)
    if cells > MOST:
        raise InputError(
            f"evaluation: longest {longest}, every {every} and diagonal_to {last} make {cells:,} cells; give smaller "
            f"lengths or a larger every, for at most {MOST:,}"
        )
    grid = [(a, b) for a in lengths for b in lengths if a == b or not diagonal]
    return tuple(grid + [(a, a) for a in range(longest + 1, last + 1)])


def default_cells(task):
    """List the cells on which a task is tested ([Mc24] section 4).

    For addition they are all pairs of lengths up to 100, then equal lengths up to 160. Multiplication has all pairs up
    to 25, and OR all pairs up to 40, as in its public code. Sorting has up to 30 numbers of up to 30 digits. The result
    is a tuple of (int, int).

    Examples
    --------
    >>> from bayescaling.training.arithmetic import Addition, default_cells
    >>> len(default_cells(Addition(20)))
    10060
    """
    return list_cells(add_defaults(OF_TASK.get(task.name, {}), CELLS))


def regions(task, cells):
    """Return the region of each cell, text, shape (cells,).

    It is ``"id"`` if no length is above those trained on, ``"ood100"`` if one is and one is above 100, ``"ood"``
    otherwise.

    Examples
    --------
    >>> from bayescaling.training.arithmetic import Addition, regions
    >>> regions(Addition(20), [(20, 20), (21, 3), (101, 101)]).tolist()
    ['id', 'ood', 'ood100']
    """
    above = _above(task, cells).any(1)
    hundred = (np.reshape(cells, (-1, 2)) > HUNDRED).any(1)
    return np.where(above, np.where(hundred, OOD100, OOD), ID)


def axes(task, cells):
    """Return in which lengths each cell of sorting is out of distribution: numbers, digits, both or none, as text."""
    numbers, digits = _above(task, cells).T
    return np.select([numbers & digits, numbers, digits], ["both", "numbers", "digits"], "")


def _above(task, cells):
    return np.reshape(cells, (-1, 2)) > task.longest


COUNTS = ("correct", "total", "split")
OF_SORTING = ("correct_minimum", "axis")
CELL = ("offset", "length_a", "length_b")
COLUMNS = (
    *("run", "arm", "task", "embedding", "architecture", "layers", "recurrences", "d_model", "k_max", "train_digits"),
    *("seed", "parameters", "samples", "flop", "offset", "length_a", "length_b", "correct", "total", "split"),
)


def together(parts):
    """Merge the counts of parts of a grid, which share no cell, over the union of their lengths."""
    flat = [part.stack(cell=CELL[1:]) for part in parts]
    whole = lay_on_grid(xr.concat([part.isel(cell=part["total"].values > 0) for part in flat], "cell"))
    # What has no offset is the same at all.
    return whole.broadcast_like(whole["correct"]).transpose(*CELL)


def lay_on_grid(flat):
    """Lay counts along cell, an index of length_a and length_b, out on the grid of all pairs of these lengths."""
    empty = {name: 0 if variable.dtype.kind in "iu" else "" for name, variable in flat.data_vars.items()}
    return flat.unstack("cell", fill_value=empty)


def table(dataset):
    """Make a table of counts from merged records, with a row for each run, offset and cell that was tested."""
    more = [name for name in OF_SORTING if name in dataset]
    rows = dataset[[*COUNTS, *more]].to_dataframe().reset_index()
    if more:
        rows["correct_minimum"] = rows["correct_minimum"].astype("Int64").where(rows["task"] == "sorting")
    return rows.loc[rows["total"] > 0, [*COLUMNS, *more]].reset_index(drop=True)


def accuracies(dataset):
    """Compute the share of problems that are right, by run, offset and region, of merged records, for people to read.

    A share is None if the grid has no cell of a region. A run that sorts has the shares of `SORTED` too.
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
    return lambda run: (run["axis"] != "") & (np.maximum(run["length_a"], run["length_b"]) <= longest)


# Cells out of distribution by what is longer than in training, and all of them up to a length.
SORTED = {
    "number_length": lambda run: run["axis"] == "digits",
    "array_length": lambda run: run["axis"] == "numbers",
    "all_30x30": _longer(30),
    "all_20x20": _longer(20),
}
