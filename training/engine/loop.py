"""The training loop: any model, any loss that is a function of the step, resumed as if never broken off."""

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch

from ...errors import InputError
from .guard import Guard
from .schedules import check_schedule, factor
from .steps import GraphStepper, Stepper

FINISHED, PAUSED, DIVERGED = "finished", "paused", "diverged"
# Updates between looks at the loss, which a device has to be waited for.
LOOK = 50


@dataclass(frozen=True)
class Optimisation:
    """How weights are updated: AdamW (Loshchilov and Hutter 2019, arXiv:1711.05101) at a scheduled rate.

    Parameters
    ----------
    learning_rate : float
        Peak rate.
    schedule : str
        ``"constant"``; ``"cosine"``, to nothing at the last update; or ``"trapezoid"``, up from nothing and down to it.
    updates : int
        Updates of the whole run.
    warmup : int
        Updates over which the rate first rises.
    betas : tuple of float
        Decay of the averages of the gradient and of its square.
    epsilon : float
        Added to the root of the latter.
    decay : float
        Decay of matrices; gains do not decay.
    clip : float or None
        Largest norm of the gradient.
    """

    learning_rate: float
    schedule: str = "constant"
    updates: int = 4000
    warmup: int = 0
    betas: tuple[float, float] = (0.9, 0.95)
    epsilon: float = 1e-8
    decay: float = 0.01
    clip: float | None = 1.0

    def __post_init__(self):
        object.__setattr__(self, "betas", tuple(self.betas))
        check_schedule(self.schedule)
        for name, right, mend in (
            ("learning_rate", 0 < self.learning_rate < math.inf, "a positive number"),
            ("updates", isinstance(self.updates, int) and self.updates >= 1, "a whole number of at least 1"),
            ("warmup", isinstance(self.warmup, int) and 0 <= self.warmup <= self.updates, "0 to updates"),
            ("betas", len(self.betas) == 2 and all(0 <= beta < 1 for beta in self.betas), "two numbers of [0, 1)"),
            ("epsilon", 0 < self.epsilon < math.inf, "a positive number"),
            ("decay", 0 <= self.decay < math.inf, "a number of at least 0"),
            ("clip", self.clip is None or self.clip > 0, "a positive number"),
        ):
            if not right:
                raise InputError(f"training: {name} is {getattr(self, name)!r}; give {mend}")

    def rate(self, step):
        """Learning rate of the update after `step` others."""
        return self.learning_rate * factor(self.schedule, step, self.updates, self.warmup)

    def optimiser(self, model, *, capturable=False):
        """AdamW over the parameters of a model, whose matrices decay.

        Parameters
        ----------
        model : torch.nn.Module
        capturable : bool
            Whether a CUDA graph will step it.
        """
        device = next(model.parameters()).device
        rate = torch.tensor(self.learning_rate, device=device) if capturable else self.learning_rate
        weights = list(model.parameters())
        groups = [
            {"params": [w for w in weights if w.ndim >= 2], "weight_decay": self.decay},
            {"params": [w for w in weights if w.ndim < 2], "weight_decay": 0.0},
        ]
        groups = [group for group in groups if group["params"]]
        return torch.optim.AdamW(
            groups, lr=rate, betas=self.betas, eps=self.epsilon, fused=device.type == "cuda", capturable=capturable
        )


@dataclass(frozen=True)
class Task:
    """What a model learns.

    Parameters
    ----------
    batch : callable
        Of a step, to a tuple of what the loss takes: tensors on the device, and for an update that is no CUDA graph
        anything else. Of the step alone, so that a resumed run sees the same.
    loss : callable
        Of the model and the batch, to a scalar tensor or an iterator over parts of it, as `steps.Stepper` takes it.
    evaluate : callable
        Of the model, to a dict of str to float; it includes no randomness.
    """

    batch: Callable[[int], tuple]
    loss: Callable[..., torch.Tensor | Iterator[torch.Tensor]]
    evaluate: Callable[[torch.nn.Module], dict[str, float]]


class Outcome(NamedTuple):
    """What a run came to: its status, and a dict for each evaluation, with `step` and `loss_train` among the keys."""

    status: str
    evaluations: list[dict[str, float]]


@dataclass
class _Progress:
    step: int = 0
    seconds: float = 0.0
    status: str = PAUSED
    # Summed in float64 on the device, and emptied at each evaluation.
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
    graph=False,
):
    """Train a model, from its last checkpoint if there is one.

    Parameters
    ----------
    model : torch.nn.Module
        On its device, with its initial weights.
    task : Task
    optimisation : Optimisation
    evaluate_at : collection of int
        Numbers of updates after which to evaluate.
    precision : str
        ``"float32"`` or ``"bfloat16"``, for matrix products in training; evaluation is in float32.
    checkpoints : Checkpoints, optional
        Where to save, and to resume from.
    save_seconds : float
        Time between checkpoints.
    guard : Guard, optional
        What may stop the run early, after a checkpoint; a time limit only after an update.
    report : callable, optional
        Of the updates done and the mean loss since the last evaluation, called now and then.
    graph : bool
        Replay updates as CUDA graphs.

    Returns
    -------
    Outcome
        Status ``"finished"``; ``"paused"`` if the guard stopped it; ``"diverged"`` if a loss was not finite, where
        the evaluations left hold NaN.

    Raises
    ------
    InputError
        If a checkpoint is damaged or cannot be written.
    """
    guard = guard or Guard()
    device = next(model.parameters()).device
    optimiser = optimisation.optimiser(model, capturable=graph)
    progress = _Progress(loss=torch.zeros((), dtype=torch.float64, device=device), evaluations=[])
    if checkpoints:
        _restore(checkpoints, model, optimiser, progress, device)
    stepper = (GraphStepper if graph else Stepper)(model, task.loss, optimiser, optimisation.clip, precision)
    evaluate_at = sorted(step for step in set(evaluate_at) if 0 < step <= optimisation.updates)
    saved = start = time.perf_counter()
    before = progress.seconds
    while progress.status == PAUSED and progress.step < optimisation.updates and not guard.expired:
        progress.loss += stepper(optimisation.rate(progress.step), *task.batch(progress.step))
        progress.step += 1
        progress.updates += 1
        guard.progressed()
        evaluate = progress.step in evaluate_at
        if evaluate or progress.step % LOOK == 0:
            mean = progress.loss.item() / progress.updates
            progress.seconds = before + time.perf_counter() - start
            if not math.isfinite(mean):
                progress.status = DIVERGED
            elif evaluate:
                _evaluate(model, task, progress, mean)
            if report:
                report(progress.step, mean)
        if checkpoints and time.perf_counter() - saved >= save_seconds:
            progress.seconds = before + time.perf_counter() - start
            _save(checkpoints, model, optimiser, progress)
            saved = time.perf_counter()
    progress.seconds = before + time.perf_counter() - start
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
    found = checkpoints.latest(device)
    if found is None:
        return
    _, weights, state = found
    model.load_state_dict(weights)
    settings = [{name: group[name] for name in group if name != "params"} for group in optimiser.param_groups]
    optimiser.load_state_dict(state.pop("optimiser"))
    # How the optimiser steps depends on this device, and a rate in a tensor must stay in the one that a graph reads.
    for group, own in zip(optimiser.param_groups, settings, strict=True):
        group.update(own)
    for name, value in state.items():
        setattr(progress, name, value)
