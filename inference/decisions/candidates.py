"""Runs that may be made next: those of a table, or a ladder of sizes made from the range of the fitted runs."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ...datasets.columns import recognise
from ...datasets.formats import open_table
from ...datasets.requirements import positive_columns, require
from ...datasets.wording import listed
from ...errors import InputError
from ...models.loss.budget import FLOP_PER_PARAMETER_TOKEN, training_flop
from ..words import flop

COSTS, RATIOS = 12, 9  # steps of compute and of tokens per parameter of a ladder
DECADES = 3.0  # below the budget or the largest run, where a ladder begins
FAR = 30.0  # times the target's tokens per parameter, or below it, where a ladder ends
COST = "cost"
MOST = 5000  # candidates, whose covariances are held at once


def candidates_of(law, rows, candidates, budget, ratio, planned):
    """Return a table of runs that may be made, each with its ``cost`` in FLOP.

    They are those of a table, or a ladder about the fitted rows up to the budget. Its tokens per parameter are near the
    `ratio` of the target (NaN where it has none), and its group is that of what is `planned`.
    """
    table = _ladder(law, rows, budget, ratio, planned) if candidates is None else _read(candidates, law)
    place = table.attrs["source"]
    if COST not in table:
        spent = training_flop(table)
        if spent is None:
            raise InputError(f"{place}: no column of cost, and no sizes for 6ND; add a column cost, in FLOP")
        table[COST] = spent
    if len(table) > MOST:
        raise InputError(f"{place}: {len(table):,} candidates are more than {MOST:,}; give fewer")
    if (least := table[COST].min()) > budget:
        raise InputError(
            f"a budget of {flop(budget)} buys none of the {len(table)} candidates, of which the cheapest costs "
            f"{flop(least)}; give a larger budget, or candidates of smaller runs"
        )
    return table


def _read(source, law):
    """Read candidates, whose columns may have other names that `read` knows, without units."""
    opened, label, name = open_table(source)
    names = {header: recognise(header) or header for header in opened.columns}
    if len(set(names.values())) < len(names):
        raise InputError(f"{label}: two columns have one meaning, among {listed(opened.columns)}; give one of them")
    table = opened.rename(columns=names).reset_index(drop=True)
    table.attrs = {"source": name}
    for column in {*law.columns, COST} & set(table):
        table[column] = positive_columns(table, [column], purpose="candidates")[column]
    if missing := [column for column in law.columns if column not in table]:
        raise InputError(
            f"{label}: candidates need {' and '.join(law.columns)}; {' and '.join(missing)} is missing (the columns "
            f"are {listed(opened.columns)})"
        )
    if law.grouped_by is not None:
        require(table, [law.grouped_by], purpose=f"candidates of a law by {law.grouped_by}")
    return table


def _ladder(law, rows, budget, ratio, planned):
    """Make runs at several costs up to the budget, at tokens per parameter of the fitted runs near the target's."""
    if set(law.columns) != {"parameters", "tokens"}:
        raise InputError(
            f"candidates are missing; for the {law.name} law they need the columns {' and '.join(law.columns)}"
        )
    spent, ratios = training_flop(rows), rows["tokens"] / rows["parameters"]
    if budget < spent.min():
        raise InputError(
            f"a budget of {flop(budget)} is below the cheapest fitted run, {flop(spent.min())}, where the ladder of "
            "candidates begins; give a larger budget, or candidates"
        )
    costs = np.geomspace(max(min(budget, spent.max()) / 10**DECADES, spent.min()), budget, COSTS)
    low, high = ratios.min(), ratios.max()
    if low < FAR * ratio and high > ratio / FAR:
        low, high = max(low, ratio / FAR), min(high, FAR * ratio)
    cost, ratio = (x.ravel() for x in np.meshgrid(costs, np.geomspace(low, high, RATIOS)))
    parameters = np.sqrt(cost / (FLOP_PER_PARAMETER_TOKEN * ratio))
    table = pd.DataFrame({"parameters": parameters, "tokens": ratio * parameters, COST: cost})
    if law.grouped_by is not None:
        table[law.grouped_by] = planned.get("group")
    table.attrs = {"source": "the ladder of candidates"}
    return table
