"""The mathematics of runs at any learning rate and batch, on arrays of any broadcastable shape and any array library.

Notation: N parameters, D training tokens, r the peak learning rate, b the tokens of a batch.

References
----------
.. [1] Li, H. et al. (2025). Predictable scale: Part I, step law, optimal hyperparameter scaling law in large language
   model pre-training. arXiv:2503.04715.
"""

import numpy as np

from ..arrays import exp, log, minimum
from .chinchilla import constants as chinchilla_constants
from .chinchilla import loss as chinchilla_loss

MOST = 300.0  # log of a loss over that of tuned runs: beyond any loss, and its exponential is finite
ALIKE = np.log(1.1)  # of tokens


def best_setting(parameters, tokens, *, constant, by_parameters, by_tokens):
    """Return the best learning rate or batch at sizes, ``K N**a D**b``, the form of Li et al. (2025).

    Parameters
    ----------
    parameters, tokens : array_like
        N and D.
    constant, by_parameters, by_tokens : array_like
        K, a and b.

    Examples
    --------
    >>> published = {"constant": 1.79, "by_parameters": -0.713, "by_tokens": 0.307}
    >>> round(float(best_setting(1e9, 1e11, **published)), 5)
    0.00163
    """
    return exp(log(constant) + by_parameters * log(parameters) + by_tokens * log(tokens))


def lost(ratio, *, cost, skew):
    """Return the share of the loss that is lost, in logarithms, where a rate is so many times the best one.

    It is ``2 cost (exp(skew x) - 1 - skew x)/skew**2`` at x, the log of the ratio. Near the best rate it is
    ``cost x**2``; below it grows like x, above exponentially, as divergence nears.

    Parameters
    ----------
    ratio, cost, skew : array_like
        All positive.

    Examples
    --------
    >>> low, high = (lost(x, cost=0.01, skew=0.6) for x in (0.25, 4.0))
    >>> bool(low < high)
    True
    """
    x = skew * log(ratio)
    return minimum(2 * cost * (exp(x) - 1 - x) / skew**2, MOST)


def loss_at_rate(
    parameters,
    tokens,
    learning_rate_peak,
    *,
    E,
    A,
    B,
    alpha,
    beta,
    rate_constant,
    rate_by_parameters,
    rate_by_tokens,
    rate_cost,
    rate_skew,
):
    """Return the mean loss ``(E + A/N**alpha + B/D**beta) exp(lost(r/r*))``, r* the best rate of `best_setting`.

    Parameters
    ----------
    parameters, tokens, learning_rate_peak : array_like
        N, D and r.
    E, A, B, alpha, beta : array_like
        Constants of the Chinchilla law at the best rate.
    rate_constant, rate_by_parameters, rate_by_tokens : array_like
        Of the best rate.
    rate_cost, rate_skew : array_like
        Of `lost`.
    """
    best = best_setting(
        parameters, tokens, constant=rate_constant, by_parameters=rate_by_parameters, by_tokens=rate_by_tokens
    )
    tuned = chinchilla_loss(parameters, tokens, E=E, A=A, B=B, alpha=alpha, beta=beta)
    return tuned * exp(lost(learning_rate_peak / best, cost=rate_cost, skew=rate_skew))


