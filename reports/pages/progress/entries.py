"""Entries of results.json on algorithmic progress, with the ridge of the main specification."""

import numpy as np
import pandas as pd

from ....inference import intervals
from ....inference.comparison.differences import is_apart
from ....inference.comparison.weights import sum_error
from ....inference.progress import contributions, rate_at_optimum
from ....inference.progress.fitting import VARIANTS
from ....inference.progress.rate_at_rows import compute_equivalent_gain, gain_times
from ....inference.quoted import quote_draws
from ....models.progress.growth import doubling_quantiles
from ....models.progress.specifications import NO_PROGRESS
from ... import results
from ...laws import MAIN

ESTIMAND = (
    "mean over the evaluations of the yearly fall of the log reducible loss, over the mean of its fall per log unit of "
    "compute, parameters and tokens growing alike, at the sizes and dates of the evaluations themselves"
)
CHANGING, WITHIN = (14, 15), (1e21, 2019.0)  # specifications whose exponents change; FLOP and year close to rows
PROBABILITIES = {"q2.5": 0.025, "q25": 0.25, "q50": 0.5, "q75": 0.75, "q97.5": 0.975}
WEIGHTINGS = ("stacking", "pseudo_bma", "equal", "by_paper_stacking")


def _ridge_entry(fit, paper):
    """Return shares of draws nearer to the paper's estimator as it stops, and converged, with their doubling times.

    Distances are in posterior sds of the two yearly falls, of which the data tell the sum better than the parts.
    """
    a, b = (fit["posterior"][name].values.ravel() for name in ("alpha_year", "beta_year"))
    ends = [(f["alpha_year"], f["beta_year"]) for f in paper]
    stops, converged = (np.hypot((a - x) / a.std(), (b - y) / b.std()) for x, y in ends)
    rate, second = np.ravel(rate_at_optimum.first_rate(fit).values), converged < stops
    near = {"nearer_to_converged": second, "nearer_to_stop": ~second}
    none = {"mean": None, "sd": None} | dict.fromkeys(intervals.QUANTILES)
    return {
        name: {"share": float(of.mean()), "doubling_months": rate_quantiles(rate[of]) if of.any() else none}
        for name, of in near.items()
    }


def document(findings, of, fits, *, attribution, paper):
    """Return all entries, by key, except `rule_gains`: those of the main specification are of the fits of this report.

    `of` has entries of the study of all specifications, and `fits` those of the main one by noise. `paper` is the
    paper's estimator as it stops, and converged.
    """
    alone, effects = fits.values()
    gain, key = of["compute_equivalent_gain"], str(MAIN)
    quoted = gain["quoted"]
    if quoted["specification"] == MAIN:
        quoted = quoted | quoted_entry(fits[quoted["noise"]])
    main = of["progress"][key] | fit_entry(alone, MAIN) | {"misfit": misfit(fits)}
    with_papers = of["paper_effects"][key] | gain_entry(compute_equivalent_gain(effects))
    study = findings.study("progress_variants")
    variants = study["variants"]
    return {
        "progress": of["progress"] | {key: main},
        "pooled_doubling_months": of["pooled_doubling_months"],
        "compute_equivalent_gain": gain | {"quoted": quoted},
        "noises": of["noises"],
        "paper_effects": of["paper_effects"] | {key: with_papers},
        "pace": findings.study("progress_pace"),
        "subsets": findings.study("progress_subsets"),
        **study,
        "data_definitions": {name: variants[name]["doubling_months"] for name in VARIANTS if "data" in VARIANTS[name]},
        "transformer": study["transformer_by_form"]["transformer_exp"],
        "within_rows": of["within_rows"],
        "ridge": _ridge_entry(alone, paper.values()),
        "effective_compute_since_2014": _rate_summary(np.exp(contributions.effective_compute(alone, [2023.0]))),
        "attribution": _attribution(attribution["share"]),
        **findings.study("progress_future"),
        "sensitivity": findings.study("progress_sensitivity") | {"prior_driven": of["prior_driven"]},
        "paper_estimator": {name: one.to_dict() for name, one in paper.items()},
    }


def frame(entries):
    """Return entries of results.json by name as a table; numbers of specifications are whole numbers again."""
    table = pd.DataFrame.from_dict(entries, orient="index")
    return table.set_axis([int(name) if name.isdigit() else name for name in table.index])


def rate_quantiles(rate):
    """Return a doubling time in months as in results.json: no mean, and null for never."""
    rate = np.ravel(rate)
    quantiles = doubling_quantiles(rate[np.isfinite(rate)], list(intervals.QUANTILES.values()))
    return {"mean": None, "sd": None} | {
        name: intervals.finite(q) for name, q in zip(intervals.QUANTILES, quantiles, strict=True)
    }


def times(rate):
    """Return quantiles of the doubling time and P(progress) from draws of a rate; never is infinite."""
    values = np.ravel(rate)
    values = values[np.isfinite(values)]
    quantiles = doubling_quantiles(values, list(PROBABILITIES.values()))
    return dict(zip(PROBABILITIES, quantiles, strict=True)) | {"p_progress": float((values > 0).mean())}


def gain_entry(rate):
    """Return the entry of draws of the rate at the evaluations' own sizes."""
    return {"doubling_months": rate_quantiles(rate), "p_progress": float((np.ravel(rate) > 0).mean())}


