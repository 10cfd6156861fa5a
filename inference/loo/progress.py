"""Cross-validate algorithmic-progress laws by row, by paper, into the future; refit where importance sampling fails."""

import warnings

import numpy as np
import pandas as pd
import xarray as xr
from scipy.special import logsumexp

from ...errors import DiagnosticWarning
from ...models.progress import family
from ..diagnostics import PARETO_K_LIMIT
from ..fitting.fit import settings_of
from ..fitting.progress import TARGET_ACCEPT, ProgressFitter, State
from ..storage import law_of, metadata
from .compare import check_comparable, loo
from .weights import pseudo_bma, stacking

REFIT = {"draws": 500, "tune": 500, "target_accept": TARGET_ACCEPT}


def log_mean_exp(values):
    """Logarithm of the mean of exponentials over chain and draw."""
    return logsumexp(values, axis=(0, 1)) - np.log(values.shape[0] * values.shape[1])


def left_out_densities(law, reference, rows, left, z):
    """Log densities of the rows left out, given draws of a fit to the others.

    Under paper effects, rows of a paper that were not left out say something of those that were.

    Parameters
    ----------
    law : Progress
    reference : dict
    rows : DataFrame
        All rows, left out or not.
    left : ndarray of bool
    z : ndarray, shape (chain, draw, z)

    Returns
    -------
    rowwise : ndarray, shape (chain, draw, left out)
        Of each row on its own.
    joint : ndarray, shape (chain, draw)
        Of them together.
    mean : ndarray, shape (chain, draw, left out)
        Mean loss in nats (in another paper, under paper effects).
    """
    if not law.paper_effects:
        state = State(law, reference, rows[left].reset_index(drop=True), z)
        rowwise = state.log_likelihood()
        return rowwise, rowwise.sum(-1), state.predicted()
    state = State(law, reference, rows, z)

    def density(shown):
        masked = state.design | {"paper": state.design["paper"] * shown}
        return family.paper_log_likelihood(state.c, masked).sum(-1)

    kept = density(~left)
    rowwise = [density(~left | (np.arange(len(rows)) == i)) - kept for i in np.flatnonzero(left)]
    return np.stack(rowwise, axis=-1), density(np.ones(len(rows))) - kept, state.predicted()[..., left]


def held_out(fitter, law, left, *, seed=1, **settings):
    """Log predictive densities of rows by a refit without them.

    Parameters
    ----------
    fitter : ProgressFitter
    law : Progress
    left : ndarray of bool
        Rows of ``law.rows(fitter.table)`` to leave out.
    seed : int
    **settings
        Of the sampler; 4 x (500 + 500) by default.

    Returns
    -------
    rowwise : ndarray, shape (left out,)
        Log density of each row on its own.
    joint : float
        Log density of them together.
    predicted : ndarray, shape (left out,)
        Posterior predictive means.
    """
    rows, reference = law.rows(fitter.table), law.reference(fitter.table)
    keep = rows[~left].reset_index(drop=True)
    sampled, _, _ = fitter.sample(law, keep, reference, settings_of(REFIT | settings), seed)
    rowwise, joint, mean = left_out_densities(law, reference, rows, left, sampled["z"].values)
    return log_mean_exp(rowwise), float(log_mean_exp(joint)), mean.mean((0, 1))


def resolve(fitter, fit, result, *, seed=1):
    """Replace the elpd of rows whose Pareto k is above 0.7 by that of exact refits.

    Returns
    -------
    result : ELPDData
        With ``elpd_i`` exact at those rows, and ``pareto_k`` 0 there.
    refitted : dict of int to float
        Rows, with the predictive mean of the refit without them.
    """
    law = law_of(fit)
    refitted = {}
    for row in np.flatnonzero(~(result.pareto_k.values <= PARETO_K_LIMIT)).tolist():
        left = np.arange(result.n_data_points) == row
        rowwise, _, mean = held_out(fitter, law, left, seed=seed)
        result.elpd_i.values[row], refitted[row] = rowwise[0], float(mean[0])
        result.pareto_k.values[row] = 0.0
    if refitted:
        log_likelihood = fit["log_likelihood"][law.scale].values
        result.elpd = float(result.elpd_i.sum())
        result.se = float(np.sqrt(result.n_data_points * result.elpd_i.values.var(ddof=1)))
        result.p = float(log_mean_exp(log_likelihood).sum() - result.elpd)
    return result, refitted


def loo_predictions(fit, result, refitted=()):
    """Leave-one-out predictive mean of each row, (row,), in nats.

    Parameters
    ----------
    fit : DataTree
    result : ELPDData
        Of importance sampling alone: after moment matching, weights belong to other draws than those of the fit.
    refitted : dict of int to float, optional
        Predictive means of rows that `resolve` refitted.
    """
    state = State.of(fit)
    weights = np.exp(result.log_weights.transpose("chain", "draw", ...).values)
    predicted = (state.predicted() * weights).sum((0, 1)) / weights.sum((0, 1))
    for row in refitted:
        predicted[row] = refitted[row]
    return predicted


def by_paper(fitter, fit, *, seed=1):
    """Leave-one-paper-out expected log predictive density.

    Importance sampling with each paper's rows left out together, and refits without the paper where Pareto k is above
    0.7.

    Returns
    -------
    elpd : ndarray, shape (paper,)
        Log density of each paper's rows together, in order of ``paper_id``.
    refitted : int
        Papers that were left out by a refit.
    """
    import arviz_stats as azs

    state = State.of(fit)
    papers = state.rows["paper_id"].to_numpy()
    ids = np.unique(papers)
    joint = xr.DataArray(state.paper_log_likelihood(), dims=("chain", "draw", "paper"), coords={"paper": ids})
    tree = xr.DataTree.from_dict(
        {"posterior": fit["posterior"].to_dataset(), "log_likelihood": joint.to_dataset(name="joint")}
    )
    with warnings.catch_warnings(), np.errstate(divide="ignore", invalid="ignore"):
        warnings.simplefilter("ignore", UserWarning)
        result = azs.loo(tree, pointwise=True, var_name="joint")
    elpd = result.elpd_i.values.copy()
    high = np.flatnonzero(~(result.pareto_k.values <= PARETO_K_LIMIT))
    for i in high:
        elpd[i] = held_out(fitter, state.law, papers == ids[i], seed=seed)[1]
    return elpd, len(high)


