"""The density of a grouped law: its data, its coordinates on the real line, its terms and its PyMC model."""

import functools

import numpy as np

from ...datasets.deferred import xr
from ..arrays import pick
from ..backend import pymc
from ..coordinates import Coordinates
from ..density import Density
from ..draws import DRAWS, draw_coordinates
from . import populations
from .grouping import GROUP, GROUPS
from .noise import OF_EFFECTS

CODES, CODES_OF_EFFECTS, OF_GROUPS = "group_codes", "group_codes_of_effects", "of_group_"  # names of data


def model_data(law, rows, reference):
    """Values of everything that the PyMC model holds as data, by name: the reference by group too."""
    codes, arrays = law.codes(rows, reference), law.law.design_arrays(rows)
    found = arrays | {CODES: codes}
    if law.effects_of:
        first = np.unique(arrays["effect_codes"], return_index=True)[1]
        found[CODES_OF_EFFECTS] = codes[first]
    centre = {OF_GROUPS + name: np.asarray(x, float) for name, x in reference.items() if name != GROUPS}
    return found | centre


def density(law, rows, reference):
    """Return the `Density`; the reference is of groups, all else of rows or effects."""
    arrays, (one, several) = model_data(law, rows, reference), _blocks(law)

    def named(z):
        """Name what is sampled; what each group has of its own has the dim ``group``."""
        names = reference[GROUPS]
        apart = z[..., len(one) :].reshape(*z.shape[:2], len(names), len(several))
        values = one.named(z) | {name: ((*DRAWS, GROUP), x) for name, (_, x) in several.named(apart).items()}
        return xr.Dataset(values, draw_coordinates(*z.shape[:2]) | {GROUP: names})[list(law.prior_of)]

    start = one.start(), np.tile(several.start(), (len(reference[GROUPS]), 1))
    axes = {name: _axis(name) for name in arrays}
    return Density(functools.partial(_terms, law), start, arrays, axes, named, law.key, block_axes=(GROUP,))


def _axis(name):
    if name.startswith(OF_GROUPS):
        return GROUP
    return "effect" if name in ("effect_counts", CODES_OF_EFFECTS) else "row"


def _terms(law, blocks, data):
    """Log density of the priors, of the populations and of the rows or effects."""
    one, several = _blocks(law)
    values, priors = one.values(blocks[0])
    by_group, theirs = several.values(blocks[1].T)
    for name, z in zip(law.of_groups, blocks[1].T, strict=True):
        if name in law.pooled:
            theirs[name] = populations.logp(name, law.prior_of[name], z, values)
    values |= by_group
    # What depends on no size is computed once a group, not once a row.
    constants = law.law.constants(values, _origin(data))
    constants = {name: pick(x, data[CODES]) for name, x in constants.items()}
    return (*priors.values(), *theirs.values(), law.law.density_of_rows(*_at_rows(law, values, data), constants))


def _at_rows(law, values, data):
    """Return the quantities of the law at each row, and the data with the reference there."""
    found = {
        name: pick(values[name], data[CODES_OF_EFFECTS if law.effects_of and name in OF_EFFECTS else CODES])
        for name in law.law.prior_of
    }
    return found, data | {name: pick(x, data[CODES]) for name, x in _origin(data).items()}


def model(law, rows, reference=None):
    """Build the PyMC model."""
    pm = pymc()
    reference = reference or law.reference(rows)
    law.check(rows, reference)
    of_groups = law.of_groups
    with pm.Model(coords={GROUP: reference[GROUPS]}) as model:
        data = {name: pm.Data(name, x) for name, x in model_data(law, rows, reference).items()}
        values = {}
        for name, prior in law.prior_of.items():
            if name in law.pooled:
                kind = getattr(pm, populations.DISTRIBUTIONS[prior.support])
                values[name] = kind(name, *populations.about(name, prior, values), dims=GROUP)
            else:
                values[name] = prior.variable(name, dims=GROUP if name in of_groups else None)
        values, data = _at_rows(law, values, data)
        law.law.observe(law.scale, values, data, data)
    return model


def _blocks(law):
    """Coordinates of what has one value, and of what has one for each group."""
    priors, of_groups = law.prior_of, law.of_groups
    one = {name: prior for name, prior in priors.items() if name not in of_groups}
    return Coordinates(one), Coordinates({name: priors[name] for name in of_groups})


def _origin(data):
    return {name.removeprefix(OF_GROUPS): x for name, x in data.items() if name.startswith(OF_GROUPS)}
