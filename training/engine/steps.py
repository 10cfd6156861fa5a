"""One update of a model, run eagerly or replayed as a CUDA graph."""

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
            if isinstance(group["lr"], torch.Tensor):
                group["lr"].fill_(rate)
            else:
                group["lr"] = rate
        return self.update(*batch)

    def update(self, *batch):
        """Backpropagate a batch's loss and step the optimiser."""
        self.optimiser.zero_grad(set_to_none=True)
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


class GraphStepper(Stepper):
    """Makes updates on CUDA by replaying a graph, one for each shape of batch, which takes little time on the host.

    The optimiser must be capturable, with its learning rate in a tensor.
    """

    # Eager updates before a graph is captured, as in the example of torch's notes on CUDA graphs.
    WARM_UP = 3

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.graphs = {}

    def update(self, *batch):
        """Copy a batch into the graph of its shape and replay it."""
        shape = tuple((part.shape, part.dtype) for part in batch)
        if shape not in self.graphs:
            self.graphs[shape] = self._captured([part.clone() for part in batch])
        graph, buffers, loss = self.graphs[shape]
        for buffer, part in zip(buffers, batch, strict=True):
            buffer.copy_(part)
        graph.replay()
        return loss.clone()

    def _captured(self, buffers):
        before = self._snapshot()
        stream = torch.cuda.Stream(self.device)
        stream.wait_stream(torch.cuda.current_stream(self.device))
        with torch.cuda.stream(stream):
            for _ in range(self.WARM_UP):
                super().update(*buffers)
        torch.cuda.current_stream(self.device).wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        self.optimiser.zero_grad(set_to_none=True)
        with torch.cuda.graph(graph):
            loss = super().update(*buffers)
        self._restore(before)
        return graph, buffers, loss

    def _snapshot(self):
        with torch.no_grad():
            weights = [weight.clone() for weight in self.model.parameters()]
        state = {
            weight: {name: value.clone() for name, value in values.items() if isinstance(value, torch.Tensor)}
            for weight, values in self.optimiser.state.items()
        }
        return weights, state

    def _restore(self, before):
        weights, state = before
        with torch.no_grad():
            for weight, old in zip(self.model.parameters(), weights, strict=True):
                weight.copy_(old)
            # In place, since the graph reads these very tensors. A moment that the warm-up made was zero before.
            for weight, values in self.optimiser.state.items():
                for name, value in values.items():
                    if isinstance(value, torch.Tensor):
                        value.copy_(state[weight][name]) if weight in state else value.zero_()
