"""Everything random about a pass through a model in training, as a function of the seed and a count of passes."""

from typing import NamedTuple

import torch

from ...engine.randomness import below, hashed, low_bits

# First words of hashes, which make the draws for different purposes independent.
OFFSET, FREE, HELD, NOISE, POSITIONS = 101, 102, 103, 104, 105


class Draws(NamedTuple):
    """The draws of one pass.

    Attributes
    ----------
    offset : int
        Offset of Abacus embeddings.
    free : int
        Recurrences n without gradient.
    held : int
        Recurrences k with gradient after them.
    noise : int
        Seed of the noise in the initial state.
    positions : int
        Seed of the positions of randomised FIRE.
    """

    offset: int
    free: int
    held: int
    noise: int
    positions: int


def drawn(seed, count, *, k_max, recurrences):
    """Draw everything random of one pass.

    Parameters
    ----------
    seed : int
    count : int
        Passes before this one.
    k_max : int
        Number of offsets of Abacus embeddings; they are 0..k_max - 1.
    recurrences : int
        R.

    Returns
    -------
    Draws
    """
    free, held = recurrences_drawn(seed, torch.tensor(count), recurrences)
    return Draws(
        offset=below(hashed(seed, OFFSET, count), k_max),
        free=free.item(),
        held=held.item(),
        noise=low_bits(hashed(seed, NOISE, count), 62),
        positions=low_bits(hashed(seed, POSITIONS, count), 62),
    )


def recurrences_drawn(seed, counts, recurrences):
    """Draw the recurrences of passes.

    With R recurrences, n is uniform on 0..R - 1 and then k uniform on 1..min(R - n, max(R // 2, 1)): the progressive
    loss of Bansal et al. (2022, arXiv:2202.05826), as in the public code of McLeish et al. (2024, arXiv:2405.17399).

    Parameters
    ----------
    seed : int
    counts : torch.Tensor
        Passes before each, int64, shape (...).
    recurrences : int
        R.

    Returns
    -------
    tuple of torch.Tensor
        Recurrences n without gradient and k with it, int64, shape (...).
    """
    free = below(hashed(seed, FREE, counts), recurrences)
    most = (recurrences - free).clamp(max=max(recurrences // 2, 1))
    return free, 1 + below(hashed(seed, HELD, counts), most)
