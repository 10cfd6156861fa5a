"""Predict the year after a cutoff from what was dated before it, and compare laws of progress by how well they do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ...datasets.progress_messages import counted
from ...models.laws import Progress, as_law
from ...models.progress.draws import ProgressDraws
from ..comparison.bridge import log_mean_exp
from ..comparison.refits import REFIT
from ..comparison.weights import stacking
from ..fitter import Fitter
from ..workers import mapped
from .compare import differences_by_paper

CUTOFFS = (2017, 2018, 2019, 2020, 2021, 2022)


def future_rows(fitter, law, *, cutoffs=CUTOFFS, seed=1, **settings):
    """Train on rows dated before each cutoff and predict each row of the year that follows.

    The `Fitter` is from `progress.new_fitter`; the sampler takes 4 x (500 + 500) draws by default. The table has one
    row a prediction: ``cutoff``, ``trained`` (rows) and ``row`` (position in the law's rows). ``elpd`` is the log
    predictive density, and ``squared_error`` that of the mean in nats squared. A cutoff that leaves a benchmark of the
    law without rows is left out.
    """
    law, rows, reference = fitter.of(law)
    year = rows["year"].to_numpy()
    parts = []
    for cutoff in cutoffs:
        target = (year >= cutoff) & (year < cutoff + 1)
        past = rows[year < cutoff]
        if not target.any() or any(level != "all" and not (past["benchmark"] == level).any() for level in law.levels):
            continue
        seen = rows[year < cutoff + 1].reset_index(drop=True)
        without = fitter.sample(past.reset_index(drop=True), law=law, seed=seed, least_ess=0, **(REFIT | settings))
        ahead = seen["year"].to_numpy() >= cutoff
        whole = ProgressDraws(law, reference, seen, without.draws.z)
        rowwise, _, mean = whole.left_out(without.draws, ahead)
        error = np.log(seen["perplexity"].to_numpy()[ahead]) - mean.mean((0, 1))
        one = {"row": np.flatnonzero(target), "elpd": log_mean_exp(rowwise), "squared_error": error**2}
        parts.append(pd.DataFrame(one).assign(cutoff=cutoff, trained=len(past)))
    columns = ["cutoff", "trained", "row", "elpd", "squared_error"]
    return pd.concat(parts, ignore_index=True)[columns] if parts else pd.DataFrame(columns=columns)


def _future_of(shared, law):
    fitter, options = shared
    return future_rows(fitter, law, **options)


def by_cutoff(future):
    """Add up what `future_rows` found for each cutoff.

    The columns are ``cutoff``, ``trained``, ``predicted`` (rows), ``elpd`` of the predicted rows and their ``mse`` in
    nats squared.
    """
    summed = future.groupby("cutoff").agg(
        trained=("trained", "first"), predicted=("row", "size"), elpd=("elpd", "sum"), mse=("squared_error", "mean")
    )
    return summed.reset_index()


def compare_futures(
    fitter: Fitter,
    laws: Mapping[Any, Progress | str],
    *,
    cutoffs: Sequence[int] = CUTOFFS,
    seed: int = 1,
    progress: bool = False,
    **settings: Any,
) -> tuple[pd.DataFrame, dict[Any, pd.DataFrame]]:
    """Compare laws by how well they predict the year after each cutoff from what was published before it.

    Parameters
    ----------
    fitter : Fitter
        From `progress.new_fitter`.
    laws : dict
        Of `Progress` or names of such laws, by any name, of the same rows.
    cutoffs : sequence of int
    seed : int
    progress : bool
    **settings
        Of the sampler; 4 x (500 + 500) by default.

    Returns
    -------
    table : DataFrame
        By law, best first: ``elpd`` summed over the cutoffs and ``elpd_diff`` from the best. Its standard errors are
        ``dse`` (rows as if independent) and ``dse_by_paper``, which ``p_worse`` is by. ``mse`` in nats squared,
        ``stacking`` weights, ``elpd_2017``... by cutoff, and ``flags`` (see `differences`) follow.
    rows : dict of DataFrame
        From `future_rows`, of the cutoffs that every law can predict.

    Examples
    --------
    >>> import bayescaling as bs
    >>> laws = {"progress": bs.laws.Progress(7), "none": bs.laws.Progress(16)}
    >>> table, _ = bs.progress.compare_futures(bs.progress.new_fitter(), laws, cutoffs=(2020,))
    >>> list(table.index)
    ['progress', 'none']
    """
    chosen = {name: as_law(law) for name, law in laws.items()}
    shared = fitter, {"cutoffs": cutoffs, "seed": seed, **settings}
    results = mapped(_future_of, shared, list(chosen.values()))
    rows = dict(zip(chosen, counted(results, "predicting the future", progress, total=len(chosen)), strict=True))
    common = set.intersection(*(set(predictions["cutoff"]) for predictions in rows.values()))
    rows = {
        name: predictions[predictions["cutoff"].isin(common)].reset_index(drop=True)
        for name, predictions in rows.items()
    }
    pointwise = pd.DataFrame({name: predictions["elpd"] for name, predictions in rows.items()})
    first = next(iter(rows.values()))
    paper = fitter.of(next(iter(chosen.values())))[1]["paper_id"].to_numpy()[first["row"].astype(int)]
    apart = differences_by_paper(pointwise, paper)
    errors = {name: predictions["squared_error"].mean() for name, predictions in rows.items()}
    scored = apart.drop(columns="flags").assign(mse=pd.Series(errors), stacking=stacking(pointwise))
    scored.insert(0, "elpd", pointwise.sum())
    by_year = pointwise.groupby(first["cutoff"]).sum().T.rename(columns="elpd_{:g}".format)
    table = pd.concat([scored, by_year, apart["flags"]], axis=1)
    return table.sort_values("elpd", ascending=False), rows
