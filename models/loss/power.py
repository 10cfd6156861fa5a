"""A power law in one variable: that of a loss falls to a floor, that of another quantity may rise and has none."""

import re
from dataclasses import dataclass, replace
from typing import ClassVar

from ...datasets.deferred import xr
from ...datasets.units import NATS, unit_of_loss
from ..arrays import exp, log
from ..naming import EQUATION
from ..priors import FreeParameter
from .budget import VARIABLES
from .chinchilla import EXPONENT_RATIONALE
from .law import CENTRE_RATIONALE, LossLaw, Sampled, geometric_means

OF_COMPUTE = "LogNormal(-2, 0.7)"
COMPUTE_RATIONALE = "Exponent in compute, about half of one in parameters or tokens: 0.03 to 0.53; avoids 0."
# Of any positive quantity, in units of its median.
WITHOUT_FLOOR = (
    FreeParameter("loss_centre", "LogNormal(0, 1)", "Near the median, in whose units it is."),
    FreeParameter("exponent", "Normal(0, 0.5)", "It rises or falls, in proportion at most."),
)
SCATTER = "LogNormal(-2.3, 1.2)"  # of a tuned quantity: 1% to 100%


def loss(size, *, E, A, alpha):
    """Return the mean loss ``E + A/x**alpha`` at sizes x: N, D in tokens or C in FLOP.

    Examples
    --------
    >>> round(float(loss(1e20, E=1.5, A=100.0, alpha=0.1)), 6)
    2.5
    """
    return E + A * exp(-alpha * log(size))


def without_floor(size, *, A, exponent):
    """Return the mean ``A x**exponent`` of any positive quantity at sizes x."""
    return A * exp(exponent * log(size))


def coefficient(loss_centre, exponent, reference_size):
    """Return A of a power law without a floor."""
    return {"A": loss_centre * exp(-exponent * log(reference_size))}


