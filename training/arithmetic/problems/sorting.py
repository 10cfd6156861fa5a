"""The task of sorting: labelled numbers, and their labels in ascending order of the numbers."""

from dataclasses import dataclass
from typing import ClassVar

import torch

from ....errors import InputError
from ...engine.fields import Count
from ...engine.randomness import below, hashed
from .digits import drawn, ranked
from .layout import COLON, COMMA, EOS, EQUALS, LABEL0, Segment, labels, number, symbol
from .task import Task

# First words of hashes: of the numbers, of their lengths, and of the first label.
NUMBERS, LENGTHS, LABEL = 8, 9, 10


@dataclass(frozen=True)
class Sorting(Task):
    """Sorting of n numbers of up to j digits, of cells (n, j): ``A:rev(x1),B:rev(x2)=B,A`` and the end.

    Each number has 1 to j digits, uniformly, which are drawn like those of operands. Labels are consecutive ones of a
    pool from a random place, the first following the last. Equal numbers stay in their order.

    Parameters
    ----------
    largest : int
        Most digits of a number in training.
    hints, tested_hints, labels, padding, padding_rate, buckets
        As `Task` takes them.
    reverse : bool
        Whether numbers are written with their lowest digit first.
    numbers : int, default `largest`
        Most numbers of a problem in training.
    end_counts : bool
        Whether a problem is right in a test only if the end follows the last label; McLeish et al. (2024) compare the
        labels alone.
    """

    reverse: bool = True
    numbers: Count | None = None
    end_counts: bool = False

    name: ClassVar[str] = "sorting"

    def __post_init__(self):
        if self.numbers is None:
            object.__setattr__(self, "numbers", self.largest)
        super().__post_init__()

    @property
    def longest(self):
        """Cell of the longest problems in training: most numbers and most digits, (int, int)."""
        return self.numbers, self.largest

    @property
    def vocabulary_size(self):
        """Number of tokens."""
        return LABEL0 + self.labels

    def length(self, first, second):
        """Count the tokens of the longest problem of a cell, the end included."""
        return first * (5 + self._written_digits(second))

    def check(self, first, second):
        """Raise `InputError` for a cell whose problems cannot be written, also if there are too few labels."""
        super().check(first, second)
        if first > self.labels:
            raise InputError(
                f"cell ({first}, {second}): {first} numbers need as many labels and labels is {self.labels}; raise it "
                "or take fewer numbers"
            )

    def tested(self, batch):
        """Return the tokens that must be right in a test: the labels, and the end where it counts."""
        return batch.scored if self.end_counts else batch.scored & (batch.tokens != EOS)

    def _digits(self, first, second):
        return second

    def _parts(self, first, second, variants, keys, bounds, hint_keys):
        count, columns = bounds
        order = torch.arange(count, device=keys.device)
        present = order < first[:, None]
        sizes = 1 + below(hashed(keys[:, None], LENGTHS, order), second[:, None])
        digits = drawn(hashed(keys[:, None], NUMBERS, order), sizes, columns)
        digits = digits * present[..., None]
        named = labels(below(hashed(keys, LABEL), self.labels), count, self.labels)
        ascending = named.gather(1, ranked(digits, present))
        starts = self._starts(hint_keys, second)
        starts = None if starts is None else starts[:, None]
        numbers = number(digits, sizes, starts, self.labels, reverse=self.reverse)
        comma, colon = (torch.full_like(named[..., None], token) for token in (COMMA, COLON))
        between = (order > 0) & present
        here = present[..., None]
        question = Segment(
            torch.cat([comma, named[..., None], colon, numbers.tokens], -1).flatten(1),
            torch.cat([between[..., None], here, here, here & numbers.present], -1).flatten(1),
        )
        answer = Segment(
            torch.cat([comma, ascending[..., None]], -1).flatten(1), torch.stack([between, present], -1).flatten(1)
        )
        return [question, symbol(EQUALS, keys), answer, symbol(EOS, keys)]


def first_label(tokens):
    """Find the answer's first label: bool, of the shape (problems, width) of the tokens."""
    following = torch.nn.functional.pad(tokens[:, :-1] == EQUALS, (1, 0))
    return following & (tokens >= LABEL0)
