"""The groups of rows that a column names: what they are called, what tables are refused, which row is of which."""

import numpy as np

from ...datasets import filled, require
from ...datasets.wording import listed, quoted
from ...errors import InputError

PURPOSE = "grouping rows"
GROUP = "group"  # dimension of the groups
GROUPS = "groups"  # entry of the reference: their names, in order


def labelled(column):
    """Return the names of the groups of rows as text, (row,): whole numbers without a point.

    Examples
    --------
    >>> labelled([1.0, 2.0]).tolist()
    ['1', '2']
    """
    return np.array([f"{x:g}" if isinstance(x, float | np.floating) else str(x) for x in column])


def check_column(table, by):
    """Refuse a table that lacks the column, or in which it is empty in a row."""
    require(table, [by], purpose=PURPOSE)
    filled(table, by, purpose=PURPOSE)


def check_groups(table, by, quantities):
    """Refuse a table of one group, or with a group of fewer rows than quantities by group, which are named."""
    place = table.attrs.get("source", "the table")
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
            f"{table.attrs.get('source', 'the table')}: run {quoted(first)} is in groups "
            f"{listed(sorted(set(labels[runs == first])))} of column {by!r}, but rows of a run are of one group where "
            f"{listed(scales)} is by group; name the runs of each group apart, or share {listed(scales)}"
        )


def codes(rows, by, names):
    """Return the place of each row's group among the names, which are in order, (row,), refusing other groups."""
    check_column(rows, by)
    labels = labelled(rows[by])
    unknown = ~np.isin(labels, names)
    if unknown.any():
        place, first = rows.attrs.get("source", "the table"), int(np.argmax(unknown))
        raise InputError(
            f"{place}: column {by!r} is {quoted(labels[first])} in row {rows.index[first]}, which is no group of the "
            f"fit: {listed(names)}; see predict_group"
        )
    place = {name: i for i, name in enumerate(names)}
    return np.array([place[label] for label in labels], int)