@dataclass(frozen=True)
class PowerLaw(LossLaw):
    """A power law in one variable, for tables of few rows: ``loss = E + A/x**alpha``, or ``y = A x**exponent``.

    The first has a floor and is of a loss. The second is of any other positive quantity y, such as the best learning
    rate or batch size, memory or a price. It rises or falls, and y stands in the column ``loss``, in units of its
    median. The variable x is parameters, tokens or training compute. It is the form of equations 1.1 to 1.3 of Kaplan
    et al. (2020) with an irreducible loss, as in Henighan et al. (2020). A table needs the column of x and the loss
    alone, and 4 rows. Sampled are, with x0 the geometric mean of x:

    ================= ======================== ==================================================================
    quantity          default prior            what it is and why
    ================= ======================== ==================================================================
    loss_centre       LogNormal(1.1, 0.5)      loss at x0: 1.1 to 8 nats, from a very good to a unigram model
    reducible_share   Beta(2, 2)               share of it above E; no side preferred, the ends excluded
    alpha             LogNormal(-1.2, 0.7)     0.08 to 1.2; of compute LogNormal(-2, 0.7), 0.03 to 0.53
    sigma             LogNormal(-4.6, 1.5)     0.05% to 19% of the loss
    ================= ======================== ==================================================================

    Without a floor ``loss_centre`` is y at x0, with the prior ``LogNormal(0, 1)``. ``exponent`` has
    ``Normal(0, 0.5)``. sigma has ``LogNormal(-2.3, 1.2)``, since quantities that are tuned scatter by tens of percent.

    Along the best runs of each budget Chinchilla's law is of this form in compute, with
    ``alpha beta/(alpha+beta)`` as its exponent (Hoffmann et al. 2022, section 3.3).

    Derived are E and A. In few rows a higher E goes with a higher alpha; where rows barely distinguish the two, a fit
    prints so. By default noise is normal and its scatter one for all sizes, which few rows can inform.

    Parameters
    ----------
    variable : {"parameters", "tokens", "compute"}
        What x is. The names ``"power-parameters"``, ``"power-tokens"`` and ``"power-compute"`` state it too.
    floor : bool, optional
        By default a loss in nats per token has a floor, and any other quantity has none.
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
    >>> list(PowerLaw().prior_of)
    ['loss_centre', 'reducible_share', 'alpha', 'sigma']
    >>> list(PowerLaw(floor=False).prior_of)
    ['loss_centre', 'exponent', 'sigma']
    """

    variable: str = "parameters"
    floor: bool | None = None
    noise: str = "normal"
    scatter: str = "one"

    planned: ClassVar[tuple] = ()
    exponents: ClassVar[tuple] = ("alpha",)
    loss_centre = Sampled("LogNormal(1.1, 0.5)", CENTRE_RATIONALE, "nats/token")
    reducible_share = Sampled("Beta(2, 2)", "Share of that loss above E; neither side preferred.", support=(0, 1))
    alpha = Sampled("LogNormal(-1.2, 0.7)", EXPONENT_RATIONALE)
    loss = staticmethod(loss)

    def __post_init__(self):
        self._check_options(*(("floor",) if self.floor is not None else ()), variable=VARIABLES)
        attributes = {"columns": (VARIABLES[self.variable],)}
        if self.floor is False:
            attributes |= {"mean_parameters": WITHOUT_FLOOR, "exponents": ("exponent",)}
            attributes |= {"_constant_names": ("A", "exponent"), "loss": without_floor, "derive": coefficient}
        elif self.variable == "compute":
            of_compute = {"alpha": {"prior": OF_COMPUTE, "rationale": COMPUTE_RATIONALE}}
            changed = tuple(replace(q, **of_compute.get(q.name, {})) for q in self.mean_parameters)
            attributes["mean_parameters"] = changed
        for name, value in attributes.items():
            object.__setattr__(self, name, value)
        super().__post_init__()

    @property
    def _free_parameters(self):
        """Return everything that is sampled; without a floor the scatter has another prior."""
        parameters = super()._free_parameters
        wide = {"sigma": SCATTER} if self.floor is False else {}
        return tuple(replace(q, prior=wide.get(q.name, q.prior)) for q in parameters)

    @property
    def name(self):
        """Return the name, such as ``"power-parameters"``."""
        return f"power-{self.variable}"

    def _option_text(self, name, value):
        return "" if name == "variable" else super()._option_text(name, value)

    @property
    def _equation(self):
        equations = [equation.replace("**", "^") for equation in EQUATION.findall(type(self).__doc__ or "")]
        of = {"parameters": "N", "tokens": "D", "compute": "C"}[self.variable]
        return re.sub(r"\bx\b", of, equations[self.floor is False]) if equations else ""

    def derive(self, loss_centre, reducible_share, alpha, reference_size):
        """Return E and A."""
        reducible = loss_centre * reducible_share
        return {"E": loss_centre - reducible, "A": reducible * exp(alpha * log(reference_size))}

    def centre(self, rows):
        """Return the geometric mean of x."""
        return {"reference_size": geometric_means(rows, self.columns)[0]}

    # Tests and plans -------------------------------------------------------------------------------------------------

    def suited(self, table):
        """Return the law, without a floor where what is observed is no loss in nats and the option is not set."""
        other = self.floor is None and unit_of_loss(table) != NATS
        return replace(self, floor=False) if other else super().suited(table)

    def _reason(self, suited, rows):
        if suited.floor == self.floor:
            return super()._reason(suited, rows)
        return "what it is of is no cross entropy, which alone is known to fall to a floor"

    def directions(self, rows):
        """Return the rank correlations of the columns in which the law falls, none where it may rise."""
        return {} if self.floor is False else super().directions(rows)

    def optimum(self, draws, compute):
        """Return the mean loss at budgets in FLOP, where the variable is compute: a Dataset of ``loss``."""
        if self.variable != "compute":
            return super().optimum(draws, compute)
        return xr.Dataset({"loss": self.mean(draws.named(), {"training_flop": compute})})
