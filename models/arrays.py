"""One set of elementary functions for every array library that a law meets.

Each takes arrays of NumPy, xarray, PyTensor or JAX, mixed with scalars and NumPy arrays, and returns an array of that
library. Arrays broadcast as the library does it. Arrays of xarray broadcast by the names of their dimensions; a NumPy
array among them takes the last dimensions of the first.
"""

import math
import sys

import numpy as np

from ..datasets.deferred import special

FEW = 10_000  # numbers
LGAMMA = np.frompyfunc(math.lgamma, 1, 1)


def _pytensor(arrays):
    module = sys.modules.get("pytensor.tensor")
    variable = module and sys.modules["pytensor.graph.basic"].Variable
    return module if variable and any(isinstance(a, variable) for a in arrays) else None


def _jax(arrays):
    module = sys.modules.get("jax")
    return module.numpy if module and any(isinstance(a, module.Array) for a in arrays) else None


def _xarray(arrays):
    module = sys.modules.get("xarray")
    kinds = (module.DataArray, module.Dataset, module.Variable) if module else ()
    return module if any(isinstance(a, kinds) for a in arrays) else None


def _symbolic(arrays):
    """Return the functions of symbols, which are arrays of a program that is being written, if any array is of them."""
    return next((a.functions for a in arrays if hasattr(a, "functions")), None)


def namespace(*arrays):
    """Return the module whose functions apply to `arrays`.

    PyTensor variables give ``pytensor.tensor`` and JAX arrays (tracers too) give ``jax.numpy``. Symbols of the compiler
    (`inference.engine`) bring their functions with them. NumPy serves everything else, xarray objects among it. A
    library that was never imported is not imported here.
    """
    return _symbolic(arrays) or _pytensor(arrays) or _jax(arrays) or np


def exp(x):
    """Return the exponential."""
    return namespace(x).exp(x)


def log(x):
    """Return the natural logarithm."""
    return namespace(x).log(x)


def log1p(x):
    """Return the natural logarithm of 1 + x."""
    return namespace(x).log1p(x)


def sinh(x):
    """Return the hyperbolic sine."""
    return namespace(x).sinh(x)


def arcsinh(x):
    """Return the inverse hyperbolic sine."""
    return namespace(x).arcsinh(x)


def sigmoid(x):
    """Return the logistic function."""
    return 1.0 / (1.0 + exp(-x))


def where(condition, x, y):
    """Return the elements of `x` where `condition` holds, of `y` elsewhere.

    Examples
    --------
    >>> where(np.array([True, False]), np.array([1.0, 2.0]), 0.0)
    array([1., 0.])
    """
    condition = np.asarray(condition) if isinstance(condition, bool) else condition
    if xr := _xarray([condition, x, y]):
        return _where_named(xr, [condition, x, y])
    return namespace(condition, x, y).where(condition, x, y)


def minimum(x, y):
    """Return the lesser of two, element by element; NaN where either is."""
    return namespace(x, y).minimum(x, y)


def maximum(x, y):
    """Return the greater of two, element by element; NaN where either is."""
    return namespace(x, y).maximum(x, y)


def largest(x):
    """Return the largest element along the last axis."""
    functions = _symbolic([x])
    return functions.largest(x) if functions else x.max(axis=-1)


def clip(x, low, high):
    """Return the elements of `x`, those below `low` or above `high` replaced by them.

    Examples
    --------
    >>> clip(np.array([-2.0, 0.5, 2.0]), -1, 1)
    array([-1. ,  0.5,  1. ])
    """
    if _xarray([x, low, high]):
        return minimum(maximum(x, low), high)
    return namespace(x, low, high).clip(x, low, high)


