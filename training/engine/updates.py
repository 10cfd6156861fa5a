"""Updates of a model: its optimiser, the precision of its layers, and one step.

Layers in bfloat16 have weights in float32: updates are exact, and weights are rounded for products once an update. The
stream between layers has the precision too. Norms compute their statistics in float32 inside torch's kernels.
Embeddings, FIRE's bias and the logits of arithmetic models stay in float32.
"""

import copy

import torch

from ...errors import InputError

OPTIMISERS = ("adamw", "muon")
# Power of the width by which the rate of blocks falls. An update then changes what they add by as much at every width.
# Sources are, for AdamW, Yang et al. 2022 (arXiv:2203.03466); for Muon, Yang et al. 2023 (arXiv:2310.17813).
FALLING = {"adamw": 1.0, "muon": 0.5}


def make_optimiser(settings, model):
    """Make the optimiser of a model whose matrices decay; each group of weights scales the learning rate."""
    weights, apart = dict(model.named_parameters()), settings.optimiser == "muon" or settings.rate_width
    blocks = {name for name, w in weights.items() if apart and name.startswith("blocks.") and w.ndim == 2}
    inside = [w for name, w in weights.items() if name in blocks]
    outside = [w for name, w in weights.items() if w.ndim >= 2 and name not in blocks]
    scale = 1.0
    if settings.rate_width:
        scale = (settings.rate_width / model.configuration.d_model) ** FALLING[settings.optimiser]
    groups = [
        {"params": inside, "weight_decay": settings.decay, "scale": scale},
        {"params": outside, "weight_decay": settings.decay, "scale": 1.0},
        {"params": [w for w in weights.values() if w.ndim < 2], "weight_decay": 0.0, "scale": 1.0},
    ]
    rate, fused = settings.learning_rate, next(model.parameters()).device.type == "cuda"
    muon = None
    if settings.optimiser == "muon" and inside:
        # Updates of the size of AdamW's, so that one rate serves both (Liu et al. 2025, arXiv:2502.16982).
        muon = torch.optim.Muon([groups.pop(0)], lr=rate, adjust_lr_fn="match_rms_adamw")
    groups = [group for group in groups if group["params"]]
    adamw = torch.optim.AdamW(groups, lr=rate, betas=settings.betas, eps=settings.epsilon, fused=fused)
    return adamw if muon is None else Together(muon, adamw)


class Together:
    """Several optimisers, of different weights, used as one."""

    def __init__(self, *optimisers):
        self.optimisers = optimisers

    @property
    def param_groups(self):
        """The groups of weights of all."""
        return [group for optimiser in self.optimisers for group in optimiser.param_groups]

    def step(self):
        """Make an update of all weights."""
        for optimiser in self.optimisers:
            optimiser.step()

    def state_dict(self):
        """Return the states of all, as `load_state_dict` takes them."""
        return {"optimisers": [optimiser.state_dict() for optimiser in self.optimisers]}

    def load_state_dict(self, state):
        """Take up the states of all."""
        for optimiser, part in zip(self.optimisers, state["optimisers"], strict=True):
            optimiser.load_state_dict(part)


def rounded(model, precision):
    """Return a model with layers in a precision: itself in float32, else a copy that shares all other weights."""
    if precision == "float32":
        return model
    if not hasattr(model, "rounds"):
        raise InputError(f'training: precision "{precision}" needs a model with the method rounds; give "float32"')
    weights = {}
    for name, weight in model.named_parameters():
        weights[id(weight)] = weight
        if model.rounds(name):
            weights[id(weight)] = torch.nn.Parameter(weight.detach().to(getattr(torch, precision)))
            for hook in (weight._backward_hooks or {}).values():
                weights[id(weight)].register_hook(hook)
    return copy.deepcopy(model, weights)


class Stepper:
    """Makes updates of a model by an optimiser, with gradients clipped to a largest norm unless `clip` is None.

    `loss` returns a loss, or an iterator over parts that add up to it, of which one at a time is in memory.
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