def loss_at_rate_and_batch(
    parameters,
    tokens,
    learning_rate_peak,
    batch_tokens,
    *,
    E,
    A,
    B,
    alpha,
    beta,
    rate_constant,
    rate_by_parameters,
    rate_by_tokens,
    rate_cost,
    rate_skew,
    rate_by_batch,
    batch_constant,
    batch_by_parameters,
    batch_by_tokens,
    batch_cost,
):
    """Return the mean loss of `loss_at_rate` times ``exp(batch_cost log(b/b*)**2)``, b* the best batch.

    The best rate of a batch is ``r* (b/b*)**rate_by_batch``.

    Parameters
    ----------
    parameters, tokens, learning_rate_peak, batch_tokens : array_like
        N, D, r and b.
    E, A, B, alpha, beta, rate_constant, rate_by_parameters, rate_by_tokens, rate_cost, rate_skew : array_like
        Of `loss_at_rate`.
    rate_by_batch : array_like
    batch_constant, batch_by_parameters, batch_by_tokens : array_like
        Of the best batch; see `best_setting`.
    batch_cost : array_like
        Share of the loss that is lost, in logarithms, where a batch is e times the best one or 1/e of it.
    """
    best = best_setting(
        parameters, tokens, constant=batch_constant, by_parameters=batch_by_parameters, by_tokens=batch_by_tokens
    )
    off = log(batch_tokens / best)
    at_rate = loss_at_rate(
        parameters,
        tokens,
        learning_rate_peak * exp(-rate_by_batch * off),
        E=E,
        A=A,
        B=B,
        alpha=alpha,
        beta=beta,
        rate_constant=rate_constant,
        rate_by_parameters=rate_by_parameters,
        rate_by_tokens=rate_by_tokens,
        rate_cost=rate_cost,
        rate_skew=rate_skew,
    )
    return at_rate * exp(minimum(batch_cost * off**2, MOST))


def constant_of(best, by_parameters, by_tokens, parameters, tokens):
    """Return the constant of `best_setting` from the best rate or batch at a size."""
    return best * exp(-by_parameters * log(parameters) - by_tokens * log(tokens))


def constants_at_rate(
    loss_centre,
    reducible_share,
    parameter_share,
    alpha,
    beta,
    best_rate,
    rate_by_parameters,
    rate_by_tokens,
    *,
    reference_parameters,
    reference_tokens,
    typical_learning_rate_peak,
):
    """Return the constants of `loss_at_rate` that are not sampled; the first five as for `chinchilla.constants`.

    Parameters
    ----------
    best_rate : array_like
        Best rate at the centre of the sizes over `typical_learning_rate_peak`.
    rate_by_parameters, rate_by_tokens : array_like
        Exponents of the best rate.
    reference_parameters, reference_tokens, typical_learning_rate_peak : float
        Geometric means over the runs.
    """
    centre = {"reference_parameters": reference_parameters, "reference_tokens": reference_tokens}
    tuned = chinchilla_constants(loss_centre, reducible_share, parameter_share, alpha, beta, **centre)
    best = best_rate * typical_learning_rate_peak
    return tuned | {"rate_constant": constant_of(best, rate_by_parameters, rate_by_tokens, *centre.values())}


def rungs(rows):
    """Return the number of the rung of each row, (row,): one size, on tokens that differ by less than 10%."""
    order = rows.sort_values(["parameters", "tokens"])
    jumps = (order["parameters"].diff() != 0) | (np.log(order["tokens"]).diff().abs() > ALIKE)
    return jumps.cumsum().reindex(rows.index)


def constants_at_rate_and_batch(
    best_batch,
    batch_by_parameters,
    batch_by_tokens,
    loss_centre,
    reducible_share,
    parameter_share,
    alpha,
    beta,
    best_rate,
    rate_by_parameters,
    rate_by_tokens,
    *,
    reference_parameters,
    reference_tokens,
    typical_learning_rate_peak,
    typical_batch_tokens,
):
    """Return the constants of `loss_at_rate_and_batch` that are not sampled.

    Parameters
    ----------
    best_batch : array_like
        Best batch at the centre of the sizes over `typical_batch_tokens`.
    batch_by_parameters, batch_by_tokens : array_like
        Exponents of the best batch.
    loss_centre, ..., typical_learning_rate_peak
        As for `constants_at_rate`.
    typical_batch_tokens : float
        Geometric mean over the runs.
    """
    at_rate = constants_at_rate(
        loss_centre,
        reducible_share,
        parameter_share,
        alpha,
        beta,
        best_rate,
        rate_by_parameters,
        rate_by_tokens,
        reference_parameters=reference_parameters,
        reference_tokens=reference_tokens,
        typical_learning_rate_peak=typical_learning_rate_peak,
    )
    constant = constant_of(
        best_batch * typical_batch_tokens, batch_by_parameters, batch_by_tokens, reference_parameters, reference_tokens
    )
    return at_rate | {"batch_constant": constant}
