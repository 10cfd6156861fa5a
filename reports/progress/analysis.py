"""The analysis of algorithmic progress: fits, comparison, sensitivity, variants and quantities of interest."""

from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from ...datasets import load
from ...inference.fitting.progress import progress_fitter
from ...inference.loo.future import into_the_future
from ...inference.loo.progress import compare_progress, pooled_rates
from ...inference.points import penalised
from ...inference.quantities import direct, growth, rules
from ...inference.quantities.gain import gains_by_group, times_of
from ...inference.quantities.sensitivity import first_rate, paper_influence, power_scaling, prior_driven, prior_grid
from ...inference.quantities.variants import fit_cutoffs, fit_variants
from ...models.progress.law import Progress
from ...models.progress.specifications import NO_PROGRESS, SPECIFICATIONS
from ..findings import Findings
from .entries import WEIGHTINGS, document

MAIN = 7
STAGES = (
    "compiling progress",
    "20 specifications",
    "progress: leave-one-out",
    "progress: sensitivity",
    "progress: variants",
    "progress: quantities",
)
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
BRIEF = 500
LEAST_ESS = 400


@dataclass
class ProgressFindings(Findings):
    """What `analyse` found.

    Attributes
    ----------
    table : DataFrame
        The evaluations.
    fits, variants, cutoffs : dict of DataTree
        By specification, by variant of the main one, by year of the cutoff.
    comparison, pointwise : DataFrame
        From `compare_progress`.
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
    future, grid, influence, driven : DataFrame
        Leave-future-out, prior grid, influence of papers, prior-driven coefficients of the main specification.
    scaling : dict
        From `power_scaling`.
    attribution, gains : Dataset
        Shapley shares; Chinchilla's over Kaplan's rule.
    direct, direct_with_reference : dict
        From `direct_doubling`, the reference's own row left out or counted.
    paper : dict of str to PenalisedFit
        The paper's estimator as it stops, and converged.
    """

    table: pd.DataFrame
    fits: dict = field(default_factory=dict)
    variants: dict = field(default_factory=dict)
    cutoffs: dict = field(default_factory=dict)
    comparison: pd.DataFrame | None = None
    pointwise: pd.DataFrame | None = None
    doubling: dict = field(default_factory=dict)
    rates: dict = field(default_factory=dict)
    pooled: dict = field(default_factory=dict)
    gain_times: dict = field(default_factory=dict)
    pooled_gains: dict = field(default_factory=dict)
    future: pd.DataFrame | None = None
    grid: pd.DataFrame | None = None
    influence: pd.DataFrame | None = None
    driven: pd.DataFrame | None = None
    scaling: dict = field(default_factory=dict)
    attribution: object = None
    gains: object = None
    direct: dict = field(default_factory=dict)
    direct_with_reference: dict = field(default_factory=dict)
    paper: dict = field(default_factory=dict)


def analyse(stage, warned, published, earlier, *, seed=1, sampler=None, **settings):
    """Fit the 20 specifications and their variants, and compute everything that follows; see `Page.analyse`."""
    found = ProgressFindings(load("lm_progress"))
    fitter = progress_fitter(found.table, sampler=sampler)
    with stage("compiling progress"):
        fitter.compiled(Progress(MAIN))
    with stage("20 specifications"), warned():
        found.fits = {k: fitter.fit(law=Progress(k), seed=seed, **settings) for k in SPECIFICATIONS}
    with stage("progress: leave-one-out"), warned():
        found.comparison, found.pointwise = compare_progress(found.fits, fitter=fitter, seed=seed)
        found.future = into_the_future(fitter, Progress(MAIN), seed=seed)
    with stage("progress: sensitivity"), warned():
        main = found.fits[MAIN]
        found.scaling = power_scaling(main, first_rate(main))
        found.driven = prior_driven(main)
        found.influence = paper_influence(main, dict(zip(found.table["paper_id"], found.table["paper"], strict=True)))
        brief = (
            settings
            | {name: min(settings.get(name, BRIEF), BRIEF) for name in ("draws", "tune")}
            | {"least_ess": LEAST_ESS}
        )
        found.grid = prior_grid(fitter, Progress(MAIN), seed=seed, **brief)
        found.cutoffs = fit_cutoffs(fitter, seed=seed, **brief)
    with stage("progress: variants"), warned():
        found.variants = {"main": main} | fit_variants(fitter, seed=seed, **brief)
    with stage("progress: quantities"), warned():
        _quantities(found, earlier.get("chinchilla"), seed)
    found.posteriors = {f"progress-{k}": f for k, f in found.fits.items()}
    found.document = document(found)
    return found


def _quantities(found, chinchilla, seed):
    for k, fit in found.fits.items():
        found.doubling[k] = growth.doubling_times(fit)
        (first, *_) = growth.growth_rates(fit).values()
        found.rates[k] = np.zeros(first.shape) if k in NO_PROGRESS else first.values
    gains = {k: gains_by_group(fit) for k, fit in found.fits.items()}
    own = {k: of["all"].values for k, of in gains.items()}
    found.gain_times = {k: times_of(of) for k, of in gains.items() if k not in NO_PROGRESS}
    table = found.comparison
    best = [k for k in table.index if k not in NO_PROGRESS and k <= 15][:TOP]
    for name in WEIGHTINGS:
        found.pooled[name] = pooled_rates(found.rates, table[name].to_dict(), seed=seed)
        found.pooled_gains[name] = pooled_rates(own, table[name].to_dict(), seed=seed)
    equal = {k: float(k in best) for k in found.rates}
    found.pooled["top10"] = pooled_rates(found.rates, equal, seed=seed)
    found.pooled_gains["top10"] = pooled_rates(own, equal, seed=seed)
    found.attribution = growth.attribution(found.fits[MAIN], load("attribution_systems"), PAIRS)
    found.direct = direct.direct_doubling(found.table, seed=seed)
    found.direct_with_reference = direct.direct_doubling(found.table, seed=seed, include_reference=True)
    found.gains = rules.chinchilla_over_kaplan(chinchilla, RULE_BUDGETS) if chinchilla is not None else None
    found.paper = {
        "as it stops": penalised.penalised_fit(MAIN, found.table),
        "converged": penalised.penalised_fit(MAIN, found.table, converged=True),
    }
