"""Standard errors and weights of models, from pointwise expected log predictive densities."""

import numpy as np

from ...datasets.deferred import special
from ...datasets.wording import unknown
from ...errors import InputError
from ...models.draws import BLOCK

STEPS = 100_000
TOLERANCE = 1e-9


def sum_error(values):
    """Return the standard error of a sum over the first axis: of n values, the variance by n - 1."""
    values = np.asarray(values, float)
    return len(values) ** 0.5 * np.std(values, axis=0, ddof=1) if len(values) > 1 else np.full(values.shape[1:], np.nan)


def stacking(elpd_i):
    """Compute weights whose mixture has the highest leave-one-out log score (Yao et al. 2018, section 3.1).

    The problem is concave; it is solved by expectation maximisation until no model could gain. The pointwise log
    predictive densities, (observation, model), must be finite; rows may be sums over a group.
    """
    elpd_i = _finite(elpd_i)
    return _stacked(elpd_i, np.full((1, len(elpd_i)), 1 / len(elpd_i)))[0]


def _stacked(elpd_i, shares):
    """Compute stacking weights of observations that count for different shares, a row of `shares`: (row, model)."""
    density = np.exp(elpd_i - elpd_i.max(axis=1, keepdims=True))
    weights, left = np.full((len(shares), density.shape[1]), 1 / density.shape[1]), np.arange(len(shares))
    for _ in range(STEPS):
        gain = (shares[left] / (weights[left] @ density.T)) @ density
        weights[left] *= gain
        left = left[gain.max(axis=1) - 1 >= TOLERANCE]
        if not len(left):
            break
    return weights / weights.sum(axis=1, keepdims=True)


def bootstrapped(elpd_i, *, replicates=100, seed=0):
    """Compute stacking weights, (replicate, model), of tables drawn with replacement: how far chance moves them.

    The densities, (observation, model), may be sums over a group, such as a paper.
    """
    elpd_i, rng = _finite(elpd_i), np.random.default_rng(seed)
    count = len(elpd_i)
    drawn = [np.bincount(rng.integers(0, count, count), minlength=count) for _ in range(replicates)]
    return _stacked(elpd_i, np.array(drawn) / count)


def pseudo_bma(elpd_i, *, bootstrap=1000):
    """Compute pseudo-BMA+ weights: Akaike-type, averaged over the Bayesian bootstrap (Yao et al. 2018, section 3.4).

    There are `bootstrap` replications of the densities, (observation, model).
    """
    elpd_i = _finite(elpd_i)
    n, rng = len(elpd_i), np.random.default_rng(0)
    # Some at a time: all shares of a large table together would not fit in memory.
    parts = np.array_split(np.arange(bootstrap), -(-bootstrap * n // BLOCK))
    shared = np.concatenate([rng.dirichlet(np.ones(n), len(part)) @ elpd_i for part in parts])
    return special.softmax(n * shared, axis=1).mean(axis=0)


def equal(elpd_i):
    """Return weights that are all the same."""
    return np.full(np.shape(elpd_i)[1], 1 / np.shape(elpd_i)[1])


WEIGHTINGS = {"stacking": stacking, "pseudo_bma": pseudo_bma, "equal": equal}


def weigh(elpd_i, method):
    """Return weights by the method called `method`."""
    if method not in WEIGHTINGS:
        raise InputError(unknown("weighting", method, (*WEIGHTINGS, "rollout")))
    return WEIGHTINGS[method](elpd_i)


def _finite(elpd_i):
    elpd_i = np.asarray(elpd_i, float)
    if not np.isfinite(elpd_i).all():
        row, column = np.argwhere(~np.isfinite(elpd_i))[0]
        raise InputError(
            f"elpd of observation {row} under model {column} is {elpd_i[row, column]}; weights need finite values"
        )
    return elpd_i
