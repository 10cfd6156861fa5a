"""Arithmetic models of a sweep: one run with its problems, model, training, test and record, and runs by arm."""

import functools
import math
from dataclasses import asdict, dataclass, replace
from typing import Literal

import torch

from ..deviations import ARITHMETIC
from ..engine.fields import Count, check_fields
from ..engine.hardware import MARGIN, PRECISIONS, measure_free_memory
from ..engine.loop import FINISHED
from ..sweeps import base, records
from ..sweeps.base import Execution, distinct
from .cells import Grid, table
from .learning import Objective, compiled_model, grid_counts, task
from .models.transformer import Configuration
from .plan import BatchPlan, PlannedOptimisation, drawn, recurrences_drawn

# Most problems that go through the model together, by whether on a GPU, and the share of free memory for them.
AT_ONCE, MEMORY = {False: 256, True: 8192}, 0.5
UNITS = dict.fromkeys(("loss_train", "loss_eval"), "nats per token") | {"wall_seconds": "s"}
UNITS |= dict.fromkeys(("flop", "flop_done"), "FLOP") | dict.fromkeys(("samples", "samples_done"), "problems")


@dataclass(frozen=True)
class Run(base.Run):
    """An arithmetic model trained and tested once.

    Its record has correct and total, in problems, by offset and cell, and split: ``"id"``, ``"ood"``, ``"ood100"``, or
    empty where nothing was tested. By step it has loss_train (mean since the evaluation before), loss_eval and accuracy
    (of problems like those trained on), learning_rate, samples_done, flop_done and wall_seconds.

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
        Cells on which the trained model is tested.
    buckets : bool
        Whether problems of similar length go through the model together.
    precision : str
        ``"float32"`` or ``"bfloat16"``; ``"auto"`` takes bfloat16 on a GPU that has it, else float32.
    seed : int
        Seed of the initial weights, of the problems and of everything random in training.
    noise_device : str
        Where the noise of the initial state is drawn: a CPU and CUDA give different noise. It is ``"auto"`` until a
        device is chosen.
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

    # Ten runs at once; and one, its layers not compiled.
    peak_shares = (3.16e6, 0.057), (6.8e6, 0.074), (1.22e8, 0.091)
    measured = ("loss_train", "loss_eval", "accuracy", "wall_seconds")
    units = UNITS
    deviations = ARITHMETIC

    def __post_init__(self):
        check_fields(self, "training")

    @property
    def plan(self) -> BatchPlan:
        """BatchPlan of its batches."""
        return self.optimisation.plan

    @property
    def configuration(self):
        """Everything that the result depends on, as plain values."""
        plain = ("evaluation_problems", "buckets", "precision", "seed", "noise_device")
        plain = {name: getattr(self, name) for name in plain}
        parts = {name: asdict(getattr(self, name)) for name in ("model", "objective")}
        task = {"name": self.task.name} | asdict(self.task)
        parts["optimisation"] = self.optimisation.plain
        return plain | parts | {"task": task, "grid": self.grid.fingerprint, "evaluate_at": list(self.evaluate_at)}

    def settled(self, where):
        """Return the run as a device trains it: its precision, and the kind of device that draws its noise."""
        return replace(super().settled(where), noise_device=where.kind if self.model.noise else "none")

    def draws(self, microbatch):
        """Draw everything random of a microbatch, by the number of those before it."""
        return drawn(self.seed, microbatch, k_max=self.model.k_max, recurrences=self.model.recurrences)

    def batches(self, seed, steps, count, device):
        """Generate problems for consecutive steps, in the batches that go through the model: list of tuple of Batch."""
        return self.task.consecutive(seed, steps, count, device, buckets=self.buckets)

    @functools.cached_property
    def shapes(self):
        """Shapes (problems, tokens) of the batches that go through the model for each microbatch."""
        (batches,) = self.batches(self.seed, range(1), self.plan.microbatch, "cpu")
        return tuple((batch.tokens.shape[0], batch.tokens.shape[1] - 1) for batch in batches)

    def joined(self, device, precision):
        """Return how many microbatches go through the model together on a device, as many as fit into its memory.

        Only models without loops and randomised positions can, whose microbatches differ in offsets and noise alone.
        """
        alike, count = self.model.recurrences == 1 and not self.model.random_positions, 1
        most = min(self.plan.batch, AT_ONCE[device.type == "cuda"]) // self.plan.microbatch
        memory = MEMORY * measure_free_memory(device)
        while alike and 2 * count <= most and self.bytes_needed(None, device, precision, 2 * count) <= memory:
            count *= 2
        return count

    def flop_done(self, updates):
        """Compute the FLOP of matrix products in a number of updates, with the recurrences that are drawn."""
        return self._flop_of_microbatches[self.plan.starts[updates]]

    def tokens_done(self, updates):
        """Count the tokens trained on in a number of updates, padding included."""
        return self.plan.starts[updates] * sum(map(math.prod, self.shapes))

    def bytes_needed(self, execution, device, precision, joined=1):
        """Estimate the memory that training takes on a device, in bytes, with so many microbatches together."""
        tokens, length = max(map(math.prod, self.shapes)), max(length for _, length in self.shapes)
        every = self.model.recurrences
        held = self.objective.held(every) if self.objective.alpha < 1 else max(1, every // 2)
        return training_bytes(self.model, joined * tokens, length, precision, held, on_cpu=device.type == "cpu")

    @property
    def test_flop(self):
        """FLOP of matrix products of its evaluations and of the test of its grid, which have no gradients."""
        model, task, grid = self.model, self.task, self.grid
        tested = [(cell, task.cell_size(*cell, grid.count) * len(grid.offsets)) for cell in grid.cells]
        tested.append(((task.largest, task.largest), self.evaluation_problems * len(self.evaluate_at)))
        return sum(
            count * length * (model.block_flop(length) * model.recurrences + model.head_flop)
            for length, count in ((task.length(*cell), count) for cell, count in tested)
        )

    @property
    def largest(self):
        """What needs memory (the model and the microbatch), and what to give if it is too much."""
        what = f"a model of {self.model.parameters:,} parameters with microbatches of {self.plan.microbatch} problems"
        return what, "a device with more memory; a smaller microbatch is another experiment"

    def prepared(self, execution, device, precision):
        """Make the model with its initial weights, and its task."""
        return compiled_model(self, execution, device), task(self, device, precision)

    def counts(self, model, outcome, folder, device, precision, guard):
        """Count right answers in every cell of the grid; a model that diverged has none."""
        return grid_counts(model, self, folder, device, precision, guard, trained=outcome.status == FINISHED)

    @property
    def described(self):
        """Coordinates of its record; the arm is added when the runs are merged."""
        names = ("embedding", "architecture", "layers", "recurrences", "d_model", "k_max")
        return {
            "task": self.task.name,
            **{name: getattr(self.model, name) for name in names},
            "train_digits": self.task.largest,
            "parameters": self.model.parameters,
            "samples": self.plan.seen(self.plan.updates),
            "flop": self.matmul_flop,
            "arm": "",
        }

    def curves(self, steps):
        """Count problems and FLOP of matrix products by step."""
        samples = [float(self.plan.seen(step)) for step in steps]
        return {"samples_done": samples, "flop_done": [self.flop_done(step) for step in steps]}

    @functools.cached_property
    def _flop_of_microbatches(self):
        model, every = self.model, self.model.recurrences
        free, held = recurrences_drawn(self.seed, torch.arange(self.plan.starts[-1]), every)
        drawn_pass, whole_pass = self.objective.alpha > 0, self.objective.alpha < 1
        # A block with gradients counts three times.
        blocks = drawn_pass * (free + 3 * held) + whole_pass * (every + 2 * self.objective.held(every))
        block = float(sum(problems * length * model.block_flop(length) for problems, length in self.shapes))
        head = float(sum(map(math.prod, self.shapes)) * model.head_flop)
        flop = block * blocks.double() + 3 * head * (drawn_pass + whole_pass)
        return [0.0, *flop.cumsum(0).tolist()]


def training_bytes(model, tokens, length, precision, held, *, on_cpu=True):
    """Estimate the memory that training a `Configuration` takes at its largest, in bytes.

    `tokens` go through the model at once, padding included. Activations of `held` recurrences with gradient stay in
    memory, and weights have gradients and AdamW's two averages. On a CPU, attention with a bias stores all its weights.
    """
    bfloat16 = precision == "bfloat16"
    width = 2 if bfloat16 else 4
    layer = (9 * model.d_model + 2 * model.feed_forward) * width
    if "fire" in model.parts and on_cpu:
        layer += 3 * 4 * model.heads * length
    if "rope" in model.parts:
        layer += 2 * 4 * model.d_model
    activations = tokens * (model.layers * held * layer + (4 * model.d_model + 2 * model.feed_forward) * width)
    logits = tokens * model.vocabulary * 4 * 3
    # Weights rounded to bfloat16 have gradients of their own.
    weights = (20 if bfloat16 else 16) * model.parameters
    return MARGIN * (weights + activations + logits)


@dataclass(frozen=True)
class ArithmeticSweep(base.BaseSweep):
    """A sweep of arithmetic models: runs by arm, checked. Arms may share runs."""

    arms: dict[str, tuple[Run, ...]]
    execution: Execution

    def settled(self, where):
        """Return the sweep with its runs settled, as `Run.settled` does."""
        return replace(self, arms={arm: tuple(run.settled(where) for run in runs) for arm, runs in self.arms.items()})

    def groups(self):
        """Return the runs of each arm."""
        return self.arms

    def rounds(self, results):
        """Yield the runs of all arms in one round, so that an executor has them all at once."""
        yield "arithmetic", distinct(run for runs in self.arms.values() for run in runs)

    def gathered(self, rounds, results):
        """Merge the runs, with a table that has a row for each run and cell."""
        arms = {arm: {run.name for run in runs} for arm, runs in self.arms.items()}
        whole = records.merged(rounds["arithmetic"], results, arms, "arm")
        return whole, {"runs": table(whole)}
