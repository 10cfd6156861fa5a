"""One run of an arithmetic model: its problems, its model, and how it is trained and judged."""

import functools
import hashlib
import json
from dataclasses import asdict, dataclass, replace
from typing import Literal

import torch

from ...errors import InputError
from ..engine.fields import Count, Whole, check_fields
from ..engine.hardware import PRECISIONS
from ..sweeps import runs
from .models.draws import drawn, recurrences_drawn
from .models.transformer import Configuration
from .objective import Objective
from .plan import Plan, PlannedOptimisation


@dataclass(frozen=True)
class Grid:
    """The cells of problems on which a trained model is judged.

    Parameters
    ----------
    cells : tuple of (int, int)
        Lengths of the operands; for sorting, how many numbers and their most digits.
    count : int
        Problems in a cell.
    seed : int
        Of the problems.
    offsets : tuple of int
        Offsets of Abacus embeddings at which a model is judged; McLeish et al. judge at 0.
    """

    cells: tuple[tuple[int, int], ...]
    count: Count = 100
    seed: Whole = 0
    offsets: tuple[Whole, ...] = (0,)

    def __post_init__(self):
        object.__setattr__(self, "cells", tuple(tuple(cell) for cell in self.cells))
        object.__setattr__(self, "offsets", tuple(self.offsets))
        check_fields(self, "evaluation")
        if len(set(self.offsets)) < len(self.offsets):
            raise InputError(f"evaluation: offset is {list(self.offsets)!r}; give each once")

    @property
    def fingerprint(self):
        """The grid as few plain values, with its cells hashed, so that they fit into an attribute of a file."""
        cells = hashlib.sha256(json.dumps(self.cells).encode()).hexdigest()
        whole = {"cells": len(self.cells), "cells_sha256": cells, "count": self.count, "seed": self.seed}
        return whole | {"offsets": list(self.offsets)}


@dataclass(frozen=True)
class Run(runs.Run):
    """An arithmetic model trained and judged once.

    Parameters
    ----------
    task : problems task
        The task that is learned, one of `problems.TASKS`.
    model : Configuration
    objective : Objective
    optimisation : PlannedOptimisation
        Optimiser and plan of the batches.
    evaluate_at : tuple of int
        Numbers of updates after which the loss and the share of right answers are measured.
    evaluation_problems : int
        Problems on which they are measured, from the training distribution.
    grid : Grid
        Cells on which the trained model is judged.
    buckets : bool
        Whether problems of similar length go through the model together.
    precision : str
        ``"float32"`` or ``"bfloat16"``; ``"auto"`` takes bfloat16 on a GPU that has it, else float32.
    seed : int
        Of the initial weights, of the problems and of everything random in training.
    noise_device : str
        Where the noise of the initial state is drawn, which differs on a CPU and on CUDA; ``"auto"`` until the run is
        settled somewhere.
    """

    task: object
    model: Configuration
    objective: Objective
    optimisation: PlannedOptimisation
    evaluate_at: tuple[int, ...]
    evaluation_problems: Count
    grid: Grid
    buckets: bool = True
    precision: Literal[PRECISIONS] = "auto"
    seed: int = 0
    noise_device: str = "auto"

    def __post_init__(self):
        check_fields(self, "training")

    @property
    def plan(self) -> Plan:
        """Plan of its batches."""
        return self.optimisation.plan

    @property
    def configuration(self):
        """Everything that the result depends on, as plain values."""
        plain = ("evaluation_problems", "buckets", "precision", "seed", "noise_device")
        plain = {name: getattr(self, name) for name in plain}
        parts = {name: asdict(getattr(self, name)) for name in ("model", "objective", "optimisation")}
        task = {"name": self.task.name} | asdict(self.task)
        return plain | parts | {"task": task, "grid": self.grid.fingerprint, "evaluate_at": list(self.evaluate_at)}

    def settled(self, where):
        """Give the run as it is trained somewhere: its precision, and on what kind of device its noise is drawn."""
        return replace(super().settled(where), noise_device=where.kind if self.model.noise else "none")

    def draws(self, microbatch):
        """Draw everything random of a microbatch, by the number of those before it."""
        return drawn(self.seed, microbatch, k_max=self.model.k_max, recurrences=self.model.recurrences)

    def batches(self, seed, steps, count, device):
        """Generate problems of the task for consecutive steps, in the batches that go through the model.

        Returns
        -------
        list of tuple of problems.Batch
        """
        return self.task.consecutive(seed, steps, count, device, buckets=self.buckets)

    @functools.cached_property
    def shapes(self):
        """Shapes (problems, tokens) of the batches that go through the model for each microbatch."""
        (made,) = self.batches(self.seed, range(1), self.plan.microbatch, "cpu")
        return tuple((batch.tokens.shape[0], batch.tokens.shape[1] - 1) for batch in made)

    @property
    def largest_part(self):
        """Tokens of the largest part of a microbatch, and the longest problem's."""
        return max(problems * length for problems, length in self.shapes), max(length for _, length in self.shapes)

    def flop_done(self, updates):
        """Compute the FLOP of matrix products in a number of updates, with the recurrences that are drawn."""
        return self._flop_of_microbatches[self.plan.starts[updates]]

    def tokens_done(self, updates):
        """Count the tokens trained on in a number of updates, padding included."""
        return self.plan.starts[updates] * sum(problems * length for problems, length in self.shapes)

    @functools.cached_property
    def _flop_of_microbatches(self):
        every, model = self.model.recurrences, self.model
        free, held = recurrences_drawn(self.seed, torch.arange(self.plan.starts[-1]), every)
        drawn_pass, whole_pass = self.objective.alpha > 0, self.objective.alpha < 1
        blocks = drawn_pass * (free + 3 * held) + whole_pass * 3 * every
        block = float(sum(problems * length * model.block_flop(length) for problems, length in self.shapes))
        head = float(sum(problems * length for problems, length in self.shapes) * model.head_flop)
        flop = block * blocks.double() + 3 * head * (drawn_pass + whole_pass)
        return [0.0, *flop.cumsum(0).tolist()]
