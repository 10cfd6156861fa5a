"""One update of a model."""

import torch

from .precision import Rounding


class Stepper:
    """Makes updates of a model by an optimiser, with gradients clipped to a largest norm unless `clip` is None.

    `loss` takes the model, with layers in the precision, and what a batch holds. It returns a loss of shape () or an
    iterator over parts that add up to it. Each part is backpropagated before the next is made, so that memory for one
    part is enough.
    """

    def __init__(self, model, loss, optimiser, clip, precision):
        self.model, self.loss, self.optimiser = model, loss, optimiser
        self.clip, self.rounding = clip, Rounding(model, precision)

    def __call__(self, rate, *batch):
        """Make one update at a learning rate, and return its loss."""
        for group in self.optimiser.param_groups:
            group["lr"] = rate * group.get("scale", 1.0)
        self.optimiser.zero_grad()
        self.rounding.refresh()
        loss = self.loss(self.rounding.rounded, *batch)
        total = sum(map(self._backpropagated, [loss] if isinstance(loss, torch.Tensor) else loss))
        if self.clip is not None:
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.clip)
        self.optimiser.step()
        return total

    def _backpropagated(self, part):
        part.backward()
        self.rounding.gather()
        return part.detach()
