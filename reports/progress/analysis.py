"""The analysis of algorithmic progress: fits, comparison, sensitivity, variants and quantities of interest."""

import warnings
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from ...datasets import load
from ...errors import DiagnosticWarning
from ...inference import direct, growth, penalised, rules
from ...inference.crossvalidation import compare_progress, into_the_future, pooled_rates
from ...inference.progress import ProgressFitter, prior_driven
from ...inference.sensitivity import paper_influence, power_scaling, prior_grid
from ...inference.storage import metadata
from ...inference.variants import VARIANTS, acceleration, fit_cutoffs, fit_variants, rate_summary
from ...models.growth import doubling_quantiles
from ...models.progress_law import Progress
from ...models.specifications import NO_PROGRESS, SPECIFICATIONS
from .. import results
from ..findings import Findings

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
WEIGHTINGS = ("stacking", "pseudo_bma", "equal", "by_paper_stacking")
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
    fitter = ProgressFitter(found.table, sampler=sampler)
    with stage("compiling progress"):
        fitter.compiled(Progress(MAIN))
    with stage("20 specifications"), warned():
        found.fits = {k: fitter.fit(Progress(k), seed=seed, **settings) for k in SPECIFICATIONS}
    with stage("progress: leave-one-out"), warned():
        found.comparison, found.pointwise = compare_progress(found.fits, fitter=fitter, seed=seed)
        found.future = into_the_future(fitter, Progress(MAIN), seed=seed)
    with stage("progress: sensitivity"), warned():
        main = found.fits[MAIN]
        found.scaling = power_scaling(main)
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
    found.document = _document(found)
    return found


def _quantities(found, chinchilla, seed):
    for k, fit in found.fits.items():
        found.doubling[k] = growth.doubling_times(fit)
        (first, *_) = growth.growth_rates(fit).values()
        found.rates[k] = np.zeros(first.shape) if k in NO_PROGRESS else first.values
    table = found.comparison
    best = [k for k in table.index if k not in NO_PROGRESS and k <= 15][:TOP]
    for name in WEIGHTINGS:
        found.pooled[name] = pooled_rates(found.rates, table[name].to_dict(), seed=seed)
    found.pooled["top10"] = pooled_rates(found.rates, {k: float(k in best) for k in found.rates}, seed=seed)
    found.attribution = growth.attribution(found.fits[MAIN], load("attribution_systems"), PAIRS)
    found.direct = direct.direct_doubling(found.table, seed=seed)
    found.direct_with_reference = direct.direct_doubling(found.table, seed=seed, include_reference=True)
    found.gains = rules.chinchilla_over_kaplan(chinchilla, RULE_BUDGETS) if chinchilla is not None else None
    found.paper = {
        "as it stops": penalised.penalised_fit(MAIN, found.table),
        "converged": penalised.penalised_fit(MAIN, found.table, converged=True),
    }


def rate_quantiles(rate):
    """Doubling time in months as results.json has it: no mean, and null for never."""
    rate = np.ravel(rate)
    quantiles = doubling_quantiles(rate[np.isfinite(rate)], list(results.QUANTILES.values()))
    return {"mean": None, "sd": None} | {
        name: results.finite(q) for name, q in zip(results.QUANTILES, quantiles, strict=True)
    }


def specification_entry(found, k):
    """Entry of results.json of one specification."""
    fit, row = found.fits[k], found.comparison.loc[k]
    record = metadata(fit)
    times = found.doubling[k]
    rates = growth.growth_rates(fit)
    entry = {
        "data": record["data"]["source"],
        "rows": record["data"]["rows"],
        "scale": "loss",
        "noise": "normal",
        "parameters": results.parameters(fit),
        "elpd_loo": row["elpd"],
        "elpd_se": row["se"],
        "p_loo": row["p"],
        "pareto_k_max": row["pareto_k_max"],
        "k_above_0.7": int(row["k_above_0.7"]),
        "rank": int(row["rank"]),
        "r_hat_max": row["r_hat_max"],
        "ess_bulk_min": row["ess_bulk_min"],
        "divergences": int(row["divergences"]),
        "thinned_by": record["diagnostics"]["thinned_by"],
        "elpd_diff": row["elpd_diff"],
        "elpd_diff_se": row["dse"],
        "elpd_diff_se_by_paper": row["dse_by_paper"],
        "elpd_leave_paper_out": row["elpd_papers"],
        "loo_mse": row["loo_mse"],
        "loo_r2": row["loo_r2"],
        "weights": {name: row[name] for name in WEIGHTINGS},
    }
    if k in NO_PROGRESS:
        return entry
    entry["p_progress"] = {label: times.loc[label, "p_progress"] for label in times.index}
    entry["draws_without_optimum"] = {label: int(times.loc[label, "no_optimum"]) for label in times.index}
    entry["growth_per_year"] = {label: _rate_summary(rate) for label, rate in rates.items()}
    entry["doubling_months"] = {label: rate_quantiles(rate) for label, rate in rates.items()}
    entry["doubling_months_optimal_scaling"] = {
        label: {"mean": None, "sd": None}
        | {q: results.finite(times.loc[label, f"optimal_{q}"]) for q in results.QUANTILES}
        for label in times.index
    }
    return entry


