"""Optimisers of a model's weights: AdamW, or Muon for the matrices of its blocks and AdamW for the rest."""

import torch

OPTIMISERS = ("adamw", "muon")
# Power of the width by which the rate of blocks falls. An update then changes what they add by as much at every width.
# Sources are, for AdamW, Yang et al. 2022 (arXiv:2203.03466); for Muon, Yang et al. 2023 (arXiv:2310.17813).
FALLING = {"adamw": 1.0, "muon": 0.5}


def make_optimiser(settings, model):
    """Make the optimiser of an `engine.loop.Optimisation` over a model whose matrices decay.

    A group of weights has ``scale``, its share of the learning rate. Blocks are what the model has as ``blocks``.
    """
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
