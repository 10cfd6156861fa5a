"""The tasks: operations on two numbers, sorting, and bitwise OR."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import torch

from ....errors import InputError
from ...engine.fields import Count
from ...engine.randomness import below, hashed
from .digits import DTYPE, added, drawn, lengths, multiplied, ranked, subtracted
from .layout import COLON, COMMA, EOS, EQUALS, LABEL0, MINUS, OR, PLUS, TIMES, Segment, labels, number, symbol
from .task import ANY, Task

# First words of hashes: of each operand, and of the operation in a mix.
OPERANDS, OPERATION = (5, 6), 7
SUM, DIFFERENCE = 0, 1


@dataclass(frozen=True)
class Operation(Task):
    """An operation on two numbers, of cells by their digits: ``rev(a)+rev(b)=rev(c)`` and the end.

    Parameters
    ----------
    largest, hints, tested_hints, labels, padding, padding_rate, buckets
        As `Task` takes them.
    reverse : bool
        Whether numbers are written with their lowest digit first.
    """

    reverse: bool = True

    def _parts(self, first, second, variants, keys, bounds, hint_keys):
        operands = [
            drawn(hashed(keys, word), length, bound)
            for word, length, bound in zip(OPERANDS, (first, second), bounds, strict=True)
        ]
        answer, negative, operation = self._answer(*operands, variants)
        answer_lengths = lengths(answer)
        starts = self._starts(hint_keys, torch.maximum(torch.maximum(first, second), answer_lengths.long()))
        a, b, c = (
            number(digits, length, starts, self.labels, reverse=self.reverse)
            for digits, length in zip((*operands, answer), (first, second, answer_lengths), strict=True)
        )
        result = [c]
        if negative is not None:
            # The sign is next to the highest digit, the last one if numbers are reversed.
            result.insert(int(self.reverse), Segment(symbol(MINUS, keys).tokens, negative[:, None]))
        return [a, operation, b, symbol(EQUALS, keys), *result, symbol(EOS, keys)]

    def _answer(self, first, second, variants):
        """Compute the digits of the answer, whether it is negative (None if it never is), and the operation's part."""
        raise NotImplementedError


class Addition(Operation):
    """Addition of two numbers.

    A cell (i, j) has operands of i and j digits, uniform over the numbers of so many digits.
    """

    name = "addition"

    def _digits(self, first, second):
        return max(first, second) + 1

    def _answer(self, first, second, variants):
        return added(first, second), None, symbol(PLUS, first)


class Subtraction(Operation):
    """Subtraction of two numbers, written like addition; a negative difference has its sign after the highest digit."""

    name = "subtraction"

    def length(self, first, second):
        """Count the tokens of the longest problem of a cell, the end and a minus sign included."""
        return super().length(first, second) + (second >= first)

    def _answer(self, first, second, variants):
        return *subtracted(first, second), symbol(MINUS, first)


class AdditionSubtraction(Addition):
    """Addition and subtraction, equally many problems of each in every cell."""

    name = "addition-subtraction"

    def _cells(self):
        return [(first, second, kind) for first, second, _ in super()._cells() for kind in (SUM, DIFFERENCE)]

    def _variants(self, first, second, variants, keys, orders):
        settled = below(hashed(keys, OPERATION), 2) if orders is None else orders % 2
        return torch.where(variants == ANY, settled, variants)

    def _answer(self, first, second, variants):
        difference = variants == DIFFERENCE
        smaller, negative = subtracted(first, second)
        total = added(first, second)
        chosen = difference[:, None]
        smaller = torch.nn.functional.pad(smaller, (0, 1))
        operation = symbol(PLUS, first)
        tokens = operation.tokens + (MINUS - PLUS) * chosen.to(operation.tokens.dtype)
        return total * ~chosen + smaller * chosen, negative & difference, Segment(tokens, operation.present)


class Multiplication(Operation):
    """Multiplication of two numbers, with operands like those of addition."""

    name = "multiplication"

    def _digits(self, first, second):
        return first + second

    def _answer(self, first, second, variants):
        return multiplied(first, second), None, symbol(TIMES, first)


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


TASKS = {task.name: task for task in (Addition, Subtraction, AdditionSubtraction, Multiplication, Sorting, Or)}
