"""What a sweep and its runs provide, of whatever kind, so that they can be trained and gathered, and how they are."""

import functools
import hashlib
import json
from dataclasses import dataclass, replace
from typing import Literal

import xarray as xr

from ...errors import InputError
from ..engine.compilation import can_compile
from ..engine.fields import Count, NotNegative, check_fields
from ..engine.hardware import choose_precision, measure_free_memory, name_device
from ..engine.loop import run as train_model

GIB = 2**30


class Run:
    """One model trained once: a value whose hash is its name. Each kind of sweep has a subclass, a frozen dataclass.

    Its fields include `model` (with `parameters`), `optimisation` (an `engine.loop.Optimisation`), `evaluate_at`
    (numbers of updates after which to evaluate, tuple of int), `precision` (str) and `seed` (int).

    A subclass has `configuration`, everything that the result depends on as plain values. Its record has the variables
    by step that evaluations hold, named in `measured`, and others that `curves(steps)` computes. It has the coordinates
    `described`, and `units` by name. `deviations` are those from the study that it follows.

    `peak_shares` has the shares of a GPU's peak that training reached on an H200, pairs of parameters of the model and
    share, as `training.check` measures them.

    It has `flop_done(updates)`, FLOP of matrix products, `test_flop`, those of its evaluations, and
    `tokens_done(updates)`. It has `bytes_needed(execution, device, precision)`; and `largest`, what needs memory in
    words and what to give if it is too much. `prepared(execution, device, precision)` makes the model with its initial
    weights, and its `engine.loop.Task`.
    """

    @functools.cached_property
    def name(self):
        """First 16 hexadecimal digits of the SHA-256 of the configuration."""
        text = json.dumps(self.configuration, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def settled(self, where):
        """Return the run with the precision of an `engine.hardware.Where` if its precision is ``"auto"``."""
        return replace(self, precision=where.precision) if self.precision == "auto" else self

    @property
    def matmul_flop(self):
        """FLOP of matrix products in the whole run."""
        return self.flop_done(self.optimisation.updates)

    def trained(self, execution, device, precision, **options):
        """Train the model; return it and its `engine.loop.Outcome`. The options are those of `engine.loop.run`."""
        model, task = self.prepared(execution, device, precision)
        marks = {"evaluate_at": self.evaluate_at, "precision": precision, "save_seconds": execution.save_seconds}
        return model, train_model(model, task, self.optimisation, **marks, **options)

    def check_fits(self, execution, device, precision):
        """Raise `InputError` if training does not fit into the free memory of a device."""
        needed, free = self.bytes_needed(execution, device, precision), measure_free_memory(device)
        if needed > free:
            what, instead = self.largest
            raise InputError(
                f"training: {what} needs about {needed / GIB:.3g} GiB and {name_device(device)} has {free / GIB:.3g} "
                f"GiB free; give {instead}"
            )

    def counts(self, model, outcome, folder, device, precision, guard):
        """Test the trained model: a Dataset without steps, by default empty, or None if the guard stopped it."""
        return xr.Dataset()

    @property
    def attributes(self):
        """Attributes of its record, besides those that all runs have."""
        return {}


class BaseSweep:
    """A sweep of runs. Each kind has a subclass, a frozen dataclass with a field `execution` (an `Execution`).

    A subclass has `settled(where)`, the sweep with its runs settled. For an outline it has `groups()`, the runs of each
    arm or stage by name, at any rate where a rate is still to be chosen.

    `rounds(results)` yields rounds of runs, each of which waits for those before it: (name, runs, each once).
    `results` has the records by name of run, and grows meanwhile; the generator is resumed after a round only if all
    of its runs are there. `gathered(rounds, results)` gathers the finished runs of the rounds so far, runs by round: a
    dataset, and tables by name of file.
    """

    def check(self, device):
        """Raise `InputError`, before anything is trained, for what would fail on a device."""
        for run in distinct(run for runs in self.groups().values() for run in runs):
            run.check_fits(self.execution, device, choose_precision(run.precision, device))


@dataclass(frozen=True)
class Execution:
    """How a run is computed, which changes its result by rounding alone and is no part of its name.

    Parameters
    ----------
    loss_route : str
        As `training.cross_entropy` takes it.
    compile : bool or "auto"
        Whether to compile the model and its loss; ``"auto"`` does on CUDA. Where that is not possible, they run
        without, with a warning; models with experts always do.
    graph : bool
        Whether compiled losses and their gradients are replayed as CUDA graphs; only on CUDA.
    save_seconds : float
        Time between checkpoints.
    deterministic : bool
        Whether to take kernels on CUDA that add in a fixed order, which are slower. Then a resumed run equals an
        unbroken one to the last bit, and otherwise to rounding. On a CPU it always does to the last bit.
    parts : int
        Parts of an update of a language model that go through it one after another, which takes less memory.
    keep : str
        What stays of a run besides its record: ``"nothing"``, or ``"weights"``, which are then in ``OUT/weights``, with
        the configuration in the file.

    Examples
    --------
    >>> from bayescaling.training import Execution
    >>> Execution(compile=False, save_seconds=600).compile
    False
    """

    loss_route: str = "auto"
    compile: bool | Literal["auto"] = "auto"
    graph: bool = False
    save_seconds: NotNegative = 60.0
    deterministic: bool = False
    parts: Count = 1
    keep: Literal["nothing", "weights"] = "nothing"

    def __post_init__(self):
        check_fields(self, "training")

    def compiles(self, device):
        """Return whether to compile on a device: if that is wanted and possible."""
        wanted = device.type == "cuda" if self.compile == "auto" else self.compile
        return wanted and can_compile(device.type)


def distinct(runs):
    """Return each of some runs once, as a list."""
    return list({run.name: run for run in runs}.values())


def mark_evaluations(updates, evaluations):
    """Spread evaluations evenly over a run: increasing numbers of updates after which to evaluate, tuple of int."""
    return tuple(sorted({max(1, round(updates * k / evaluations)) for k in range(1, evaluations + 1)}))
