"""Cells of problems by the lengths of their operands: those that models are tested on, and their regions.

[Mc24] is McLeish et al. 2024, "Transformers can do arithmetic with the right embeddings", arXiv:2405.17399.
"""

import hashlib
import json
from dataclasses import dataclass

import numpy as np

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
OF_TASK = {
    "multiplication": {"longest": 25, "diagonal_to": 25},
    "sorting": {"longest": 30, "diagonal_to": 30},
    "or": {"longest": 40, "diagonal_to": 40},
}
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
    """Return the lengths in which each cell of sorting is out of distribution, text, shape (cells,).

    They are ``"numbers"``, how many there are; ``"digits"``; ``"both"``; or nothing.
    """
    numbers, digits = _above(task, cells).T
    return np.select([numbers & digits, numbers, digits], ["both", "numbers", "digits"], "")


def _above(task, cells):
    return np.reshape(cells, (-1, 2)) > task.longest
