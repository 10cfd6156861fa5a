"""The analysis of algorithmic progress: fits, comparison and quantities of interest."""

from dataclasses import dataclass, field
from functools import partial

import numpy as np
import pandas as pd

from ....datasets import load
from ....inference import fit as fit_law
from ....inference.checks.sensitivity import prior_driven
from ....inference.comparison.weights import bootstrapped, stacking
from ....inference.estimands import rules
from ....inference.points import penalised
from ....inference.progress import contributions, direct_rate, rate_at_optimum
from ....inference.progress.compare import ProgressScores, mixed_scores, pooled_rates, score_progress
from ....inference.progress.compare import compare as compare_progress
from ....inference.progress.fitting import new_fitter
from ....inference.progress.rate_at_rows import compute_equivalent_gain, gain_times
from ....models.progress.law import Progress
from ....models.progress.specifications import NO_PROGRESS, SPECIFICATIONS
from ...findings import Findings
from ...results import misfit_entries
from .entries import WEIGHTINGS, document, rule_gains

MAIN = 7
PAIRS = [
    (start, end)
    for start, ends in {
        "RNN (2012)": ("LSTM (2016)", "Transformer (2018)", "GPT-2 (2019)", "GPT-3 (2021)", "Gopher (2021)"),
        "LSTM (2016)": ("Transformer (2018)", "GPT-2 (2019)", "GPT-3 (2021)", "Gopher (2021)"),
        "Transformer (2018)": ("GPT-2 (2019)", "GPT-3 (2021)", "Gopher (2021)"),
    }.items()
    for end in ends
]
RULE_BUDGETS = (1e19, 1e20, 1e21, 1.5e21, 1e22, 1e23, 1e24, 2.5e24, 1e25)
TOP = 10
INDEPENDENT, EFFECTS = "rows independent", "paper effects"
NOISES = {INDEPENDENT: {}, EFFECTS: {"paper_effects": True}}
WEIGHTY = 0.01  # least stacking weight of a specification whose priors are varied
REPLICATES = 100
BRIEF = 500
LEAST_ESS = 400


@dataclass
class ProgressFindings(Findings):
    """What `analyse` returns.

    Attributes
    ----------
    table : DataFrame
        The evaluations.
    fits, effects : dict of int to Fit
        By specification, and the same with paper effects.
    scores : dict of str to ProgressScores
        Of the specifications under each of `NOISES`.
    mixed : DataFrame
        From `mixed_scores`; its first row is the noise that predicts papers best.
    misfit : dict of str to dict
        Tests of each specification against the rows, by noise.
    comparison, pointwise : DataFrame
        From `progress.compare`.
    doubling : dict of int to DataFrame
        From `doubling_times`.
    rates : dict of int to ndarray
        Draws of the growth rate (WT103 or transformer where it differs), zeros without progress.
    pooled : dict of str to ndarray
        Draws of the rate pooled over specifications by each weighting and over the ten best.
    gain_times : dict of int to DataFrame
        As from `gain_times`: doubling times of compute at the evaluations' own sizes.
    pooled_gains : dict of str to ndarray
        Draws of the rate at the evaluations' own sizes, pooled as `pooled`.
    headline : ndarray
        Draws of the rate at the evaluations' own sizes under the preferred noise. Specifications are mixed by how well
        they predict papers left out.
    by_noise : dict of str to ndarray
        The same under each noise.
    effect_gains : dict of int to ndarray
        Draws of the rate at the evaluations' own sizes by specification, with paper effects.
    resampled : dict
        Median doubling times of the headline when papers are drawn with replacement, and the weights then.
    driven : dict of int to DataFrame
        Prior-driven coefficients of each specification with weight.
    attribution, gains : Dataset
        Shapley shares; Chinchilla's over Kaplan's rule.
    direct, direct_with_reference : dict
        From `direct_doubling`, the reference's own row left out or counted.
    paper : dict of str to PointEstimate
        The paper's estimator as it stops, and converged.
    """

    table: pd.DataFrame
    fits: dict = field(default_factory=dict)
    effects: dict = field(default_factory=dict)
    scores: dict[str, ProgressScores] = field(default_factory=dict)
    mixed: pd.DataFrame | None = None
    misfit: dict = field(default_factory=dict)
    comparison: pd.DataFrame | None = None
    pointwise: pd.DataFrame | None = None
    doubling: dict = field(default_factory=dict)
    rates: dict = field(default_factory=dict)
    pooled: dict = field(default_factory=dict)
    gain_times: dict = field(default_factory=dict)
    pooled_gains: dict = field(default_factory=dict)
    headline: np.ndarray | None = None
    by_noise: dict = field(default_factory=dict)
    effect_gains: dict = field(default_factory=dict)
    resampled: dict = field(default_factory=dict)
    driven: dict = field(default_factory=dict)
    attribution: object = None
    gains: object = None
    direct: dict = field(default_factory=dict)
    direct_with_reference: dict = field(default_factory=dict)
    paper: dict = field(default_factory=dict)


