"""Transformers for arithmetic, looped or not, and exact counts of their parameters and matrix products.

[Mc24] is McLeish et al. 2024, "Transformers can do arithmetic with the right embeddings", arXiv:2405.17399. Where its
text and its public code differ, the default follows the code.
"""

import functools
import math
from dataclasses import dataclass
from typing import Literal

import torch
import torch.nn.functional as F

from ....errors import InputError
from ...engine.compilation import compiled, nested
from ...engine.fields import Count, NotNegative, Whole, check_fields
from .positions import SCHEMES, Abacus, Fire, ordered_positions, rotated, rotation


@dataclass(frozen=True)
class Configuration:
    """Shape of a transformer: a block of layers, applied one or more times.

    Parameters
    ----------
    vocabulary : int
        Number of tokens V.
    d_model : int
        Width d, a multiple of `heads`.
    heads : int
        Attention heads of a layer.
    layers : int
        Layers of the block.
    recurrences : int
        Number of times R that the block is applied.
    injection : str
        Where the embedded problem is added to the state. ``"none"`` adds it only before the very first layer,
        ``"every-layer"`` before every layer, and ``"first-layer"`` before the block's first layer in each recurrence.
    embedding : str
        Position scheme, one of `positions.SCHEMES`.
    feed_forward : int
        Width f of a layer's network, 2 d by default; one half of it gates the other.
    k_max : int
        Number of offsets of Abacus embeddings in training, 0..k_max - 1.
    table_rows : int
        Rows of the table of Abacus embeddings.
    random_positions : int
        Number of positions that randomised FIRE draws from in training; 0 for plain FIRE.
    noise : float
        Standard deviation of the noise in the initial state in training; in evaluation there is none.
    block : str
        ``"post-norm"``, LayerNorm after each addition and gated GELU (McLeish et al. 2024); ``"pre-norm"``, RMSNorm
        before attention and before a SwiGLU network (Shazeer 2020, arXiv:2002.05202).
    initial : str
        Initial weights. ``"deepnorm"`` is Xavier normal with gain ``(8 layers R)^(-1/4)``, for queries and keys with
        gain 1 (Wang et al. 2022, arXiv:2203.00555). Its embeddings have standard deviation ``d^(-1/2)`` (McLeish et al.
        2024). ``"normal"`` has standard deviation 0.02.
    """

    vocabulary: Count
    d_model: Count = 1024
    heads: Count = 16
    layers: Count = 16
    recurrences: Count = 1
    injection: Literal["none", "every-layer", "first-layer"] = "none"
    embedding: Literal[SCHEMES] = "abacus"
    feed_forward: Count | None = None
    k_max: Count = 100
    table_rows: Count = 512
    random_positions: Whole = 0
    noise: NotNegative = 0.02
    block: Literal["post-norm", "pre-norm"] = "post-norm"
    initial: Literal["deepnorm", "normal"] = "deepnorm"

    def __post_init__(self):
        if self.feed_forward is None and isinstance(self.d_model, int):
            object.__setattr__(self, "feed_forward", 2 * self.d_model)
        check_fields(self, "model")
        if self.d_model % self.heads:
            raise InputError(f"model: d_model is {self.d_model} with {self.heads} heads; give a multiple of the heads")
        if self.feed_forward % 2:
            raise InputError(f"model: feed_forward is {self.feed_forward}; give an even number, half of it gates")
        if "rope" in self.parts and self.d_model // self.heads % 2:
            raise InputError(
                f"model: d_model is {self.d_model} with {self.heads} heads; rotary positions need an even width of a "
                "head, so give a multiple of twice the heads"
            )
        if self.random_positions and "fire" not in self.parts:
            raise InputError(
                f'model: random_positions is {self.random_positions} with embedding "{self.embedding}"; it is for FIRE'
            )

    @property
    def parts(self):
        """Parts of the position scheme: frozenset of ``"abacus"``, ``"equals"``, ``"fire"`` and ``"rope"``."""
        return frozenset(self.embedding.split("+")) - {"nope"}

    @property
    def architecture(self):
        """Architecture in words: standard or looped, and where the problem is injected if not as usual."""
        if self.recurrences > 1:
            return "looped" + {"every-layer": "", "first-layer": "+first", "none": "+none"}[self.injection]
        return "standard" + {"every-layer": "+injection", "first-layer": "+first", "none": ""}[self.injection]

    @property
    def _network(self):
        return self.d_model * self.feed_forward + self.feed_forward // 2 * self.d_model

    @property
    def parameters(self):
        """All parameters."""
        d, heads = self.d_model, self.heads
        norm = d if self.block == "pre-norm" else 2 * d
        fire = 2 * Fire.WIDTH + Fire.WIDTH * heads + heads + 2 if "fire" in self.parts else 0
        layer = 4 * d**2 + self._network + 2 * norm + fire
        abacus = self.table_rows * d if "abacus" in self.parts else 0
        head = self._network + norm + d**2 + self.vocabulary * d
        return self.layers * layer + self.vocabulary * d + abacus + norm + head

    def block_flop(self, length):
        """Compute the FLOP of matrix products of one recurrence, forward, for each token of problems of a length.

        A multiplication and an addition are two FLOP. Attention counts as a full square, of which a causal kernel may
        leave out half.
        """
        return self.layers * (2 * (4 * self.d_model**2 + self._network) + 4 * length * self.d_model)

    @property
    def head_flop(self):
        """FLOP of matrix products from the state to the logits, forward, for each token."""
        return 2 * (self._network + self.d_model**2 + self.vocabulary * self.d_model)


