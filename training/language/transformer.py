"""Small decoder transformers, and exact counts of their parameters and arithmetic.

[PS24] is Pearce and Song 2024, "Reconciling Kaplan and Chinchilla scaling laws", arXiv:2406.12907.
"""

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F

from ...errors import InputError
from ..engine.fields import Count, check_fields

# Width of a block's network over that of the stream, as in GPT-2 (Radford et al. 2019).
EXPANSION = 4


@dataclass(frozen=True)
class Configuration:
    """Shape of a decoder.

    Parameters
    ----------
    d_model : int
        Width d of the residual stream, a multiple of `heads`.
    layers : int
        Number of blocks L.
    vocabulary : int
        Number of tokens V.
    context : int
        Largest number of tokens that are read at once; each place has a learned vector.
    heads : int
        Attention heads of a block.
    tied : bool
        Whether one matrix embeds tokens and turns states into logits.

    Examples
    --------
    The smallest model of [PS24]:

    >>> from bayescaling.training import Configuration
    >>> smallest = Configuration(16, 1)
    >>> smallest.parameters, smallest.parameters_nonembedding
    (807440, 3072)
    """

    d_model: Count
    layers: Count
    vocabulary: Count = 50257
    context: Count = 16
    heads: Count = 4
    tied: bool = True

    def __post_init__(self):
        check_fields(self, "model")
        if self.d_model % self.heads:
            raise InputError(f"model: d_model is {self.d_model} with {self.heads} heads; give a multiple of the heads")

    @property
    def parameters_nonembedding(self):
        """Parameters of the blocks' matrices, ``12 L d^2``: a third for attention, the rest after it."""
        return (4 + 2 * EXPANSION) * self.layers * self.d_model**2

    @property
    def parameters(self):
        """All parameters N_T except the gains of norms, as in [PS24] section 3.

        Tokens and places have (V + context) d, and V d more where input and output are not tied.
        """
        embedding = (self.vocabulary * (1 if self.tied else 2) + self.context) * self.d_model
        return embedding + self.parameters_nonembedding

    @property
    def gains(self):
        """Parameters of the 2 L + 1 norms, d each, which no other count includes."""
        return (2 * self.layers + 1) * self.d_model

    @property
    def matmul_flop_per_token(self):
        """FLOP of matrix products for each token trained on, forward and backward.

        A multiplication and an addition are two FLOP, and the backward pass takes twice the forward one. Blocks and
        logits take ``6 (N_x + V d)``. Attention over the full square takes ``12 L context d``, of which a causal kernel
        may skip half.
        """
        products = self.parameters_nonembedding + self.vocabulary * self.d_model
        return 6 * products + 12 * self.layers * self.context * self.d_model


class Decoder(torch.nn.Module):
    """Decoder with learned places, norms before attention and before a GELU network, and no biases.

    Parameters
    ----------
    configuration : Configuration
    seed : int
        Seed of the initial weights, which are drawn on the CPU so that every device has the same. They are normal with
        standard deviation 0.02, as in GPT-2. Matrices that write to the residual stream have ``0.02 / sqrt(2 L)``.

    Examples
    --------
    >>> import torch
    >>> from bayescaling.training import Configuration, Decoder
    >>> model = Decoder(Configuration(8, 1, vocabulary=32, heads=2), seed=0)
    >>> model(torch.zeros(3, 16, dtype=torch.int64)).shape, model.unembedding.shape
    (torch.Size([3, 16, 8]), torch.Size([32, 8]))
    """

    STANDARD_DEVIATION = 0.02

    def __init__(self, configuration, seed):
        super().__init__()
        d, self.configuration = configuration.d_model, configuration
        self.tokens = torch.nn.Embedding(configuration.vocabulary, d)
        self.places = torch.nn.Embedding(configuration.context, d)
        self.blocks = torch.nn.ModuleList(Block(d, configuration.heads) for _ in range(configuration.layers))
        self.norm = torch.nn.LayerNorm(d, bias=False)
        if not configuration.tied:
            self.logits = torch.nn.Linear(d, configuration.vocabulary, bias=False)
        self._initialise(torch.Generator().manual_seed(seed))

    @property
    def unembedding(self):
        """The matrix that turns states into logits, shape (vocabulary, d_model)."""
        return self.tokens.weight if self.configuration.tied else self.logits.weight

    def forward(self, tokens):
        """Compute the states that give the next tokens, by `unembedding`: (sequences, length, d_model)."""
        states = (self.tokens(tokens) + self.places.weight[: tokens.shape[1]]).to(self.norm.weight.dtype)
        for block in self.blocks:
            states = block(states)
        return self.norm(states)

    @staticmethod
    def rounds(name):
        """Return whether a weight is rounded where layers have a lower precision; see `engine.updates`."""
        return name.startswith(("blocks.", "norm."))

    def _initialise(self, generator):
        written = self.STANDARD_DEVIATION / math.sqrt(2 * max(1, len(self.blocks)))
        with torch.no_grad():
            for name, weight in self.named_parameters():
                if weight.ndim == 2:
                    spread = written if name.endswith(("attended.weight", "narrow.weight")) else self.STANDARD_DEVIATION
                    weight.normal_(0, spread, generator=generator)


class Block(torch.nn.Module):
    """Causal attention and a network four times as wide, each added to what it reads."""

    def __init__(self, d_model, heads):
        super().__init__()
        self.heads = heads
        self.norm_attention = torch.nn.LayerNorm(d_model, bias=False)
        self.queries_keys_values = torch.nn.Linear(d_model, 3 * d_model, bias=False)
        self.attended = torch.nn.Linear(d_model, d_model, bias=False)
        self.norm_network = torch.nn.LayerNorm(d_model, bias=False)
        self.wide = torch.nn.Linear(d_model, EXPANSION * d_model, bias=False)
        self.narrow = torch.nn.Linear(EXPANSION * d_model, d_model, bias=False)

    def forward(self, states):
        """Compute the states after the block, shape (sequences, length, d_model) as before it."""
        states = states + self._attention(self.norm_attention(states))
        return states + self.narrow(F.gelu(self.wide(self.norm_network(states))))

    def _attention(self, states):
        sequences, length, width = states.shape
        shape = (sequences, length, 3, self.heads, width // self.heads)
        queries, keys, values = self.queries_keys_values(states).view(shape).permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(queries, keys, values, is_causal=True)
        return self.attended(mixed.transpose(1, 2).reshape(sequences, length, width))
