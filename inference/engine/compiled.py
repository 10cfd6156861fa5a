"""A density compiled: its array code traced, differentiated and translated for the processor of this machine."""

import ctypes
import math

import numpy as np

from .gradient import source
from .llvm import address
from .trace import Graph, Symbols, UntraceableError, holds

TOLERANCE = 1e-8  # of a traced density, relative to NumPy's


def compile_density(density):
    """Compile a log density and its gradient with LLVM; see `Compiled`."""
    return Compiled(density)


class Compiled:
    """The machine code of a log density and its gradient, which serves all densities of one `Density.program`.

    It raises `UntraceableError` if the code of the terms does not run on symbols, or gives another value with them.
    """

    def __init__(self, density):
        self.axes = density.axes
        self.address = address(_source(density))
        self._check(density)

    def __call__(self, z, density):
        """Return the log density and its gradient at coordinates, as nutpie gets them."""
        return self.on(density)(z)

    def on(self, density):
        """Return the same as a function of the coordinates."""
        user, held = self.addresses(density)
        function = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_uint64, *[ctypes.c_void_p] * 4)(self.address)

        def evaluated(z, held=held):
            z, value = np.array(z, float), np.zeros(1)
            gradient = np.zeros_like(z)
            function(len(z), *(x.ctypes.data for x in (z, gradient, value, user)))
            return value[0], gradient

        return evaluated

    def addresses(self, density):
        """Return what the compiled function is given of a density, (address,), and the arrays that must stay alive."""
        arrays = density.arrays
        held = {name: _placed(arrays[name], axis) for name, axis in self.axes.items()}
        lengths = {axis: len(arrays[name]) for name, axis in reversed(self.axes.items()) if axis is not None}
        sizes = [lengths[axis] for axis in dict.fromkeys(self.axes.values()) if axis is not None]
        return np.array([*(x.ctypes.data for x in held.values()), *sizes], np.uintp), held

    def _check(self, density):
        start = flat(density.start)
        z = start + np.random.default_rng(1).uniform(-0.5, 0.5, len(start))
        parts = np.split(z, np.cumsum([block.size for block in density.start])[:-1])
        shaped = tuple(part.reshape(block.shape) for part, block in zip(parts, density.start, strict=True))
        with np.errstate(all="ignore"):
            expected = sum(float(np.sum(term)) for term in density.terms(shaped, density.arrays))
        value, _ = self(z, density)
        if not (value == expected or abs(value - expected) <= TOLERANCE * max(1.0, abs(expected))):
            raise UntraceableError(f"the density is {expected} but {value} as traced")


def flat(blocks):
    """Return all coordinates of blocks in one vector."""
    return np.concatenate([block.ravel() for block in blocks])


def _source(density):
    """Write the program of a density on symbols."""
    graph = Graph()
    data, coordinates, offset = {}, [], 0
    for k, (name, array) in enumerate(density.arrays.items()):
        data[name] = _symbols(graph, "data", array.shape, density.axes[name], lambda *at, k=k: (k, *at))
    axes = iter(density.block_axes)
    for block in density.start:
        axis = next(axes) if block.ndim > 1 else None
        coordinates.append(_symbols(graph, "coordinate", block.shape, axis, lambda *at, o=offset: (o, *at)))
        offset += block.size
    try:
        parts = density.terms(tuple(coordinates), data)
        terms = [graph.constant(x) for term in parts for x in (np.ravel(term) if holds(term) else [np.sum(term)])]
    except (AttributeError, TypeError, ValueError) as error:
        raise UntraceableError(f"the terms of the density need numbers: {error}") from error
    coordinates = [x for block in coordinates for x in np.ravel(block)]
    return source(graph, terms, coordinates, density.axes)


def _symbols(graph, operation, shape, axis, named):
    """Return symbols of an array's elements, those of one place along its axis if it has one."""
    shape = shape if axis is None else (1, *shape[1:])
    width = math.prod(shape)
    symbols = [graph.leaf(operation, named(width, place), axis) for place in range(width)]
    return np.array(symbols, dtype=object).reshape(shape).view(Symbols) if shape else symbols[0]


def _placed(array, axis):
    """Copy an array, along its axis the elements of one place after another, as `source` has it."""
    array = np.asarray(array, float)
    return np.array(array if axis is None else array.reshape(len(array), math.prod(array.shape[1:])).T, order="C")
