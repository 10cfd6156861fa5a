"""What runs are bought to learn: the best size at a budget, the loss there, or the exponent of the best size."""

from typing import NamedTuple

import numpy as np

from ...datasets.wording import check_choice
from ...errors import InputError
from ...models.loss.budget import tokens_at
from ..words import flop

TARGETS = ("allocation", "loss", "exponent")
STEP = 0.05  # of log C, over which the loss and the best size are differenced


class Target(NamedTuple):
    """A target under the draws of one fit, (sample,), and what it is in words.

    The ratio is tokens per parameter where it is learned, and `compute` the training FLOP there.
    `of` is "size" where the drift of the law is that of log N*, "loss" where it is that of log loss, and None where
    there is none. Of the best size alone, `excess` is the expected excess loss at the target, in nats, of the size that
    is best on average, and `slope` the fall of the best loss with log C.
    """

    draws: np.ndarray
    text: str
    ratio: float
    compute: float
    of: str | None = None
    excess: float = np.nan
    slope: float = np.nan


def target_of(draws, target, compute, planned):
    """Return the `Target` that a user named, under draws; see `design`. `compute` may be None."""
    check_choice("target", target, TARGETS)
    if compute is None:
        raise InputError(
            f"target {target!r} needs compute, the training FLOP that it is about; give compute=1e24 (--compute 1e24)"
        )
    of_planned, planned = draws.of_planned(**planned)
    plan = of_planned.law.plan(of_planned.constants(), **planned)
    model, tokens = plan.optimum(np.array([compute]))
    best, ratio = np.log(model["parameters"]), float(np.median(tokens / model["parameters"]))
    if target == "exponent":
        later, _ = plan.optimum(np.array([compute * np.exp(STEP)]))
        slope = (np.log(later["parameters"]) - best) / STEP
        return Target(slope[:, 0], "the exponent of the best size", ratio, compute)
    losses = plan.loss(model, tokens)
    larger = plan.loss(*plan.optimum(np.array([compute * np.exp(STEP)])))
    slope = float(np.mean(losses - larger)) / STEP
    if target == "loss":
        return Target(np.log(losses)[:, 0], f"the best loss at {flop(compute)}", ratio, compute, "loss")
    chosen = np.exp(best.mean())
    paid = plan.loss(plan.model(plan.size(chosen + 0 * best)), tokens_at(compute, chosen) + 0 * best)
    excess = max(float(np.mean(paid - losses)), 0.0)
    return Target(best[:, 0], f"the best size at {flop(compute)}", ratio, compute, "size", excess, slope)
