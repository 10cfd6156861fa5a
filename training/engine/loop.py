"""The training loop: any model, any loss that is a function of the step; a resumed run equals an unbroken one."""

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any, Literal, NamedTuple

import torch

from ...errors import InputError
from .fields import BelowOne, Count, NotNegative, Positive, Share, Whole, check_fields
from .guard import Guard
from .updates import OPTIMISERS, Stepper, make_optimiser

SCHEDULES = ("constant", "cosine", "trapezoid")
FINISHED, PAUSED, DIVERGED = "finished", "paused", "diverged"
# Updates between readings of the loss: to read it, the host waits for the device.
LOOK = 50
# The time between checkpoints is at least so many times what the last one took.
SAVING = 50


@dataclass(frozen=True)
class Optimisation:
    """How weights are updated: by AdamW (Loshchilov and Hutter 2019, arXiv:1711.05101) or Muon at a scheduled rate.

    The default betas, epsilon and clip are those of GPT-3 (Brown et al. 2020, arXiv:2005.14165, appendix B), and the
    default decay is torch's.

    Parameters
    ----------
    learning_rate : float
        Peak rate.
    schedule : str
        ``"constant"``; ``"cosine"``, which falls to zero at the end; or ``"trapezoid"``, which rises from zero and
        falls to it.
    updates : int
        Updates of the whole run.
    warmup : int
        Updates over which the rate first rises in a line.
    betas : tuple of float
        Decay of the running averages of the gradient and of its square.
    epsilon : float
        Added to the square root of the latter.
    decay : float
        Weight decay of matrices; gains do not decay.
    clip : float or None
        Largest norm of the gradient; None does not clip.
    rise, fall : float
        Shares of the run in which a trapezoid rises and falls; 0 leaves the rise or the fall out.
    optimiser : str
        ``"adamw"``; or ``"muon"`` (Jordan et al. 2024) for the matrices of blocks, with AdamW for the rest.
    rate_width : int
        Width d_model that has the learning rate in its blocks. Other widths have it times the ratio of widths, for Muon
        its square root; 0 has one rate for all.

    Examples
    --------
    >>> from bayescaling.training import Optimisation
    >>> optimisation = Optimisation(0.01, schedule="cosine", updates=100, warmup=10)
    >>> [round(optimisation.rate(step), 4) for step in (0, 10, 55, 99)]
    [0.001, 0.01, 0.005, 0.0]
    """

    learning_rate: Positive
    schedule: Literal[SCHEDULES] = "constant"
    updates: Count = 4000
    warmup: Whole = 0
    betas: tuple[BelowOne, BelowOne] = (0.9, 0.95)
    epsilon: Positive = 1e-8
    decay: NotNegative = 0.01
    clip: Positive | None = 1.0
    rise: Share = 0.1  # as McLeish et al. (2024, arXiv:2405.17399) train
    fall: Share = 0.1
    optimiser: Literal[OPTIMISERS] = "adamw"
    rate_width: Whole = 0

    def __post_init__(self):
        check_fields(self, "training")
        if self.warmup > self.updates:
            raise InputError(f"training: warmup is {self.warmup}; give at most the updates of the run, {self.updates}")

    def rate(self, step):
        """Compute the learning rate of the update after `step` others."""
        if step < self.warmup:
            return self.learning_rate * (step + 1) / self.warmup
        progress = (step - self.warmup) / max(1, self.updates - self.warmup)
        return self.learning_rate * self.share(progress)

    def share(self, progress):
        """Compute the learning rate as a share of the peak, from 0 to 1, when a share `progress` of the run is done."""
        if self.schedule == "cosine":
            return (1 + math.cos(math.pi * progress)) / 2
        if self.schedule == "trapezoid":
            rising = progress / self.rise if self.rise else 1.0
            falling = (1 - progress) / self.fall if self.fall else 1.0
            return min(1.0, rising, falling)
        return 1.0

    @property
    def plain(self):
        """Settings as plain values; later ones are left out at their defaults, so that names of runs stay."""
        later = {"optimiser": "adamw", "rate_width": 0}
        return {name: value for name, value in asdict(self).items() if name not in later or value != later[name]}


@dataclass(frozen=True)
class Task:
    """What a model learns.

    `batch` takes a step and returns a tuple of what the loss takes. It depends on the step alone, so that a resumed run
    reads the same batches. `loss` takes the model and the batch and returns a scalar tensor, or an iterator over parts
    of it, as `updates.Stepper` takes it. `evaluate` takes the model and returns a dict of numbers, without randomness.
    """

    batch: Callable[[int], tuple]
    loss: Callable[..., torch.Tensor | Iterator[torch.Tensor]]
    evaluate: Callable[[torch.nn.Module], dict[str, float]]


class Outcome(NamedTuple):
    """Result of a run: its status, and a dict for each evaluation, with `step` and `loss_train` among the keys.

    The status is ``"finished"``; ``"paused"`` if the guard stopped it; or ``"diverged"`` if a loss was not finite, in
    which case the remaining evaluations hold NaN.
    """

    status: str
    evaluations: list[dict[str, float]]


