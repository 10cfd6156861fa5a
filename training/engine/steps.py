"""One update of a model."""

import torch

from .hardware import autocast


class Stepper:
    """Makes updates of a model by an optimiser, with gradients clipped to a largest norm unless `clip` is None.

    `loss` takes the model and what a batch holds, and returns a loss of shape () or an iterator over parts that add up
    to it. Each part is backpropagated before the next is made, so that memory for one part is enough.
    """

    def __init__(self, model, loss, optimiser, clip, precision):
        self.model, self.loss, self.optimiser = model, loss, optimiser
        self.clip, self.precision = clip, precision
        self.device = next(model.parameters()).device

    def __call__(self, rate, *batch):
        """Make one update at a learning rate, and return its loss."""
        for group in self.optimiser.param_groups:
            group["lr"] = rate * group.get("scale", 1.0)
        self.optimiser.zero_grad()
        loss = self._backpropagated(batch)
        if self.clip is not None:
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.clip)
        self.optimiser.step()
        return loss

    def _backpropagated(self, batch):
        with autocast(self.precision, self.device):
            loss = self.loss(self.model, *batch)
        if isinstance(loss, torch.Tensor):
            loss.backward()
            return loss.detach()
        total = torch.zeros((), device=self.device)
        while True:
            with autocast(self.precision, self.device):
                part = next(loss, None)
            if part is None:
                return total
            part.backward()
            total += part.detach()
