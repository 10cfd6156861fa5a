"""Tasks on two numbers: addition, subtraction, both, and multiplication."""

from dataclasses import dataclass

import torch

from ...engine.randomness import below, hashed
from .digits import added, drawn, lengths, multiplied, subtracted
from .layout import EOS, EQUALS, MINUS, PLUS, TIMES, Segment, number, symbol
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
