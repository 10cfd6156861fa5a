"""Runs that may be made next, of a table or a ladder of sizes; their losses by draw, and how far laws miss them."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from ...datasets.columns import recognise
from ...datasets.formats import open_table
from ...datasets.requirements import positive_columns, require
from ...datasets.wording import listed
from ...errors import InputError
from ...models.draws import DRAWS
from ...models.loss.budget import FLOP_PER_PARAMETER_TOKEN, training_flop
from ..estimands.beyond import decades_beyond, drift_of, error_variance
from ..words import flop

COSTS, RATIOS = 12, 9  # steps of compute and of tokens per parameter of a ladder
DECADES = 3.0  # below the budget or the largest run, where a ladder begins
FAR = 30.0  # times the target's tokens per parameter, or below it, where a ladder ends
COST = "cost"
MOST = 5000  # candidates, whose covariances are held at once


def candidates_of(law, rows, candidates, budget, ratio, planned):
    """Return a table of runs that may be made, each with its ``cost`` in FLOP.

    They are those of a table, or a ladder about the fitted rows up to the budget. Its tokens per parameter are near the
    `ratio` of the target, and its group is that of what is `planned`.
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
    opened, label, name = open_table(pd.DataFrame(source) if isinstance(source, Mapping) else source)
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


def on_scale(law, means):
    """Return what variances of log loss are multiplied by on the scale of the residuals."""
    return 1.0 if law.scale.startswith("log_") else np.median(means, axis=0) ** 2


def candidate_means(draws, table, error=0.0):
    """Compute mean losses of candidates on the scale of the law's residuals, an ndarray (sample, candidate).

    An `error` of log loss, which broadcasts to that shape, is added.
    """
    mean = draws.mean(table).transpose(*DRAWS, "run").values.reshape(-1, len(table))
    return np.asarray(draws.law.on_scale(mean * np.exp(error)))


def noise_variance(draws, table):
    """Compute the variance that stands for a run's noise, at the posterior median: the inverse of its information.

    The information of the mean in a Student-t loss is ``(nu + 1) / ((nu + 3) sigma**2)``. An effect that rows of a run
    or a size share is added as if each candidate had another.
    """
    law = draws.law
    sigma, *rest = draws.noise_arguments(table)
    sigma = np.median(np.broadcast_to(sigma, (*np.shape(sigma)[:-1], len(table))).reshape(-1, len(table)), axis=0)
    variance = sigma**2
    if law.residuals.family == "student_t":
        nu = float(np.median(rest[0]))
        variance = variance * (nu + 3) / (nu + 1)
    if law.effects_of:
        variance = variance + float(np.median(draws.named()[law.residuals.effect_sd])) ** 2
    return variance


def misfit_variance(draws, ratio, table):
    """Compute the variance by which a law may miss the log loss of candidates: an ndarray (candidate,).

    The law misses runs above or below the fitted ones by its drift. The same scale a decade as above stands for runs
    off the target's tokens per parameter, where a misfit of the law teaches nothing about the target.
    """
    outside = error_variance(draws.law, decades_beyond(draws.law, draws.rows, table))
    return outside + drift_of(draws.law).mean_square() * off_ratio(table, ratio) ** 2


def off_ratio(table, ratio):
    """Compute decades, (candidate,), between tokens per parameter and those of the target, 0 where a table has none."""
    if not {"parameters", "tokens"} <= set(table):
        return np.zeros(len(table))
    return np.abs(np.log10(table["tokens"].to_numpy(float) / table["parameters"].to_numpy(float) / ratio))
