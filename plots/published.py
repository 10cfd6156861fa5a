"""Published estimates that figures show next to a posterior, by source."""

import numpy as np

from ..datasets import KINDS, load
from ..models.loss import chinchilla

PREFIX = "chinchilla."
CONSTANTS = ("E", "A", "B", "alpha", "beta")


def wanted(published, fits):
    """Return whether to draw published values: as chosen, by default next to fits of the built-in table alone."""
    if published is not None:
        return published
    return all(fit.record["data"]["source"] == KINDS[fit.law.kind].built_in for fit in fits)


def chinchilla_estimates(published):
    """Return the rows of ``load("published")`` on Chinchilla's law, their quantities without the prefix."""
    table = published[published["quantity"].str.startswith(PREFIX)]
    return table.assign(quantity=table["quantity"].str.removeprefix(PREFIX))


def chinchilla_constants(published):
    """Return the constants of each source that gives all five, as a dictionary by source."""
    sets = {}
    for source, rows in chinchilla_estimates(published).groupby("source", sort=False):
        estimates = dict(zip(rows["quantity"], rows["estimate"], strict=True))
        if set(CONSTANTS) <= set(estimates):
            sets[source] = {name: estimates[name] for name in CONSTANTS}
    return sets


def published_optima(compute):
    """Return the best parameters and tokens at budgets under the published constants, a dict by source.

    Examples
    --------
    >>> sorted(published_optima([1e21]))
    ['Besiroglu et al. 2024', 'Hoffmann et al. 2022']
    """
    budgets, optima = np.asarray(compute, float), {}
    for source, constants in chinchilla_constants(load("published")).items():
        parameters, tokens = chinchilla.optimum(budgets, **constants)
        loss = chinchilla.loss(parameters, tokens, **constants)
        optima[source] = {
            "parameters": parameters,
            "tokens": tokens,
            "tokens_per_parameter": tokens / parameters,
            "loss": loss,
        }
    return optima
