"""One update of a model."""

import torch

from .precision import rounded


class Stepper:
    """Makes updates of a model by an optimiser, with gradients clipped to a largest norm unless `clip` is None.

    `loss` takes the model, with layers in the precision, and what a batch holds. It returns a loss of shape () or an
    iterator over parts that add up to it. Each part is backpropagated before the next is made, so that memory for one
    part is enough.
    """

    def __init__(self, model, loss, optimiser, clip, precision):
        self.model, self.loss, self.optimiser = model, loss, optimiser
        self.clip, self.rounded = clip, rounded(model, precision)
        pairs = zip(model.parameters(), self.rounded.parameters(), strict=True)
        self.pairs = [(weight, copied) for weight, copied in pairs if weight is not copied]

    def __call__(self, rate, *batch):
        """Make one update at a learning rate, and return its loss."""
        for group in self.optimiser.param_groups:
            group["lr"] = rate * group.get("scale", 1.0)
        self.model.zero_grad()
        with torch.no_grad():
            if self.pairs:
                weights, copies = zip(*self.pairs, strict=True)
                torch._foreach_copy_(copies, weights)
        loss = self.loss(self.rounded, *batch)
        total = 0
        for part in [loss] if isinstance(loss, torch.Tensor) else loss:
            part.backward()
            # Gradients of rounded weights are added to those in float32.
            for weight, copied in self.pairs:
                if copied.grad is not None:
                    weight.grad = copied.grad.float() if weight.grad is None else weight.grad.add_(copied.grad)
                    copied.grad = None
            total = total + part.detach()
        if self.clip is not None:
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.clip)
        self.optimiser.step()
        return total
