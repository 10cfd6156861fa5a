"""The memory that a run needs, estimated before it begins."""

from ...engine.hardware import MARGIN, measure_free_memory

# In evaluation: the share of free memory for a layer's activations, and the most tokens of a batch by whether on a GPU.
EVALUATION_SHARE = 0.25
MOST_TOKENS = {False: 2**14, True: 2**19}


def training_bytes(model, tokens, length, precision, held, *, on_cpu=True):
    """Estimate the memory that training a `Configuration` takes at its largest, in bytes.

    `tokens` go through the model at once, padding included, of problems of `length`. Activations of `held` recurrences
    with gradient stay in memory. On a CPU, attention with a bias stores all its weights.

    The estimate has weights, gradients and AdamW's two averages, 16 bytes a parameter; the activations that
    backpropagation needs; logits; and a margin. A layer's activations for a token are the inputs of its four matrices
    and of what lies between them. Attention's weights are added if the kernel stores them.
    """
    bfloat16 = precision == "bfloat16"
    width = 2 if bfloat16 else 4
    layer = (9 * model.d_model + 2 * model.feed_forward) * width
    if "fire" in model.parts and on_cpu:
        layer += 3 * 4 * model.heads * length
    if "rope" in model.parts:
        layer += 2 * 4 * model.d_model
    activations = tokens * (model.layers * held * layer + (4 * model.d_model + 2 * model.feed_forward) * width)
    logits = tokens * model.vocabulary * 4 * 3
    # Weights rounded to bfloat16 have gradients of their own.
    weights = (20 if bfloat16 else 16) * model.parameters
    return MARGIN * (weights + activations + logits)


def evaluation_tokens(model, device):
    """Choose how many tokens go through a model at once in evaluation, from the free memory of a device.

    It is a power of two, so that models of one shape are tested in batches of one shape.
    """
    a_token = 4 * (8 * model.d_model + 2 * model.feed_forward + 3 * model.vocabulary)
    most = MOST_TOKENS[device.type == "cuda"]
    tokens = int(max(1, min(most, EVALUATION_SHARE * measure_free_memory(device) / a_token)))
    return 1 << (tokens.bit_length() - 1)
