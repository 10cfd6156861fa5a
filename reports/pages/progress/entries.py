"""Entries of results.json on algorithmic progress."""

import numpy as np

from ....inference import intervals
from ....inference.checks.sandwich import quotable
from ....inference.comparison.differences import is_apart
from ....inference.comparison.weights import sum_error
from ....inference.progress import contributions, rate_at_optimum
from ....inference.progress.rate_at_rows import compute_equivalent_gain
from ....inference.progress.variants import VARIANTS
from ....models.progress.growth import doubling_quantiles
from ....models.progress.specifications import NO_PROGRESS
from ... import results
from . import ridge

ESTIMAND = (
    "mean over the evaluations of the yearly fall of the log reducible loss, over the mean of its fall per log unit of "
    "compute, parameters and tokens growing alike, at the sizes and dates of the evaluations themselves"
)
CHANGING, WITHIN = (14, 15), (1e21, 2019.0)  # specifications whose exponents change; FLOP and year close to rows
WEIGHTINGS = ("stacking", "pseudo_bma", "equal", "by_paper_stacking")


def document(findings, main, by_noise):
    """Return all entries, by key, except `rule_gains`.

    Parameters
    ----------
    findings : ProgressFindings
    main : int
        The main specification.
    by_noise : dict of str to dict of int to Fit
        Fits by noise and specification.
    """
    return {
        "progress": {str(k): specification_entry(findings, k) for k in findings.fits},
        "pooled_doubling_months": {name: rate_quantiles(rate) for name, rate in findings.pooled.items()},
        "compute_equivalent_gain": {
            "estimand": ESTIMAND,
            "quoted": quoted_entry(findings, main, by_noise),
            "rows": len(findings.table),
            "doubling_months": rate_quantiles(findings.headline),
            "noise": findings.mixed.index[0],
            "by_noise": {name: rate_quantiles(rate) for name, rate in findings.by_noise.items()},
            "papers_resampled": _resampled(findings.resampled),
            "pooled_doubling_months": {name: rate_quantiles(rate) for name, rate in findings.pooled_gains.items()},
        },
        "noises": intervals.entries(findings.mixed),
        "paper_effects": {str(k): _with_effects(findings, k) for k in findings.effects},
        "pace": findings.study("progress_pace"),
        **_of_variants(findings.study("progress_variants")),
        "within_rows": _within_rows(findings),
        "ridge": ridge.entry(findings.fits[main], findings.rates[main], list(findings.paper.values()), rate_quantiles),
        "effective_compute_since_2014": _build_up(findings.fits[main]),
        "attribution": _attribution(findings.attribution["share"]),
        "direct_doubling": {system: _direct(one) for system, one in findings.direct.items()},
        "direct_doubling_with_reference": {
            system: _direct(one) for system, one in findings.direct_with_reference.items()
        },
        **findings.study("progress_future"),
        "sensitivity": _sensitivity(findings),
        "paper_estimator": {name: one.to_dict() for name, one in findings.paper.items()},
    }


def _of_variants(study):
    variants = study["variants"]
    return study | {
        "data_definitions": {name: variants[name]["doubling_months"] for name in VARIANTS if "data" in VARIANTS[name]},
        "transformer": study["transformer_by_form"]["transformer_exp"],
    }


def rate_quantiles(rate):
    """Return a doubling time in months as in results.json: no mean, and null for never."""
    rate = np.ravel(rate)
    quantiles = doubling_quantiles(rate[np.isfinite(rate)], list(intervals.QUANTILES.values()))
    return {"mean": None, "sd": None} | {
        name: intervals.finite(q) for name, q in zip(intervals.QUANTILES, quantiles, strict=True)
    }


def quoted_entry(findings, main, by_noise):
    """Return the entry of the quoted doubling time, with the specifications that predict papers about as well.

    It is that of specification 7, which Ho et al. chose, under the noise that predicts papers best. Another is quoted
    if it predicts papers left out better by more than two standard errors and 4 nats. A mixture is not quoted, because
    it has no fit that could be opened.
    """
    noise = findings.mixed.index[0]
    fits = by_noise[noise]
    scores = findings.scores[noise].paperwise
    fits = {k: fits[k] for k in scores if k not in NO_PROGRESS}
    best = scores[list(fits)].sum().idxmax()
    behind = scores[main] - scores[best]
    quoted = best if is_apart(behind.sum(), sum_error(behind)) else main
    rates = {k: compute_equivalent_gain(fit) for k, fit in fits.items()}
    rivals = {}
    for k in fits:
        difference = scores[k] - scores[quoted]
        if k != quoted and not is_apart(difference.sum(), sum_error(difference)):
            rivals[str(k)] = {
                "doubling_months": rate_quantiles(rates[k].values),
                "p_progress": float((rates[k] > 0).mean()),
                "elpd_diff": float(difference.sum()),
                "dse": float(sum_error(difference)),
            }
    return {
        "specification": int(quoted),
        "noise": noise,
        "fit": f"progress-{quoted}" if fits[quoted] is findings.fits[quoted] else f"progress-{quoted}, {noise}",
        "doubling_months": rate_quantiles(quotable(fits[quoted], {"rate": rates[quoted]})["rate"].values),
        "p_progress": float((rates[quoted] > 0).mean()),
        "verdict": results.verdict_entry(fits[quoted]),
        "rivals": rivals,
    }