@dataclass
class _Progress:
    step: int = 0
    seconds: float = 0.0
    status: str = PAUSED
    # Sum in float64 on the device, set to zero at each evaluation.
    loss: Any = None
    updates: int = 0
    evaluations: list = None


def run(
    model,
    task,
    optimisation,
    *,
    evaluate_at,
    precision="float32",
    checkpoints=None,
    save_seconds=60,
    guard=None,
    report=None,
):
    """Train a model, from its last checkpoint if there is one, and return an `Outcome`.

    The model, on its device, has its initial weights. It is evaluated after the numbers of updates `evaluate_at`, in
    float32; the precision is that of matrix products in training.

    `checkpoints` are where to save, and to resume from. The time between them is `save_seconds`, and at least fifty
    times what the last one took. `InputError` is raised if one is damaged or cannot be written. A `guard` may stop the
    run early, after a checkpoint; a time limit only after an update. `report` is called every few updates with the
    updates done and the mean loss since the last evaluation.

    Examples
    --------
    A linear model that learns to double its input:

    >>> import torch
    >>> from bayescaling.training import Optimisation, Task, run
    >>> x = torch.linspace(-1, 1, 8)[:, None]
    >>> model = torch.nn.Linear(1, 1, bias=False)
    >>> task = Task(
    ...     batch=lambda step: (x, 2 * x),
    ...     loss=lambda model, x, y: ((model(x) - y) ** 2).mean(),
    ...     evaluate=lambda model: {"weight": model.weight.item()},
    ... )
    >>> outcome = run(model, task, Optimisation(0.1, schedule="cosine", updates=100, decay=0.0), evaluate_at=[100])
    >>> outcome.status, round(outcome.evaluations[0]["weight"], 1)
    ('finished', 2.0)
    """
    guard = guard or Guard()
    device = next(model.parameters()).device
    optimiser = make_optimiser(optimisation, model)
    progress = _Progress(loss=torch.zeros((), dtype=torch.float64, device=device), evaluations=[])
    if checkpoints:
        _restore(checkpoints, model, optimiser, progress, device)
    stepper = Stepper(model, task.loss, optimiser, optimisation.clip, precision)
    evaluate_at = sorted(step for step in set(evaluate_at) if 0 < step <= optimisation.updates)
    saved = time.perf_counter()
    start = saved - progress.seconds
    took = 0.0
    while progress.status == PAUSED and progress.step < optimisation.updates and not guard.expired:
        progress.loss += stepper(optimisation.rate(progress.step), *task.batch(progress.step))
        progress.step += 1
        progress.updates += 1
        guard.progressed()
        evaluate = progress.step in evaluate_at
        if evaluate or progress.step % LOOK == 0:
            mean = progress.loss.item() / progress.updates
            progress.seconds = time.perf_counter() - start
            if not math.isfinite(mean):
                progress.status = DIVERGED
            elif evaluate:
                _evaluate(model, task, progress, mean)
            if report:
                report(progress.step, mean)
        now = time.perf_counter()
        if checkpoints and now - saved >= max(save_seconds, SAVING * took):
            progress.seconds = now - start
            _save(checkpoints, model, optimiser, progress)
            saved = time.perf_counter()
            took = saved - now
    progress.seconds = time.perf_counter() - start
    if progress.status == PAUSED and progress.step == optimisation.updates:
        progress.status = FINISHED
    if progress.status == DIVERGED:
        _fill(progress, evaluate_at)
    if checkpoints:
        _save(checkpoints, model, optimiser, progress)
    return Outcome(progress.status, progress.evaluations)


def _evaluate(model, task, progress, mean):
    model.eval()
    with torch.no_grad():
        values = task.evaluate(model)
    model.train()
    values = {"step": progress.step, "loss_train": mean, "wall_seconds": progress.seconds} | values
    progress.evaluations.append(values)
    progress.loss.zero_()
    progress.updates = 0


def _fill(progress, evaluate_at):
    done = {values["step"] for values in progress.evaluations}
    names = {name for values in progress.evaluations for name in values} | {"loss_train", "wall_seconds"}
    for step in evaluate_at:
        if step not in done:
            progress.evaluations.append(dict.fromkeys(sorted(names), math.nan) | {"step": step})


def _save(checkpoints, model, optimiser, progress):
    checkpoints.save(progress.step, model.state_dict(), {"optimiser": optimiser.state_dict(), **vars(progress)})


def _restore(checkpoints, model, optimiser, progress, device):
    checkpoint = checkpoints.latest(device)
    if checkpoint is None:
        return
    _, weights, state = checkpoint
    model.load_state_dict(weights)
    settings = [{name: group[name] for name in group if name != "params"} for group in optimiser.param_groups]
    optimiser.load_state_dict(state.pop("optimiser"))
    # The optimiser's settings depend on this device.
    for group, measure_device in zip(optimiser.param_groups, settings, strict=True):
        group.update(measure_device)
    for name, value in state.items():
        setattr(progress, name, value)
