"""Studies of progress since 2023: later models, the frontier, changes, whether intervals cover.

The ablest model so far is predicted from models before a date, and compared with the line that Ho et al. (2025) draw.
Their line goes through the capabilities of models that were the ablest at release. One least squares on all scores
gives the capabilities of all models, later ones too. The target is the capability of later models that were the ablest.
Here the law is fitted to scores before the date. Later models are drawn at their dates and computes, and each draw
yields the ablest model so far.
"""

from dataclasses import dataclass, field, replace

import bayescaling as bs
import numpy as np
from bayescaling.inference import intervals, rollout
from bayescaling.inference.checks.chains import PARETO_K_LIMIT
from bayescaling.inference.comparison.importance import importance_sampling
from bayescaling.inference.comparison.rollout import summarised
from bayescaling.inference.comparison.scoring import crps
from bayescaling.inference.comparison.weights import sum_error
from bayescaling.inference.points.item_response import fit_item_response
from bayescaling.inference.workers import mapped
from bayescaling.reports.pages.since.forms import BREAK, LINEAR, periods
from bayescaling.reports.pages.since.page import LAWS
from bayescaling.reports.results import calibration_entry
from scipy.stats import t as student
from study import copies, laws_of, register, selected

TABLE = "eci_scores"
FULL = {"draws": 1000, "tune": 500}
BRIEF = {"seed": 1, "draws": 500, "tune": 500}
OF_SCORES = laws_of(TABLE, LAWS.values())
CALIBRATED = ("compute_slope", "yearly_gain", "yearly_gain_change", "capability_sd")
CUTOFF, LEVEL, SEED = "2024-09-01", 0.9, 1  # of forecasts of the ablest model
SCORED = 1000  # evenly spaced quantiles by which a density known in closed form is scored
CUTOFFS = ("2024-09-01", "2025-01-01")  # of forecasts of scores
FIGURES = ("coverage_50", "coverage_80", "coverage_90", "crps", "mae", "bias")
WIDE_ERRORS = (0.29, 0.61, 0.9)  # decades, standard deviations: nine in ten within 3, 10 or 30 times
LAST_YEAR = 2025.0
BENCHMARKS = 6  # left out one at a time, those with the most scores

# Reasoning models of known compute, which is mostly that of pretraining and omits reinforcement learning.
REASONING = (
    "DeepSeek-R1", "Claude 3.7 Sonnet", "Qwen3-235B-A22B", "DeepSeek-R1 (May 2025)", "gpt-oss-120b",
    "DeepSeek-V3.2-Exp", "GLM-4.6", "Kimi K2 Thinking", "DeepSeek-V3.2", "GLM-4.7",
)  # fmt: skip
CODE = ("DeepSeek Coder", "StarCoder 2", "Qwen2.5-Coder")


@dataclass(frozen=True)
class Change:
    """One thing changed: options `of` the law, or rows of its table."""

    of: dict = field(default_factory=dict)
    rows: object = None
    paces: tuple = (LINEAR, BREAK)


def _without_distilled(table):
    """Leave out models of which Ho et al. (2025) regard every version as distilled."""
    distilled = bs.load("rosetta_models").groupby("model_name")["distilled"].min()
    return selected(table, ~table["model"].isin(distilled.index[distilled == 1]))


def _computes_of_2025(table):
    """Return the table with the computes that tables of 2025 had; those withdrawn since are Speculative."""
    in_2025 = bs.load("rosetta_models").dropna(subset=["model_name", "compute_2025_flop"]).drop_duplicates("model_name")
    in_2025 = in_2025.set_index("model_name")["compute_2025_flop"].reindex(table["model"]).to_numpy()
    now = table["training_compute_flop"]
    confidence = table["compute_confidence"].where(now.notna() | np.isnan(in_2025), "Speculative")
    compute = now.where(np.isnan(in_2025), in_2025)
    return table.assign(training_compute_flop=compute, compute_confidence=confidence)


CHANGES = {
    "families with effects of their own": Change({"family_effects": True}),
    "errors of computes as within 3, 10 and 30 times": Change({"compute_errors": WIDE_ERRORS}),
    "Speculative computes counted": Change({"speculative": True}),
    "computes of 2025, Speculative and withdrawn ones counted": Change({"speculative": True}, _computes_of_2025),
    "Student t about the logit of scores": Change({"noise": "logit_t4"}),
    "Student t for the scatter of models": Change({"scatter": "t4"}),
    "reasoning models of known compute left out": Change(rows=lambda t: selected(t, ~t["model"].isin(REASONING))),
    "distilled models left out": Change(rows=_without_distilled),
    "models of code left out": Change(rows=lambda t: selected(t, ~t["model"].str.startswith(CODE))),
    "models to the end of 2024": Change(rows=lambda t: selected(t, t["year"] < LAST_YEAR), paces=(LINEAR,)),
}


