"""The plan of a run: how its problems are divided into updates, and everything random about a pass in training."""

import functools
import math
from dataclasses import dataclass
from typing import Annotated, NamedTuple

import torch
from pydantic import Field

from ...errors import InputError
from ..engine.fields import Count, Share, check_fields
from ..engine.loop import Optimisation
from ..engine.randomness import below, hashed, low_bits

MOST_UPDATES = 10**6
MOST_AT_ONCE = 2**16  # problems, which are made to know how long they are


@dataclass(frozen=True)
class BatchPlan:
    """Batches that grow in a line over the first part of a run, each a whole number of microbatches.

    Parameters
    ----------
    samples : int
        Problems of the whole run, rounded up to whole microbatches.
    batch : int
        Problems of an update once the ramp is over, a multiple of `microbatch`.
    microbatch : int
        Problems that share one draw of everything random, at most 2^16.
    ramp : float
        Share of the samples over which batches grow from one microbatch to the full batch; 0 for none. A share s of
        the ramp done, an update has ``floor(s batch / microbatch) + 1`` microbatches, at most the full batch, as in
        the public code of McLeish et al. (2024, arXiv:2405.17399), ``cramming/backend/torch_default.py``.

    Examples
    --------
    >>> from bayescaling.training.arithmetic import BatchPlan
    >>> plan = BatchPlan(samples=80, batch=20, microbatch=5, ramp=0.5)
    >>> plan.updates, [plan.seen(step) for step in range(plan.updates + 1)]
    (7, [0, 5, 10, 20, 35, 55, 75, 80])
    """

    samples: Count
    batch: Count
    microbatch: Annotated[int, Field(ge=1, le=MOST_AT_ONCE)]
    ramp: Share = 0.0

    def __post_init__(self):
        check_fields(self, "training")
        if self.batch % self.microbatch:
            raise InputError(
                f"training: batch is {self.batch} with microbatches of {self.microbatch}; give a multiple of them"
            )

    @functools.cached_property
    def starts(self):
        """Number of microbatches before each update, and at the end that of the whole run, tuple of int."""
        total, full = -(-self.samples // self.microbatch), self.batch // self.microbatch
        starts = [0]
        while starts[-1] < total:
            if len(starts) > MOST_UPDATES:
                raise InputError(
                    f"training: samples is {self.samples} in batches of {self.batch}, more than {MOST_UPDATES:,} "
                    "updates; give fewer samples or a larger batch"
                )
            done = starts[-1] / (self.ramp * total) if self.ramp else 1.0
            starts.append(min(total, starts[-1] + min(full, math.floor(full * done) + 1)))
        return tuple(starts)

    @property
    def updates(self):
        """Updates of the run."""
        return len(self.starts) - 1

    def microbatches(self, step):
        """Return the indices of the microbatches of the update after `step` others, as a range."""
        return range(self.starts[step], self.starts[step + 1])

    def groups(self, step, joined):
        """Return the indices of an update's microbatches in ranges of few lengths, powers of two up to `joined`."""
        indices, groups = self.microbatches(step), []
        while indices:
            count = min(joined, 1 << (len(indices).bit_length() - 1))
            groups.append(indices[:count])
            indices = indices[count:]
        return groups

    def seen(self, step):
        """Count the problems seen after `step` updates."""
        return self.starts[step] * self.microbatch


@dataclass(frozen=True)
class PlannedOptimisation(Optimisation):
    """AdamW at a rate that depends on the problems seen by a plan, not on the updates made."""

    plan: BatchPlan | None = None

    def rate(self, step):
        """Compute the learning rate of the update after `step` others, from the problems seen in its middle."""
        starts = self.plan.starts
        return self.learning_rate * self.share((starts[step] + starts[step + 1]) / (2 * starts[-1]))


# First words of hashes, which make the draws for different purposes independent.
OFFSET, FREE, HELD, NOISE, POSITIONS = 101, 102, 103, 104, 105


class Draws(NamedTuple):
    """The draws of one pass: offsets, recurrences without gradient and with it, and seeds of noise and of positions.

    Microbatches that go through the model together have an offset and a seed of noise each.
    """

    offset: int | torch.Tensor
    free: int
    held: int
    noise: tuple[int, ...]
    positions: int


def drawn(seed, count, *, k_max, recurrences):
    """Draw everything random of the pass after `count` others; offsets are 0..k_max - 1."""
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