def logaddexp(x, y):
    """Return the logarithm of exp(x) + exp(y), without overflow.

    Examples
    --------
    >>> round(float(logaddexp(1000.0, 1000.0)), 4)
    1000.6931
    """
    xp = namespace(x, y)
    if xp is not _pytensor([x, y]):
        return xp.logaddexp(x, y)
    # PyTensor's own overflows in graphs that are not rewritten, and so does its gradient.
    difference = xp.where(xp.isinf(x) & xp.eq(x, y), 0.0, x - y)
    return xp.where(difference > 0, x + xp.softplus(-difference), y + xp.softplus(difference))


def spread(x, like):
    """Return `x` with the shape that it and `like` have together.

    Examples
    --------
    >>> spread(2.0, np.array([1.0, 5.0]))
    array([2., 2.])
    """
    functions = _symbolic([x, like])
    return functions.spread(x, like) if functions else x + 0 * like


def pick(x, codes):
    """Return the elements of `x`, (..., group), at the places in codes, (..., row); a scalar stays a scalar.

    Examples
    --------
    >>> pick(np.array([1.0, 2.0]), np.array([0, 1, 1]))
    array([1., 2., 2.])
    """
    return x[..., codes] if getattr(x, "ndim", 0) else x


def sum_by(x, codes, counts):
    """Add `x`, (..., row), up over rows of equal code, (..., group); arrays of NumPy or JAX, or vectors of PyTensor.

    Codes are from 0, without gaps, and `counts` has the rows of each.

    Examples
    --------
    >>> sum_by(np.array([1.0, 2.0, 4.0]), np.array([0, 1, 0]), np.array([2.0, 1.0]))
    array([5., 2.])
    """
    if functions := _symbolic([counts]):
        return functions.sum_by(x, codes, counts)
    if pt := _pytensor([x, codes, counts]):
        return pt.inc_subtensor(pt.zeros_like(counts)[codes], x)
    if xp := _jax([x, codes, counts]):
        return xp.zeros((*x.shape[:-1], len(counts))).at[..., codes].add(x)
    order = np.argsort(codes, kind="stable")
    return np.add.reduceat(x[..., order], np.searchsorted(codes[order], np.arange(len(counts))), axis=-1)


def recursion(step, state, columns, count):
    """Return what a step returns besides its new state, place after place along the last axis of columns.

    ``step(state, values)`` takes the columns, (..., place), at one of `count` places. It returns the state and the
    arrays that are stacked, tuples both.

    Examples
    --------
    >>> recursion(lambda total, x: ((total[0] + x[0],), (total[0] + x[0],)), (0.0,), (np.array([1.0, 2.0, 4.0]),), 3)
    (array([1., 3., 7.]),)
    """
    if xp := _jax([*state, *columns]):
        moved = tuple(xp.moveaxis(x, -1, 0) for x in columns)
        return tuple(xp.moveaxis(x, 0, -1) for x in sys.modules["jax"].lax.scan(step, state, moved)[1])
    results, stack = [], namespace(*state, *columns).stack
    for i in range(count):
        state, result = step(state, tuple(x[..., i] for x in columns))
        results.append(result)
    return tuple(stack(x, -1) for x in zip(*results, strict=True))


def _where_named(xr, arrays):
    dims = [a.dims for a in arrays if isinstance(a, xr.DataArray | xr.Variable)]
    if not dims:
        return xr.where(*arrays)
    of_numpy = dims[0]
    named = [xr.Variable(of_numpy[len(of_numpy) - a.ndim :], a) if isinstance(a, np.ndarray) else a for a in arrays]
    return xr.where(*named).transpose(*dict.fromkeys(dim for names in dims for dim in names), ...)


def gammaln(x):
    """Return the logarithm of the gamma function."""
    xp = namespace(x)
    if xp is np and np.size(x) <= FEW and np.all(x > 0):  # as the draws of one quantity, without an import of SciPy
        values = LGAMMA(x)
        return values.astype(float) if hasattr(values, "astype") else values
    if xp is np:
        return special.gammaln(x)
    return sys.modules["jax"].scipy.special.gammaln(x) if xp is _jax([x]) else xp.gammaln(x)
