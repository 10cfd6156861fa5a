"""Counts about a probability: their distribution, made continuous."""

import numpy as np

from ...datasets.deferred import special

LEAST = 1e-300
SEED = 0  # of the places between two probabilities, one for each cell


def cumulative(right, wrong, precision, correct, total):
    """Return the probability of a count below the observed one, and of the observed count, (..., cell).

    The probabilities that a problem is right and wrong have that shape, the counts shape (cell,). The precision is the
    sum of the two parameters of the beta-binomial, and None for a binomial.

    Examples
    --------
    >>> below, at = cumulative(np.array([0.5]), np.array([0.5]), None, np.array([1]), np.array([2]))
    >>> float(below[0].round(6)), float(at[0].round(6))
    (0.25, 0.5)
    """
    n, k = np.asarray(total, float), np.asarray(correct, float)
    shape = np.broadcast_shapes(np.shape(right), k.shape)
    if precision is None:
        parts = (np.log(np.clip(right, LEAST, 1)), np.log(np.clip(wrong, LEAST, 1)))
    else:
        parts = (np.maximum(right * precision, LEAST), np.maximum(wrong * precision, LEAST))
    parts = [np.broadcast_to(x, shape) for x in parts]

    def density(j, cells):
        a, b = (x[..., cells] for x in parts)
        m = n[cells]
        choose = special.gammaln(m + 1) - special.gammaln(j + 1) - special.gammaln(m - j + 1)
        if precision is None:
            return np.exp(choose + a * j + b * (m - j))
        return np.exp(choose + special.betaln(a + j, b + m - j) - special.betaln(a, b))

    at = density(k, np.arange(len(k)))
    upper = k > n / 2  # those are counted from above, which takes fewer terms
    terms = np.where(upper, n - k, k).astype(int)
    lower_tail = np.zeros(shape)
    for j in range(terms.max(initial=0)):
        cells = np.flatnonzero(terms > j)
        lower_tail[..., cells] += density(np.where(upper[cells], n[cells] - j, j), cells)
    return np.clip(np.where(upper, 1 - lower_tail - at, lower_tail), 0, 1), at


def between(below, at):
    """Place each count uniformly between the probabilities of fewer and of at most it: uniform if the law is true."""
    return below + at * np.random.default_rng(SEED).uniform(size=below.shape[-1])


def spread(right, wrong, precision, total):
    """Return the standard deviation of the share of a cell's problems that are right, (..., cell)."""
    more = 1.0 if precision is None else (precision + total) / (precision + 1)
    return np.sqrt(right * wrong * more / total)


def draw_counts(right, wrong, precision, total, rng):
    """Draw counts of `total` problems, (...), about probabilities; binomial where there is no precision."""
    if precision is None:
        return rng.binomial(total, right)
    a, b = rng.standard_gamma(precision * right), rng.standard_gamma(precision * wrong)
    # Where both gammas are too small for a float, the beta is all but 0 or 1.
    extreme = rng.random(np.shape(a)) < right
    with np.errstate(invalid="ignore"):
        share = np.where(a + b > 0, a / (a + b), extreme)
    return rng.binomial(total, share)
