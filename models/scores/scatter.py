"""How capabilities scatter about what compute and date predict.

Everything takes arrays of any broadcastable shapes and of any library of `arrays`.
"""

import numpy as np

from ..arrays import log
from .noise import FREEDOM, log_t4


class Normal:
    """A normal."""

    @staticmethod
    def log_density(x, mean, variance):
        """Return the log density."""
        return -0.5 * (np.log(2 * np.pi) + log(variance) + (x - mean) ** 2 / variance)

    @staticmethod
    def draw(rng, shape):
        """Draw standardised values."""
        return rng.standard_normal(shape)


class T4:
    """Student's t of 4 degrees of freedom, its scale the root of `variance`: a few models may lie far off."""

    @staticmethod
    def log_density(x, mean, variance):
        """Return the log density; see `Normal.log_density`."""
        return log_t4((x - mean) ** 2 / variance) - 0.5 * log(variance)

    @staticmethod
    def draw(rng, shape):
        """Draw standardised values."""
        return rng.standard_t(FREEDOM, shape)


SCATTERS = {"normal": Normal, "t4": T4}