def into_the_future(fitter, law, *, cutoffs=(2017, 2018, 2019, 2020, 2021, 2022), seed=1):
    """Train on rows dated before each cutoff and predict the rows of the year that follows.

    Returns
    -------
    DataFrame
        By cutoff: ``trained``, ``predicted`` (rows), ``elpd`` of the predicted rows and their ``mse`` in nats squared.
        A cutoff that leaves a benchmark of the law without rows is left out.
    """
    rows = law.rows(fitter.table)
    year = rows["year"].to_numpy()
    found = []
    for cutoff in cutoffs:
        target = (year >= cutoff) & (year < cutoff + 1)
        seen, past = rows[year < cutoff + 1].reset_index(drop=True), rows[year < cutoff]
        if not target.any() or any(level != "all" and not (past["benchmark"] == level).any() for level in law.levels):
            continue
        reference = law.reference(fitter.table)
        sampled, _, _ = fitter.sample(law, past.reset_index(drop=True), reference, settings_of(REFIT), seed)
        ahead = seen["year"].to_numpy() >= cutoff
        rowwise, _, mean = left_out_densities(law, reference, seen, ahead, sampled["z"].values)
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
    fitter : ProgressFitter, optional
        Compiled before; made when a refit needs one.
    papers : bool
        Leave papers out too, and weigh by them.
    seed : int
    progress : bool

    Returns
    -------
    table : DataFrame
        One row a specification, best first: ``rank``, ``elpd``, ``se``, ``p``, ``elpd_diff``, ``dse`` (rows as if
        independent), ``dse_by_paper`` (differences summed by paper first), ``loo_mse``, ``loo_r2``, ``pareto_k_max``,
        ``k_above_0.7``, ``refitted``, ``elpd_papers`` and weights ``stacking``, ``pseudo_bma``, ``equal``,
        ``by_paper_stacking``.
    pointwise : DataFrame
        ``elpd`` of each row under each specification.
    """
    from rich.console import Console
    from rich.progress import track

    if len(fits) > 1:
        check_comparable(fits)
    first = next(iter(fits.values()))
    rows = State.of(first).rows
    observed = np.log(rows["perplexity"].to_numpy(float))
    fitter = fitter or ProgressFitter(rows)
    entries, pointwise, paperwise = {}, {}, {}
    for k, fit in track(fits.items(), "leave-one-out", console=Console(stderr=True), disable=not progress):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DiagnosticWarning)
            result = loo(fit, moment_match=False)
        result, refitted = resolve(fitter, fit, result, seed=seed)
        pointwise[k] = result.elpd_i.values
        error = observed - loo_predictions(fit, result, refitted)
        entries[k] = {
            "elpd": float(result.elpd),
            "se": float(result.se),
            "p": float(result.p),
            "loo_mse": float((error**2).mean()),
            "loo_r2": float(1 - (error**2).mean() / observed.var()),
            "pareto_k_max": float(result.pareto_k.max()),
            "k_above_0.7": int((result.pareto_k > PARETO_K_LIMIT).sum()),
            "refitted": len(refitted),
        }
        if papers:
            paperwise[k], left_out = by_paper(fitter, fit, seed=seed)
            entries[k] |= {"elpd_papers": float(paperwise[k].sum()), "papers_refitted": left_out}
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
        verdict = metadata(fits[k])["diagnostics"]
        for name in ("r_hat_max", "ess_bulk_min", "divergences"):
            table.loc[k, name] = verdict[name]
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


def exact_loo(fitter, law, *, rows=None, seed=1, progress=False, **settings):
    """Leave-one-out by a refit for every row.

    Parameters
    ----------
    fitter : ProgressFitter
    law : Progress
    rows : sequence of int, optional
        Rows of ``law.rows(fitter.table)`` to leave out in turn, all by default.
    seed : int
    progress : bool
    **settings
        Of the sampler; 4 x (500 + 500) by default.

    Returns
    -------
    elpd, error : ndarray, shape (row,)
        Log predictive density of each row, and its Monte-Carlo standard error from the spread of independent chains.
    """
    from rich.console import Console
    from rich.progress import track

    table, reference = law.rows(fitter.table), law.reference(fitter.table)
    rows = np.arange(len(table)) if rows is None else np.asarray(rows)
    elpd, error = np.empty(len(rows)), np.empty(len(rows))
    shown = track(
        enumerate(rows), "exact leave-one-out", total=len(rows), console=Console(stderr=True), disable=not progress
    )
    for i, row in shown:
        left = np.arange(len(table)) == row
        kept = table[~left].reset_index(drop=True)
        sampled, _, _ = fitter.sample(law, kept, reference, settings_of(REFIT | settings), seed + int(row))
        alone = State(law, reference, table[left].reset_index(drop=True), sampled["z"].values)
        values = alone.log_likelihood()[..., 0]
        elpd[i] = log_mean_exp(values[..., None])[0]
        by_chain = np.exp(logsumexp(values, axis=1) - np.log(values.shape[1]) - elpd[i])
        error[i] = by_chain.std(ddof=1) / np.sqrt(len(by_chain))
    return elpd, error
