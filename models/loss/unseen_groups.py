"""Groups that no row informs: draws of the prior of a grouped law, and one more group in draws that there are."""

import numpy as np
import pandas as pd

from ...datasets.deferred import xr
from ..draws import DRAWS, draw_coordinates
from . import populations
from .grouping import GROUP, GROUPS, labelled


def prior_draws(law, rng, reference, rows, draws=1, truth=None):
    """Return the draws of the prior, dims (chain, draw) with one chain."""
    law._refuse_truth(truth)
    names, of_groups, sampled = reference[GROUPS], law.of_groups, {}
    for name, prior in law.prior_of.items():
        if name in of_groups:
            sampled[name] = ((*DRAWS, GROUP), _drawn(law, name, sampled, (1, draws, len(names)), rng))
        else:
            sampled[name] = (DRAWS, prior.drawn(rng, (1, draws)))
    return law.draws(xr.Dataset(sampled, draw_coordinates(1, draws) | {GROUP: names}), rows, reference)


def _drawn(law, name, sampled, shape, rng, *, typical=False):
    """Return the values of a quantity in new groups, (chain, draw, group): of its population, or of its prior."""
    prior = law.prior_of[name]
    if name not in law.pooled:
        return prior.drawn(rng, shape)
    one = {parameter: np.asarray(sampled[parameter][1])[..., None] for parameter in populations.population(name)}
    return one[populations.TYPICAL.format(name)] if typical else populations.drawn(name, prior, one, shape, rng)


def with_group(law, draws, name, rng, *, typical=False):
    """Return the draws with one more group that no row is of, its quantities drawn from the population or their priors.

    A `typical` one has the population's typical values of what is pooled.
    """
    rows, reference = draws.rows, draws.reference
    centre = law.law.reference(rows)
    names = [*reference[GROUPS], str(name)]
    more = {GROUPS: names} | {key: [*x, centre[key]] for key, x in reference.items() if key != GROUPS}
    along = {dim: draws.sampled[dim] for dim in DRAWS} | {GROUP: names}
    variables = {quantity: (x.dims, x.values) for quantity, x in draws.sampled.data_vars.items()}
    for quantity in law.of_groups:
        x = variables[quantity][1]
        new = _drawn(law, quantity, variables, (*x.shape[:-1], 1), rng, typical=typical)
        variables[quantity] = ((*DRAWS, GROUP), np.concatenate([x, new], axis=-1))
    return law.draws(xr.Dataset(variables, along), rows, more)


def regrouped(law, rows, runs, name):
    """Return the rows of the table and of runs of another group, together."""
    labels = np.concatenate([labelled(rows[law.by]), np.full(len(runs), str(name))])
    table = pd.concat([rows, runs], ignore_index=True).assign(**{law.by: labels.astype(object)})
    table.attrs = dict(rows.attrs)
    return table