def specification_entry(findings, k):
    """Return the entry of results.json of one specification."""
    fit, row = findings.fits[k], findings.comparison.loc[k]
    record = fit.record
    times = findings.doubling[k]
    rates = rate_at_optimum.growth_rates(fit)
    entry = {
        "data": record["data"]["source"],
        "rows": record["data"]["rows"],
        "scale": "loss",
        "noise": "normal",
        "parameters": intervals.parameters(fit),
        "elpd_loo": row["elpd"],
        "elpd_se": row["se"],
        "p_loo": row["p"],
        "pareto_k_max": row["pareto_k_max"],
        "k_above_0.7": int(row["k_above_0.7"]),
        "rank": int(row["rank"]),
        "r_hat_max": row["r_hat_max"],
        "ess_bulk_min": row["ess_bulk_min"],
        "divergences": int(row["divergences"]),
        "thinned_by": record["diagnostics"].get("thinned_by", 1),
        "elpd_diff": row["elpd_diff"],
        "elpd_diff_se": row["dse"],
        "elpd_diff_se_by_paper": row["dse_by_paper"],
        "p_worse": intervals.finite(row["p_worse"]),
        "flags": row["flags"],
        "elpd_leave_paper_out": row["elpd_papers"],
        "loo_mse": row["loo_mse"],
        "loo_r2": row["loo_r2"],
        "weights": {name: row[name] for name in WEIGHTINGS},
        "misfit": {noise: tests[k] for noise, tests in findings.misfit.items()},
    }
    if k in NO_PROGRESS:
        return entry
    entry["p_progress"] = {label: times.loc[label, "p_progress"] for label in times.index}
    entry["draws_without_optimum"] = {label: int(times.loc[label, "no_optimum"]) for label in times.index}
    entry["growth_per_year"] = {label: _rate_summary(rate) for label, rate in rates.items()}
    entry["doubling_months"] = {label: rate_quantiles(rate) for label, rate in rates.items()}
    entry["compute_equivalent_gain"] = {
        name: {"rows": int(row["count"]), "p_progress": row["p_progress"], "not_positive": row["not_positive"]}
        | {"doubling_months": _named_quantiles(row)}
        for name, row in findings.gain_times[k].iterrows()
    }
    entry["doubling_months_optimal_scaling"] = {
        label: {"mean": None, "sd": None}
        | {q: intervals.finite(times.loc[label, f"optimal_{q}"]) for q in intervals.QUANTILES}
        for label in times.index
    }
    return entry


def _rate_summary(rate):
    values = np.ravel(rate)
    return intervals.summary(values[np.isfinite(values)], ratio=True)


def _with_effects(findings, k):
    scores = {noise: scored.table.loc[k] for noise, scored in findings.scores.items()}
    entry = {
        noise: {name: intervals.finite(row[name]) for name in ("elpd", "elpd_papers", "pareto_k_max", "r_hat_max")}
        for noise, row in scores.items()
    }
    if k not in NO_PROGRESS:
        entry["doubling_months"] = rate_quantiles(findings.effect_gains[k])
    return entry


def _resampled(resampled):
    """Return the 90% range of the median and of each weight, over tables whose papers are drawn with replacement."""
    months = doubling_quantiles(resampled["rates"], (0.05, 0.5, 0.95))
    return {
        "median_doubling_months": dict(zip(("q5", "q50", "q95"), map(intervals.finite, months), strict=True)),
        "weights": {
            str(k): dict(zip(("q5", "q50", "q95"), np.quantile(weights, (0.05, 0.5, 0.95)).tolist(), strict=True))
            for k, weights in resampled["weights"].items()
        },
    }


def _within_rows(findings):
    """Return doubling times of specifications whose exponents change, at a size and date close to the rows."""
    compute, year = WITHIN
    rates = {
        k: rate_at_optimum.growth_rates(findings.fits[k], compute=compute, year=year)
        for k in CHANGING
        if k in findings.fits
    }
    months = {str(k): rate_quantiles(next(iter(of.values()))) for k, of in rates.items()}
    return {"compute": compute, "year": year, "doubling_months": months}


def _build_up(fit):
    """Return the factor by which algorithms multiplied effective compute, to 2023."""
    log_factor = np.ravel(contributions.effective_compute(fit, [2023.0]))
    return intervals.summary(np.exp(log_factor[np.isfinite(log_factor)]), ratio=True)


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


def _sensitivity(findings):
    return findings.study("progress_sensitivity") | {
        "prior_driven": {
            str(k): table.loc[table["prior_driven"], "coefficient"].tolist() for k, table in findings.driven.items()
        },
    }


def _direct(one):
    entry = one.to_dict()
    months = entry.pop("doubling_months")
    return {"mean": None, "sd": None} | {name: months.get(name) for name in intervals.QUANTILES} | entry


def _named_quantiles(quantiles):
    return {"mean": None, "sd": None} | {name: intervals.finite(quantiles[name]) for name in intervals.QUANTILES}
