import math
import shutil
from bisect import bisect_right

import numpy as np
import pytest
import torch
from bayescaling.errors import InputError
from bayescaling.training import Synthetic
from bayescaling.training.engine.randomness import GOLDEN, below, hashed, low_bits, top_bits
from bayescaling.training.language.corpora.synthetic import _tables, compiled_documents, documents

CPU = torch.device("cpu")
needs_cuda = pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA here")


@pytest.fixture(scope="module")
def small():
    return Synthetic(vocabulary=24, successors=3, seed=5)


def probabilities(language):
    """Probability of every token after every two, float64, p[u, v, x], with u = V before the first token."""
    vocabulary = language.vocabulary
    probability = language.log_probability(torch.cartesian_prod(*[torch.arange(vocabulary)] * 3)).exp()
    first = probability[:, 0].view(vocabulary, vocabulary, vocabulary)[..., 0]
    return torch.cat([probability[:, 1].view(vocabulary, vocabulary, vocabulary), first[None]])


@pytest.fixture(scope="module")
def stationary(small):
    """Distribution over (older, newer) that the chain settles to, by iteration in float64."""
    p = probabilities(small)[:24]
    pairs = torch.full((24, 24), 1 / 24**2, dtype=torch.float64)
    for _ in range(300):
        pairs = torch.einsum("uv,uvx->vx", pairs, p)
    assert torch.allclose(pairs, torch.einsum("uv,uvx->vx", pairs, p), atol=1e-15)
    return pairs


def unsigned_hash(*words):
    """The hash in unsigned arithmetic, written apart from the package."""
    state = 0
    for word in words:
        x = ((state ^ (word % 2**64)) + 0x9E3779B97F4A7C15) % 2**64
        x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
        x = (x ^ (x >> 27)) * 0x94D049BB133111EB % 2**64
        state = x ^ (x >> 31)
    return state


def test_the_hash_is_splitmix64():
    # The first output of SplitMix64 seeded with 0.
    assert hashed(0) % 2**64 == 0xE220A8397B1DCDAF
    for words in ((0,), (1, 2), (-7, 2**62, GOLDEN), (123456789, 0, 0, 5)):
        assert hashed(*words) % 2**64 == unsigned_hash(*words)


def test_tensors_hash_as_ints_do():
    positions = torch.arange(1000) * 7919 - 2**40
    words = hashed(42, positions, 3)
    assert words.tolist() == [hashed(42, position, 3) for position in positions.tolist()]
    assert top_bits(words, 32).tolist() == [unsigned_hash(42, p, 3) >> 32 for p in positions.tolist()]
    assert low_bits(words, 32).tolist() == [unsigned_hash(42, p, 3) % 2**32 for p in positions.tolist()]


def test_below_is_uniform():
    counts = torch.bincount(below(hashed(1, torch.arange(70_000)), 7), minlength=7)
    assert counts.sum() == 70_000
    assert ((counts - 10_000) ** 2 / 10_000).sum() < 22.5  # chi-square with 6 degrees of freedom, p = 0.001


def test_a_batch_depends_on_seed_and_step_alone():
    language = Synthetic(vocabulary=64)
    first = language.batch(3, 7, 32, 16, CPU)
    language.batch(3, 8, 32, 16, CPU)
    assert torch.equal(first, language.batch(3, 7, 32, 16, CPU))
    assert torch.equal(first[:8], language.batch(3, 7, 8, 16, CPU))
    assert first.dtype == torch.int64 and first.shape == (32, 17)
    others = [language.batch(3, 8, 32, 16, CPU), language.batch(4, 7, 32, 16, CPU), language.held_out(32, 16, CPU)]
    assert not any(torch.equal(first, other) for other in others)
    assert Synthetic(vocabulary=64, seed=1).fingerprint != language.fingerprint


def test_a_document_drawn_by_hand(small):
    tables = _tables(small, CPU)
    zipf, components = tables.zipf_ends.tolist(), tables.component_ends.tolist()
    sequence = unsigned_hash(unsigned_hash(1, 9), 4, 2)
    older, newer = 24, bisect_right(zipf, unsigned_hash(sequence, 0) >> 32)
    document = [newer]
    for position in range(1, 17):
        word = unsigned_hash(sequence, position)
        component = bisect_right(components, word >> 32)
        quantile = word % 2**32
        if component:
            order, rank = divmod(component - 1, 3)
            context = (older if order else 0) * 2**32 + newer
            quantile = unsigned_hash(5, (order + 1) * 3 + rank, context) >> 32
        older, newer = newer, bisect_right(zipf, quantile)
        document.append(newer)
    assert small.batch(9, 4, 3, 16, CPU)[2].tolist() == document


def test_sampling_is_integer_arithmetic_alone(small, floats_seen):
    small.batch(0, 0, 1, 16, CPU)
    with floats_seen() as seen:
        small.batch(0, 0, 4, 16, CPU)
    assert seen.operations > 100
    assert seen.floats == set()
    with floats_seen() as seen:
        small.log_probability(small.batch(0, 0, 4, 16, CPU))
    assert seen.floats


