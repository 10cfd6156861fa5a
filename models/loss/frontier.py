"""A power law with a floor in one variable, the loss of the best runs by their compute."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...datasets.deferred import xr
from ..arrays import exp, log
from ..priors import FreeParameter
from .law import CENTRE_RATIONALE, LossLaw, geometric_means


def loss(compute, *, E, A, gamma):
    """Mean loss ``E + A/C**gamma`` along a frontier of best runs.

    Parameters
    ----------
    compute : array_like
        Training compute C in FLOP.
    E, A, gamma : array_like

    Examples
    --------
    >>> round(float(loss(1e20, E=1.5, A=100.0, gamma=0.1)), 6)
    2.5
    """
    return E + A * exp(-gamma * log(compute))


@dataclass(frozen=True)
class Frontier(LossLaw):
    """A power law with a floor in compute, ``loss = E + A/C**gamma``.

    It suits runs that are each the best at their budget: along such a frontier the Chinchilla law is of this form, with
    ``gamma = alpha beta/(alpha+beta)`` (Hoffmann et al. 2022, section 3.3). Sampled are, with C0 the geometric mean of
    C:

    ================= ======================== ==================================================================
    quantity          default prior            what it is and why
    ================= ======================== ==================================================================
    loss_centre       LogNormal(1.1, 0.5)      loss at C0: 1.1 to 8 nats, from a very good to a unigram model
    reducible_share   Beta(2, 2)               share of it above E; no side preferred, the ends excluded
    gamma             LogNormal(-2, 0.7)       0.03 to 0.53: about half of alpha and beta; avoids 0
    ================= ======================== ==================================================================

    and sigma and nu as in `Chinchilla`, whose options it has. It has no optimal size: `allocate` gives the loss alone.

    Examples
    --------
    >>> Frontier().label
    'frontier'
    """

    name: ClassVar[str] = "frontier"
    columns: ClassVar[tuple] = ("training_flop",)
    planned: ClassVar[tuple] = ()
    exponents: ClassVar[tuple] = ("gamma",)
    derived_names: ClassVar[tuple] = ("E", "A")
    mean_parameters: ClassVar[tuple] = (
        FreeParameter("loss_centre", "LogNormal(1.1, 0.5)", (0, np.inf), "nats/token", CENTRE_RATIONALE),
        FreeParameter("reducible_share", "Beta(2, 2)", (0, 1), "", "Share of that loss above E."),
        FreeParameter("gamma", "LogNormal(-2, 0.7)", (0, np.inf), "", "Exponent of the reducible loss in compute."),
    )

    def centre(self, rows):
        """Geometric mean of C."""
        return {"reference_compute": geometric_means(rows, self.columns)[0]}

    def constants(self, values, reference):
        """E, A and gamma."""
        reducible = values["loss_centre"] * values["reducible_share"]
        return {
            "E": values["loss_centre"] - reducible,
            "A": reducible * exp(values["gamma"] * log(reference["reference_compute"])),
            "gamma": values["gamma"],
        }

    def mean(self, constants, columns):
        """Mean loss; see `loss`."""
        return loss(columns["training_flop"], **{name: constants[name] for name in ("E", "A", "gamma")})

    def optimum(self, draws, compute):
        """Mean loss of the best run at budgets in FLOP: a Dataset of ``loss``."""
        return xr.Dataset({"loss": self.mean(draws.named(), {"training_flop": compute})})
