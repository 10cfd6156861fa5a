"""Position schemes: Abacus embeddings, FIRE, rotary positions, or none.

[Mc24] is McLeish et al. 2024, arXiv:2405.17399, and [Cho24] Cho et al. 2024, arXiv:2405.20671.

The features of a token depend on it and the tokens before it alone, so that the logits of a prefix do not change with
what follows.
"""

import math

import torch

from ....errors import InputError
from ..problems.layout import DIGIT0, EQUALS

SCHEMES = ("nope", "abacus", "abacus+equals", "fire", "rope", "abacus+fire", "abacus+rope")


def digit_places(tokens):
    """Compute the place of each digit in its run: k for the k-th digit, from 1, and 0 for other tokens."""
    digit = (tokens >= DIGIT0) & (tokens < DIGIT0 + 10)
    here = torch.arange(tokens.shape[1], device=tokens.device).expand_as(tokens)
    before = torch.where(digit, -1, here).cummax(1).values
    return torch.where(digit, here - before, 0)


def check_digits(digits, rows, k_max=1, equals=False):
    """Raise `InputError` for numbers of so many digits that a table of Abacus embeddings has no row for one.

    Row 0 is for tokens that are no digits; `k_max` offsets shift numbers in training, 1 for none. With `equals` the
    equals sign has a row too.
    """
    needed = digits + k_max + equals
    if needed > rows:
        shifted = f" shifted by up to {k_max - 1}" if k_max > 1 else ""
        raise InputError(
            f"model: numbers of {digits} digits{shifted} need {needed} rows of Abacus embeddings and the table has "
            f"{rows}; raise table_rows to {needed}, or give shorter numbers"
        )


class Abacus(torch.nn.Module):
    """Abacus embeddings: a learned vector for the place of a digit in its number ([Mc24] section 3.1).

    In training all places are shifted by one offset, so that vectors for places beyond the longest number of the
    training set are learned too. Numbers are written with their lowest digit first. Row 0 of the table is added to
    tokens that are no digits.

    With `equals`, the equals sign has the row before the first digit's, as in the position coupling of [Cho24]. Then
    every digit of the answer is the one of the row after that of the token before it, the first digit included.
    """

    def __init__(self, rows, d_model, *, equals=False):
        super().__init__()
        self.table, self.equals = torch.nn.Embedding(rows, d_model), equals

    def forward(self, tokens, offset=0):
        """Compute the vectors to add to those of tokens, shape (problems, length, d_model)."""
        places = digit_places(tokens)
        if self.equals:
            places = torch.where(tokens == EQUALS, 1, places + (places > 0))
        return self.table(torch.where(places > 0, places + offset, 0))


class Fire(torch.nn.Module):
    """FIRE, a learned bias of attention (Li et al. 2024, arXiv:2310.04418, equation 5).

    The bias of key j for query i is ``f(log(c (i - j) + 1) / (log(c max(i, L) + 1) + epsilon))``. Here f is a network
    of one hidden layer with a value for each head. The scalars c and L are learned, c from 0.1 and L from 512.
    """

    # As in the public code of [Mc24].
    WIDTH, C, LENGTH, EPSILON = 32, 0.1, 512.0, 1e-6

    def __init__(self, heads):
        super().__init__()
        self.hidden = torch.nn.Linear(1, self.WIDTH)
        self.out = torch.nn.Linear(self.WIDTH, heads)
        self.c = torch.nn.Parameter(torch.tensor(self.C))
        self.multiplier = torch.nn.Parameter(torch.tensor(1.0))

    def forward(self, positions):
        """Compute the bias of attention for increasing positions, (1, heads, queries, keys), -inf for later keys."""
        distances = (positions[:, None] - positions).clamp(min=0)
        threshold = (self.multiplier * self.LENGTH).abs()
        scale = torch.maximum(positions, threshold)[:, None]
        nearness = self._log(distances) / (self._log(scale) + self.EPSILON)
        bias = self.out(self.hidden(nearness[..., None]).relu()).permute(2, 0, 1)
        later = torch.ones(len(positions), len(positions), dtype=torch.bool, device=positions.device).triu(1)
        return bias.masked_fill(later, -math.inf)[None]

    def _log(self, distances):
        return torch.log1p((self.c * distances).abs())


def ordered_positions(length, most, words, device):
    """Choose positions for FIRE: 0, 1, 2, ..., or by a seed an ordered random subset of the `most` first ones."""
    if words is None or most <= length:
        return torch.arange(length, dtype=torch.float32, device=device)
    generator = torch.Generator().manual_seed(words)
    chosen = torch.randperm(most, generator=generator)[:length].sort().values
    return chosen.to(device, torch.float32)


def rotation(length, width, device):
    """Compute cosines and sines of rotary positions (Su et al. 2021, arXiv:2104.09864, equation 15)."""
    frequencies = 10000.0 ** (-torch.arange(0, width, 2, device=device) / width)
    angles = torch.arange(length, device=device)[:, None] * frequencies
    return angles.cos(), angles.sin()


def rotated(vectors, cosines, sines):
    """Rotate queries or keys, each pair (m, m + width / 2) by its angle; their type does not change."""
    first, second = vectors.float().chunk(2, -1)
    turned = torch.cat([first * cosines - second * sines, second * cosines + first * sines], -1)
    return turned.to(vectors.dtype)
