"""The memory that a language model needs, estimated before a sweep begins."""

from ..engine.memory import MARGIN
from .loss import CHUNK


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