def without_benchmarks(table):
    """Return the changes that leave out one of the benchmarks with the most scores, by name."""
    names = table["benchmark"].value_counts().index[:BENCHMARKS]
    return {
        f"{name} left out": Change(rows=lambda t, name=name: selected(t, t["benchmark"] != name), paces=(LINEAR,))
        for name in names
    }


def _fits(parts, seed):
    table = bs.load(TABLE)
    return {pace: parts.fit(pace, lambda law=law: bs.fit(law, table, seed=seed, **FULL)) for pace, law in LAWS.items()}


@register("progress since 2023 with one thing changed at a time", OF_SCORES, **BRIEF)
def since_changes(parts, **options):
    """Fit both forms of the yearly gain with one thing changed at a time.

    ``left_out``, where the table is the same, compares models left out. ``elpd_diff`` is above 0 where they are
    predicted better than by the law unchanged. ``k_above_0.7`` counts failures of importance sampling in either fit.
    """
    table, fits = bs.load(TABLE), _fits(parts, options["seed"])
    every = CHANGES | without_benchmarks(table)
    pairs = [(what, pace) for what, change in every.items() for pace in change.paces]
    unchanged = {pace: _by_model(fit) for pace, fit in fits.items()}
    items = [(what, pace, unchanged[pace]) for what, pace in pairs]
    entries = {what: {"ok": True} for what in every}
    for (what, pace), entry in zip(pairs, mapped(_changed, (parts, table, options), items), strict=True):
        entries[what] |= entry["periods"] | {"ok": entries[what]["ok"] and entry["ok"]}
        if entry["left_out"] is not None:
            entries[what].setdefault("left_out", {})[pace] = entry["left_out"]
    return entries


def _changed(shared, item):
    (parts, table, options), (what, pace, unchanged) = shared, item
    change = (CHANGES | without_benchmarks(table))[what]  # functions of tables cannot be sent to another process

    def make():
        rows = table if change.rows is None else change.rows(table)
        fit = bs.fit(replace(LAWS[pace], **change.of), rows, **options)
        left_out = _difference(_by_model(fit), unchanged) if rows is table else None
        return {"periods": periods(fit), "ok": fit.diagnostics["ok"], "left_out": left_out}

    return parts.entry(f"{what}, {pace}", make)


def _by_model(fit):
    result = importance_sampling(fit, fit.draws.by_group("model"))
    return result.elpd_i.values, result.pareto_k.values


def _difference(changed, unchanged):
    apart = changed[0] - unchanged[0]
    high_k = (changed[1] > PARETO_K_LIMIT) | (unchanged[1] > PARETO_K_LIMIT)
    return {"elpd_diff": float(apart.sum()), "dse": float(sum_error(apart)), "k_above_0.7": int(high_k.sum())}


@register("the ablest model so far predicted from earlier ones", laws_of("rosetta_scores", LAWS.values()), **BRIEF)
def since_frontier(parts, **options):
    """Predict the ablest model so far: errors of the line and of each law, in the unit of Ho et al. (2025).

    Capabilities of a law are put in that unit by the straight line through the models that it was fitted to.
    """
    scores = bs.load("rosetta_scores")
    capability = fit_item_response(scores, benchmark="Winogrande")["capability"]
    models = scores.drop_duplicates("model").set_index("model").loc[capability.index]
    dates = models["date"]
    ablest = _ablest(capability, dates)
    before, after = (ablest[rows] for rows in (dates[ablest] < CUTOFF, dates[ablest] >= CUTOFF))
    observed = capability[after].to_numpy()
    past = selected(scores, scores["date"] < CUTOFF)
    ahead = models[dates >= CUTOFF].reset_index()
    forecasts = {"line": _frontier_errors(_line(models["year"], capability, before, after), observed)}
    for name, law in LAWS.items():
        fit = bs.fit(law, past, **options)
        sample = _followed(fit, past, ahead, capability, dates[after])
        forecasts[name] = _frontier_errors(sample, observed) | {"ok": fit.diagnostics["ok"]}
    return {
        "cutoff": CUTOFF,
        "models": {"fitted": int(past["model"].nunique()), "later": len(ahead)},
        "before": len(before),
        "after": len(after),
        "forecasts": forecasts,
    }


def _ablest(capability, dates):
    order = dates.sort_values(kind="stable").index
    return order[[capability[name] >= capability[dates <= dates[name]].max() for name in order]]


def _line(years, capability, before, after):
    """Compute quantiles of the predictive density of a least-squares line, shape (sample, model)."""
    x, y = years[before].to_numpy(), capability[before].to_numpy()
    middle = x.mean()
    (intercept, slope), *_ = np.linalg.lstsq(np.column_stack([np.ones(len(x)), x - middle]), y)
    free = len(x) - 2
    scatter = ((y - intercept - slope * (x - middle)) ** 2).sum() / free
    away = years[after].to_numpy() - middle
    sd = np.sqrt(scatter * (1 + 1 / len(x) + away**2 / ((x - middle) ** 2).sum()))
    levels = (np.arange(SCORED) + 0.5) / SCORED
    return intercept + slope * away + sd * student(free).ppf(levels)[:, None]


