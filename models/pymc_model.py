"""The PyMC model of a law: its priors as named variables, the array code of its density on PyTensor as the rest."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..datasets.deferred import xr
from .backend import pymc
from .coordinates import Units
from .density import POTENTIAL


def model(law, rows, reference=None):
    """Build the PyMC model of a law on rows from `Law.rows`; the reference is by default that of the rows.

    Its free variables are the law's free parameters and, where the law gives more a density, such as the capabilities
    of models, these in one vector. The observations are named after the law's ``scale``. The arrays of the density are
    `pymc.Data`, so that the model is compiled once and sampled again on other data.
    """
    pm = pymc()
    reference = reference or law.reference(rows)
    law.check_priors(rows, reference)
    density = law.density(rows, reference)
    with pm.Model(coords={dim: names for dim, names in density.labels.items() if names}) as model:
        # Only numbers of rows and the like may change.
        shapes = {n: x.shape if density.axes[n] is None else (None, *x.shape[1:]) for n, x in density.arrays.items()}
        data = {name: pm.Data(name, x, shape=shapes[name]) for name, x in density.arrays.items()}
        values = {}
        for block in density.blocks:
            if not isinstance(block, Units):
                values |= block.variables(values)
        _Registered(law, rows, reference, density, data).add(pm, values)
    return model


class _Registered:
    """What is registered after the priors: units, what else informs the law, and the observations."""

    def __init__(self, law, rows, reference, density, data):
        self.law, self.rows, self.reference = law, rows, reference
        self.density, self.data = density, data
        self.units = [block for block in density.blocks if isinstance(block, Units)]
        self.shapes = {block.name: block.start.shape for block in self.units}

    def add(self, pm, values):
        """Register all of it, given the named variables."""
        inputs = dict(values)
        if self.units:
            vector = self._units(pm, values)
            inputs |= {vector.name: vector}
            values = values | self._apart(vector)
            if len(self.units) > 1:
                for block in self.units:
                    x = values[block.name]
                    pm.Deterministic(block.name, x.reshape(block.start.shape[: len(block.dims)]))
        informed = self.density.rest(values, self.data).get(POTENTIAL)
        if informed is not None:
            pm.Potential(POTENTIAL, informed.sum())
        self._observations(pm, inputs)

    def _units(self, pm, values):
        """Register what the law gives a density as one vector."""
        names = list(self.shapes)
        start = np.concatenate([block.start.ravel() for block in self.units])

        def logp(value, *parents):
            variables = dict(zip(values, parents, strict=False)) | self._apart(value)
            terms = self.density.rest(variables, self.data)
            return sum(terms[name].sum() for name in names)

        random = _RandomUnits(self.law, self.rows, self.reference, tuple(values))
        name = names[0] if len(names) == 1 else "units"
        return pm.CustomDist(
            name, *values.values(), np.zeros(len(start)), logp=logp, random=random, signature=_signature(values),
            initval=start,
        )  # fmt: skip

    def _apart(self, vector):
        return _apart(vector, self.shapes)

    def _observations(self, pm, inputs):
        """Register the observations, on the scale of the law."""
        law, others = self.law, {POTENTIAL, *self.shapes}
        template = self.density.named(np.zeros((1, 1, sum(block.start.size for block in self.density.blocks))))

        def logp(value, *parents):
            data = self.data | ({"observed": value} if "observed" in self.data else {})
            values = dict(zip(inputs, parents, strict=False)) | self._apart(parents[len(inputs) - 1])
            terms = self.density.rest(values, data)
            of_rows = [x for name, x in terms.items() if name not in others and hasattr(x, "sum")]
            return of_rows[0] if len(of_rows) == 1 and of_rows[0].ndim == 1 else sum(x.sum() for x in of_rows)

        random = _RandomRows(law, self.rows, self.reference, tuple(inputs), self.shapes, template)
        observed = self.data.get("observed")
        if observed is None:
            observed = np.asarray(law.on_scale(self.rows[law.observed].to_numpy()))
        pm.CustomDist(
            law.scale, *inputs.values(), np.zeros(len(self.rows)), logp=logp, random=random,
            signature=_signature(inputs), observed=observed,
        )  # fmt: skip


# The classes that draw hold no PyTensor variable: PyTensor's Numba mode serialises them to cache compiled code.


@dataclass(frozen=True)
class _RandomUnits:
    """Draws what a law gives a density, given its free parameters in order of their names."""

    law: Any
    rows: Any
    reference: dict
    names: tuple

    def __call__(self, *parents, rng=None, size=None):
        variables = {name: np.asarray(x)[None, None] for name, x in zip(self.names, parents, strict=False)}
        drawn = self.law._draw_units(variables, self.rows, self.reference, rng)
        return np.concatenate([np.ravel(x) for x in drawn])


@dataclass(frozen=True)
class _RandomRows:
    """Draws observations given what is sampled, in order of its names; units, if any, come last as one vector."""

    law: Any
    rows: Any
    reference: dict
    names: tuple
    shapes: dict
    template: Any

    def __call__(self, *parents, rng=None, size=None):
        values = dict(zip(self.names, parents, strict=False))
        values |= _apart(np.asarray(parents[len(self.names) - 1]), self.shapes)
        shaped = {n: (x.dims, np.asarray(values[n]).reshape(x.shape)) for n, x in self.template.items()}
        sampled = xr.Dataset(shaped, self.template.coords)
        return self.law.draws(sampled, self.rows, self.reference).replicate(rng).values[0, 0]


def _apart(vector, shapes):
    """Return the blocks of units, by name, of the vector of all of them."""
    blocks, at = {}, 0
    for name, shape in shapes.items():
        size = math.prod(shape)
        blocks[name] = vector[at : at + size].reshape(shape)
        at += size
    return blocks


def _signature(inputs):
    """Write the core dimensions of variables, of what has the shape of a draw, and of a draw."""
    letters = iter("abcdefghijklmnopqrstuvwxyz")
    parts = (f"({','.join(next(letters) for _ in range(x.ndim))})" for x in inputs.values())
    return f"{','.join([*parts, '(row)'])}->(row)"
