"""Small decoder transformers, and exact counts of their parameters and arithmetic.

[PS24] is Pearce and Song 2024, "Reconciling Kaplan and Chinchilla scaling laws", arXiv:2406.12907.
"""

import math
from dataclasses import asdict, dataclass

import torch
import torch.nn.functional as F

from ...errors import InputError
from ..engine.fields import Count, check_fields

# Width of a block's network over that of the stream, as in GPT-2 (Radford et al. 2019).
EXPANSION = 4
# Weight of the loss that balances the experts of a block, as in Fedus et al. 2022, arXiv:2101.03961, equation 4.
BALANCE = 0.01


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
    experts : int
        Networks of each block, of which a router chooses for every token; one makes a dense model.
    active : int
        Experts that a token passes.

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
    experts: Count = 1
    active: Count = 1

    def __post_init__(self):
        check_fields(self, "model")
        if self.active > self.experts:
            raise InputError(f"model: active is {self.active} with {self.experts} experts; give at most the experts")
        if self.d_model % self.heads:
            raise InputError(f"model: d_model is {self.d_model} with {self.heads} heads; give a multiple of the heads")

    @property
    def plain(self):
        """The shape as plain values; experts are left out of a dense model, so that names of runs stay."""
        later = {} if self.experts > 1 else {"experts", "active"}
        return {name: value for name, value in asdict(self).items() if name not in later}

    @property
    def parameters_nonembedding(self):
        """Parameters of the blocks' matrices, ``12 L d^2``: a third for attention, the rest after it.

        As `parameters`, they are those of the dense model of this width and depth, whatever the experts.
        """
        return (4 + 2 * EXPANSION) * self.layers * self.d_model**2

    @property
    def parameters(self):
        """All parameters N_T except the gains of norms, as in [PS24] section 3.

        Tokens and places have (V + context) d, and V d more where input and output are not tied.
        """
        embedding = (self.vocabulary * (1 if self.tied else 2) + self.context) * self.d_model
        return embedding + self.parameters_nonembedding

    @property
    def total_parameters(self):
        """Parameters with all experts and routers, which have ``8 d^2`` and d for each expert of a block."""
        return self._parameters_with(self.experts)

    @property
    def active_parameters(self):
        """Parameters that act on a token: those of its active experts, and the routers."""
        return self._parameters_with(self.active)

    def _parameters_with(self, experts):
        routers = self.experts * self.d_model * (self.experts > 1)
        return self.parameters + self.layers * ((experts - 1) * 2 * EXPANSION * self.d_model**2 + routers)

    @property
    def gains(self):
        """Parameters of the 2 L + 1 norms, d each, which no other count includes."""
        return (2 * self.layers + 1) * self.d_model

    @property
    def matmul_flop_per_token(self):
        """FLOP of matrix products for each token trained on, forward and backward.

        A multiplication and an addition are two FLOP, and the backward pass takes twice the forward one. Blocks and
        logits take ``6 (N_x + V d)``, with the parameters of blocks that act on a token. Attention over the full square
        takes ``12 L context d``, of which a causal kernel may skip half.
        """
        acting = self.active_parameters - self.parameters
        products = self.parameters_nonembedding + acting + self.vocabulary * self.d_model
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
        self.blocks = torch.nn.ModuleList(Block(configuration) for _ in range(configuration.layers))
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
        return self.balanced(tokens)[0]

    def balanced(self, tokens):
        """Compute the states, and what to add to the loss in training: how uneven the experts' loads are, 0 if dense.

        Each block adds `BALANCE` times the sum over its experts of ``experts * share of tokens * mean probability``.
        """
        states = (self.tokens(tokens) + self.places.weight[: tokens.shape[1]]).to(self.norm.weight.dtype)
        unevenness = 0.0
        for block in self.blocks:
            states, of_block = block(states)
            unevenness = unevenness + of_block
        return self.norm(states), BALANCE * unevenness

    @staticmethod
    def rounds(name):
        """Return whether a weight is rounded where layers have a lower precision; see `engine.updates`."""
        return name.startswith(("blocks.", "norm."))

    def _initialise(self, generator):
        written = self.STANDARD_DEVIATION / math.sqrt(2 * max(1, len(self.blocks)))
        with torch.no_grad():
            for name, weight in self.named_parameters():
                if weight.ndim == 2:
                    spread = written if {"attended", "narrow"} & {*name.split(".")} else self.STANDARD_DEVIATION
                    weight.normal_(0, spread, generator=generator)


def _network(d_model):
    """Make the matrices of a network, to its width and back."""
    wide = torch.nn.Linear(d_model, EXPANSION * d_model, bias=False)
    return wide, torch.nn.Linear(EXPANSION * d_model, d_model, bias=False)


class Experts(torch.nn.Module):
    """Networks of which every token passes the `active` that a router finds the most probable for it.

    Their results are weighted by the probabilities. No expert has a capacity, so that no token is dropped.
    """

    def __init__(self, d_model, experts, active):
        super().__init__()
        self.active = active
        self.router = torch.nn.Linear(d_model, experts, bias=False)
        networks = zip(*(_network(d_model) for _ in range(experts)), strict=True)
        self.wide, self.narrow = map(torch.nn.ModuleList, networks)

    def forward(self, states):
        """Compute what is added to the states, and how uneven the loads are: 1 if all are alike."""
        rows = states.flatten(0, -2)
        probabilities = self.router(rows).float().softmax(-1)
        weights, chosen = probabilities.topk(self.active)
        counts = chosen.flatten().bincount(minlength=len(self.wide))
        # Every row once for each of its experts, in the order of experts; by permutations, since sums over rows that
        # occur several times would add in no fixed order.
        order = chosen.flatten().argsort(stable=True)
        parts = rows.repeat_interleave(self.active, 0)[order].split(counts.tolist())
        experts = zip(self.wide, self.narrow, parts, strict=True)
        done = torch.cat([narrow(F.gelu(wide(part))) for wide, narrow, part in experts])
        done = done[order.argsort()].unflatten(0, chosen.shape)
        added = (done * weights[..., None].to(done.dtype)).sum(1).view_as(states)
        return added, len(counts) * (counts / counts.sum() * probabilities.mean(0)).sum()


class Block(torch.nn.Module):
    """Causal attention, and a network or experts, each added to what it reads."""

    def __init__(self, configuration):
        super().__init__()
        d_model, self.heads = configuration.d_model, configuration.heads
        self.norm_attention = torch.nn.LayerNorm(d_model, bias=False)
        self.queries_keys_values = torch.nn.Linear(d_model, 3 * d_model, bias=False)
        self.attended = torch.nn.Linear(d_model, d_model, bias=False)
        self.norm_network = torch.nn.LayerNorm(d_model, bias=False)
        if configuration.experts > 1:
            self.experts = Experts(d_model, configuration.experts, configuration.active)
        else:
            self.wide, self.narrow = _network(d_model)

    def forward(self, states):
        """Compute the states after the block, shaped as before it, and how uneven its experts' loads are."""
        states = states + self._attention(self.norm_attention(states))
        read = self.norm_network(states)
        if not hasattr(self, "experts"):
            return states + self.narrow(F.gelu(self.wide(read))), 0.0
        added, unevenness = self.experts(read)
        return states + added, unevenness

    def _attention(self, states):
        sequences, length, width = states.shape
        shape = (sequences, length, 3, self.heads, width // self.heads)
        queries, keys, values = self.queries_keys_values(states).view(shape).permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(queries, keys, values, is_causal=True)
        return self.attended(mixed.transpose(1, 2).reshape(sequences, length, width))
