"""The memory that a language model needs, estimated before a sweep begins."""

from ...errors import InputError
from ..engine.hardware import chosen_precision, device_name, free_memory
from .loss import CHUNK

# Allocators and kernels need more than the estimate; this factor for them is assumed, not measured.
MARGIN = 1.2
GIB = 2**30


def training_bytes(model, tokens, route, precision, *, on_gpu=False):
    """Estimate the memory that training takes at its largest.

    Parameters
    ----------
    model : transformer.Configuration
    tokens : int
        Of an update.
    route : str
        Of the loss, as `loss.chosen_route` gives it.
    precision : str
        ``"float32"`` or ``"bfloat16"``.
    on_gpu : bool

    Returns
    -------
    float
        Bytes of weights, gradients and AdamW's two averages (16 a parameter), of what backpropagation needs of each
        layer (by token eighteen widths, and attention's weights), and of logits: where all are made at once in the
        precision of the layers, in float32, and again for their gradients; else of a chunk of them.
    """
    width = 2 if precision == "bfloat16" else 4
    layer = (18 * model.d_model + 2 * model.heads * model.context) * width
    at_once = tokens if route == "plain" else min(tokens, 1 + CHUNK[on_gpu] // model.vocabulary)
    logits = at_once * model.vocabulary * (width + 8)
    return MARGIN * (16 * (model.parameters + model.gains) + tokens * model.layers * layer + logits)


def check_memory(model, run, route, device):
    """Refuse a model that does not fit into the free memory.

    Parameters
    ----------
    model : transformer.Configuration
    run : runs.Run
        With the tokens of an update, and the precision.
    route : str
    device : torch.device

    Raises
    ------
    InputError
        The message has the memory that the model needs and what is free.
    """
    precision = chosen_precision(run.precision, device)
    needed = training_bytes(model, run.batch_tokens, route, precision, on_gpu=device.type == "cuda")
    free = free_memory(device)
    if needed > free:
        raise InputError(
            f"training: a model of {model.parameters:,} parameters with {run.batch_tokens:,} tokens an update needs "
            f"about {needed / GIB:.3g} GiB and {device_name(device)} has {free / GIB:.3g} GiB free; give fewer "
            "batch_tokens or a smaller model"
        )
