"""Studies of time horizons: published figures, trends compared, forecasts from past quarters, known truths.

The human times of ``weirdml`` are estimates of language models; of three tasks there are those of one person too. Its
authors publish horizons from the estimates alone, and calibrated on the person.
"""

from functools import partial

import bayescaling as bs
import numpy as np
import pandas as pd
import past_cuts
from bayescaling.inference import intervals
from bayescaling.inference.comparison.differences import differences
from bayescaling.inference.comparison.groups import unresolved
from bayescaling.inference.forecasts import PROBABILITIES, straight_line
from bayescaling.models.draws import DRAWS
from study import Study

TABLE = "weirdml"
TRENDS = ("linear", "break", "acceleration", "logistic")
# htihle/weirdml-time-horizons at 965c7f1: hours of half of the runs, from estimates alone and calibrated.
PUBLISHED = {
    "gpt-4-0613": (0.392, 0.149),
    "claude-3-opus": (1.134, 0.385),
    "claude-3.5-sonnet": (1.943, 0.629),
    "o1-preview": (6.243, 1.645),
    "o4-mini (high)": (8.370, 2.077),
    "o3-pro (high)": (11.823, 2.759),
    "gpt-5 (high)": (14.465, 3.246),
    "gemini-3-pro-preview (high)": (22.261, 4.654),
    "gpt-5.2 (xhigh)": (30.635, 6.133),
    "claude-opus-4.6 (adaptive)": (37.691, 7.329),
}
CUTS = (2024.75, 2025.0, 2025.25, 2025.5, 2025.75)  # dates at which later models were still to come
TRUTH = {
    "horizon_centre": 3.0,
    "horizon_sd": 0.5,
    "log_slope": -0.2,
    "task_sd": 1.2,
    "log_slope_sd": 0.3,
    "log_precision": 2.0,
    "yearly_gain": 1.6,
}
SPREADS = {"horizon_centre": 0.5, "log_slope": 0.2, "yearly_gain": 0.4}  # of truths between simulated tables
MODELS, TASKS, RUNS = 14, 50, 8
CASES = {
    "as simulated": ("beta_binomial", "linear"),
    "noise too small": ("binomial", "linear"),
    "trend too stiff": ("beta_binomial", "break"),
}


def weirdml(parts, *, seed, **settings):
    """Fit the built-in table by each trend, calibrated on timed tasks, and by a line to the estimates alone."""
    table, fits = bs.load(TABLE), {}
    for trend in TRENDS:
        fits[trend] = parts.fit(trend, partial(bs.fit, _law(trend), table, seed=seed, **settings))
    estimated = table[table["estimated_minutes"].notna()].assign(minutes=lambda rows: rows["estimated_minutes"])
    alone = bs.laws.Horizons(family_effects=True)
    fits["estimates alone"] = parts.fit("alone", partial(bs.fit, alone, estimated, seed=seed, **settings))
    result = {name: parts.entry(f"entry {name}", partial(_entry, fit)) for name, fit in fits.items()}
    left_out = {name: parts.entry(f"left out {name}", partial(_left_out, fits[name], seed)) for name in TRENDS}
    return {"fits": result, "compared": _compared(left_out), "published_hours": PUBLISHED}


def _law(trend):
    return bs.laws.Horizons(trend=trend, estimates=True, family_effects=True)


def _entry(fit):
    """Return doubling times, dates ahead and horizons of the models with published ones."""
    hours = {tasks: bs.horizons.minutes(fit, tasks=tasks) / 60 for tasks in ("typical", "random")}
    bias = fit["posterior"].get("estimate_bias")
    return {
        "diagnostics": fit.diagnostics,
        "doubling_days": intervals.entries(bs.progress.doubling_days(fit)),
        "dates_reached": intervals.entries(bs.progress.dates_reached(fit)),
        "hours": {
            model: {
                f"{tasks}, {share:g}": intervals.summary(hours[tasks].sel(model=model, share=share), ratio=True)
                for tasks in hours
                for share in (0.5, 0.8)
            }
            for model in PUBLISHED
        },
        "estimate_factor": None if bias is None else intervals.summary(np.exp(bias), ratio=True),
    }


def _left_out(fit, seed):
    """Return the log density of each model left out whole, with refits where Pareto k is high."""
    table = fit.loo("model", seed=seed)
    return {
        "elpd": table["elpd"].to_dict(),
        "refits": int(table["refitted"].sum()),
        "failed": int(unresolved(table).sum()),
    }


def _compared(left_out):
    """Compare trends by models left out."""
    pointwise = pd.DataFrame({name: of["elpd"] for name, of in left_out.items()})
    difference = differences(pointwise, {name: of["failed"] for name, of in left_out.items()})
    return {
        name: {
            "elpd": float(pointwise[name].sum()),
            **{column: intervals.finite(difference.at[name, column]) for column in ("elpd_diff", "dse")},
            "refits": of["refits"],
            "refits_that_failed": of["failed"],
        }
        for name, of in left_out.items()
    }


