"""What one rule of scaling saves over another, under the Chinchilla law.

References
----------
.. [1] Hoffmann, J. et al. (2022). Training compute-optimal large language models. arXiv:2203.15556.
.. [2] Ho, A. et al. (2024). Algorithmic progress in language models. arXiv:2403.05812, appendix B.
"""

from ..arrays import exp, log
from . import chinchilla, kaplan
from .budget import FLOP_PER_PARAMETER_TOKEN


def least_compute(reducible_loss, *, A, B, alpha, beta, **_):
    """Return the budget in FLOP at which the optimum of the Chinchilla law reaches a loss above E, in nats per token.

    The optimal loss at C is ``E + K (C/6)**(-alpha beta/(alpha+beta))``, where N* of `chinchilla.optimum` gives
    ``K = A G**-alpha (1 + alpha/beta)`` with ``G = (alpha A/(beta B))**(1/(alpha+beta))``; this is solved for C.
    """
    log_G = log(alpha * A / (beta * B)) / (alpha + beta)
    log_K = log(A) - alpha * log_G + log(1 + alpha / beta)
    log_slots = (log_K - log(reducible_loss)) * (1 / alpha + 1 / beta)
    return FLOP_PER_PARAMETER_TOKEN * exp(log_slots)


def chinchilla_over_kaplan(compute, *, A, B, alpha, beta, **_):
    """Compute that Chinchilla's rule saves over Kaplan's: budget over the least budget that reaches the same loss.

    Kaplan's law, at its published constants, is minimised at the budget in FLOP. The Chinchilla law gives the loss of
    that size, and the budget at which the Chinchilla optimum has this loss (appendix B of Ho et al. 2024). N is all
    parameters in both laws, as there, although Kaplan's counts no embeddings.
    """
    parameters, tokens = kaplan.optimum(compute, **kaplan.PUBLISHED)
    constants = {"A": A, "B": B, "alpha": alpha, "beta": beta}
    reducible = chinchilla.loss(parameters, tokens, E=0.0, **constants)
    return compute / least_compute(reducible, **constants)
