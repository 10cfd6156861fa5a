"""One set of elementary functions for every array library that a law meets."""

import sys

import numpy as np


def _pytensor(arrays):
    module = sys.modules.get("pytensor.tensor")
    variable = module and sys.modules["pytensor.graph.basic"].Variable
    return module if variable and any(isinstance(a, variable) for a in arrays) else None


def _jax(arrays):
    module = sys.modules.get("jax")
    return module.numpy if module and any(isinstance(a, module.Array) for a in arrays) else None


def namespace(*arrays):
    """Return the module whose functions apply to `arrays`.

    PyTensor variables give ``pytensor.tensor`` and JAX arrays (tracers too) give ``jax.numpy``; everything else,
    xarray objects among it, is served by NumPy. A library that was never imported is not imported here.
    """
    return _pytensor(arrays) or _jax(arrays) or np


def exp(x):
    """Exponential."""
    return namespace(x).exp(x)


def log(x):
    """Natural logarithm."""
    return namespace(x).log(x)


def log1p(x):
    """Natural logarithm of 1 + x."""
    return namespace(x).log1p(x)


def sinh(x):
    """Hyperbolic sine."""
    return namespace(x).sinh(x)


def arcsinh(x):
    """Inverse hyperbolic sine."""
    return namespace(x).arcsinh(x)


def where(condition, x, y):
    """Elements of `x` where `condition` holds, of `y` elsewhere."""
    return namespace(condition, x, y).where(condition, x, y)


def clip(x, low, high):
    """Elements of `x`, those below `low` or above `high` replaced by them."""
    return namespace(x).clip(x, low, high)


def gammaln(x):
    """Logarithm of the gamma function."""
    xp = namespace(x)
    if xp is np:
        import scipy.special

        return scipy.special.gammaln(x)
    return xp.gammaln(x) if xp is _pytensor([x]) else sys.modules["jax"].scipy.special.gammaln(x)
