"""The mathematics of the Chinchilla law, on arrays of any broadcastable shape and any array library.

Notation: N parameters, D training tokens, C = 6 N D training FLOP, loss in nats per token.

References
----------
.. [1] Hoffmann, J. et al. (2022). Training compute-optimal large language models. arXiv:2203.15556.
.. [2] Besiroglu, T. et al. (2024). Chinchilla scaling: a replication attempt. arXiv:2404.10102.
"""

from ..arrays import exp, log

FLOP_PER_PARAMETER_TOKEN = 6.0


def loss(parameters, tokens, *, E, A, B, alpha, beta):
    """Mean loss ``E + A / N**alpha + B / D**beta``, equation 2 of Hoffmann et al. (2022).

    Parameters
    ----------
    parameters, tokens : array_like
        N and D, positive.
    E, A, B, alpha, beta : array_like
        The constants of the law, broadcast against `parameters` and `tokens`.

    Returns
    -------
    array_like
        Loss in nats per token, of the broadcast shape.
    """
    return E + A * exp(-alpha * log(parameters)) + B * exp(-beta * log(tokens))


def optimum(compute, *, A, B, alpha, beta, **_):
    """Parameters and tokens of least loss at a compute budget, section 3.3 of Hoffmann et al. (2022).

    ``N* = G (C/6)**(beta/(alpha+beta))`` with ``G = (alpha A / (beta B))**(1/(alpha+beta))``, and ``D* = C/(6 N*)``.

    Parameters
    ----------
    compute : array_like
        Training compute C in FLOP.
    A, B, alpha, beta : array_like
        The constants of the law, all positive; `E` may be passed and plays no part.

    Returns
    -------
    tuple of array_like
        N* and D*.
    """
    log_slots = log(compute) - log(FLOP_PER_PARAMETER_TOKEN)
    log_parameters = (log(alpha * A / (beta * B)) + beta * log_slots) / (alpha + beta)
    return exp(log_parameters), exp(log_slots - log_parameters)


def parameter_exponent(*, alpha, beta, **_):
    """Exponent ``beta/(alpha+beta)`` of N* in C, equation 4 of Hoffmann et al. (2022)."""
    return beta / (alpha + beta)


def constants(loss_centre, reducible_share, parameter_share, alpha, beta, *, reference_parameters, reference_tokens):
    """Textbook constants from what a table of runs informs.

    Parameters
    ----------
    loss_centre : array_like
        Loss at N = `reference_parameters`, D = `reference_tokens`, in nats per token.
    reducible_share : array_like
        Share of that loss which is not E, in (0, 1).
    parameter_share : array_like
        Share of the reducible loss which is ``A/N**alpha``, in (0, 1).
    alpha, beta : array_like
        The exponents, unchanged.
    reference_parameters, reference_tokens : float
        The centre, usually the geometric means of N and D over the fitted runs.

    Returns
    -------
    dict
        ``E``, ``A``, ``B``, ``alpha``, ``beta``.
    """
    reducible = loss_centre * reducible_share
    return {
        "E": loss_centre * (1 - reducible_share),
        "A": reducible * parameter_share * exp(alpha * log(reference_parameters)),
        "B": reducible * (1 - parameter_share) * exp(beta * log(reference_tokens)),
        "alpha": alpha,
        "beta": beta,
    }
