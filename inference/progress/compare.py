"""Compare laws of algorithmic progress by row and by paper; pool their growth rates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ...datasets.progress_messages import counted
from ..checks import chains
from ..comparison.compare import Comparison, check_comparable
from ..comparison.differences import differences, p_worse, sentence
from ..comparison.importance import importance_sampling
from ..comparison.loo import loo_by_group
from ..comparison.refits import largest_k_left, resolve, unreliable
from ..comparison.weights import pseudo_bma, stacking, sum_error
from ..fitted import LEFT_OUT, Fit, results_of
from ..workers import mapped

MIXED = (("elpd", "elpd_diff", "dse"), ("elpd_papers", "papers_diff", "papers_dse"))


def loo_predictions(fit, result, refitted=None):
    """Compute the leave-one-out predictive mean of each row, (row,), in nats.

    The result is of importance sampling alone: after moment matching, weights belong to other draws than those of the
    fit. Means of rows that were refitted are those of `resolve`.
    """
    weights = np.exp(result.log_weights.transpose("chain", "draw", ...).values)
    predicted = (fit.draws.mean().values * weights).sum((0, 1)) / weights.sum((0, 1))
    if refitted is not None and refitted["refitted"].size:
        predicted = np.where(refitted["refitted"], refitted["mean"], predicted)
    return predicted


def compare(
    fits: Mapping[int, Fit],
    *,
    papers: bool = True,
    seed: int = 1,
    progress: bool = False,
    scores: ProgressScores | None = None,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Compare specifications by leave-one-out, row by row and paper by paper.

    Parameters
    ----------
    fits : dict of int to Fit
        From `progress.fit_all`, on the same rows.
    papers : bool
        Leave papers out too, and weigh by them.
    seed : int
    progress : bool
    scores : ProgressScores, optional
        The result of `score_progress` for the same fits, with papers left out, if it was called before.

    Returns
    -------
    table : DataFrame
        One row a specification, best first: ``rank``, ``elpd``, ``se``, ``p``, ``elpd_diff`` and ``dse`` (rows as if
        independent). ``dse_by_paper`` (differences summed by paper first), ``p_worse`` (by the latter) and ``flags``
        (see `differences`) follow. ``loo_mse``, ``loo_r2``, ``pareto_k_max``, ``k_above_0.7`` (of rows that no refit
        fixed) and ``refitted`` are by row. ``elpd_papers``, ``papers_refitted`` and ``papers_overlap_min`` (least
        overlap of their bridges) are by paper. Weights are ``stacking``, ``pseudo_bma``, ``equal`` and
        ``by_paper_stacking``. The ``sentence`` in ``attrs`` states which predicts best.
    pointwise : DataFrame
        ``elpd`` of each row under each specification.

    Examples
    --------
    >>> import bayescaling as bs
    >>> fits = bs.progress.fit_all(specifications=[7, 16], draws=500, tune=500)
    >>> table, pointwise = bs.progress.compare(fits, papers=False)
    >>> list(table.index)
    [7, 16]
    """
    if len(fits) > 1:
        check_comparable(fits)
    scores = scores or score_progress(fits, papers=papers, seed=seed, progress=progress)
    table, rowwise = scores.table.copy(), scores.rowwise
    table["stacking"], table["pseudo_bma"], table["equal"] = stacking(rowwise), pseudo_bma(rowwise), 1 / len(table)
    if scores.paperwise is not None:
        table["by_paper_stacking"] = stacking(scores.paperwise)
    papers_of_rows = next(iter(fits.values())).draws.rows["paper_id"].to_numpy()
    table = table.join(differences_by_paper(rowwise, papers_of_rows, table["k_above_0.7"]))
    table = table.sort_values("elpd", ascending=False)
    table.insert(0, "rank", np.arange(1, len(table) + 1))
    if len(table) > 1:
        named = "specification {}".format
        table.attrs["sentence"] = sentence(table, left_out="evaluations", named=named, error="dse_by_paper")
        table.attrs["weighting"] = "stacking by paper" if "by_paper_stacking" in table else "stacking"
        held = {k: fit.diagnostics for k, fit in fits.items()}
        table.attrs["standing"] = {k: {"converged": x["ok"], "chains": chains.sentence(x)} for k, x in held.items()}
    return Comparison.of(table), rowwise


def differences_by_paper(rowwise, papers, high_k=None):
    """Return `differences` of densities by row, and their error ``dse_by_paper`` as sums by paper, for ``p_worse``."""
    apart = differences(rowwise, high_k)
    by_paper = rowwise.sub(rowwise[rowwise.sum().idxmax()], axis=0).groupby(papers).sum()
    apart.insert(2, "dse_by_paper", sum_error(by_paper))
    return apart.assign(p_worse=p_worse(apart["elpd_diff"], apart["dse_by_paper"]))


