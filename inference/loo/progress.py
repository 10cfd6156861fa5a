"""Compare laws of algorithmic progress by row, by paper and into the future; pool their growth rates."""

import numpy as np
import pandas as pd

from ...models.progress.draws import ProgressDraws
from ..fitting.progress import progress_fitter
from ..storage import draws_of, metadata
from .bridge import log_mean_exp
from .compare import check_comparable
from .groups import loo_by_group
from .loo import importance_sampling
from .refits import REFIT, largest_k_left, resolve, unreliable
from .weights import pseudo_bma, stacking


def loo_predictions(fit, result, refitted=None):
    """Leave-one-out predictive mean of each row, (row,), in nats.

    Parameters
    ----------
    fit : DataTree
    result : ELPDData
        Of importance sampling alone: after moment matching, weights belong to other draws than those of the fit.
    refitted : Dataset, optional
        From `resolve`.
    """
    weights = np.exp(result.log_weights.transpose("chain", "draw", ...).values)
    predicted = (draws_of(fit).mean().values * weights).sum((0, 1)) / weights.sum((0, 1))
    if refitted is not None and refitted["refitted"].size:
        predicted = np.where(refitted["refitted"], refitted["mean"], predicted)
    return predicted


def into_the_future(fitter, law, *, cutoffs=(2017, 2018, 2019, 2020, 2021, 2022), seed=1):
    """Train on rows dated before each cutoff and predict the rows of the year that follows.

    Parameters
    ----------
    fitter : Fitter
        From `progress_fitter`.
    law : Progress
    cutoffs : sequence of int
    seed : int

    Returns
    -------
    DataFrame
        By cutoff: ``trained``, ``predicted`` (rows), ``elpd`` of the predicted rows and their ``mse`` in nats squared.
        A cutoff that leaves a benchmark of the law without rows is left out.
    """
    law, rows, reference = fitter.of(law)
    year = rows["year"].to_numpy()
    found = []
    for cutoff in cutoffs:
        target = (year >= cutoff) & (year < cutoff + 1)
        past = rows[year < cutoff]
        if not target.any() or any(level != "all" and not (past["benchmark"] == level).any() for level in law.levels):
            continue
        seen = rows[year < cutoff + 1].reset_index(drop=True)
        without = fitter.sample(past.reset_index(drop=True), law=law, seed=seed, least_ess=0, **REFIT)
        ahead = seen["year"].to_numpy() >= cutoff
        whole = ProgressDraws(law, reference, seen, without.draws.z)
        rowwise, _, mean = whole.left_out(without.draws, ahead)
        error = np.log(seen["perplexity"].to_numpy()[ahead]) - mean.mean((0, 1))
        found.append(
            {
                "cutoff": cutoff,
                "trained": int((year < cutoff).sum()),
                "predicted": int(target.sum()),
                "elpd": float(log_mean_exp(rowwise).sum()),
                "mse": float((error**2).mean()),
            }
        )
    return pd.DataFrame(found)


