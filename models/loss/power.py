"""A power law with a floor in one variable: parameters, tokens or compute."""

from dataclasses import dataclass, replace
from typing import ClassVar

from ...datasets.wording import unknown
from ...errors import InputError
from ..arrays import exp, log
from ..parts import Planner
from .chinchilla import EXPONENT_RATIONALE
from .frontier import FrontierPlanner
from .law import CENTRE_RATIONALE, LossLaw, Sampled, geometric_means

# Column of each variable.
VARIABLES = {"parameters": "parameters", "tokens": "tokens", "compute": "training_flop"}
OF_COMPUTE = "LogNormal(-2, 0.7)"
COMPUTE_RATIONALE = "Exponent in compute, about half of one in parameters or tokens: 0.03 to 0.53; avoids 0."


def loss(size, *, E, A, alpha):
    """Return the mean loss ``E + A/x**alpha`` at sizes x.

    Parameters
    ----------
    size : array_like
        N, D in tokens or C in FLOP, positive.
    E, A, alpha : array_like

    Examples
    --------
    >>> round(float(loss(1e20, E=1.5, A=100.0, alpha=0.1)), 6)
    2.5
    """
    return E + A * exp(-alpha * log(size))


class OneVariablePlanner(FrontierPlanner):
    """How runs are planned under this law: at a budget, where the variable is compute."""

    def optimum(self, draws, compute):
        """Return the mean loss at budgets in FLOP: a Dataset of ``loss``."""
        return (FrontierPlanner if self.law.variable == "compute" else Planner).optimum(self, draws, compute)


@dataclass(frozen=True)
class PowerLaw(LossLaw):
    """A power law with a floor in one variable, ``loss = E + A/x**alpha``, for tables of few rows.

    The variable x is parameters, tokens or training compute. It is the form of equations 1.1 to 1.3 of Kaplan et al.
    (2020) with an irreducible loss, as in Henighan et al. (2020). A table needs the column of x and the loss alone,
    and 4 rows. Sampled are, with x0 the geometric mean of x:

    ================= ======================== ==================================================================
    quantity          default prior            what it is and why
    ================= ======================== ==================================================================
    loss_centre       LogNormal(1.1, 0.5)      loss at x0: 1.1 to 8 nats, from a very good to a unigram model
    reducible_share   Beta(2, 2)               share of it above E; no side preferred, the ends excluded
    alpha             LogNormal(-1.2, 0.7)     0.08 to 1.2; of compute LogNormal(-2, 0.7), 0.03 to 0.53
    sigma             LogNormal(-4.6, 1.5)     0.05% to 19% of the loss
    ================= ======================== ==================================================================

    Derived are E and A. In few rows a higher E goes with a higher alpha; where rows barely distinguish the two, a fit
    prints so. By default noise is normal and its scatter one for all sizes, which few rows can inform.

    Parameters
    ----------
    variable : {"parameters", "tokens", "compute"}
        What x is. The names ``"power-parameters"``, ``"power-tokens"`` and ``"power-compute"`` state it too.
    noise, scatter, priors, ...
        Other options are those of `Chinchilla`.

    Raises
    ------
    InputError
        If an option or a prior is unknown.

    Examples
    --------
    >>> PowerLaw(variable="compute").label
    'power-compute'
    >>> [q.name for q in PowerLaw().free_parameters]
    ['loss_centre', 'reducible_share', 'alpha', 'sigma']
    """

    variable: str = "parameters"
    noise: str = "normal"
    scatter: str = "one"

    planner = OneVariablePlanner()
    exponents: ClassVar[tuple] = ("alpha",)
    loss_centre = Sampled("LogNormal(1.1, 0.5)", CENTRE_RATIONALE, "nats/token")
    reducible_share = Sampled("Beta(2, 2)", "Share of that loss above E; neither side preferred.", support=(0, 1))
    alpha = Sampled("LogNormal(-1.2, 0.7)", EXPONENT_RATIONALE)
    loss = staticmethod(loss)

    def __post_init__(self):
        if self.variable not in VARIABLES:
            raise InputError(unknown("variable", self.variable, VARIABLES))
        column = VARIABLES[self.variable]
        object.__setattr__(self, "columns", (column,))
        if self.variable == "compute":
            of_compute = {"alpha": {"prior": OF_COMPUTE, "rationale": COMPUTE_RATIONALE}}
            changed = tuple(replace(q, **of_compute.get(q.name, {})) for q in type(self).mean_parameters)
            object.__setattr__(self, "mean_parameters", changed)
        super().__post_init__()

    @property
    def name(self):
        """Return the name, such as ``"power-parameters"``."""
        return f"power-{self.variable}"

    def _option_text(self, name, value):
        return "" if name == "variable" else super()._option_text(name, value)

    def derive(self, loss_centre, reducible_share, alpha, reference_size):
        """Return E and A."""
        reducible = loss_centre * reducible_share
        return {"E": loss_centre - reducible, "A": reducible * exp(alpha * log(reference_size))}

    def centre(self, rows):
        """Return the geometric mean of x."""
        return {"reference_size": geometric_means(rows, self.columns)[0]}
