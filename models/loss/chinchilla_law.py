"""The Chinchilla law as something to fit."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..priors import Quantity
from . import chinchilla, embeddings
from .law import CENTRE_RATIONALE, Law, geometric_means

EXPONENT_RATIONALE = (
    "Statistical rates of learning run from nearly 0 (no return to size) to 1/2 and 1 (the classical rates); the "
    "prior's 95% interval is 0.08 to 1.2. It avoids 0, where optima and doubling times cease to exist."
)


@dataclass(frozen=True)
class Chinchilla(Law):
    """The Chinchilla law, ``loss = E + A/N**alpha + B/D**beta`` (Hoffmann et al. 2022, equation 2).

    N is all parameters, D training tokens, loss in nats per token. Sampled are quantities that the data see directly,
    with N0 and D0 the geometric means of N and D over the table:

    ================= ======================== ==================================================================
    quantity          default prior            what it is and why
    ================= ======================== ==================================================================
    loss_centre       LogNormal(1.1, 0.5)      loss at (N0, D0): 1.1 to 8 nats, from a very good to a unigram model
    reducible_share   Beta(2, 2)               share of it above E; no side preferred, the ends excluded
    parameter_share   Beta(2, 2)               share of that which is A/N**alpha; likewise
    alpha, beta       LogNormal(-1.2, 0.7)     0.08 to 1.2: from no return to the classical rates; avoids 0
    sigma             LogNormal(-4.6, 1.5)     scatter, relative (on the loss scale: -3.5, in nats)
    nu_minus_one      Gamma(2, 0.1)            Student-t only: degrees of freedom above 1 (Juarez and Steel 2010)
    ================= ======================== ==================================================================

    Derived, draw by draw: E, A, B, ``exponent_parameters = beta/(alpha+beta)`` and nu.

    Parameters
    ----------
    noise : {"student_t", "normal", "huber"}
        Distribution of the residuals.
    scale : {"log_loss", "loss"}
        Where residuals are taken.
    threshold : float
        Threshold of the Huber noise in units of its scale.
    measurement_error : bool
        Add a uniform reading error on plus or minus the table's ``loss_halfwidth``. Errors read off one colour scale
        are not independent of each other; this option treats them as if they were.
    priors : mapping of str to str
        Replacements of the default priors, ``{"alpha": "LogNormal(-1, 0.5)"}``. Only sampled quantities have priors.

    Raises
    ------
    InputError
        If an option or prior is unknown, or a prior leaves its quantity's support.

    Examples
    --------
    >>> Chinchilla(noise="normal", priors={"alpha": "LogNormal(-1, 0.5)"}).priors
    {'alpha': 'LogNormal(-1, 0.5)'}
    """

    name: ClassVar[str] = "chinchilla"
    columns: ClassVar[tuple] = ("parameters", "tokens")
    derived_names: ClassVar[tuple] = ("E", "A", "B", "exponent_parameters")
    mean_quantities: ClassVar[tuple] = (
        Quantity(
            "loss_centre",
            "LogNormal(1.1, 0.5)",
            (0, np.inf),
            "nats/token",
            CENTRE_RATIONALE,
        ),
        Quantity("reducible_share", "Beta(2, 2)", (0, 1), "", "Share of that loss above E; neither side preferred."),
        Quantity("parameter_share", "Beta(2, 2)", (0, 1), "", "Share of the reducible loss that parameters remove."),
        Quantity("alpha", "LogNormal(-1.2, 0.7)", (0, np.inf), "", EXPONENT_RATIONALE),
        Quantity("beta", "LogNormal(-1.2, 0.7)", (0, np.inf), "", EXPONENT_RATIONALE),
    )

    def constants(self, values, reference):
        """E, A, B, alpha, beta and the exponent of the optimal size; see `chinchilla.constants`."""
        names = [q.name for q in self.mean_quantities]
        constants = chinchilla.constants(**{name: values[name] for name in names}, **reference)
        return constants | {"exponent_parameters": chinchilla.parameter_exponent(**constants)}

    def mean(self, constants, columns):
        """Mean loss; see `chinchilla.loss`."""
        named = {name: constants[name] for name in ("E", "A", "B", "alpha", "beta")}
        return chinchilla.loss(columns["parameters"], columns["tokens"], **named)

    def reference(self, table):
        """Geometric means of N and D."""
        parameters, tokens = geometric_means(table, self.columns)
        return {"reference_parameters": parameters, "reference_tokens": tokens}

    def optimum(self, constants, compute, *, gamma, delta=embeddings.PROPORTIONAL):
        """Compute-optimal N_x, N_T and D; see `chinchilla.optimum`. The family of sizes decides N_x alone."""
        named = {name: constants[name] for name in ("A", "B", "alpha", "beta")}
        parameters, tokens = chinchilla.optimum(compute, **named)
        return embeddings.nonembedding(parameters, gamma, delta), parameters, tokens