@pytest.mark.thorough
@pytest.mark.skipif(not shutil.which("g++"), reason="no compiler here")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_compiled_documents_are_the_same(small):
    arguments = small, _tables(small, CPU), torch.tensor(hashed(1, 9)), torch.tensor(4), 64, 3
    assert torch.equal(compiled_documents()(*arguments), documents(*arguments))


@needs_cuda
@pytest.mark.parametrize("vocabulary", [24, 4096, 50257])
def test_cuda_makes_the_same_batches(vocabulary):
    language = Synthetic(vocabulary=vocabulary)
    for step in (0, 12345):
        on_gpu = language.batch(2, step, 4096, 16, torch.device("cuda"))
        assert torch.equal(language.batch(2, step, 4096, 16, CPU), on_gpu.cpu())
    logs = [language.log_probability(batch).cpu() for batch in (on_gpu, on_gpu.cpu())]
    assert torch.allclose(*logs, rtol=1e-13)


def test_probabilities_sum_to_one_and_depend_on_two_tokens(small):
    p = probabilities(small)
    assert torch.allclose(p.sum(-1), torch.ones(25, 24, dtype=torch.float64), atol=1e-12)
    tokens = small.batch(0, 0, 500, 16, CPU)
    older = torch.cat([torch.full((500, 1), 24), tokens[:, :-2]], 1)
    assert torch.allclose(small.log_probability(tokens), p[older, tokens[:, :-1], tokens[:, 1:]].log(), atol=1e-12)


def test_tokens_come_as_often_as_the_law_says(small, stationary):
    tokens = small._documents(1, 0, 2000, 200, CPU)[:, 50:]
    older, newer, following = tokens[:, :-2].flatten(), tokens[:, 1:-1].flatten(), tokens[:, 2:].flatten()
    p, tested = probabilities(small), 0
    for u, v in ((0, 0), (0, 1), (1, 0), (2, 1)):
        counts = torch.bincount(following[(older == u) & (newer == v)], minlength=24).double()
        expected = p[u, v] * counts.sum()
        enough = expected > 5
        statistic = ((counts - expected) ** 2 / expected)[enough].sum().item()
        freedom = enough.sum().item() - (1 if enough.all() else 0)
        assert statistic < freedom + 4.5 * math.sqrt(2 * freedom)
        tested += freedom
    assert tested > 40
    frequencies = torch.bincount(newer * 24 + following, minlength=24**2).view(24, 24) / len(newer)
    assert (frequencies - stationary).abs().max() < 0.002


def test_the_irreducible_loss_is_that_of_documents_from_their_start(small):
    p = probabilities(small)
    entropies = -(p * p.log()).sum(-1)
    zipf = torch.arange(1, 25, dtype=torch.float64) ** -small.exponent
    pairs = torch.zeros(25, 24, dtype=torch.float64)
    pairs[24] = zipf / zipf.sum()
    exact = []
    for _ in range(16):
        exact.append((pairs * entropies).sum().item())
        pairs = torch.cat([torch.einsum("uv,uvx->vx", pairs, p), torch.zeros(1, 24)])
    estimate, error = small.irreducible_loss(16)
    assert error < 0.0005
    assert abs(estimate - np.mean(exact)) < 4 * error


def test_frequencies_follow_zipf():
    """Over languages the unigram law is q to a few percent at every rank; one language scatters about it."""
    exponent, vocabulary, seeds = 1.4, 512, 128
    bins = torch.bucketize(torch.arange(vocabulary), 2 ** torch.arange(9), right=True)
    q = torch.arange(1, vocabulary + 1, dtype=torch.float64) ** -exponent
    expected = torch.zeros(10, dtype=torch.float64).scatter_add_(0, bins, q / q.sum())
    shares = torch.zeros(seeds, 10, dtype=torch.float64)
    for seed in range(seeds):
        tokens = Synthetic(vocabulary, exponent, seed=seed).batch(0, 0, 256, 32, CPU)[:, 8:].flatten()
        shares[seed] = torch.bincount(bins[tokens], minlength=10) / len(tokens)
    ratios = shares / expected
    assert ((ratios.mean(0) - 1).abs() < 0.05 + 4 * ratios.std(0) / seeds**0.5).all()
    slopes = [np.polyfit(np.arange(2, 10), np.log2(x[2:].numpy()), 1)[0] for x in (shares.mean(0), expected)]
    assert slopes[0] == pytest.approx(slopes[1], abs=0.05)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"vocabulary": 1}, "vocabulary is 1"),
        ({"exponent": 0}, "exponent is 0"),
        ({"successors": 0}, "successors is 0"),
        ({"backoff": (0.5, 0.5, 0.5)}, "sum to 1"),
        ({"backoff": (0.5, 0.5)}, "item 3: field required"),
    ],
)
def test_a_law_that_cannot_be_is_refused(options, message):
    with pytest.raises(InputError, match=message):
        Synthetic(**options)
