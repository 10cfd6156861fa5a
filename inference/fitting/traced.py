"""A law's own array code traced, differentiated and compiled into the density that nutpie samples.

It takes a second where the law's PyMC model takes ten, and half the time a call. The PyMC model stays what other
samplers use, what laws that cannot be traced are sampled by, and what densities are tested against.
"""

import dataclasses
import math

import numpy as np
import pandas as pd

from ...models.symbols import GROUP, ROW, Graph, Symbols, UntraceableError, holds
from .emitted import address, copied, source

COORDINATE = "unconstrained_parameter"
TOLERANCE = 1e-8  # of a traced density, relative to NumPy's


class Traced:
    """A law compiled for rows that differ by data alone.

    Parameters
    ----------
    law : Law
        One that is ``traceable``.
    arrays : dict of str to ndarray
        From its `model_data`.

    Raises
    ------
    UntraceableError
        If the law's code does not run on symbols, or says something else of them.
    """

    def __init__(self, law, arrays):
        self.axes = {name: law.axis_of(name, np.asarray(x)) for name, x in arrays.items()}
        text, self.names = _written(law, arrays, self.axes)
        self.start = law.start()
        self.address = address(text)
        self._check(law, arrays)

    def model(self, arrays):
        """Return what nutpie samples, with data of its own."""
        import nutpie.compile_pymc as nutpie

        user, held = self._addresses(arrays)
        n = len(self.start)
        known = {
            "_n_dim": n,
            "dims": {"z": (COORDINATE,)},
            "_coords": {COORDINATE: pd.RangeIndex(n)},
            "_shapes": {"z": (n,)},
            "compiled_logp_func": _At(self.address),
            "compiled_expand_func": _At(copied()),
            "initial_point_func": _Start(self.start),
            "shared_data": held,
            "user_data": user,
            "n_expanded": n,
            "shape_info": (["z"], [slice(0, n)], [(n,)]),
        }
        needed = [f.name for f in dataclasses.fields(nutpie.CompiledPyMCModel) if f.default is dataclasses.MISSING]
        return nutpie.CompiledPyMCModel(**{name: known.get(name) for name in needed})

    def __call__(self, z, arrays):
        """Log density and its gradient at a point, as nutpie gets them."""
        import ctypes

        user, _ = self._addresses(arrays)
        z, value = np.array(z, float), np.zeros(1)
        gradient = np.zeros_like(z)
        pointers = [x.ctypes.data for x in (z, gradient, value, user)]
        call = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_uint64, *[ctypes.c_void_p] * 4)(self.address)
        call(len(z), *pointers)
        return value[0], gradient

    def _addresses(self, arrays):
        held = {name: np.array(arrays[name], float, order="C") for name in self.names}
        sizes = [next((len(held[n]) for n in self.names if self.axes[n] == axis), 0) for axis in (ROW, GROUP)]
        return np.array([*(x.ctypes.data for x in held.values()), *sizes], np.uintp), held

    def _check(self, law, arrays):
        z = self.start + np.random.default_rng(1).uniform(-0.5, 0.5, len(self.start))
        held = {name: np.asarray(x, int if name == law.codes else float) for name, x in arrays.items()}
        with np.errstate(all="ignore"):
            expected = sum(float(np.sum(term)) for term in law.log_density_terms(z, held))
        found, _ = self(z, arrays)
        if not (found == expected or abs(found - expected) <= TOLERANCE * max(1.0, abs(expected))):
            raise UntraceableError(f"the density is {expected} but {found} as traced")


def _written(law, arrays, axes):
    graph = Graph()
    data = {}
    for k, (name, array) in enumerate(arrays.items()):
        shape = np.shape(array) if axes[name] is None else (1, *np.shape(array)[1:])
        width = math.prod(shape)
        symbols = [graph.leaf("data", (k, width, place), axes[name]) for place in range(width)]
        data[name] = np.array(symbols, dtype=object).reshape(shape).view(Symbols) if shape else symbols[0]
    coordinates = [graph.leaf("coordinate", j) for j in range(len(law.start()))]
    try:
        terms = law.log_density_terms(np.array(coordinates, dtype=object).view(Symbols), data)
        terms = [graph.constant(term) for found in terms for term in (np.ravel(found) if holds(found) else [found])]
    except (AttributeError, TypeError, ValueError) as error:
        raise UntraceableError(f"the {law.name} law: {error}") from error
    return source(graph, terms, coordinates, list(arrays), law.codes), list(arrays)


@dataclasses.dataclass(frozen=True)
class _At:
    """What nutpie asks of a compiled function."""

    address: int


class _Start:
    def __init__(self, centre):
        self.centre = centre

    def __call__(self, seed=None):
        return self.centre + np.random.default_rng(seed).uniform(-1, 1, len(self.centre))
