"""Everything random about a pass through a model in training, as a function of the seed and a count of passes."""

from typing import NamedTuple

import torch

from ...engine.randomness import below, hashed, low_bits

# First words of hashes, which make the draws for different purposes independent.
OFFSET, FREE, HELD, NOISE, POSITIONS = 101, 102, 103, 104, 105


class Draws(NamedTuple):
    """The draws of one pass.

    `offset` is that of Abacus embeddings, or a tensor of shape (problems, 1) of those of microbatches that go through
    the model together. `free` recurrences are without gradient, and `held` ones after them with it. `noise` has the
    seeds of the initial state's noise, one for each microbatch, and `positions` is that of the positions of randomised
    FIRE.
    """

    offset: int | torch.Tensor
    free: int
    held: int
    noise: tuple[int, ...]
    positions: int


def drawn(seed, count, *, k_max, recurrences):
    """Draw everything random of the pass after `count` others.

    Offsets are 0..k_max - 1; `recurrences` is R.
    """
    free, held = recurrences_drawn(seed, torch.tensor(count), recurrences)
    return Draws(
        offset=below(hashed(seed, OFFSET, count), k_max),
        free=free.item(),
        held=held.item(),
        noise=(low_bits(hashed(seed, NOISE, count), 62),),
        positions=low_bits(hashed(seed, POSITIONS, count), 62),
    )


def recurrences_drawn(seed, counts, recurrences):
    """Draw the recurrences of passes, without gradient and with it, int64, of the shape of `counts`.

    With R recurrences, n is uniform on ``0..R - 1`` and then k uniform on ``1..min(R - n, max(R // 2, 1))``. This is
    the progressive loss of Bansal et al. (2022, arXiv:2202.05826), as in the public code of McLeish et al. (2024,
    arXiv:2405.17399). `counts` has the passes before each, int64.
    """
    free = below(hashed(seed, FREE, counts), recurrences)
    most = (recurrences - free).clamp(max=max(recurrences // 2, 1))
    return free, 1 + below(hashed(seed, HELD, counts), most)