def _rate_summary(rate):
    values = np.ravel(rate)
    return results.summary(values[np.isfinite(values)], ratio=True)


def _document(found):
    variants = {
        name: {
            "doubling_months": _named_quantiles(rate_summary(fit)),
            "p_progress": rate_summary(fit)["p_progress"],
            "rows": metadata(fit)["data"]["rows"],
            "divergences": metadata(fit)["diagnostics"]["divergences"],
            "ess_bulk_min": metadata(fit)["diagnostics"]["ess_bulk_min"],
            "r_hat_max": metadata(fit)["diagnostics"]["r_hat_max"],
        }
        for name, fit in found.variants.items()
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DiagnosticWarning)
        gain = growth.transformer_gain(found.variants["transformer_exp"])
    document = {
        "progress": {str(k): specification_entry(found, k) for k in found.fits},
        "pooled_doubling_months": {name: rate_quantiles(rate) for name, rate in found.pooled.items()},
        "acceleration": {},
        "data_definitions": {name: variants[name]["doubling_months"] for name in VARIANTS if "data" in VARIANTS[name]},
        "variants": variants,
        "transformer": {
            "loss_reduction_percent": results.summary(gain["loss_reduction_percent"]),
            "gain_1e22": results.summary(gain["gain"].sel(compute=1e22), ratio=True),
            "gain_1e25": results.summary(gain["gain"].sel(compute=1e25), ratio=True),
            "p_gain": float((gain["loss_reduction_percent"] > 0).mean()),
        },
        "attribution": [
            {"from": pair.split(">")[0], "to": pair.split(">")[1]}
            | {
                move: results.summary(found.attribution["share"].sel(pair=pair, move=move), ratio=True)
                for move in found.attribution["move"].values
            }
            for pair in found.attribution["pair"].values
        ],
    }
    for cutoff, fit in found.cutoffs.items():
        change = acceleration(fit)
        document["acceleration"][str(cutoff)] = {
            "before": rate_quantiles(change["before"]),
            "after": rate_quantiles(change["after"]),
            "p_faster": change["p_faster"],
        }
    if found.gains is not None:
        document["chinchilla_over_kaplan"] = [
            {"compute": float(c), "gain": results.summary(found.gains["gain"].sel(compute=c), ratio=True)}
            for c in found.gains["compute"].values
        ]
    document["direct_doubling"] = {system: _direct(one) for system, one in found.direct.items()}
    document["direct_doubling_with_reference"] = {
        system: _direct(one) for system, one in found.direct_with_reference.items()
    }
    document["leave_future_out"] = found.future.to_dict("records")
    document["sensitivity"] = {
        "power_scaling": found.scaling,
        "prior_grid": [{name: results.finite(x) for name, x in row.items()} for row in found.grid.to_dict("records")],
        "papers": [
            {name: x if isinstance(x, (str, int)) else results.finite(x) for name, x in row.items()}
            for row in found.influence.head(15).to_dict("records")
        ],
        "prior_driven": found.driven.loc[found.driven["prior_driven"], "coefficient"].tolist(),
    }
    document["paper_estimator"] = {name: one.to_dict() for name, one in found.paper.items()}
    return document


def _direct(one):
    entry = one.to_dict()
    months = entry.pop("doubling_months")
    return {"mean": None, "sd": None} | {name: months.get(name) for name in results.QUANTILES} | entry


def _named_quantiles(quantiles):
    return {"mean": None, "sd": None} | {name: results.finite(quantiles[name]) for name in results.QUANTILES}
