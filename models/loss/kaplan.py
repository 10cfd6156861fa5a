"""Kaplan's law: its mathematics, on arrays of any broadcastable shape and any array library, and what is fitted.

Notation: N parameters, without embeddings in the paper, D training tokens, C = 6 N D training FLOP, loss in nats per
token. The law has no irreducible loss.

References
----------
.. [1] Kaplan, J. et al. (2020). Scaling laws for neural language models. arXiv:2001.08361.
"""

from dataclasses import dataclass
from typing import ClassVar

from ..arrays import exp, log
from . import embeddings
from .budget import log_slots
from .law import CENTRE_RATIONALE, LossLaw, Sampled, geometric_means

# Table 2 of Kaplan et al. (2020), the joint fit; those of N and D one at a time in its section 1.2 are others.
PUBLISHED = {"Nc": 6.4e13, "Dc": 1.8e13, "aN": 0.076, "aD": 0.103}
EXPONENT_RATIONALE = (
    "Elasticity of the whole loss: without an irreducible part it is a fraction of a learning rate of 1/2 or 1; the "
    "prior's 95% interval is 0.03 to 0.65. It avoids 0."
)


def loss(parameters_nonembedding, tokens, *, Nc, Dc, aN, aD):
    """Return the mean loss ``((Nc/N)**(aN/aD) + Dc/D)**aD``, nats per token, equation 1.5 of Kaplan et al. (2020)."""
    shortage = exp((aN / aD) * (log(Nc) - log(parameters_nonembedding))) + exp(log(Dc) - log(tokens))
    return exp(aD * log(shortage))


def returns(parameters, tokens, *, Nc, Dc, aN, aD):
    """Compute what log N and log D take off the loss: ``-dL/dlog N`` and ``-dL/dlog D``, in nats per token."""
    by_size = exp((aN / aD) * (log(Nc) - log(parameters)))
    by_tokens = exp(log(Dc) - log(tokens))
    shortage = by_size + by_tokens
    mean = exp(aD * log(shortage))
    return aN * mean * by_size / shortage, aD * mean * by_tokens / shortage


def constants(loss_centre, parameter_share, aN, aD, *, reference_parameters, reference_tokens):
    """Return the textbook constants from what a table of runs informs; parameters as for `chinchilla.constants`.

    The `parameter_share` is that of ``(Nc/N)**(aN/aD)`` in the sum that is raised to aD.
    """
    log_shortage = log(loss_centre) / aD
    return {
        "Nc": exp(log(reference_parameters) + (aD / aN) * (log(parameter_share) + log_shortage)),
        "Dc": exp(log(reference_tokens) + log(1 - parameter_share) + log_shortage),
        "aN": aN,
        "aD": aD,
    }


def optimum(compute, *, Nc, Dc, aN, aD):
    """Return the parameters and tokens of least loss at a compute budget in FLOP.

    The loss rises with ``(Nc/N)**r + Dc/D``, r = aN/aD, which on ``N D = C/6`` is least where ``r (Nc/N)**r = Dc/D``:
    ``N* = (r Nc**r C/(6 Dc))**(1/(1+r))`` and ``D* = C/(6 N*)``.
    """
    slots = log_slots(compute)
    ratio = aN / aD
    log_parameters = (log(ratio) + ratio * log(Nc) + slots - log(Dc)) / (1 + ratio)
    return exp(log_parameters), exp(slots - log_parameters)


def parameter_exponent(*, aN, aD, **_):
    """Return the exponent ``aD/(aN+aD)`` of N* in C, .575 at the published constants.

    The exponent .73 of Kaplan et al. (2020) comes from their fit of the loss to compute and steps, not from this law.
    """
    return aD / (aN + aD)


@dataclass(frozen=True)
class Kaplan(LossLaw):
    """Kaplan's law, ``loss = ((Nc/N_x)**(aN/aD) + Dc/D)**aD`` (Kaplan et al. 2020, equation 1.5).

    N_x is parameters outside the embeddings, D training tokens, loss in nats per token. Sampled are, with N0 and D0 the
    geometric means of N_x and D over the table:

    ================= ======================== ==================================================================
    quantity          default prior            what it is and why
    ================= ======================== ==================================================================
    loss_centre       LogNormal(1.1, 0.5)      loss at (N0, D0): 1.1 to 8 nats, from a very good to a unigram model
    parameter_share   Beta(2, 2)               share of (Nc/N0)**(aN/aD) in the sum; no side preferred
    aN, aD            LogNormal(-2, 0.8)       0.03 to 0.65: elasticities of the whole loss; avoids 0
    ================= ======================== ==================================================================

    and sigma and nu as in `Chinchilla`. Derived, draw by draw: Nc, Dc, ``exponent_parameters = aD/(aN+aD)`` and nu.
    The options are those of `Chinchilla`.

    Examples
    --------
    >>> list(Kaplan(noise="normal", scatter="one").prior_of)
    ['loss_centre', 'parameter_share', 'aN', 'aD', 'sigma']
    """

    name: ClassVar[str] = "kaplan"
    exponents: ClassVar[tuple] = ("aN", "aD")
    loss_centre = Sampled("LogNormal(1.1, 0.5)", CENTRE_RATIONALE, "nats/token")
    parameter_share = Sampled("Beta(2, 2)", "Share of the shortage that parameters remove.", support=(0, 1))
    aN = Sampled("LogNormal(-2, 0.8)", EXPONENT_RATIONALE)
    aD = Sampled("LogNormal(-2, 0.8)", EXPONENT_RATIONALE)
    loss = staticmethod(loss)
    derive = staticmethod(constants)
    exponent = staticmethod(parameter_exponent)

    def centre(self, table):
        """Return the geometric means of N_x and D."""
        nonembedding, tokens = geometric_means(table, self.columns)
        return {"reference_parameters": nonembedding, "reference_tokens": tokens}

    def optimal_sizes(self, constants, compute, *, gamma, delta=embeddings.PROPORTIONAL):
        """Return the compute-optimal N_x, N_T and D on ``6 N_T D = C``; see `embeddings.optimum`."""
        named = {name: constants[name] for name in ("Nc", "Dc", "aN", "aD")}
        return embeddings.optimum(
            compute,
            lambda n, _, tokens: loss(n, tokens, **named),
            lambda n, _, tokens: returns(n, tokens, **named),
            gamma=gamma,
            delta=delta,
        )
