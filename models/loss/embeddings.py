"""How embedding parameters grow with a model, and what is compute-optimal when they are left out of the count.

Notation: N_x parameters outside the embeddings, N_E embedding parameters, ``N_T = N_x + N_E``, D training tokens, loss
in nats per token; ``C_T = 6 N_T D`` and ``C_x = 6 N_x D`` training FLOP. Over a family of models ``N_E = gamma
N_x**delta``; delta is 1/3 where width and depth grow in proportion.

References
----------
.. [1] Pearce, T. and Song, J. (2024). Reconciling Kaplan and Chinchilla scaling laws. arXiv:2406.12907.
"""

from ..arrays import exp, log, log1p
from .budget import FLOP_PER_PARAMETER_TOKEN, log_slots
from .search import least_of_grid, root

PROPORTIONAL = 1 / 3
LAYER_PARAMETERS = 12.0  # parameters of one layer over the square of its width


def embedding_constant(vocabulary, aspect_ratio):
    """Return the constant gamma of ``N_E = gamma N_x**(1/3)`` for models of one shape.

    With ``N_x = 12 L d**2``, ``N_E = vocabulary d`` and aspect ratio ``d/L``, gamma is ``vocabulary
    (aspect_ratio/12)**(1/3)`` (section 2 of Pearce and Song 2024). The vocabulary is the rows of the embedding: tokens,
    and positions where they are learned; twice the tokens if untied.
    """
    return vocabulary * exp(log(aspect_ratio / LAYER_PARAMETERS) / 3)


def aspect_ratio(gamma, vocabulary):
    """Invert `embedding_constant`: width over depth that gives gamma."""
    return LAYER_PARAMETERS * exp(3 * log(gamma / vocabulary))


def embedding(nonembedding, gamma, delta=PROPORTIONAL):
    """Return N_E at N_x: ``gamma N_x**delta``."""
    return gamma * exp(delta * log(nonembedding))


def total(nonembedding, gamma, delta=PROPORTIONAL):
    """Return N_T at N_x: ``N_x + gamma N_x**delta``, equation 7 of Pearce and Song (2024)."""
    return nonembedding + embedding(nonembedding, gamma, delta)


NEWTON_STEPS = 60


def nonembedding(total_parameters, gamma, delta=PROPORTIONAL):
    """Invert `total`: N_x at N_T, by Newton's method on logarithms.

    The logarithm of N_T is convex and rising in that of N_x, so steps from N_x = N_T descend to the root without
    passing it. No N_T above 1 needs all 60 steps.
    """
    log_total = log(total_parameters)
    log_n = log_total + 0 * (gamma + delta)
    for _ in range(NEWTON_STEPS):
        ratio = exp(log(gamma) + (delta - 1) * log_n)
        log_n = log_n - (log_n + log1p(ratio) - log_total) * (1 + ratio) / (1 + delta * ratio)
    return exp(log_n)


def elasticity(nonembedding, gamma, delta=PROPORTIONAL, weight=1.0):
    """Differentiate ``log(N_x + weight gamma N_x**delta)`` by ``log N_x``: from delta up to 1."""
    part = weight * embedding(nonembedding, gamma, delta)
    return (nonembedding + delta * part) / (nonembedding + part)


def compute_of_optimum(nonembedding, *, A, B, alpha, beta, gamma, delta=PROPORTIONAL, **_):
    """Return the budget C_x in FLOP at which N_x is optimal: equation 16 of Pearce and Song (2024), whose delta is 1/3.

    The Chinchilla loss of ``N_T = N_x + gamma N_x**delta`` is least on ``6 N_x D = C_x`` where
    ``D = (beta B N_T**(1+alpha)/(alpha A M))**(1/beta)`` with ``M = N_x + delta gamma N_x**delta``.
    """
    n_total = total(nonembedding, gamma, delta)
    marginal = nonembedding + delta * embedding(nonembedding, gamma, delta)
    log_tokens = (log(beta * B / (alpha * A)) + (1 + alpha) * log(n_total) - log(marginal)) / beta
    return FLOP_PER_PARAMETER_TOKEN * nonembedding * exp(log_tokens)


def local_exponent(nonembedding, *, alpha, beta, gamma, delta=PROPORTIONAL, **_):
    """Return ``g = dlog N_x*/dlog C_x`` at a size: equation 17 of Pearce and Song (2024), whose delta is 1/3.

    ``1/g = 1 + ((1+alpha) M/N_T - M'/M)/beta`` with ``M' = N_x + delta**2 gamma N_x**delta``. It goes to
    ``beta/(alpha delta + beta)`` for small and to ``beta/(alpha+beta)`` for large N_x.
    """
    part = embedding(nonembedding, gamma, delta)
    marginal = nonembedding + delta * part
    inverse = 1 + ((1 + alpha) * marginal / (nonembedding + part) - (nonembedding + delta**2 * part) / marginal) / beta
    return 1 / inverse


def exponent_of_small_models(*, alpha, beta, delta=PROPORTIONAL, **_):
    """Return the limit of `local_exponent` for small models, ``beta/(alpha delta + beta)``."""
    return beta / (alpha * delta + beta)


def optimum(compute, loss, returns, *, gamma, delta=PROPORTIONAL):
    """Find the size of least loss on ``6 N_T D = C`` in one family, for a law that may count N_x and N_E apart.

    A grid over all sizes finds the cell of the global minimum, and a root of the derivative of the loss the minimum
    within it. A grid is needed since a weight of embedding parameters above 1 allows several local minima.

    Of (N_x, N_T, D) `loss` returns the mean loss, and `returns` what log N_x and log D take off it, ``-dL/dlog N_x``
    along the family and ``-dL/dlog D``. Found are N_x*, N_T* and D* at a training compute C_T in FLOP.
    """
    slots = log_slots(compute)
    most = log(nonembedding(exp(slots), gamma, delta))

    def at(log_n):
        size = exp(log_n)
        n_total = total(size, gamma, delta)
        return size, n_total, exp(slots - log(n_total))

    def gain(log_n):
        size, n_total, tokens = at(log_n)
        by_size, by_tokens = returns(size, n_total, tokens)
        return by_size - by_tokens * elasticity(size, gamma, delta)

    best, step = least_of_grid(lambda log_n: loss(*at(log_n)), 0 * most, most)
    return at(root(gain, best - step, best + step))
