"""A synthetic language whose entropy is known: a Zipf back-off chain, generated on the device.

The next token x after u, v has probability

    p(x | u, v) = l0 q(x) + l1 sum_k w_k [x = s1(v, k)] + l2 sum_k w_k [x = s2(u, v, k)]

with q Zipf's law. The successors s1 and s2 are Zipf quantiles of hashed words, so no table grows with the context. The
frequencies of tokens stay near Zipf's: to a few percent at every rank, over languages. Probabilities are integers over
2^32, so that the law that is sampled is exactly the one whose logarithm is returned.

A document begins with a token drawn from q, before which the chain sees a start symbol. So the probability of a token
depends only on the document before it.
"""

import functools
import hashlib
from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np
import torch
from pydantic import Field

from ....errors import InputError
from ...engine.compilation import can_compile
from ...engine.fields import Positive, check_fields
from ...engine.randomness import hashed, low_bits, top_bits

BITS = 32
TRAINING, HELD_OUT, ENTROPY = 1, 2, 3


@dataclass(frozen=True)
class Synthetic:
    """A Zipf back-off language.

    Parameters
    ----------
    vocabulary : int
        Number of tokens V, from 2 to 2^20. Token r has Zipf rank r + 1.
    exponent : float
        Zipf's exponent s > 0: q(r) is proportional to (r + 1)^-s.
    successors : int
        Number of successors of a context, at each order. Their weights w_k are proportional to 1/k.
    backoff : tuple of float
        Weights (l0, l1, l2) of the orders, positive, which sum to 1.
    seed : int
        Selects one of the languages with these settings.

    Examples
    --------
    >>> from bayescaling.training import Synthetic
    >>> language = Synthetic(vocabulary=24)
    >>> tokens = language.batch(seed=0, step=0, sequences=4, context=8, device="cpu")
    >>> tokens.shape, language.log_probability(tokens).shape
    (torch.Size([4, 9]), torch.Size([4, 8]))
    >>> entropy, standard_error = language.irreducible_loss(context=8, sequences=2048)
    >>> 1 < entropy < 3 and standard_error < 0.02
    True
    """

    vocabulary: Annotated[int, Field(ge=2, le=2**20)] = 4096
    exponent: Annotated[float, Field(gt=0, lt=20)] = 1.4
    successors: Annotated[int, Field(ge=1, le=64)] = 4
    backoff: tuple[Positive, Positive, Positive] = (0.25, 0.35, 0.4)
    seed: int = 0

    def __post_init__(self):
        check_fields(self, "corpus")
        if abs(sum(self.backoff) - 1) > 1e-9:
            raise InputError(f"corpus: backoff is {list(self.backoff)}; give three positive weights that sum to 1")

    @functools.cached_property
    def fingerprint(self):
        """SHA-256 of the law, as 64 hexadecimal digits: two languages with the same one are the same."""
        words = np.concatenate([*map(_ends, _counts(self)), [self.successors, self.seed]])
        return hashlib.sha256(words.astype("<i8").tobytes()).hexdigest()

    def check(self, context):
        """Accept any context, since the language has no end."""

    def batch(self, seed, step, sequences, context, device):
        """Generate the training documents of a step, (sequences, context + 1); they depend on (seed, step) alone."""
        return self._documents(hashed(TRAINING, seed), step, sequences, context + 1, device)

    def held_out(self, sequences, context, device):
        """Generate documents to evaluate on, (sequences, context + 1), the same at every call."""
        return self._documents(hashed(HELD_OUT), 0, sequences, context + 1, device)

    def log_probability(self, tokens):
        """Compute the true log-probability of every token but the first of each document, nats, float64.

        Tokens are of whole documents from their first token, int64, shape (sequences, length); the result has one
        column less.
        """
        tables = _tables(self, tokens.device)
        older, newer = self._contexts(tokens)
        following = tokens[:, 1:]
        match = self._successors(older, newer, tables) == following[..., None]
        return (tables.zipf[following] * tables.masses[0] + (match * tables.masses[1:]).sum(-1)).log()

    def irreducible_loss(self, context, sequences=65536):
        """Estimate the entropy per token of documents as batches hold them, the least expected loss of any model.

        It is the mean, over the targets in a document, of the entropy of a token given those before it. Contexts,
        `context` tokens of each of `sequences` documents, are drawn by Monte Carlo; given a context, the entropy is
        exact. The estimate and its standard error are in nats per token.
        """
        documents = self._documents(hashed(ENTROPY), 0, sequences, context + 1, torch.device("cpu"))
        means = torch.cat([self._entropies(part).mean(1) for part in documents.split(2048)])
        return means.mean().item(), (means.std() / len(means) ** 0.5).item()

    def _entropies(self, tokens):
        tables = _tables(self, tokens.device)
        successors = self._successors(*self._contexts(tokens), tables)
        same = successors[..., :, None] == successors[..., None, :]
        first = ~torch.tril(same, diagonal=-1).any(-1)
        background = tables.zipf * tables.masses[0]
        under = background[successors]
        over = under + (same * tables.masses[1:]).sum(-1)
        change = (over * over.log() - under * under.log()) * first
        return -(background * background.log()).sum() - change.sum(-1)

    def _contexts(self, tokens):
        start = torch.full_like(tokens[:, :1], self.vocabulary)
        return torch.cat([start, tokens[:, :-2]], dim=1), tokens[:, :-1]

    def _successors(self, older, newer, tables):
        rank = torch.arange(self.successors, device=newer.device)
        older, newer = older[..., None], newer[..., None]
        bigram = self._successor_word(1, torch.zeros_like(older), newer, rank)
        trigram = self._successor_word(2, older, newer, rank)
        return torch.searchsorted(tables.zipf_ends, torch.cat([bigram, trigram], dim=-1), right=True)

    def _successor_word(self, order, older, newer, rank):
        return top_bits(hashed(self.seed, order * self.successors + rank, (older << BITS) + newer), BITS)

    def _documents(self, key, step, sequences, length, device):
        device = torch.device(device)
        make = compiled_documents() if device.type == "cuda" and can_compile("cuda") else documents
        # Tensors, since a compiled function would be compiled again for every int.
        key, step = (torch.full((), word, dtype=torch.int64, device=device) for word in (key, step))
        return make(self, _tables(self, device), key, step, sequences, length)


