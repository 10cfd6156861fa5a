"""The PyMC model of a law: its priors as named variables, the array code of its density on PyTensor as the rest."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..datasets.deferred import xr
from .backend import pymc
from .density import POTENTIAL, Units


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
        sizes = {n: x.shape if density.axes[n] is None else (None, *x.shape[1:]) for n, x in density.arrays.items()}
        data = {name: pm.Data(name, x, shape=sizes[name]) for name, x in density.arrays.items()}
        values, units = {}, [block for block in density.blocks if isinstance(block, Units)]
        for block in density.blocks:
            if block not in units:
                values |= block.variables(values)
        inputs, shapes = dict(values), {block.name: block.start.shape for block in units}
        if units:
            # What the law gives a density is one vector.
            random = _RandomUnits(law, rows, reference, tuple(values))
            vector = _register_units(pm, density, data, units, values, random)
            inputs |= {vector.name: vector}
            values = values | _apart(vector, shapes)
        if len(units) > 1:
            for block in units:
                pm.Deterministic(block.name, values[block.name].reshape(block.start.shape[: len(block.dims)]))
        if (informed := density.rest(values, data).get(POTENTIAL)) is not None:
            pm.Potential(POTENTIAL, informed.sum())
        template = density.named(np.zeros((1, 1, sum(block.start.size for block in density.blocks))))
        random = _RandomRows(law, rows, reference, tuple(inputs), shapes, template)
        _register_observations(pm, density, data, inputs, random)
    return model


def _register_units(pm, density, data, units, values, random):
    """Register what the law gives a density as one vector."""
    shapes = {block.name: block.start.shape for block in units}
    start = np.concatenate([block.start.ravel() for block in units])

    def logp(value, *parents):
        variables = dict(zip(values, parents, strict=False)) | _apart(value, shapes)
        terms = density.rest(variables, data)
        return sum(terms[name].sum() for name in shapes)

    return pm.CustomDist(
        units[0].name if len(units) == 1 else "units", *values.values(), np.zeros(len(start)), logp=logp, random=random,
        signature=_signature(values), initval=start,
    )  # fmt: skip


def _register_observations(pm, density, data, inputs, random):
    """Register the observations, on the scale of the law."""
    law, rows, others = random.law, random.rows, {POTENTIAL, *random.shapes}

    def logp(value, *parents):
        seen = data | ({"observed": value} if "observed" in data else {})
        values = dict(zip(inputs, parents, strict=False)) | _apart(parents[len(inputs) - 1], random.shapes)
        terms = density.rest(values, seen)
        of_rows = [x for name, x in terms.items() if name not in others and hasattr(x, "sum")]
        return of_rows[0] if len(of_rows) == 1 and of_rows[0].ndim == 1 else sum(x.sum() for x in of_rows)

    observed = data.get("observed")
    if observed is None:
        observed = np.asarray(law.on_scale(rows[law.observed].to_numpy()))
    pm.CustomDist(
        law.scale, *inputs.values(), np.zeros(len(rows)), logp=logp, random=random, signature=_signature(inputs),
        observed=observed,
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