def analyse(stage, published, earlier, *, seed=1, sampler=None, **settings):
    """Fit the 20 specifications and compute everything that follows; see `Page.analyse`."""
    findings = ProgressFindings(load("lm_progress"), studies=STUDIES)
    fitter = new_fitter(findings.table, sampler=sampler)
    brief = settings | {name: min(settings.get(name, BRIEF), BRIEF) for name in ("draws", "tune")}
    brief |= {"least_ess": LEAST_ESS}
    work = _Work(fitter, seed, settings, brief, earlier.get("chinchilla"))
    for name, make in WORK.items():
        stage.update(findings, name, partial(make, work=work), **more_of(make, work))
    # The headline is mixed over the specifications with random effects by paper: all of them weigh in its stacking.
    findings.posteriors = {f"progress-{k}": f for k, f in findings.fits.items()}
    findings.posteriors |= {f"progress-{k}, {EFFECTS}": f for k, f in findings.effects.items()}
    return findings


def more_of(make, work):
    """Return the fit of Chinchilla's law, on which only the last stage depends."""
    if make is _rules:
        return {"of": {"chinchilla": work.chinchilla} if work.chinchilla is not None else {}}
    return {}


@dataclass(frozen=True)
class _Work:
    """Inputs of the stages: a fitter, the seed, settings of full and of brief fits, and the Chinchilla posterior."""

    fitter: object
    seed: int
    settings: dict
    brief: dict
    chinchilla: object


def _specifications(findings, work):
    findings.fits = work.fitter.fit_each({k: Progress(k) for k in SPECIFICATIONS}, seed=work.seed, **work.settings)


def _left_out(findings, work):
    _score(findings, INDEPENDENT, findings.fits, work)
    findings.comparison, findings.pointwise = compare_progress(findings.fits, scores=findings.scores[INDEPENDENT])


def _paper_effects(findings, work):
    findings.driven = {k: prior_driven(findings.fits[k]) for k in with_weight(findings.comparison)}
    laws = {k: Progress(k, **NOISES[EFFECTS]) for k in SPECIFICATIONS}
    findings.effects = work.fitter.fit_each(laws, seed=work.seed, **work.brief)
    # The one that is quoted is the fit that a user makes.
    findings.effects[MAIN] = fit_law(laws[MAIN], findings.table, seed=work.seed, **work.settings)
    _score(findings, EFFECTS, findings.effects, work)
    findings.mixed = mixed_scores(findings.scores)


def _score(findings, noise, fits, work):
    findings.scores[noise] = score_progress(fits, seed=work.seed)
    findings.misfit[noise] = {k: misfit_entries(fit) for k, fit in fits.items()}


def _estimates(findings, work):
    _quantities(findings, work.seed)
    findings.document = document(findings, MAIN, {INDEPENDENT: findings.fits, EFFECTS: findings.effects})