class Tables(NamedTuple):
    """The law on one device: ends of intervals of 32-bit words (int64) and probabilities (float64)."""

    zipf_ends: torch.Tensor
    component_ends: torch.Tensor
    zipf: torch.Tensor
    masses: torch.Tensor


def documents(language, tables, key, step, sequences, length):
    """Draw documents, int64, (sequences, length), by integer arithmetic alone, so that every device gives the same."""
    sequence = hashed(key, step, torch.arange(sequences, device=step.device))
    newer = torch.searchsorted(tables.zipf_ends, top_bits(hashed(sequence, 0), BITS), right=True)
    older = torch.full_like(newer, language.vocabulary)
    tokens = [newer]
    for position in range(1, length):
        word = hashed(sequence, position)
        component = torch.searchsorted(tables.component_ends, top_bits(word, BITS), right=True)
        trigram = component > language.successors
        order, rank = 1 + trigram.long(), (component - 1) % language.successors
        successor = language._successor_word(order, older * trigram, newer, rank)
        quantile = torch.where(component == 0, low_bits(word, BITS), successor)
        older, newer = newer, torch.searchsorted(tables.zipf_ends, quantile, right=True)
        tokens.append(newer)
    return torch.stack(tokens, dim=1)


@functools.cache
def compiled_documents():
    """Compile `documents` into a few kernels: eager, it launches some hundred for each token."""
    return torch.compile(documents, dynamic=False)


def _quantised(weights):
    """Round weights to counts of at least 1 that sum to 2^32, in proportion to the weights to within rounding."""
    counts = np.maximum(1, np.rint(weights / weights.sum() * 2**BITS).astype(np.int64))
    counts[np.argmax(counts)] += 2**BITS - counts.sum()
    return counts


def _counts(language):
    """Return of 2^32 words how many give each token by Zipf's law, and how many take each component of the mixture."""
    zipf = np.arange(1, language.vocabulary + 1, dtype=float) ** -language.exponent
    within = 1 / np.arange(1, language.successors + 1)
    l0, l1, l2 = language.backoff
    components = np.concatenate([[l0], l1 * within / within.sum(), l2 * within / within.sum()])
    return _quantised(zipf), _quantised(components)


def _ends(counts):
    # The last end would be 2^32, above every word.
    return np.cumsum(counts)[:-1]


@functools.lru_cache(maxsize=16)
def _tables(language, device):
    counts = _counts(language)
    arrays = [*map(_ends, counts), *(part / 2**BITS for part in counts)]
    return Tables(*(torch.tensor(array, device=device) for array in arrays))
