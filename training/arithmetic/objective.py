"""The objective of McLeish et al. (2024, arXiv:2405.17399): cross-entropy through a random number of recurrences."""

from dataclasses import dataclass
from typing import Literal

import torch
import torch.nn.functional as F

from ..engine.fields import Share, check_fields
from .problems.vocabulary import PAD


@dataclass(frozen=True)
class Objective:
    """The objective that a run minimises.

    Parameters
    ----------
    masked : bool
        Whether tokens up to the equals sign do not count.
    average : str
        ``"tokens"`` is the mean over all tokens that count. ``"problems"`` is the mean over problems of the mean over
        their tokens. ``"positions"`` is the sum over the number of all positions, padding included (McLeish et al.
        2024, multiplication). That number is B (S - 1) for B problems whose longest can have S tokens, so short answers
        count less.
    alpha : float
        Weight of the progressive loss; the pass through all recurrences has weight 1 - alpha. McLeish et al. (2024)
        describe this combination; their runs have 1.
    all_gradients : bool
        Whether the pass through all recurrences has gradients in all. In the public code of McLeish et al. (2024) it
        has them in the last half.
    divide_gradients : bool
        Whether gradients of the block's weights are divided by the recurrences. McLeish et al. (2024) describe it for
        multiplication; in their public code it has no effect.
    """

    masked: bool = True
    average: Literal["tokens", "positions", "problems"] = "tokens"
    alpha: Share = 1.0
    all_gradients: bool = False
    divide_gradients: bool = False

    def __post_init__(self):
        check_fields(self, "training")

    def held(self, recurrences):
        """Return how many recurrences have gradients in the pass through all."""
        return recurrences if self.all_gradients else max(1, recurrences // 2)

    def counted(self, batch):
        """Compute the weights of all tokens but the first of a batch, float32, shape (problems, length - 1)."""
        scored = batch.scored if self.masked else batch.tokens != PAD
        weights = scored[:, 1:].float()
        if self.average == "problems":
            weights = weights / weights.sum(1, keepdim=True).clamp(min=1)
        return weights

    def losses(self, model, parts):
        """Yield losses of the parts of a batch, nats, shape (), whose sum is the batch's mean loss.

        Each part is a batch of problems that goes through the model at once, and its draws.
        """
        weights = [self.counted(batch) for batch, _ in parts]
        if self.average == "positions":
            widest = max(batch.tokens.shape[1] for batch, _ in parts)
            total = sum(len(batch.tokens) for batch, _ in parts) * (widest - 1)
        else:
            total = torch.stack([weight.sum() for weight in weights]).sum()
        for (batch, draws), weight in zip(parts, weights, strict=True):
            yield self._loss(model, batch, draws, weight) / total

    def _loss(self, model, batch, draws, weights):
        every = model.configuration.recurrences
        held = self.held(every)
        passes = [(self.alpha, draws), (1 - self.alpha, draws._replace(free=every - held, held=held))]
        return sum(
            share * summed(model(batch.tokens[:, :-1], draws=of_pass), batch, weights)
            for share, of_pass in passes
            if share > 0
        )


def summed(logits, batch, weights):
    """Sum the weighted cross-entropies of the tokens that follow, nats, shape ().

    Logits have shape (problems, length - 1, vocabulary) and weights (problems, length - 1).
    """
    targets = batch.tokens[:, 1:].flatten()
    return F.cross_entropy(logits.flatten(0, 1), targets, reduction="none") @ weights.flatten()


def divide_gradients(model):
    """Divide all later gradients of the block's weights by the recurrences."""
    share = 1 / model.configuration.recurrences
    for weight in model.layers.parameters():
        weight.register_hook(lambda gradient: gradient * share)


@torch.no_grad()
def judged(model, batch):
    """Compute the loss and count exact matches of a batch of problems, without randomness.

    The three tensors have shape (). They are the sum of the cross-entropies of the answers' tokens in nats, the number
    of these tokens, and the number of problems with all of them right.
    """
    logits = model(batch.tokens[:, :-1])
    wanted = batch.scored[:, 1:]
    right = (logits.argmax(-1) == batch.tokens[:, 1:]) | ~wanted
    return summed(logits, batch, wanted.float()), wanted.sum(), right.all(1).sum()
