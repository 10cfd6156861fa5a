"""The base of every task of arithmetic: problems by the lengths of their operands, generated on the device.

[Mc24] is McLeish et al. 2024, "Transformers can do arithmetic with the right embeddings", arXiv:2405.17399. Where its
text and its public code differ, the default follows the code.
"""

import functools
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

import torch
from pydantic import Field

from ....errors import InputError
from ...engine.fields import ProperShare, check_fields, check_value
from ...engine.randomness import below, hashed
from . import layout
from .layout import Batch
from .sampling import strata

TRAINING, EVALUATION = 11, 12
# First word of the hash of the hints of a problem.
HINT = 4
# Number of hints and labels of [Mc24].
POOL = 102
# A variant of a problem that is still to be drawn.
ANY = -1
# Most digits in training, where all cells are listed, and in evaluation.
TRAINED, LONGEST = 1000, 10_000
Many = Annotated[int, Field(ge=1, le=2**31)]


@dataclass(frozen=True)
class Task:
    """A kind of problem, with the lengths that are trained on.

    Parameters
    ----------
    largest : int
        Most digits of an operand in training, up to 1000.
    hints : str
        Index hints: ``"none"``, or a token before every digit, the same for the k-th digit written of every number of a
        problem. They are consecutive ones of a pool, from a random place in each problem. With ``"cyclic"`` it is any
        place, and the first hint follows the last. With ``"plain"`` it is a place from which the pool does not run out.
    tested_hints : str
        Where hints begin in a test: at the ``"first"`` of the pool, as in the public code of McLeish et al. (2024), or at a
        ``"random"`` one as in training.
    labels : int
        Size of the pool of hints, and of the labels of numbers to sort.
    padding : bool
        Whether training problems have padding in random places before their end, the random padding of McLeish et al.
        (2024).
    padding_rate : float
        Probability of padding before a token; given the first, a second one has a tenth of it, and a third a hundredth.
    buckets : int
        Largest number of shapes of the batches that `batches` makes.
    """

    largest: Annotated[int, Field(ge=1, le=TRAINED)]
    hints: Literal["none", "plain", "cyclic"] = "none"
    tested_hints: Literal["first", "random"] = "first"
    labels: Annotated[int, Field(ge=1, le=len(layout.LABELS))] = POOL
    padding: bool = False
    padding_rate: ProperShare = 0.1
    buckets: Annotated[int, Field(ge=1, le=64)] = 4

    name: ClassVar[str]

    def __post_init__(self):
        check_fields(self, "task")
        self.check(*self.longest)

    @property
    def longest(self):
        """Cell of the longest problems in training, (int, int)."""
        return self.largest, self.largest

    @property
    def vocabulary_size(self):
        """Number of tokens."""
        return layout.LABEL0 + (self.labels if self.hinted else 0)

    @property
    def hinted(self):
        """Whether digits have index hints."""
        return self.hints != "none"

    @property
    def width(self):
        """Tokens of the longest problem in training, the end included, and room for random padding."""
        return self._roomy(self.length(*self.longest))

    def length(self, first, second):
        """Count the tokens of the longest problem of a cell, the end included."""
        return self._written_digits(first + second + self._digits(first, second)) + 3

    def digits(self, first, second):
        """Count the digits of the longest run in a problem of a cell, int; hints between digits leave runs of one."""
        return 1 if self.hinted else self._digits(first, second)

    def cell_size(self, first, second, count):
        """Limit the `count` of problems of a cell to the number of different ones."""
        return count

    def check(self, first, second):
        """Raise `InputError` for a cell with a length below 1, or whose problems need more hints than there are."""
        for value in (first, second):
            if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= LONGEST:
                raise InputError(f"cell ({first!r}, {second!r}): give whole numbers from 1 to {LONGEST}")
        needed = self._digits(first, second)
        if self.hinted and needed > self.labels:
            raise InputError(
                f"cell ({first}, {second}): numbers of {needed} digits need {needed} index hints and labels is "
                f"{self.labels}; raise it (to {len(layout.LABELS)} at most) or take shorter numbers"
            )

    def batch(self, seed, step, count, device):
        """Generate problems to train on, all of one width, a `Batch`; all cells are equally frequent."""
        return self.consecutive(seed, range(step, step + 1), count, device, buckets=False)[0][0]

    def batches(self, seed, step, count, device):
        """Generate problems as `batch` does, in buckets of similar length, whose shapes are the same at every step."""
        return self.consecutive(seed, range(step, step + 1), count, device)[0]

    def consecutive(self, seed, steps, count, device, *, buckets=True):
        """Generate the problems of a range of steps in one go: a list of what `batches` returns, or `batch` alone."""
        check_value("task: count", count, Many)
        device = torch.device(device)
        classes = _strata(self, self.buckets if buckets else 1, count)
        cells = classes.drawn(seed, steps, count, device)
        places = torch.arange(steps.start, steps.stop, device=device)[:, None]
        keys = hashed(hashed(TRAINING, seed), places, torch.arange(count, device=device))
        batches, start = [], 0
        for problems, width, bounds in zip(classes.cuts(count), classes.widths, classes.bounds, strict=True):
            part = slice(start, start + problems)
            first, second, variants = cells[:, part].flatten(0, 1).unbind(1)
            part_keys = keys[:, part].flatten()
            variants = self._variants(first, second, variants, part_keys, None)
            parts = self._parts(first, second, variants, part_keys, bounds, part_keys)
            whole = layout.written(parts, self._roomy(width), part_keys, self._rate)
            by_step = (part.view(len(steps), problems, part.shape[1]).unbind(0) for part in whole)
            batches.append([Batch(*both) for both in zip(*by_step, strict=True)])
            start += problems
        return list(zip(*batches, strict=True))

    def cell(self, first, second, count, seed, device):
        """Generate problems of one cell, for evaluation: a `Batch` of shape (count, length(first, second))."""
        self.check(first, second)
        check_value("task: count", count, Many)
        orders = torch.arange(count, device=device)
        first, second = (torch.full_like(orders, length) for length in (first, second))
        return self.problems(first, second, self.keys(seed, first, second, orders), orders)

    @staticmethod
    def keys(seed, first, second, orders):
        """Make the keys of problems for evaluation, int64, from seed, cell, and place in the cell, which broadcast."""
        return hashed(hashed(EVALUATION, seed), first, second, orders)

    def problems(self, first, second, keys, orders=None, *, width=None, bounds=None):
        """Generate problems of many cells, for evaluation, without random padding: a `Batch` (problems, width).

        Each is a function of its key. `orders`, places in the cells, set what has few values: the operation in a mix,
        or the place of the one in a vector. With a width and `bounds`, the largest lengths, cells are not checked.
        """
        if not len(first):
            raise InputError("problems: there are no cells; give at least one")
        if bounds is None:
            pairs = torch.unique(torch.stack([first, second], 1), dim=0).tolist()
            for pair in pairs:
                self.check(*pair)
            bounds = tuple(map(max, zip(*pairs, strict=True)))
            width = max(self.length(*pair) for pair in pairs)
        variants = self._variants(first, second, torch.full_like(first, ANY), keys, orders)
        hint_keys = keys if self.tested_hints == "random" else None
        return layout.written(self._parts(first, second, variants, keys, bounds, hint_keys), width)

    def tested(self, batch):
        """Return the tokens of a `Batch` that must be right in a test, bool, shape (problems, width)."""
        return batch.scored

    def _digits(self, first, second):
        return max(first, second)

    def _cells(self):
        firsts, seconds = self.longest
        return [(first, second, ANY) for first in range(1, firsts + 1) for second in range(1, seconds + 1)]

    def _variants(self, first, second, variants, keys, orders):
        return variants

    def _parts(self, first, second, variants, keys, bounds, hint_keys):
        """Return the problems as parts of a wide table; hints begin at a function of `hint_keys`, if there are any."""
        raise NotImplementedError

    def _written_digits(self, digits):
        return digits * (2 if self.hinted else 1)

    def _starts(self, keys, needed):
        """Draw the place in the pool of the first hint, for problems whose longest numbers have `needed` digits."""
        if not self.hinted:
            return None
        if keys is None:
            return torch.zeros_like(needed, dtype=torch.int64)
        choices = self.labels if self.hints == "cyclic" else self.labels - needed.long() + 1
        return below(hashed(keys, HINT), choices)

    @property
    def _rate(self):
        return self.padding_rate if self.padding else 0.0

    def _roomy(self, width):
        return width + layout.room(width, self._rate)


@functools.lru_cache(maxsize=64)
def _strata(task, buckets, count):
    cells = task._cells()
    return strata(cells, [task.length(first, second) for first, second, _ in cells], buckets, count)
