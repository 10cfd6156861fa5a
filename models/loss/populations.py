"""The populations that the groups' values of a pooled quantity come from: names, the prior of a spread, densities."""

import numpy as np

from ...errors import InputError
from ..priors import FreeParameter
from .noise import normal_logp

DISTRIBUTIONS = {(-np.inf, np.inf): "Normal", (0.0, np.inf): "LogNormal", (0.0, 1.0): "LogitNormal"}  # by support
SPREAD, TYPICAL = "spread_{}", "typical_{}"


def population(name):
    """Return the names of the typical value and of the spread of a pooled quantity.

    Examples
    --------
    >>> population("alpha")
    ('typical_alpha', 'spread_alpha')
    """
    return TYPICAL.format(name), SPREAD.format(name)


def spread(name):
    """Return the sd of a pooled quantity between groups, as a `FreeParameter`."""
    return FreeParameter(
        SPREAD.format(name),
        "LogNormal(-2, 0.8)",
        f"Sd of {name} between groups, on the scale where it has no bounds: 0.03 to 0.65, since exponents of language "
        "models differ by tens of percent between studies; it avoids 0 (Chung et al. 2013).",
    )


def check_population(name, prior):
    """Refuse to pool a quantity whose prior has other bounds than none, 0, or 0 and 1."""
    if prior.support not in DISTRIBUTIONS:
        raise InputError(
            f"prior {name}={str(prior)!r}: a pooled quantity has no bounds but 0, or 0 and 1; use another "
            "distribution, or leave it out of pooled"
        )


def about(name, prior, values):
    """Return the typical value, on the scale without bounds, and spread of a pooled quantity from sampled values."""
    typical, sd = (values[parameter] for parameter in population(name))
    return prior.to_unconstrained(typical), sd


def logp(name, prior, z, values):
    """Return a pooled quantity's log density at unbounded `z`, given its population's sampled values."""
    typical, sd = about(name, prior, values)
    return normal_logp(z - typical, sd)


def drawn(name, prior, values, shape, rng):
    """Draw values of a pooled quantity in new groups, ndarray of `shape`, given its population's sampled values."""
    typical, sd = about(name, prior, values)
    return prior.from_unconstrained(typical + sd * rng.standard_normal(shape))[0]