class Transformer(torch.nn.Module):
    """Causal transformer whose head has a network, a norm, a square matrix and an untied unembedding ([Mc24]).

    Dense layers have no biases; LayerNorms have.

    Parameters
    ----------
    configuration : Configuration
    seed : int, optional
        Seed of the initial weights, drawn on the CPU so that every device has the same; None leaves those of torch.

    Examples
    --------
    >>> from bayescaling.training.arithmetic import Addition, Configuration, Transformer, encode
    >>> shape = Configuration(Addition(5).vocabulary_size, d_model=16, heads=2, layers=1, recurrences=2)
    >>> Transformer(shape, seed=0)(encode("21+3=51")[None]).shape
    torch.Size([1, 7, 22])
    """

    def __init__(self, configuration, seed=None):
        super().__init__()
        self.configuration = configuration
        d, vocabulary = configuration.d_model, configuration.vocabulary
        self.tokens = torch.nn.Embedding(vocabulary, d)
        parts, self.abacus = configuration.parts, None
        if "abacus" in parts:
            self.abacus = Abacus(configuration.table_rows, d, equals="equals" in parts)
        self.embedding_norm = _norm(configuration)
        self.layers = torch.nn.ModuleList(Layer(configuration) for _ in range(configuration.layers))
        self.head_network = Network(configuration)
        self.head_norm = _norm(configuration)
        self.head_square = torch.nn.Linear(d, d, bias=False)
        self.unembedding = torch.nn.Linear(d, vocabulary, bias=False)
        self.through_block, self.through_head = Transformer.block, Transformer.head
        if seed is not None:
            initialise(self, seed)

    def compile_block(self, *, graph=False, backend="inductor"):
        """Compile the block and the head for training, by a backend of `torch.compile`; see `Execution` for `graph`."""
        self.through_block, self.through_head = compiled_parts(graph, backend)

    @staticmethod
    def rounds(name):
        """Return whether a weight is rounded where layers have a lower precision; see `engine.updates`."""
        return name.startswith(("layers.", "head_")) and ".fire." not in name

    def forward(self, tokens, *, recurrences=None, offset=0, draws=None):
        """Compute the logits of the token that follows each, float32, shape (problems, length, vocabulary).

        The block is applied as often as configured, or `recurrences` times. `draws` has everything random in training,
        also the recurrences. Without draws nothing is random, and `offset` is that of Abacus embeddings.
        """
        embedded = self._embedded(tokens, offset if draws is None else draws.offset)
        context = self._context(tokens.shape[1], tokens.device, draws)
        state = self._initial(embedded, draws)
        free, held = 0, self.configuration.recurrences if recurrences is None else recurrences
        if draws is not None and recurrences is None:
            free, held = draws.free, draws.held
        block, head = Transformer.block, Transformer.head
        if self.training:  # tests have many shapes, and compiled code is made for each
            block, head = self.through_block, self.through_head
        with torch.no_grad():
            for _ in range(free):
                state = block(self, state, embedded, *context)
        for _ in range(held):
            state = block(self, state, embedded, *context)
        return head(self, state)

    def block(self, state, embedded, positions=None, turn=None):
        """Compute the state after one recurrence, of the embedded problems and of what `Layer` takes."""
        injection = self.configuration.injection
        for place, layer in enumerate(self.layers):
            if injection == "every-layer" or (injection == "first-layer" and place == 0):
                state = state + embedded
            state = layer(state, positions, turn)
        return state

    def head(self, state):
        """Compute the logits of a state, in float32, so that rounding cannot change which one is largest."""
        state = self.head_square(self.head_norm(self.head_network(state)))
        return F.linear(state.float(), self.unembedding.weight)

    def _embedded(self, tokens, offset):
        embedded = self.tokens(tokens)
        if self.abacus is not None:
            embedded = embedded + self.abacus(tokens, offset)
        return self.embedding_norm(embedded).to(self.head_square.weight.dtype)

    def _context(self, length, device, draws):
        parts, width = self.configuration.parts, self.configuration.d_model // self.configuration.heads
        turn = rotation(length, width, device) if "rope" in parts else None
        if "fire" not in parts:
            return None, turn
        seed = None if draws is None else draws.positions
        return ordered_positions(length, self.configuration.random_positions, seed, device), turn

    def _initial(self, embedded, draws):
        once = embedded if self.configuration.injection == "none" else torch.zeros_like(embedded)
        if draws is None or not self.configuration.noise:
            return once
        device, shape = embedded.device, (len(embedded) // len(draws.noise), *embedded.shape[1:])
        generators = [torch.Generator(device).manual_seed(seed) for seed in draws.noise]
        noise = torch.cat([torch.randn(shape, generator=one, device=device) for one in generators])
        return once + self.configuration.noise * noise.to(once.dtype)


class Layer(torch.nn.Module):
    """Causal attention and a gated network, each added to what it reads."""

    def __init__(self, configuration):
        super().__init__()
        d, self.heads = configuration.d_model, configuration.heads
        self.after = configuration.block == "post-norm"
        self.queries_keys_values = torch.nn.Linear(d, 3 * d, bias=False)
        self.attended = torch.nn.Linear(d, d, bias=False)
        self.attention_norm = _norm(configuration)
        self.network = Network(configuration)
        self.network_norm = _norm(configuration)
        self.fire = Fire(configuration.heads) if "fire" in configuration.parts else None

    @nested
    def forward(self, state, positions=None, turn=None):
        """Compute the state after the layer; `positions` are for FIRE's bias, and `turn` is what `rotation` returns."""
        bias = None if positions is None else self.fire(positions)
        if self.after:
            state = self.attention_norm(state + self._attention(state, bias, turn))
            return self.network_norm(state + self.network(state))
        state = state + self._attention(self.attention_norm(state), bias, turn)
        return state + self.network(self.network_norm(state))

    def _attention(self, state, bias, turn):
        problems, length, width = state.shape
        shape = (problems, length, 3, self.heads, width // self.heads)
        queries, keys, values = self.queries_keys_values(state).view(shape).permute(2, 0, 3, 1, 4)
        if turn is not None:
            queries, keys = rotated(queries, *turn), rotated(keys, *turn)
        if bias is None:
            mixed = F.scaled_dot_product_attention(queries, keys, values, is_causal=True)
        else:
            mixed = F.scaled_dot_product_attention(queries, keys, values, attn_mask=bias.to(queries.dtype))
        return self.attended(mixed.transpose(1, 2).reshape(problems, length, width))


class Network(torch.nn.Module):
    """Two matrices; one half of the first one's output gates the other, by GELU ([Mc24]) or by SiLU (SwiGLU)."""

    def __init__(self, configuration):
        super().__init__()
        d, width = configuration.d_model, configuration.feed_forward
        self.wide = torch.nn.Linear(d, width, bias=False)
        self.narrow = torch.nn.Linear(width // 2, d, bias=False)
        self.activation = F.gelu if configuration.block == "post-norm" else F.silu

    def forward(self, state):
        """Compute the output, of the shape (problems, length, d_model) of the input."""
        value, gate = self.wide(state).chunk(2, -1)
        return self.narrow(value * self.activation(gate))


@functools.cache
def compiled_parts(graph, backend):
    """Compile the block and the head of a transformer, once for each shape in the process."""
    mode = "reduce-overhead" if graph else None
    return compiled(Transformer.block, backend, mode), compiled(Transformer.head, backend, mode)


def initialise(model, seed):
    """Draw the initial weights of a model on the CPU, in place."""
    configuration, generator = model.configuration, torch.Generator().manual_seed(seed)
    deepnorm = configuration.initial == "deepnorm"
    gain = (8 * configuration.layers * configuration.recurrences) ** -0.25
    with torch.no_grad():
        for name, module in model.named_modules():
            if isinstance(module, torch.nn.Embedding):
                spread = module.embedding_dim**-0.5 if deepnorm else 0.02
                module.weight.normal_(0, spread, generator=generator)
            elif isinstance(module, torch.nn.Linear):
                # Queries, keys and values are three square matrices in one.
                fused = name.endswith("queries_keys_values")
                for place, weight in enumerate(module.weight.chunk(3 if fused else 1)):
                    factor = 1.0 if fused and place < 2 else gain
                    spread = factor * math.sqrt(2 / sum(weight.shape)) if deepnorm else 0.02
                    weight.normal_(0, spread, generator=generator)
                if module.bias is not None:
                    module.bias.zero_()


def _norm(configuration):
    if configuration.block == "pre-norm":
        return torch.nn.RMSNorm(configuration.d_model, eps=1e-6)
    return torch.nn.LayerNorm(configuration.d_model, eps=1e-12)