def _followed(fit, past, ahead, capability, dates):
    """Draw the capability of the ablest model until each date, shape (sample, date), in the unit of `capability`."""
    draws = fit.draws
    capabilities, names = draws.named()["capability"], draws.reference["models"]
    slope, intercept = np.polyfit(capabilities.mean(("chain", "draw")).values, capability[names], 1)
    # The benchmarks of later models are not used: only capabilities are drawn.
    ahead = ahead.assign(benchmark=past["benchmark"].iloc[0])
    unseen = draws.of_unseen(ahead, np.random.default_rng(SEED))
    largest = capabilities.values.max(-1)
    released = ahead.set_index("model")["date"].loc[unseen.reference["models"]].to_numpy()
    ablest = [np.maximum(largest, unseen.capability[..., released <= date].max(-1)) for date in dates]
    return intercept + slope * np.stack(ablest, -1).reshape(-1, len(ablest))


def _frontier_errors(sample, observed):
    middle, low, high = np.quantile(sample, [0.5, (1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0)
    error = middle - observed
    return {
        "mae": float(abs(error).mean()),
        "crps": float(crps(sample, observed).mean()),
        "bias": float(error.mean()),
        "coverage_90": float(((low <= observed) & (observed <= high)).mean()),
    }


def of_later_models(law, table, options):
    """Fit a law to models before each cutoff and predict the others' scores.

    ``not_foretold`` counts scores on benchmarks with too few earlier ones. ``given`` has the errors of predictions
    from a model's ``date``, or from date and ``compute``, and the errors of the benchmark's past scores.
    """
    summary, predictions = rollout(law, table, "date", list(CUTOFFS), **options)
    rows, by_cutoff = law.rows(table), {}
    for cutoff, date in zip(summary.index, CUTOFFS, strict=True):
        predicted = predictions.isel(prediction=(predictions["cutoff"] == cutoff).values)
        ahead, past = rows.iloc[predicted["row"].values], rows[rows["year"] < cutoff]
        has = ahead["model"].isin(law.with_compute(rows)).to_numpy()
        by_cutoff[date] = {
            "ok": bool(summary.at[cutoff, "ok"]),
            "fitted": int(past["model"].nunique()),
            "not_foretold": int((rows["year"] >= cutoff).sum()) - len(ahead),
            "given": {
                name: _score_errors(predicted.isel(prediction=chosen), ahead[chosen], past)
                for name, chosen in (("date", ~has), ("compute", has))
                if chosen.any()
            },
        }
    return by_cutoff


def _score_errors(predictions, ahead, past):
    summary = summarised(predictions)
    scores = past.groupby("benchmark")["score"].apply(np.asarray)
    observed = ahead["score"].to_numpy(float)
    error = ahead["benchmark"].map(scores.map(np.mean)).to_numpy() - observed
    score = [crps(scores[name][:, None], one[None])[0] for name, one in zip(ahead["benchmark"], observed, strict=True)]
    return {
        "scores": len(ahead),
        "models": int(ahead["model"].nunique()),
        **{name: intervals.finite(summary[name]) for name in FIGURES},
        "past_scores": {
            "crps": float(np.mean(score)), "mae": float(abs(error).mean()), "bias": float(error.mean())
        },
    }  # fmt: skip


@register("scores of later models predicted from earlier ones", OF_SCORES, **BRIEF)
def since_later_models(parts, **options):
    """Fit each form of the yearly gain to models before a date and predict the scores of later ones."""
    return {
        pace: parts.entry(pace, lambda law=law: of_later_models(law, bs.load(TABLE), options))
        for pace, law in LAWS.items()
    }


@register("whether intervals of the law of scores cover, under a constant yearly gain", laws_of(TABLE, [LAWS[LINEAR]]),
          seed=1, simulations=50, draws=400, tune=500, chains=2)  # fmt: skip
def since_coverage(parts, *, seed, simulations, **settings):
    """Fit a constant yearly gain to tables of the same shape, simulated from posterior medians."""
    fit, out = _fits(parts, seed)[LINEAR], parts.path(f"{LINEAR}-tables.nc")
    calibration = copies(fit, bs.load(TABLE), out=out, simulations=simulations, seed=seed, **settings)
    shown = [name for name in calibration["quantity"].values if name in CALIBRATED or name.startswith("rate[")]
    chosen = calibration.sel(quantity=shown)
    return {LINEAR: calibration_entry(chosen) | {"r_hat_median": intervals.finite(chosen["r_hat"].median())}}
