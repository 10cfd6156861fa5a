"""The study of all specifications of algorithmic progress: fitted with two noises, compared and mixed."""

import numpy as np

from ....inference import intervals
from ....inference.checks.sensitivity import prior_driven
from ....inference.comparison.weights import bootstrapped, stacking
from ....inference.progress import rate_at_optimum
from ....inference.progress.compare import compare, mixed_scores, pooled_rates, score_progress
from ....inference.progress.fitting import new_fitter
from ....inference.progress.rate_at_rows import compute_equivalent_gain, fall
from ....models.progress.law import Progress
from ....models.progress.specifications import NO_PROGRESS, SPECIFICATIONS
from ... import results
from ...laws import EFFECTS, INDEPENDENT, MAIN, NOISES, name_of_fit
from . import entries

TOP, TEN_BEST = 10, "top10"
WEIGHTY = 0.01  # least stacking weight of a specification whose priors are varied
REPLICATES = 100
BRIEF = 500
LEAST_ESS = 400


def with_weight(comparison):
    """Return specifications with progress that have some stacking weight, and the main one."""
    weight = comparison[["stacking", "by_paper_stacking"]].max(axis=1)
    return [k for k in comparison.index if k not in NO_PROGRESS and (weight[k] >= WEIGHTY or k == MAIN)]


def ten_best(comparison):
    """List the ten best of specifications 1 to 15."""
    return [k for k in comparison.index if k not in NO_PROGRESS and k <= 15][:TOP]


def every_specification(table, main, *, seed=1, sampler=None, **settings):
    """Fit all specifications, leave out rows and papers, and mix the rates.

    The main specification, ``main`` by noise, is not fitted again; other parameters are as for `fit`.

    Returns
    -------
    result : dict
        ``document`` has entries of results.json by key. ``comparison`` is the table of `compare` with its ``sentence``.
        ``records`` are those of the fits. ``fall`` is of the main specification, by the name of the fit.
    fits : dict of str to Fit
        By the names of their posteriors.
    """
    brief = settings | {name: min(settings.get(name, BRIEF), BRIEF) for name in ("draws", "tune")}
    fitter, fits = new_fitter(table, sampler=sampler), {}
    for noise, effort in ((INDEPENDENT, settings), (EFFECTS, brief | {"least_ess": LEAST_ESS})):
        laws = {k: Progress(k, **NOISES[noise]) for k in SPECIFICATIONS if k != MAIN}
        others = fitter.fit_each(laws, seed=seed, **effort)
        fits[noise] = {k: main[noise] if k == MAIN else others[k] for k in SPECIFICATIONS}
    scores = {noise: score_progress(of, seed=seed) for noise, of in fits.items()}
    alone = fits[INDEPENDENT]
    comparison, _ = compare(alone, scores=scores[INDEPENDENT])
    mixed = mixed_scores(scores)
    far = {k: rate_at_optimum.first_rate(fit).values for k, fit in alone.items()}
    far |= {k: np.zeros_like(far[k]) for k in NO_PROGRESS if k in far}
    near = {noise: {k: compute_equivalent_gain(fit).values for k, fit in of.items()} for noise, of in fits.items()}
    best = ten_best(comparison)
    weights = {name: comparison[name].to_dict() for name in entries.WEIGHTINGS}
    weights[TEN_BEST] = {k: float(k in best) for k in alone}
    pooled, pooled_gains = (
        {name: pooled_rates(rates, weight, seed=seed) for name, weight in weights.items()}
        for rates in (far, near[INDEPENDENT])
    )
    by_noise, resampled, resampled_weights = _headline(near, scores, mixed.index[0], seed)
    named = {name_of_fit(k, noise): fit for noise, of in fits.items() for k, fit in of.items()}
    driven = {k: prior_driven(alone[k]) for k in with_weight(comparison)}
    document = {
        "progress": {
            str(k): entries.scores_entry(comparison.loc[k])
            | entries.fit_entry(fit, k)
            | {"misfit": entries.misfit({noise: of[k] for noise, of in fits.items()})}
            for k, fit in alone.items()
        },
        "pooled_doubling_months": {name: entries.rate_quantiles(rate) for name, rate in pooled.items()},
        "compute_equivalent_gain": {
            "estimand": entries.ESTIMAND,
            "quoted": _quoted(fits, near, scores, mixed.index[0]),
            "rows": len(table),
            "doubling_months": entries.rate_quantiles(by_noise[mixed.index[0]]),
            "noise": mixed.index[0],
            "by_noise": {name: entries.rate_quantiles(rate) for name, rate in by_noise.items()},
            "papers_resampled": entries.resampled(resampled, resampled_weights),
            "pooled_doubling_months": {name: entries.rate_quantiles(rate) for name, rate in pooled_gains.items()},
        },
        "noises": intervals.entries(mixed),
        "paper_effects": {
            str(k): entries.with_effects({noise: scored.table.loc[k] for noise, scored in scores.items()})
            | ({} if k in NO_PROGRESS else entries.gain_entry(near[EFFECTS][k]))
            for k in alone
        },
        "within_rows": entries.within_rows(alone),
        "prior_driven": {str(k): of.loc[of["prior_driven"], "coefficient"].tolist() for k, of in driven.items()},
    }
    result = {
        "document": document,
        "comparison": {"sentence": comparison.attrs.get("sentence", ""), "rows": intervals.entries(comparison)},
        "fall": {name_of_fit(MAIN, noise): fall(fit) for noise, fit in main.items()},
        "records": results.records(named),
    }
    return result, named


def _headline(near, scores, preferred, seed):
    """Mix rates at the rows by stacking over papers left out: by noise, and of the preferred one with papers resampled.

    The last two results are medians and weights, by table whose papers are drawn with replacement.
    """

    def pooled(noise, weights, draws=20_000):
        return pooled_rates(near[noise], dict(zip(near[noise], weights, strict=True)), draws=draws, seed=seed)

    papers = {noise: scored.paperwise[list(near[noise])] for noise, scored in scores.items()}
    by_noise = {noise: pooled(noise, stacking(of)) for noise, of in papers.items()}
    weights = bootstrapped(papers[preferred], replicates=REPLICATES, seed=seed)
    medians = [np.median(pooled(preferred, replicate, draws=4_000)) for replicate in weights]
    return by_noise, np.array(medians), dict(zip(near[preferred], weights.T, strict=True))


def _quoted(fits, near, scores, noise):
    """Return the entry of the quoted doubling time, with the specifications that predict papers about as well.

    It is that of specification 7, which Ho et al. chose, under the noise that predicts papers best. Another is quoted
    if it predicts papers left out better by more than two standard errors and 4 nats. A mixture is not quoted, because
    it has no fit that could be opened.
    """
    papers = scores[noise].paperwise[[k for k in fits[noise] if k not in NO_PROGRESS]]
    quoted = papers.sum().idxmax()
    if not entries.apart(papers[MAIN] - papers[quoted])["apart"]:
        quoted = MAIN
    rivals = {}
    for k in papers:
        difference = entries.apart(papers[k] - papers[quoted])
        if k != quoted and not difference.pop("apart"):
            rivals[str(k)] = entries.gain_entry(near[noise][k]) | difference
    name = {"specification": int(quoted), "noise": noise, "fit": name_of_fit(quoted, noise)}
    return name | entries.quoted_entry(fits[noise][quoted]) | {"rivals": rivals}
