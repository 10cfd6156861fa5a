"""What the class of a law of the loss states: sampled quantities, and the parameters of its functions."""

import inspect
from dataclasses import dataclass

from ..priors import POSITIVE, REAL, FreeParameter

KEYWORD = inspect.Parameter.KEYWORD_ONLY


@dataclass(frozen=True)
class Sampled:
    """A sampled quantity of a law of the loss, as an attribute of its class.

    Parameters
    ----------
    prior : str
        Such as ``"LogNormal(1.1, 0.5)"``.
    rationale : str
        The reason for the prior, which reports print.
    unit : str
    support : tuple of float, optional
        Where it lies, whatever its prior; by default above 0, or anywhere where the prior has values below 0.
    """

    prior: str
    rationale: str
    unit: str = ""
    support: tuple | None = None

    def named(self, name):
        """Return the `FreeParameter` of a name."""
        negative = FreeParameter(name, self.prior, self.rationale).support[0] < 0
        support = self.support or (REAL if negative else POSITIVE)
        return FreeParameter(name, self.prior, self.rationale, self.unit, support)


def parameters_of(function):
    """Return the kinds of the parameters of a function by name, but for those that take any number."""
    listed = inspect.signature(function).parameters.values()
    return {p.name: p.kind for p in listed if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL) and p.name != "self"}
