"""How many independent draws the draws of several chains are worth, and whether the chains agree.

The definitions are those of ArviZ, whose import takes as long as a fit of the built-in runs.

References
----------
.. [1] Vehtari, A., Gelman, A., Simpson, D., Carpenter, B. and Bürkner, P.-C. (2021). Rank-normalization, folding, and
   localization: an improved R-hat for assessing convergence of MCMC. Bayesian Analysis 16.
"""

import numpy as np

from ..datasets.deferred import special

LEAST = 4  # draws of a chain
BLOCK = 2**21  # numbers transformed at once


def effective_draws(values):
    """Return how many independent draws give the mean of each quantity as exactly [1]_.

    Values have the shape (chain, draw, ...), and the result (...). It is NaN where a draw is not finite or a chain has
    fewer than four.

    Examples
    --------
    >>> import numpy as np
    >>> draws = np.random.default_rng(1).normal(size=(4, 1000, 2))
    >>> effective_draws(draws).round(-3)
    array([4000., 4000.])
    """
    return _of_columns(values, lambda columns: [_geyer(_halves(columns))], 1)[0]


def convergence(values, ends):
    """Return whether chains agree, and how many independent draws the bulk and the tails are worth [1]_.

    Parameters
    ----------
    values : ndarray, shape (chain, draw, ...)
    ends : sequence of float
        Probabilities of the quantiles that begin the tails.

    Returns
    -------
    ndarray, shape (3, ...)
        First R-hat of half chains, the larger of that of ranks and that of ranks of distances from the median. Then
        the effective draws of the ranks as normal scores. Last the least of those of the shares of draws below the
        quantiles. NaN as for `effective_draws`.
    """

    def figures(columns):
        halves = _halves(columns)
        scores = _scores(halves)
        folded = _scores(abs(halves - np.median(halves, axis=(1, 2), keepdims=True)))
        edges = np.quantile(columns, ends, axis=(1, 2))[..., None, None]
        tails = [_geyer(_halves((columns <= edge).astype(float))) for edge in edges]
        return np.maximum(_ratio(scores), _ratio(folded)), _geyer(scores), np.min(tails, axis=0)

    return _of_columns(values, figures, 3)


def _of_columns(values, figures, count):
    """Compute a number of figures of each quantity from arrays (quantity, chain, draw), some quantities at a time."""
    chains, draws = values.shape[:2]
    columns = np.moveaxis(values.reshape(chains, draws, -1), -1, 0)
    result = np.full((count, len(columns)), np.nan)
    usable = np.flatnonzero(np.isfinite(columns).all((1, 2))) if draws >= LEAST else []
    most = max(1, BLOCK // (chains * draws))
    for start in range(0, len(usable), most):
        places = usable[start : start + most]
        result[:, places] = figures(np.ascontiguousarray(columns[places], float))
    return result.reshape(count, *values.shape[2:])


def _halves(columns):
    """Return the halves of chains as chains; of an odd number the draw in the middle belongs to neither."""
    half = columns.shape[-1] // 2
    return np.concatenate([columns[..., :half], columns[..., -half:]], axis=1)


def _scores(columns):
    """Return normal scores of ranks among all draws of a quantity."""
    flat = columns.reshape(len(columns), -1)
    ranks = np.array([_ranks(row) for row in flat])
    return special.ndtri((ranks - 3 / 8) / (flat.shape[1] + 1 / 4)).reshape(columns.shape)


def _ranks(row):
    """Return ranks from 1; equal numbers have the mean of theirs."""
    order = np.argsort(row)
    ordered, ranks = row[order], np.empty(len(row))
    first = np.append(True, ordered[1:] != ordered[:-1])
    starts = np.flatnonzero(np.append(first, True))
    ranks[order] = ((starts[:-1] + starts[1:] + 1) / 2)[np.cumsum(first) - 1]
    return ranks


def _ratio(columns):
    """Return the square root of the variance of all draws over that within chains."""
    draws = columns.shape[-1]
    between, within = draws * columns.mean(-1).var(-1, ddof=1), columns.var(-1, ddof=1).mean(-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.sqrt((between / within + draws - 1) / draws)


def _geyer(columns):
    """Return effective draws from autocorrelations, whose sums of neighbours are positive and fall."""
    chains, draws = columns.shape[1:]
    means = columns.mean(-1)
    padded = 2 ** int(np.ceil(np.log2(2 * draws)))
    spectrum = np.fft.rfft(columns - means[..., None], padded)
    powers = (spectrum.real**2 + spectrum.imag**2).mean(1)
    covariances = np.fft.irfft(powers, padded)[:, :draws] / draws
    within = covariances[:, :1] * draws / (draws - 1)
    total = covariances[:, 0] + (means.var(-1, ddof=1) if chains > 1 else 0.0)
    varies = np.ptp(columns, axis=(1, 2)) > 0
    correlations = 1 - (within - covariances) / np.where(varies, total, 1.0)[:, None]
    correlations[:, 0] = 1.0
    pairs = max(1, (draws - 1) // 2)
    even = correlations[:, : 2 * pairs : 2]
    sums = even + correlations[:, 1 : 2 * pairs : 2]
    ends = sums <= 0
    ends[:, -1] = True
    stop = ends.argmax(1)[:, None]
    before = np.arange(pairs) < stop
    falling = np.where(before, np.minimum.accumulate(sums, axis=1), 0.0).sum(1)
    last, last_sum = (np.take_along_axis(x, stop, axis=1)[:, 0] for x in (even, sums))
    time = -1 + 2 * falling + np.where(last_sum >= 0, last, np.maximum(last, 0.0))
    size = chains * draws
    return np.where(varies, size / np.maximum(time, 1 / np.log10(size)), size)
