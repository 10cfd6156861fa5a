"""Kaplan's law as something to fit: parameters outside the embeddings, no irreducible loss."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..priors import Quantity
from . import embeddings, kaplan
from .law import CENTRE_RATIONALE, Law, geometric_means

EXPONENT_RATIONALE = (
    "Elasticity of the whole loss: without an irreducible part it is a fraction of a learning rate of 1/2 or 1; the "
    "prior's 95% interval is 0.03 to 0.65. It avoids 0."
)


@dataclass(frozen=True)
class Kaplan(Law):
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
    """

    name: ClassVar[str] = "kaplan"
    columns: ClassVar[tuple] = ("parameters_nonembedding", "tokens")
    derived_names: ClassVar[tuple] = ("Nc", "Dc", "exponent_parameters")
    mean_quantities: ClassVar[tuple] = (
        Quantity("loss_centre", "LogNormal(1.1, 0.5)", (0, np.inf), "nats/token", CENTRE_RATIONALE),
        Quantity("parameter_share", "Beta(2, 2)", (0, 1), "", "Share of the shortage that parameters remove."),
        Quantity("aN", "LogNormal(-2, 0.8)", (0, np.inf), "", EXPONENT_RATIONALE),
        Quantity("aD", "LogNormal(-2, 0.8)", (0, np.inf), "", EXPONENT_RATIONALE),
    )

    def constants(self, values, reference):
        """Nc, Dc, aN, aD and the exponent of the optimal size; see `kaplan.constants`."""
        names = [q.name for q in self.mean_quantities]
        constants = kaplan.constants(**{name: values[name] for name in names}, **reference)
        return constants | {"exponent_parameters": kaplan.parameter_exponent(**constants)}

    def mean(self, constants, columns):
        """Mean loss; see `kaplan.loss`."""
        named = {name: constants[name] for name in ("Nc", "Dc", "aN", "aD")}
        return kaplan.loss(columns["parameters_nonembedding"], columns["tokens"], **named)

    def reference(self, table):
        """Geometric means of N_x and D."""
        nonembedding, tokens = geometric_means(table, self.columns)
        return {"reference_parameters": nonembedding, "reference_tokens": tokens}

    def optimum(self, constants, compute, *, gamma, delta=embeddings.PROPORTIONAL):
        """Compute-optimal N_x, N_T and D on ``6 N_T D = C``; see `embeddings.optimum`."""
        named = {name: constants[name] for name in ("Nc", "Dc", "aN", "aD")}
        return embeddings.optimum(
            compute,
            lambda n, _, tokens: kaplan.loss(n, tokens, **named),
            lambda n, _, tokens: kaplan.returns(n, tokens, **named),
            gamma=gamma,
            delta=delta,
        )
