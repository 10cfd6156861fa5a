"""What several figures need: fits by name, intervals at a level, budgets, and published estimates by source."""

from __future__ import annotations

from itertools import cycle

import numpy as np
import xarray as xr

from ..datasets import KINDS, load
from ..errors import InputError
from ..inference.estimands.allocate import positive_numbers
from ..inference.fitted import name_fits, of_kind
from ..inference.intervals import check_level as check_level
from ..inference.intervals import finite, quantiles
from ..inference.words import HIGH, LOW, MIDDLE
from ..models.draws import DRAWS
from ..models.loss import chinchilla
from .style import SERIES

PREFIX = "chinchilla."
CONSTANTS = ("E", "A", "B", "alpha", "beta")


def named_fits(fits, kind):
    """Return one or several fits of a kind of `datasets.KINDS` as a dict by name, refusing those of others."""
    several = name_fits(fits)
    if not several:
        raise InputError("no fit is given; pass a fit, or a dict of fits by name")
    return {name: of_kind(fit, kind) for name, fit in several.items()}


def with_looks(names):
    """Return pairs of a name and its look."""
    return list(zip(names, cycle(SERIES)))


def ends(draws, level):
    """Return the low end, median and high end of the central interval of draws, as an array of three."""
    if isinstance(draws, xr.DataArray):
        values = draws.transpose(*DRAWS, ...).values
        draws = values.reshape(-1, *values.shape[2:])
    return quantiles(draws, [(1 - level) / 2, 0.5, (1 + level) / 2])


def in_words(three, form):
    """Write a median with its interval: ``form`` takes a dict as `inference.words` does.

    Examples
    --------
    >>> from bayescaling.inference.words import sizes
    >>> in_words([1e9, 2e9, 3e9], sizes)
    '2B [1B, 3B]'
    """
    return form({name: finite(x) for name, x in zip((LOW, MIDDLE, HIGH), three, strict=True)})


def sources(standing):
    """Name the data of fits whose `standing` is known, for small print."""
    return "Data: " + " and ".join(dict.fromkeys(one["data"] for one in standing.values()))


def leaders(names, heights, apart, most):
    """Return which models, in the order of their dates, are higher than all before, and a text for each model.

    The text is the name of one that led, empty where it would lie on the next or there are too many; the last come
    first.
    """
    leads = heights > np.concatenate([[-np.inf], np.maximum.accumulate(heights)[:-1]])
    texts, above, count = np.full(len(names), "", object), np.inf, 0
    for place in np.flatnonzero(leads)[::-1]:
        if count < most and above - heights[place] >= apart:
            texts[place], above, count = str(names[place]), heights[place], count + 1
    return leads, texts


def percent(level):
    """Write a level: 95%."""
    return f"{100 * level:g}%"


def budgets_of(compute, name="compute", unit="FLOP"):
    """Return budgets, or sizes, as an array of one axis, refusing what is no positive number."""
    return positive_numbers(compute, f"{name} must be positive {unit}")


def one_budget(compute):
    """Return one budget as a float."""
    budgets = budgets_of(compute)
    if len(budgets) > 1:
        raise InputError(f"compute must be one budget in FLOP, not {len(budgets)}")
    return float(budgets[0])


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
        sizes = {"parameters": parameters, "tokens": tokens, "tokens_per_parameter": tokens / parameters}
        optima[source] = sizes | {"loss": loss}
    return optima