def forecasts(parts, *, seed, **settings):
    """Forecast horizons of later models as of each cut, by the law and by a straight line, and score them."""
    table = bs.load(TABLE)
    whole = parts.fit("whole", partial(bs.fit, _law("linear"), table, seed=seed, **settings))
    observed = whole["posterior"]["horizon"].median(DRAWS).to_series()
    cuts = []
    for cut in CUTS:
        past = table[table["year"] < cut]
        fit = parts.fit(f"before {cut}", partial(bs.fit, _law("linear"), past, seed=seed, **settings))
        cuts.append(_forecast(fit, table[table["year"] >= cut], observed, np.random.default_rng([seed, len(cuts)])))
    return {
        "cuts": {
            f"{cut:g}": {"models_before": of["before"], "models_after": len(of["observed"]), "ok": of["ok"]}
            for cut, of in zip(CUTS, cuts, strict=True)
        },
        "law": past_cuts.scores(cuts, "law"),
        "law, widened by earlier cuts": past_cuts.scores(past_cuts.widened(cuts), "law"),
        "straight line": past_cuts.scores(cuts, "line"),
    }


def _forecast(fit, later, observed, rng):
    """Return quantiles of the log horizons of later models less the mean of those before, and what came.

    Differences do not depend on the calibration of human times, which is the same before and after.
    """
    draws = fit.draws
    unseen = draws.of_unseen(draws.law.rows(later), rng)
    before, after = draws.reference["models"], unseen.reference["models"]
    predicted = unseen.horizon - draws.horizon.mean(-1, keepdims=True)
    x, y = np.array(draws.reference["years"]), np.median(draws.horizon, (0, 1))
    line = np.stack([straight_line(x, y, year) for year in unseen.reference["years"]], -1)
    return {
        "law": np.quantile(predicted.reshape(-1, len(after)), PROBABILITIES, axis=0),
        "line": line - y.mean(),
        "observed": observed[after].to_numpy() - observed[before].mean(),
        "before": len(before),
        "ok": fit.diagnostics["ok"],
    }


def recovery(parts, *, seed, simulations, **settings):
    """Count how often 95% intervals hold the doubling time and horizons of simulated tables, under three laws."""
    result = {}
    for case, (noise, trend) in CASES.items():
        make = partial(_one, noise=noise, trend=trend, settings=settings)
        entries = [parts.entry(f"{case} {s}", partial(make, [seed, s])) for s in range(simulations)]
        result[case] = {
            name: sum(one["held"][name] for one in entries) / sum(one["counted"][name] for one in entries)
            for name in entries[0]["held"]
        }
        result[case]["converged"] = sum(one["ok"] for one in entries) / len(entries)
    return result


def _one(entropy, noise, trend, settings):
    """Simulate a table, fit it by a line, and count the truths within 95% intervals."""
    rng = np.random.default_rng(entropy)
    dates, minutes = np.sort(rng.uniform(2023, 2026, MODELS)), np.exp(rng.uniform(-0.7, 7.5, TASKS))
    models, tasks = (x.ravel() for x in np.meshgrid(np.arange(MODELS), np.arange(TASKS), indexing="ij"))
    table = pd.DataFrame({"model": [f"m{i:02d}" for i in models], "task": [f"t{j:02d}" for j in tasks]})
    table = table.assign(year=dates[models], minutes=minutes[tasks], successes=float(RUNS), runs=float(RUNS))
    truth = {name: x + SPREADS.get(name, 0.0) * rng.standard_normal() for name, x in TRUTH.items()}
    truth |= {"yearly_gain_change": 0.8, "break_place": 0.5} if trend == "break" else {}
    simulated = bs.laws.Horizons(trend=trend)
    rows = simulated.rows(table)
    draw = simulated.prior_draws(rng, simulated.reference(rows), rows, truth=truth)
    table["successes"] = draw.replicate(rng).values[0, 0]
    seed = int(rng.integers(2**31))
    fit = bs.fit(bs.laws.Horizons(noise=noise), table, seed=seed, **settings)
    low, high = (fit["posterior"]["horizon"].quantile(q, DRAWS).values for q in (0.025, 0.975))
    gain = np.quantile(fit["posterior"]["yearly_gain"], [0.025, 0.975])
    horizons = draw.horizon[0, 0]
    held = {"horizons": int(((low < horizons) & (horizons < high)).sum())}
    counted = {"horizons": MODELS}
    if trend == "linear":
        held["doubling time"] = int(gain[0] < truth["yearly_gain"] < gain[1])
        counted["doubling time"] = 1
    return {"held": held, "counted": counted, "ok": fit.diagnostics["ok"]}


def _laws():
    table = bs.load(TABLE)
    return [(_law(trend), table) for trend in TRENDS]


STUDIES = {
    "horizons_weirdml": Study("time horizons of the built-in table and published ones", weirdml, _laws, {"seed": 1}),
    "horizons_forecasts": Study("time horizons forecast as of past quarters", forecasts, _laws, {"seed": 1}),
    "horizons_recovery": Study(
        "known horizons and doubling times in simulated tables",
        recovery,
        _laws,
        {"seed": 1, "simulations": 50, "draws": 400, "tune": 500, "chains": 2},
    ),
}
