"""The Chinchilla law with its two terms coupled: its mathematics, on arrays of any kind.

Notation as in `chinchilla`; kappa is the outer exponent.

References
----------
.. [1] Busbridge, D. et al. (2025). Distillation scaling laws. arXiv:2502.08606.
.. [2] Kaplan, J. et al. (2020). Scaling laws for neural language models. arXiv:2001.08361.
"""

from ..arrays import exp, log, logaddexp
from .budget import log_slots
from .law import Sampled

KAPPA = Sampled(
    "LogNormal(-0.5, 0.7)",
    "Outer exponent: 0.15 to 2.4, from nearly the larger term alone, over the sum of both (1), to terms that hinder "
    "each other.",
)


def log_terms(parameters, tokens, *, A, B, alpha, beta, kappa):
    """Return the logs of ``(A/N**alpha)**(1/kappa)`` and ``(B/D**beta)**(1/kappa)``; their sum is raised to kappa."""
    return (log(A) - alpha * log(parameters)) / kappa, (log(B) - beta * log(tokens)) / kappa


def loss(parameters, tokens, *, E, A, B, alpha, beta, kappa):
    """Return the mean loss ``E + ((A/N**alpha)**(1/kappa) + (B/D**beta)**(1/kappa))**kappa`` in nats per token.

    It is the form of [1]_. At kappa = 1 it is `chinchilla.loss`; at E = 0 and kappa = beta equation 1.5 of [2]_. As
    kappa goes to 0 the larger of ``A/N**alpha`` and ``B/D**beta`` alone counts. Alpha is the exponent where tokens
    abound, beta where parameters do.

    Examples
    --------
    >>> import numpy as np
    >>> from .chinchilla import loss as sum_of_terms
    >>> constants = {"E": 1.8, "A": 480.0, "B": 2080.0, "alpha": 0.35, "beta": 0.37}
    >>> bool(np.isclose(loss(1e9, 1e10, **constants, kappa=1.0), sum_of_terms(1e9, 1e10, **constants)))
    True
    """
    terms = log_terms(parameters, tokens, A=A, B=B, alpha=alpha, beta=beta, kappa=kappa)
    return E + exp(kappa * logaddexp(*terms))


def optimum(compute, *, A, B, alpha, beta, kappa, **_):
    """Return the parameters and tokens of least loss at a compute budget, N* and D*.

    On ``N D = C/6`` the loss is least where ``alpha u = beta v``, u and v the terms of `log_terms`:
    ``N* = G (C/6)**(beta/(alpha+beta))``, ``G = (alpha A**(1/kappa) / (beta B**(1/kappa)))**(kappa/(alpha+beta))``.
    """
    slots = log_slots(compute)
    log_parameters = (kappa * log(alpha / beta) + log(A) - log(B) + beta * slots) / (alpha + beta)
    return exp(log_parameters), exp(slots - log_parameters)


def returns(parameters, tokens, *, A, B, alpha, beta, kappa, **_):
    """Compute the returns to N and D but for a common factor: alpha and beta times the terms of `log_terms`."""
    u, v = log_terms(parameters, tokens, A=A, B=B, alpha=alpha, beta=beta, kappa=kappa)
    return alpha * exp(u), beta * exp(v)


def constants(
    loss_centre, reducible_share, parameter_share, alpha, beta, kappa, *, reference_parameters, reference_tokens
):
    """Return the textbook constants from what a table of runs informs; parameters as for `chinchilla.constants`.

    With R the reducible loss at the centre and s the share of the parameters in the sum that is raised to kappa,
    ``A = R s**kappa N0**alpha`` and ``B = R (1-s)**kappa D0**beta``.
    """
    log_reducible = log(loss_centre * reducible_share)
    return {
        "E": loss_centre * (1 - reducible_share),
        "A": exp(log_reducible + kappa * log(parameter_share) + alpha * log(reference_parameters)),
        "B": exp(log_reducible + kappa * log(1 - parameter_share) + beta * log(reference_tokens)),
        "alpha": alpha,
        "beta": beta,
        "kappa": kappa,
    }
