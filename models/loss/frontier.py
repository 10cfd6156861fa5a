"""A power law with a floor in one variable, the loss of the best runs by their compute."""

from dataclasses import dataclass
from typing import ClassVar

from ...datasets.deferred import xr
from ..arrays import exp, log
from ..parts import Planner
from .law import CENTRE_RATIONALE, LossLaw, Sampled, geometric_means


def loss(training_flop, *, E, A, gamma):
    """Return the mean loss ``E + A/C**gamma`` along a frontier of best runs.

    Parameters
    ----------
    training_flop : array_like
        Training compute C in FLOP.
    E, A, gamma : array_like

    Examples
    --------
    >>> round(float(loss(1e20, E=1.5, A=100.0, gamma=0.1)), 6)
    2.5
    """
    return E + A * exp(-gamma * log(training_flop))


class FrontierPlanner(Planner):
    """How runs are planned under this law."""

    def optimum(self, draws, compute):
        """Return the mean loss of the best run at budgets in FLOP: a Dataset of ``loss``."""
        return xr.Dataset({"loss": self.law.mean(draws.named(), {"training_flop": compute})})


@dataclass(frozen=True)
class Frontier(LossLaw):
    """A power law with a floor in compute, ``loss = E + A/C**gamma``.

    It suits runs that are each the best at their budget. Along such a frontier the Chinchilla law is of this form, with
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
    planner = FrontierPlanner()
    exponents: ClassVar[tuple] = ("gamma",)
    loss_centre = Sampled("LogNormal(1.1, 0.5)", CENTRE_RATIONALE, "nats/token")
    reducible_share = Sampled("Beta(2, 2)", "Share of that loss above E.", support=(0, 1))
    gamma = Sampled("LogNormal(-2, 0.7)", "Exponent of the reducible loss in compute.")
    loss = staticmethod(loss)

    def derive(self, loss_centre, reducible_share, gamma, reference_compute):
        """Return E and A."""
        reducible = loss_centre * reducible_share
        return {"E": loss_centre - reducible, "A": reducible * exp(gamma * log(reference_compute))}

    def centre(self, rows):
        """Return the geometric mean of C."""
        return {"reference_compute": geometric_means(rows, self.columns)[0]}
