"""The density of a grouped law: its data, its coordinates on the real line, its terms."""

import functools
from dataclasses import dataclass

import numpy as np

from ..arrays import pick
from ..backend import pymc
from ..density import Coordinates, Density
from . import grouping
from .grouping import GROUP, GROUPS
from .noise import OF_EFFECTS

CODES, CODES_OF_EFFECTS, OF_GROUPS = "group_codes", "group_codes_of_effects", "of_group_"  # names of data


@dataclass(frozen=True)
class OfGroups(Coordinates):
    """Quantities of which each group has a value; the prior of those that are pooled is their population."""

    pooled: tuple = ()

    def values(self, z, parents=None):
        """Return the value and log prior density of each quantity; see `Coordinates.values`."""
        values, densities = super().values(z)
        for name, column in zip(self.priors, z.T, strict=True):
            if name in self.pooled:
                densities[name] = grouping.population_logp(name, self.priors[name], column, parents)
        return values, densities

    def variables(self, parents):
        """Register the quantities in the PyMC model of the context; see `Coordinates.variables`."""
        variables = {}
        for name, prior in self.priors.items():
            if name in self.pooled:
                kind = getattr(pymc(), grouping.DISTRIBUTIONS[prior.support])
                variables[name] = kind(name, *grouping.locate_population(name, prior, parents), dims=GROUP)
            else:
                variables[name] = prior.variable(name, dims=GROUP)
        return variables


def density(law, rows, reference):
    """Return the `Density`; the reference is of groups, all else of rows or effects."""
    codes, arrays = law.codes(rows, reference), law.law.design_arrays(rows)
    arrays = arrays | {CODES: codes}
    if law.effects_of:
        first = np.unique(arrays["effect_codes"], return_index=True)[1]
        arrays[CODES_OF_EFFECTS] = codes[first]
    arrays |= {OF_GROUPS + name: np.asarray(x, float) for name, x in reference.items() if name != GROUPS}
    names, priors = reference[GROUPS], law.prior_of
    one = {name: prior for name, prior in priors.items() if name not in law.of_groups}
    several = {name: priors[name] for name in law.of_groups}
    blocks = Coordinates(one), OfGroups(several, axis=GROUP, members=len(names), pooled=law.pooled)
    axes = {name: _axis(name) for name in arrays}
    return Density(blocks, functools.partial(_rest, law), arrays, axes, law._key, {GROUP: names})


def _axis(name):
    if name.startswith(OF_GROUPS):
        return GROUP
    return "effect" if name in ("effect_counts", CODES_OF_EFFECTS) else "row"


def _rest(law, values, data):
    """Return the log density of the rows or effects."""
    # What depends on no size is computed once a group, not once a row.
    constants = law.law.constants(values, _origin(data))
    constants = {name: pick(x, data[CODES]) for name, x in constants.items()}
    at_rows = {
        name: pick(values[name], data[CODES_OF_EFFECTS if law.effects_of and name in OF_EFFECTS else CODES])
        for name in law.law.prior_of
    }
    data = data | {name: pick(x, data[CODES]) for name, x in _origin(data).items()}
    return {law.scale: law.law._density_of_rows(at_rows, data, constants)}


def _origin(data):
    return {name.removeprefix(OF_GROUPS): x for name, x in data.items() if name.startswith(OF_GROUPS)}
