"""Layers in bfloat16 and weights in float32: updates are exact, and weights are rounded for products once an update.

The stream between layers has the precision too. Norms compute their statistics in float32 inside torch's kernels.
Embeddings, FIRE's bias and the logits of arithmetic models stay in float32.
"""

import copy

import torch

from ...errors import InputError


def rounded(model, precision):
    """Return a model whose layers have a precision: itself in float32, else a copy that shares its other weights.

    The model has the method `rounds`, which takes the name of a weight and returns whether the copy has it rounded.
    `Stepper` copies weights and gradients between the two. `InputError` is raised if the model has no such method.
    """
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