def _rules(findings, work):
    """Compare rules of allocation by a fit of another page, apart: pages are made in processes of their own."""
    if work.chinchilla is not None:
        findings.gains = rules.chinchilla_over_kaplan(work.chinchilla, RULE_BUDGETS)
        findings.document = findings.document | {"chinchilla_over_kaplan": rule_gains(findings.gains)}


STUDIES = ("progress_future", "progress_sensitivity", "progress_variants", "progress_pace")
WORK = {
    "20 specifications": _specifications,
    "progress: leave-one-out": _left_out,
    "progress: paper effects": _paper_effects,
    "progress: quantities": _estimates,
    "progress: rules of allocation": _rules,
}
STAGES = tuple(WORK)


def with_weight(comparison):
    """Return specifications with progress that have some stacking weight, and the main one."""
    weight = comparison[["stacking", "by_paper_stacking"]].max(axis=1)
    return [k for k in comparison.index if k not in NO_PROGRESS and (weight[k] >= WEIGHTY or k == MAIN)]


def ten_best(comparison):
    """List the ten best of specifications 1 to 15."""
    return [k for k in comparison.index if k not in NO_PROGRESS and k <= 15][:TOP]


def _headline(findings, gains, seed):
    """Mix rates at the rows over specifications, by stacking over papers left out, under each noise."""
    findings.effect_gains = {k: compute_equivalent_gain(fit).values for k, fit in findings.effects.items()}
    rates = {INDEPENDENT: gains, EFFECTS: findings.effect_gains}

    def pooled(noise, weights, draws=20_000):
        return pooled_rates(rates[noise], dict(zip(rates[noise], weights, strict=True)), draws=draws, seed=seed)

    for noise, scores in findings.scores.items():
        findings.by_noise[noise] = pooled(noise, stacking(scores.paperwise[list(rates[noise])]))
    preferred = findings.mixed.index[0]
    findings.headline = findings.by_noise[preferred]
    weights = bootstrapped(
        findings.scores[preferred].paperwise[list(rates[preferred])], replicates=REPLICATES, seed=seed
    )
    medians = [np.median(pooled(preferred, replicate, draws=4_000)) for replicate in weights]
    findings.resampled = {"rates": np.array(medians), "weights": dict(zip(rates[preferred], weights.T, strict=True))}


def _quantities(findings, seed):
    for k, fit in findings.fits.items():
        findings.doubling[k] = rate_at_optimum.doubling_times(fit)
        first = rate_at_optimum.first_rate(fit)
        findings.rates[k] = np.zeros(first.shape) if k in NO_PROGRESS else first.values
    row_rates = {k: compute_equivalent_gain(fit).values for k, fit in findings.fits.items()}
    findings.gain_times = {k: gain_times(fit) for k, fit in findings.fits.items() if k not in NO_PROGRESS}
    table = findings.comparison
    for name in WEIGHTINGS:
        findings.pooled[name] = pooled_rates(findings.rates, table[name].to_dict(), seed=seed)
        findings.pooled_gains[name] = pooled_rates(row_rates, table[name].to_dict(), seed=seed)
    _headline(findings, row_rates, seed)
    best = ten_best(table)
    equal = {k: float(k in best) for k in findings.rates}
    findings.pooled["top10"] = pooled_rates(findings.rates, equal, seed=seed)
    findings.pooled_gains["top10"] = pooled_rates(row_rates, equal, seed=seed)
    findings.attribution = contributions.attribution(findings.fits[MAIN], load("attribution_systems"), PAIRS)
    findings.direct = direct_rate.direct_doubling(findings.table, seed=seed)
    findings.direct_with_reference = direct_rate.direct_doubling(findings.table, seed=seed, include_reference=True)
    findings.paper = {
        "as it stops": penalised.penalised_fit(MAIN, findings.table),
        "converged": penalised.penalised_fit(MAIN, findings.table, converged=True),
    }
