"""Predict a group that a fit has not seen: from the population alone, or with a few runs of it."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...datasets.kinds.runs import RUNS
from ...datasets.reader import TableSource, as_table
from ...datasets.wording import quoted
from ...errors import InputError
from ..fitted import Fit, changed_fit, of_kind
from ..fitter import fitter_of
from ..settings import seed_of


def predict_group(
    fit: Fit,
    runs: TableSource | None = None,
    *,
    name: str = "new",
    typical: bool = False,
    seed: int | None = None,
    **settings: Any,
) -> Fit:
    """Add a group to a fit of a `Grouped` law.

    With runs the law is fitted again to all rows, those of the new group among them. This is ordinary partial pooling:
    few runs pull the group's pooled quantities from the population's as far as they can. Without runs the group's
    quantities are drawn, for each draw of the fit, as if it had been there without a row. Pooled ones are drawn from
    the population, and shared ones are unchanged. The rest (which make E, A and B) are drawn from their priors, at the
    centre of all rows. Exponents are then those of a new corpus, while losses remain vague.

    Parameters
    ----------
    fit : Fit
    runs : DataFrame, path, str or mapping, optional
        Runs of the new group, as `read` gives them, with the columns that the law needs; the column of the groups is
        filled with `name`.
    name : str
    typical : bool
        Without runs: give the group the typical values of what is pooled, in place of a draw from the population.
    seed : int, optional
        Of the fit to all rows, without runs of the draws; that of the fit by default.
    **settings
        Of the fit to all rows, as for `fit`.

    Returns
    -------
    Fit
        A fit with one more group, which `predict` (for rows of that group), `allocate` (``group=name``) and all else
        take. Without runs its table is that of `fit`.

    Raises
    ------
    InputError
        If the law of the fit has no groups, or has one of that name, or a typical group is to have runs.

    Examples
    --------
    >>> import bayescaling as bs
    >>> runs = bs.load("chinchilla_runs")
    >>> halves = runs.assign(half=["a", "b"] * 122 + ["a"])
    >>> law = bs.laws.Grouped(bs.laws.Chinchilla(noise="normal", scatter="one"), "half")
    >>> fit = bs.fit(law, halves, seed=1, draws=500, tune=500)
    >>> new = fit.predict_group()
    >>> spread = new["posterior"]["alpha"].std(("chain", "draw"))
    >>> bool(spread.sel(group="new") > spread.sel(group="a"))
    True
    """
    record = fit.record
    law: Any = of_kind(fit, RUNS).law
    if law.grouped_by is None:
        raise InputError(f"a fit of {law.label} has no groups; fit a Grouped law (--group COLUMN)")
    if str(name) in record["law"]["reference"]["groups"]:
        raise InputError(f"group {quoted(name)} is in the fit already; give the new one another name")
    if typical and runs is not None:
        raise InputError("a typical group has no runs; leave out the runs or typical")
    seed = seed_of(seed, fit)
    if runs is not None:
        runs = as_table(runs, law.kind, [x for x in law.needed if x != law.grouped_by])
        rows = law.regrouped(fit.rows, runs, name)
        return fitter_of(fit).other(law, rows).fit(seed=seed, **settings)
    draws = law.with_group(fit.draws, name, np.random.default_rng(seed), typical=typical)
    groups = {"posterior": draws.named(), "unconstrained_posterior": draws.real_line().to_dataset(name="z")}
    law = record["law"] | {"reference": draws.reference}
    return changed_fit(fit, groups, record | {"law": law})