def quoted_entry(fit):
    """Return the quoted doubling time at the evaluations, and the result of the check of the law."""
    rate = compute_equivalent_gain(fit)
    robust = rate_quantiles(quote_draws(fit, rate).values)
    years = [int(of(fit.rows["year"])) for of in (min, max)]
    more = {"doubling_months": robust, "verdict": results.verdict_entry(fit), "rows": len(fit.rows), "years": years}
    return gain_entry(rate) | more


def apart(difference):
    """Return the sum of differences of elpd, its standard error, and whether it is beyond both limits."""
    total, error = float(difference.sum()), float(sum_error(difference))
    return {"elpd_diff": total, "dse": error, "apart": bool(is_apart(total, error))}


def misfit(fits):
    """Return tests of a specification, by noise."""
    return {noise: fit.check()["tests"] for noise, fit in fits.items()}


def scores_entry(row):
    """Return what the entry of a specification has of a row of `compare`."""
    return {
        "elpd_loo": row["elpd"],
        "elpd_se": row["se"],
        "p_loo": row["p"],
        "pareto_k_max": row["pareto_k_max"],
        "k_above_0.7": int(row["k_above_0.7"]),
        "rank": int(row["rank"]),
        "elpd_diff": row["elpd_diff"],
        "elpd_diff_se": row["dse"],
        "elpd_diff_se_by_paper": row["dse_by_paper"],
        "p_worse": intervals.finite(row["p_worse"]),
        "flags": row["flags"],
        "elpd_leave_paper_out": row["elpd_papers"],
        "loo_mse": row["loo_mse"],
        "loo_r2": row["loo_r2"],
        "weights": {name: row[name] for name in WEIGHTINGS},
    }


def fit_entry(fit, k):
    """Return what the entry of a specification has of its fit."""
    data, diagnostics = fit.record["data"], fit.diagnostics
    entry = {
        "data": data["source"],
        "rows": data["rows"],
        "scale": "loss",
        "noise": "normal",
        "parameters": intervals.parameters(fit),
        "r_hat_max": diagnostics["r_hat_max"],
        "ess_bulk_min": diagnostics["ess_bulk_min"],
        "divergences": int(diagnostics["divergences"]),
        "thinned_by": diagnostics.get("thinned_by", 1),
    }
    if k in NO_PROGRESS:
        return entry
    optimum, rates = rate_at_optimum.doubling_times(fit), rate_at_optimum.growth_rates(fit)
    return entry | {
        "p_progress": {label: optimum.loc[label, "p_progress"] for label in optimum.index},
        "draws_without_optimum": {label: int(optimum.loc[label, "no_optimum"]) for label in optimum.index},
        "growth_per_year": {label: _rate_summary(rate) for label, rate in rates.items()},
        "doubling_months": {label: rate_quantiles(rate) for label, rate in rates.items()},
        "compute_equivalent_gain": {
            name: {"rows": int(row["count"]), "p_progress": row["p_progress"], "not_positive": row["not_positive"]}
            | {"doubling_months": _named_quantiles(row)}
            for name, row in gain_times(fit).iterrows()
        },
        "doubling_months_optimal_scaling": {
            label: _named_quantiles(optimum.loc[label], "optimal_") for label in optimum.index
        },
    }


def _rate_summary(rate):
    values = np.ravel(rate)
    return intervals.summary(values[np.isfinite(values)], ratio=True)


def with_effects(scores):
    """Return the scores of a specification by noise, from the rows of each table of scores."""
    return {
        noise: {name: intervals.finite(row[name]) for name in ("elpd", "elpd_papers", "pareto_k_max", "r_hat_max")}
        for noise, row in scores.items()
    }


def resampled(rates, weights):
    """Return the 90% range of the median and of each weight, over tables whose papers are drawn with replacement."""
    months = doubling_quantiles(rates, (0.05, 0.5, 0.95))
    return {
        "median_doubling_months": dict(zip(("q5", "q50", "q95"), map(intervals.finite, months), strict=True)),
        "weights": {
            str(k): dict(zip(("q5", "q50", "q95"), np.quantile(of, (0.05, 0.5, 0.95)).tolist(), strict=True))
            for k, of in weights.items()
        },
    }


def within_rows(fits):
    """Return doubling times of specifications whose exponents change, at a size and date close to the rows."""
    compute, year = WITHIN
    rates = {str(k): rate_at_optimum.growth_rates(fits[k], compute=compute, year=year) for k in CHANGING if k in fits}
    months = {k: rate_quantiles(next(iter(of.values()))) for k, of in rates.items()}
    return {"compute": compute, "year": year, "doubling_months": months}


def _attribution(share):
    progress = share.sel(move=["parameter_efficiency", "data_efficiency"]).sum("move")
    return [
        dict(zip(("from", "to"), pair.split(">"), strict=True))
        | {move: intervals.summary(share.sel(pair=pair, move=move), ratio=True) for move in share["move"].values}
        | {"progress": intervals.summary(progress.sel(pair=pair), ratio=True)}
        for pair in share["pair"].values
    ]


def rule_gains(gains):
    """Return entries by budget of the gain of Chinchilla's rule over Kaplan's, from `chinchilla_over_kaplan`."""
    return [
        {"compute": float(c), "gain": intervals.summary(gains["gain"].sel(compute=c), ratio=True)}
        for c in gains["compute"].values
    ]


def _named_quantiles(row, prefix=""):
    return {"mean": None, "sd": None} | {name: intervals.finite(row[prefix + name]) for name in intervals.QUANTILES}
