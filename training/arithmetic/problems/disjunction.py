"""The task of bitwise OR, which depends on positions alone: the place of a one in two vectors."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import torch

from ...engine.randomness import below, hashed
from .digits import DTYPE
from .layout import EOS, EQUALS, OR, number, symbol
from .task import ANY, Task

# First words of hashes: of the place of the one, of its vector, and of where the places of a cell begin.
PLACE, SIDE, BEGIN = 5, 6, 7


@dataclass(frozen=True)
class Or(Task):
    """Bitwise OR of two vectors aligned at their beginnings, of cells by their lengths: ``000|01=010`` and the end.

    The longer vector is zero and the shorter has a single one. If both have the same length, either has it at random,
    as McLeish et al. (2024, arXiv:2405.17399) define it. Otherwise a cell (i, j) has only min(i, j) problems, and
    evaluation takes each of them once.

    Parameters
    ----------
    largest, hints, tested_hints, labels, padding, padding_rate, buckets
        As `Task` takes them.
    pairs : str
        What is equally frequent in training: ``"weighted"``, every problem, so that a cell (i, j) has weight min(i, j)
        as in the list of McLeish et al. (2024); or ``"equal"``, every cell.
    """

    pairs: Literal["weighted", "equal"] = "weighted"

    name: ClassVar[str] = "or"

    def cell_size(self, first, second, count):
        """Limit the `count` of problems of a cell to the places that a one can have."""
        return min(count, first, second)

    def _cells(self):
        cells = super()._cells()
        if self.pairs == "equal":
            return cells
        return [(first, second, place) for first, second, _ in cells for place in range(min(first, second))]

    def _variants(self, first, second, variants, keys, orders):
        places = torch.minimum(first, second)
        if orders is None:
            return torch.where(variants == ANY, below(hashed(keys, PLACE), places), variants)
        return (below(hashed(BEGIN, first, second), places) + orders) % places

    def _parts(self, first, second, variants, keys, bounds, hint_keys):
        in_first = (first < second) | ((first == second) & (below(hashed(keys, SIDE), 2) == 0))
        longer = torch.maximum(first, second)
        place = torch.arange(max(bounds), device=keys.device)
        one = (place == variants[:, None]).to(DTYPE)
        starts = self._starts(hint_keys, longer)
        a, b, c = (
            number(digits[:, :bound], length, starts, self.labels)
            for digits, length, bound in (
                (one * in_first[:, None], first, bounds[0]),
                (one * ~in_first[:, None], second, bounds[1]),
                (one, longer, max(bounds)),
            )
        )
        return [a, symbol(OR, keys), b, symbol(EQUALS, keys), c, symbol(EOS, keys)]