def compare_progress(fits, *, fitter=None, papers=True, seed=1, progress=False):
    """Compare specifications by leave-one-out, row by row and paper by paper.

    Parameters
    ----------
    fits : dict of int to DataTree
        From `fit_progress`, on the same rows.
    fitter : Fitter, optional
        From `progress_fitter`, compiled before; made when a refit needs one.
    papers : bool
        Leave papers out too, and weigh by them.
    seed : int
    progress : bool

    Returns
    -------
    table : DataFrame
        One row a specification, best first: ``rank``, ``elpd``, ``se``, ``p``, ``elpd_diff``, ``dse`` (rows as if
        independent), ``dse_by_paper`` (differences summed by paper first), ``loo_mse``, ``loo_r2``, ``pareto_k_max``,
        ``k_above_0.7`` (of rows that no refit mended), ``refitted``, ``elpd_papers``, ``papers_refitted``,
        ``papers_overlap_min`` (least overlap of their bridges) and weights ``stacking``, ``pseudo_bma``, ``equal``,
        ``by_paper_stacking``.
    pointwise : DataFrame
        ``elpd`` of each row under each specification.

    Examples
    --------
    >>> import bayescaling as bs
    >>> fits = bs.fit_progress(specifications=[7, 16], draws=500, tune=500)
    >>> table, pointwise = bs.compare_progress(fits, papers=False)
    >>> list(table.index)
    [7, 16]
    """
    from rich.console import Console
    from rich.progress import track

    if len(fits) > 1:
        check_comparable(fits)
    first = next(iter(fits.values()))
    rows = draws_of(first).rows
    observed = np.log(rows["perplexity"].to_numpy(float))
    fitter = fitter or progress_fitter(rows)
    entries, pointwise, paperwise = {}, {}, {}
    for k, fit in track(fits.items(), "leave-one-out", console=Console(stderr=True), disable=not progress):
        result = importance_sampling(fit)
        refitted = resolve(fit, result, fitter=fitter, seed=seed)
        pointwise[k] = result.elpd_i.values
        error = observed - loo_predictions(fit, result, refitted)
        entries[k] = {
            "elpd": float(result.elpd),
            "se": float(result.se),
            "p": float(result.p),
            "loo_mse": float((error**2).mean()),
            "loo_r2": float(1 - (error**2).mean() / observed.var()),
            "pareto_k_max": largest_k_left(result),
            "k_above_0.7": int(unreliable(result).sum()),
            "refitted": int(refitted["refitted"].sum()),
        }
        if papers:
            left_out = loo_by_group(fit, fitter=fitter, seed=seed)
            paperwise[k] = left_out["elpd"].to_numpy()
            entries[k] |= {
                "elpd_papers": float(paperwise[k].sum()),
                "papers_refitted": int(left_out["refitted"].sum()),
                "papers_overlap_min": float(left_out["overlap"].min()),
            }
    table = pd.DataFrame.from_dict(entries, orient="index")
    matrix = np.stack([pointwise[k] for k in table.index], axis=1)
    table["stacking"], table["pseudo_bma"], table["equal"] = stacking(matrix), pseudo_bma(matrix), 1 / len(table)
    if papers:
        table["by_paper_stacking"] = stacking(np.stack([paperwise[k] for k in table.index], axis=1))
    best = table["elpd"].idxmax()
    group = rows["paper_id"].to_numpy()
    for k in table.index:
        difference = pd.Series(pointwise[k] - pointwise[best])
        summed = difference.groupby(group).sum()
        table.loc[k, "elpd_diff"] = difference.sum()
        table.loc[k, "dse"] = np.sqrt(len(difference)) * difference.std(ddof=1)
        table.loc[k, "dse_by_paper"] = np.sqrt(len(summed)) * summed.std(ddof=1)
        found = metadata(fits[k])["diagnostics"]
        for name in ("r_hat_max", "ess_bulk_min", "divergences"):
            table.loc[k, name] = found[name]
    table = table.sort_values("elpd", ascending=False)
    table.insert(0, "rank", np.arange(1, len(table) + 1))
    return table, pd.DataFrame(pointwise)


def pooled_rates(rates, weights, *, draws=20_000, seed=1):
    """Draws of the growth rate of a mixture over specifications.

    Parameters
    ----------
    rates : dict of int to ndarray
        Draws of the rate under each specification; zeros for one without progress.
    weights : dict of int to float
    draws : int
    seed : int

    Returns
    -------
    ndarray, shape (draws,)
    """
    rng = np.random.default_rng(seed)
    keys = list(rates)
    share = np.array([weights[k] for k in keys], float)
    counts = rng.multinomial(draws, share / share.sum())
    chosen = [
        rng.choice(np.ravel(rates[k])[np.isfinite(np.ravel(rates[k]))], n)
        for k, n in zip(keys, counts, strict=True)
        if n
    ]
    return np.concatenate(chosen)
