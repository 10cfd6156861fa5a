"""The order of cells of operand lengths: all equally often, in batches of a few constant shapes.

Cells are sorted by the length of their problems into classes. After s batches of B problems, the classes up to c,
together a share q_c of the cells, have had floor(s B q_c) problems. A batch, sorted by class, is cut into buckets at
the constants floor(B q_c). Every batch has at least that many problems of the classes up to c, so all problems before
the cut are of these and fit the bucket. It has at most one more, so almost no problem is in a larger bucket than it
needs.

Within a class the cells come in cycles, each a new random order of all of them. Over any whole number of cycles all
cells are equally frequent.
"""

import functools
import itertools
from dataclasses import dataclass

import numpy as np
import torch

from ...engine.randomness import hashed

ORDER = 3


@dataclass(frozen=True)
class Strata:
    """Cells sorted into classes by the length of their problems; `widths` has the tokens of each class's longest."""

    cells: tuple[tuple[int, ...], ...]
    sizes: tuple[int, ...]
    widths: tuple[int, ...]

    @functools.cached_property
    def ends(self):
        """Number of cells up to the end of each class, tuple of int."""
        return tuple(np.cumsum(self.sizes).tolist())

    @functools.cached_property
    def bounds(self):
        """Largest first and second length of the cells that each bucket can hold, tuple of (int, int)."""
        return tuple(tuple(max(cell[side] for cell in self.cells[:end]) for side in (0, 1)) for end in self.ends)

    def cuts(self, count):
        """Count the problems in each bucket of a batch of `count`, tuple of int."""
        ends = [0, *(count * end // len(self.cells) for end in self.ends)]
        return tuple(b - a for a, b in itertools.pairwise(ends))

    def drawn(self, seed, steps, count, device):
        """Draw the cells of consecutive batches, sorted by class: int64, shape (steps, count, entries of a cell)."""
        total = len(self.cells)
        # Problems of each class before every step and after the last, shape (steps + 1, classes).
        done = np.arange(steps.start, steps.stop + 1)[:, None] * count * np.asarray(self.ends) // total
        done = np.diff(done, axis=1, prepend=0)
        drawn, first = [], 0
        for place, size in enumerate(self.sizes):
            start, end = done[[0, -1], place].tolist()
            indices = first + _cycled(hashed(seed, ORDER, place), start, end, size, device)
            drawn.append(indices.split(np.diff(done[:, place]).tolist()))
            first += size
        indices = torch.cat([part for parts in zip(*drawn, strict=True) for part in parts])
        return _table(self, device)[indices].view(len(steps), count, -1)


def strata(cells, widths, most, count):
    """Sort cells into at most `most` classes for which the buckets have the fewest tokens, a `Strata`.

    There are fewer if a bucket of a batch of `count` problems would often be empty.
    """
    order = np.argsort(widths, kind="stable")
    cells, widths = tuple(cells[place] for place in order), np.asarray(widths)[order]
    distinct, first = np.unique(widths, return_index=True)
    ends = np.append(first[1:], len(widths))
    # By number of classes: fewest tokens of the cells up to each distinct width, and where the class before ends.
    best, chosen = ends * distinct.astype(float), []
    best[count * ends < len(cells)] = np.inf
    for _ in range(most - 1):
        sizes = ends[None, :] - ends[:, None]
        tokens = best[:, None] + np.where(count * sizes >= len(cells), sizes * distinct.astype(float), np.inf)
        split = tokens.argmin(0)
        better = tokens.min(0) < best
        chosen.append(np.where(better, split, -1))
        best = np.where(better, tokens.min(0), best)
    last, marks = len(distinct) - 1, []
    for splits in reversed(chosen):
        if splits[last] >= 0:
            marks.append(last)
            last = splits[last]
    marks = [last, *reversed(marks)]
    sizes = np.diff([0, *ends[marks]])
    return Strata(cells, tuple(sizes.tolist()), tuple(distinct[marks].tolist()))


def _cycled(seed, start, end, size, device):
    """Return places `start` to `end` of an endless sequence of orders of 0..size - 1."""
    if end == start:
        return torch.zeros(0, dtype=torch.int64, device=device)
    cycles = torch.arange(start // size, (end - 1) // size + 1, device=device)
    words = hashed(seed, cycles[:, None], torch.arange(size, device=device))
    order = words.sort(dim=1, stable=True).indices.flatten()
    return order[start % size :][: end - start]


@functools.lru_cache(maxsize=32)
def _table(strata_, device):
    return torch.tensor(strata_.cells, device=device)
