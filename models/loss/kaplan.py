"""The mathematics of Kaplan's law, on arrays of any broadcastable shape and any array library.

Notation: N parameters, without embeddings in the paper, D training tokens, C = 6 N D training FLOP, loss in nats per
token. The law has no irreducible loss.

References
----------
.. [1] Kaplan, J. et al. (2020). Scaling laws for neural language models. arXiv:2001.08361.
"""

from ..arrays import exp, log
from .chinchilla import FLOP_PER_PARAMETER_TOKEN

# Table 2 of Kaplan et al. (2020), the joint fit; those of N and D one at a time in its section 1.2 are others.
PUBLISHED = {"Nc": 6.4e13, "Dc": 1.8e13, "aN": 0.076, "aD": 0.103}


def loss(parameters, tokens, *, Nc, Dc, aN, aD):
    """Mean loss ``((Nc/N)**(aN/aD) + Dc/D)**aD``, equation 1.5 of Kaplan et al. (2020).

    Parameters
    ----------
    parameters, tokens : array_like
        N and D, positive.
    Nc, Dc, aN, aD : array_like
        The constants of the law, all positive, broadcast against `parameters` and `tokens`.

    Returns
    -------
    array_like
        Loss in nats per token, of the broadcast shape.
    """
    shortage = exp((aN / aD) * (log(Nc) - log(parameters))) + exp(log(Dc) - log(tokens))
    return exp(aD * log(shortage))


def returns(parameters, tokens, *, Nc, Dc, aN, aD):
    """Say what log N and log D take off the loss: ``-dL/dlog N`` and ``-dL/dlog D``, in nats per token."""
    by_size = exp((aN / aD) * (log(Nc) - log(parameters)))
    by_tokens = exp(log(Dc) - log(tokens))
    shortage = by_size + by_tokens
    mean = exp(aD * log(shortage))
    return aN * mean * by_size / shortage, aD * mean * by_tokens / shortage


def constants(loss_centre, parameter_share, aN, aD, *, reference_parameters, reference_tokens):
    """Textbook constants from what a table of runs informs.

    Parameters
    ----------
    loss_centre : array_like
        Loss at N = `reference_parameters`, D = `reference_tokens`, in nats per token.
    parameter_share : array_like
        Share of ``(Nc/N)**(aN/aD)`` in the sum that is raised to aD, in (0, 1).
    aN, aD : array_like
        The exponents, unchanged.
    reference_parameters, reference_tokens : float
        The centre, usually the geometric means of N and D over the fitted runs.

    Returns
    -------
    dict
        ``Nc``, ``Dc``, ``aN``, ``aD``.
    """
    log_shortage = log(loss_centre) / aD
    return {
        "Nc": exp(log(reference_parameters) + (aD / aN) * (log(parameter_share) + log_shortage)),
        "Dc": exp(log(reference_tokens) + log(1 - parameter_share) + log_shortage),
        "aN": aN,
        "aD": aD,
    }


def optimum(compute, *, Nc, Dc, aN, aD):
    """Parameters and tokens of least loss at a compute budget.

    The loss rises with ``(Nc/N)**r + Dc/D``, r = aN/aD, which on ``N D = C/6`` is least where ``r (Nc/N)**r = Dc/D``:
    ``N* = (r Nc**r C/(6 Dc))**(1/(1+r))`` and ``D* = C/(6 N*)``.

    Parameters
    ----------
    compute : array_like
        Training compute C in FLOP.
    Nc, Dc, aN, aD : array_like
        The constants of the law, all positive.

    Returns
    -------
    tuple of array_like
        N* and D*.
    """
    log_slots = log(compute) - log(FLOP_PER_PARAMETER_TOKEN)
    ratio = aN / aD
    log_parameters = (log(ratio) + ratio * log(Nc) + log_slots - log(Dc)) / (1 + ratio)
    return exp(log_parameters), exp(log_slots - log_parameters)


def parameter_exponent(*, aN, aD, **_):
    """Exponent ``aD/(aN+aD)`` of N* in C, .575 at the published constants.

    The exponent .73 of Kaplan et al. (2020) comes from their fit of the loss to compute and steps, not from this law.
    """
    return aD / (aN + aD)