@dataclass(frozen=True)
class ProgressScores:
    """Leave-one-out scores of laws of progress, on the scale of the loss.

    The table is by fit, as in `progress.compare`, without what depends on the other fits. `rowwise` has the log
    predictive density of each row under each fit, and `paperwise` (None without papers) that of each paper's rows
    together.
    """

    table: pd.DataFrame
    rowwise: pd.DataFrame
    paperwise: pd.DataFrame | None


def score_progress(fits, *, papers=True, seed=1, progress=False):
    """Leave rows and papers out of each of several fits of the same rows: `ProgressScores`.

    Parameters are as for `progress.compare`. Fits may differ in their scale: densities of log losses are turned into
    those of losses.
    """
    results = mapped(_scored, (papers, seed), list(fits.values()))
    entries, rowwise, paperwise = {}, {}, {}
    for k, result in zip(fits, counted(results, "leave-one-out", progress, total=len(fits)), strict=True):
        entries[k], rowwise[k], paperwise[k], computed = result
        results_of(fits[k]).update(computed)
    table = pd.DataFrame.from_dict(entries, orient="index")
    return ProgressScores(table, pd.DataFrame(rowwise), pd.DataFrame(paperwise) if papers else None)


def _scored(shared, fit):
    """Leave rows and papers out of one fit: its entry, elpd by row and by paper, and what it holds of refits."""
    papers, seed = shared
    rows = fit.draws.rows
    loss = np.log(rows["perplexity"].to_numpy(float))
    jacobian = -np.log(loss) if fit.law.scale == "log_loss" else np.zeros(len(loss))
    result = importance_sampling(fit)
    refitted = resolve(fit, result, seed=seed)
    mse = float(((loss - loo_predictions(fit, result, refitted)) ** 2).mean())
    rowwise, paperwise = result.elpd_i.values + jacobian, None
    entry = {
        "elpd": float(rowwise.sum()),
        "se": float(sum_error(rowwise)),
        "p": float(result.p),
        "loo_mse": mse,
        "loo_r2": 1 - mse / float(loss.var()),
        "pareto_k_max": largest_k_left(result),
        "k_above_0.7": int(unreliable(result).sum()),
        "refitted": int(refitted["refitted"].sum()),
    }
    if papers:
        left_out = loo_by_group(fit, seed=seed)
        paperwise = left_out["elpd"] + pd.Series(jacobian).groupby(rows["paper_id"].to_numpy()).sum()
        entry |= {
            "elpd_papers": float(paperwise.sum()),
            "papers_refitted": int(left_out["refitted"].sum()),
            "papers_overlap_min": float(left_out["overlap"].min()),
        }
    diagnosed = fit.record["diagnostics"]
    entry |= {name: diagnosed[name] for name in ("r_hat_max", "ess_bulk_min", "divergences")}
    return entry, rowwise, paperwise, {LEFT_OUT: results_of(fit)[LEFT_OUT]} if LEFT_OUT in results_of(fit) else {}


def mixed_scores(scores):
    """Compare sets of laws, such as one set for each noise, by the mixture of each set that stacking makes of it.

    Scores are `ProgressScores` by set, of the same rows, papers left out too. The table is by set, best first by paper.
    ``elpd`` and ``elpd_papers`` are log scores of the set's mixture by row and by paper. ``elpd_diff`` and
    ``papers_diff`` are their differences from the first row's, with standard errors ``dse`` and ``papers_dse``. Weights
    are fitted to the same scores, which flatters all sets alike.
    """
    mixed = {
        name: [np.log(np.exp(x) @ stacking(x)) for x in (score.rowwise.to_numpy(), score.paperwise.to_numpy())]
        for name, score in scores.items()
    }
    best = max(mixed, key=lambda name: mixed[name][1].sum())
    entries = {}
    for name, mixture in mixed.items():
        entry = {}
        for (total, difference, error), values, other in zip(MIXED, mixture, mixed[best], strict=True):
            entry |= {total: values.sum(), difference: (values - other).sum(), error: sum_error(values - other)}
        entries[name] = entry
    return pd.DataFrame.from_dict(entries, orient="index").sort_values("elpd_papers", ascending=False)


def against(scores, base):
    """Return differences of `ProgressScores` from those of the fit named `base`, by row and by paper.

    The table is by fit: ``elpd_diff``, ``dse``, ``papers_diff`` and ``papers_dse``.
    """
    rows, papers = (x.sub(x[base], axis=0) for x in (scores.rowwise, scores.paperwise))
    return pd.DataFrame(
        {"elpd_diff": rows.sum(), "dse": sum_error(rows), "papers_diff": papers.sum(), "papers_dse": sum_error(papers)}
    )


def pooled_rates(rates, weights, *, draws=20_000, seed=1):
    """Draw from the growth rate of a mixture over specifications, (draws,).

    Rates are draws under each specification, zeros for one without progress.
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
