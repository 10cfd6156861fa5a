"""A law's own array code traced, differentiated and compiled into the density that nutpie samples.

It takes a second where the law's PyMC model takes ten or a hundred, and half the time a call. The PyMC model stays what
other samplers use, what laws that cannot be traced are sampled by, and what densities are tested against.
"""

import ctypes
import dataclasses
import math

import numpy as np
import pandas as pd

from ...models.symbols import Graph, Symbols, UntraceableError, holds
from .emitted import source
from .later import nutpie
from .llvm import address, copied

COORDINATE = "unconstrained_parameter"
TOLERANCE = 1e-8  # of a traced density, relative to NumPy's


class Traced:
    """A law's density compiled, for tables that differ by data alone.

    Parameters
    ----------
    law : Law
        One that is ``traceable``.
    reference : dict
    arrays : dict of str to ndarray
        From its `model_data`.

    Raises
    ------
    UntraceableError
        If the law's code does not run on symbols, or says something else of them.
    """

    def __init__(self, law, reference, arrays):
        arrays = {name: np.asarray(x) for name, x in arrays.items()}
        blocks = law.start(reference)
        self._used = law.used
        self.axes = {name: law.axis_of(name, x) for name, x in arrays.items()}
        self.start = np.concatenate([block.ravel() for block in blocks])
        self.address = address(self._source(law, blocks, arrays))
        self._check(law, blocks, arrays)

    def model(self, arrays):
        """Return what nutpie samples, with data of its own."""
        compiled = nutpie().compile_pymc.CompiledPyMCModel
        user, held = self._addresses(arrays)
        start = self.start[self._in_use(arrays)]
        n = len(start)
        known = {
            "_n_dim": n,
            "dims": {"z": (COORDINATE,)},
            "_coords": {COORDINATE: pd.RangeIndex(n)},
            "_shapes": {"z": (n,)},
            "compiled_logp_func": _At(self.address),
            "compiled_expand_func": _At(copied()),
            "initial_point_func": _Start(start),
            "shared_data": held,
            "user_data": user,
            "n_expanded": n,
            "shape_info": (["z"], [slice(0, n)], [(n,)]),
        }
        needed = [f.name for f in dataclasses.fields(compiled) if f.default is dataclasses.MISSING]
        return compiled(**{name: known.get(name) for name in needed})

    def __call__(self, z, arrays):
        """Log density and its gradient at the coordinates in use, as nutpie gets them; the rest are 0."""
        user, _held = self._addresses(arrays)
        z, value = np.array(z, float), np.zeros(1)
        gradient = np.zeros_like(z)
        pointers = [x.ctypes.data for x in (z, gradient, value, user)]
        ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_uint64, *[ctypes.c_void_p] * 4)(self.address)(len(z), *pointers)
        return value[0], gradient

    def _source(self, law, blocks, arrays):
        graph = Graph()
        data, coordinates, offset = {}, [], 0
        for k, (name, array) in enumerate(arrays.items()):
            data[name] = _symbols(graph, "data", array.shape, self.axes[name], lambda *at, k=k: (k, *at))
        axes = iter(law.block_axes)
        for block in blocks:
            axis = next(axes) if block.ndim > 1 else None
            coordinates.append(_symbols(graph, "coordinate", block.shape, axis, lambda *at, o=offset: (o, *at)))
            offset += block.size
        try:
            found = law.log_density_terms(tuple(coordinates), data)
            terms = [graph.constant(x) for term in found for x in (np.ravel(term) if holds(term) else [np.sum(term)])]
        except (AttributeError, TypeError, ValueError) as error:
            raise UntraceableError(f"the {law.name} law: {error}") from error
        coordinates = [x for block in coordinates for x in np.ravel(block)]
        return source(graph, terms, coordinates, self.axes, sparse=self._used is not None)

    def _in_use(self, arrays):
        """Which coordinates are sampled."""
        return np.ones(len(self.start), bool) if self._used is None else np.asarray(arrays[self._used], bool)

    def _addresses(self, arrays):
        held = {name: _placed(arrays[name], axis) for name, axis in self.axes.items()}
        lengths = {axis: len(arrays[name]) for name, axis in reversed(self.axes.items()) if axis is not None}
        sizes = [lengths[axis] for axis in dict.fromkeys(self.axes.values()) if axis is not None]
        used = self._in_use(arrays)
        # Where among those sampled each coordinate is; below 0 where it is not.
        order = np.where(used, np.cumsum(used) - 1, -1).astype(np.int64)
        user = [*(x.ctypes.data for x in held.values()), *sizes, order.ctypes.data]
        return np.array(user, np.uintp), held | {"order": order}

    def _check(self, law, blocks, arrays):
        used = self._in_use(arrays)
        z = np.where(used, self.start + np.random.default_rng(1).uniform(-0.5, 0.5, len(self.start)), 0.0)
        parts = np.split(z, np.cumsum([block.size for block in blocks])[:-1])
        shaped = tuple(part.reshape(block.shape) for part, block in zip(parts, blocks, strict=True))
        with np.errstate(all="ignore"):
            expected = sum(float(np.sum(term)) for term in law.log_density_terms(shaped, arrays))
        found, _ = self(z[used], arrays)
        if not (found == expected or abs(found - expected) <= TOLERANCE * max(1.0, abs(expected))):
            raise UntraceableError(f"the density is {expected} but {found} as traced")


def _symbols(graph, operation, shape, axis, named):
    """Symbols of an array's elements, those of one place along its axis if it has one."""
    shape = shape if axis is None else (1, *shape[1:])
    width = math.prod(shape)
    found = [graph.leaf(operation, named(width, place), axis) for place in range(width)]
    return np.array(found, dtype=object).reshape(shape).view(Symbols) if shape else found[0]


def _placed(array, axis):
    """Copy an array, along its axis the elements of one place after another, as `source` has it."""
    array = np.asarray(array, float)
    return np.array(array if axis is None else array.reshape(len(array), math.prod(array.shape[1:])).T, order="C")


@dataclasses.dataclass(frozen=True)
class _At:
    """What nutpie asks of a compiled function."""

    address: int


class _Start:
    def __init__(self, centre):
        self.centre = centre

    def __call__(self, seed=None):
        return self.centre + np.random.default_rng(seed).uniform(-1, 1, len(self.centre))
