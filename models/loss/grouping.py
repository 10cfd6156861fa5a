"""The groups of rows that a column names, what tables are refused, and the populations of pooled quantities."""

import numpy as np

from ...datasets import filled, require
from ...datasets.wording import listed, quoted, source_of
from ...errors import InputError
from ..priors import FreeParameter
from .noise import normal_logp

PURPOSE = "grouping rows"
GROUP = "group"  # dimension of the groups
DISTRIBUTIONS = {(-np.inf, np.inf): "Normal", (0.0, np.inf): "LogNormal", (0.0, 1.0): "LogitNormal"}  # by support
SPREAD, TYPICAL = "spread_{}", "typical_{}"
GROUPS = "groups"  # entry of the reference: their names, in order


def labelled(column):
    """Return the names of the groups of rows as text, (row,): whole numbers without a point.

    Examples
    --------
    >>> labelled([1.0, 2.0]).tolist()
    ['1', '2']
    """
    return np.array([f"{x:.15g}" if isinstance(x, float | np.floating) else str(x) for x in column])


def check_column(table, by):
    """Refuse a table that lacks the column, or in which it is empty in a row."""
    require(table, [by], purpose=PURPOSE)
    filled(table, by, purpose=PURPOSE)


def check_groups(table, by, quantities):
    """Refuse a table of one group, or with a group of fewer rows than quantities by group, which are named."""
    place = source_of(table)
    names, counts = np.unique(labelled(table[by]), return_counts=True)
    if len(names) < 2:
        raise InputError(
            f"{place}: column {by!r} is {quoted(names[0])} in every row; groups need at least two values: fit the law "
            "without them"
        )
    if (counts < len(quantities)).any():
        few = int(np.argmin(counts))
        raise InputError(
            f"{place}: group {quoted(names[few])} of column {by!r} has {counts[few]} rows, fewer than the "
            f"{len(quantities)} quantities of each group ({', '.join(quantities)}); leave it out, or share or pool "
            "some of them"
        )


def check_runs(table, by, run, scales):
    """Refuse a table in which rows of one run are of several groups, whose effects have scales by group."""
    labels, runs = labelled(table[by]), table[run].to_numpy()
    several = table.assign(**{by: labels}).groupby(run)[by].nunique() > 1
    if several.any():
        first = several.index[np.argmax(several)]
        raise InputError(
            f"{source_of(table)}: run {quoted(first)} is in groups "
            f"{listed(sorted(set(labels[runs == first])))} of column {by!r}, but rows of a run are of one group where "
            f"{listed(scales)} is by group; name the runs of each group apart, or share {listed(scales)}"
        )


def codes(rows, by, names):
    """Return the place of each row's group among the names, which are in order, (row,), refusing other groups."""
    check_column(rows, by)
    labels = labelled(rows[by])
    unknown = ~np.isin(labels, names)
    if unknown.any():
        place, first = source_of(rows), int(np.argmax(unknown))
        raise InputError(
            f"{place}: column {by!r} is {quoted(labels[first])} in row {rows.index[first]}, which is no group of the "
            f"fit: {listed(names)}; see predict_group"
        )
    place = {name: i for i, name in enumerate(names)}
    return np.array([place[label] for label in labels], int)


# Populations of the values of pooled quantities -----------------------------------------------------------------------


def population(name):
    """Return the names of the typical value and of the spread of a pooled quantity.

    Examples
    --------
    >>> population("alpha")
    ('typical_alpha', 'spread_alpha')
    """
    return TYPICAL.format(name), SPREAD.format(name)


def spread(name):
    """Return the sd of a pooled quantity between groups, as a `FreeParameter`."""
    return FreeParameter(
        SPREAD.format(name),
        "LogNormal(-2, 0.8)",
        f"Sd of {name} between groups, on the scale where it has no bounds: 0.03 to 0.65, since exponents of language "
        "models differ by tens of percent between studies; it avoids 0 (Chung et al. 2013).",
    )


def check_population(name, prior):
    """Refuse to pool a quantity whose prior has other bounds than none, 0, or 0 and 1."""
    if prior.support not in DISTRIBUTIONS:
        raise InputError(
            f"prior {name}={str(prior)!r}: a pooled quantity has no bounds but 0, or 0 and 1; use another "
            "distribution, or leave it out of pooled"
        )


def locate_population(name, prior, values):
    """Return the typical value, on the scale without bounds, and spread of a pooled quantity from sampled values."""
    typical, sd = (values[parameter] for parameter in population(name))
    return prior.to_unconstrained(typical), sd


def population_logp(name, prior, z, values):
    """Return a pooled quantity's log density at unbounded `z`, given its population's sampled values."""
    typical, sd = locate_population(name, prior, values)
    return normal_logp(z - typical, sd)


def draw_population(name, prior, values, shape, rng):
    """Draw values of a pooled quantity in new groups, ndarray of `shape`, given its population's sampled values."""
    typical, sd = locate_population(name, prior, values)
    return prior.from_unconstrained(typical + sd * rng.standard_normal(shape))[0]
