"""Studies of time horizons: published figures, trends compared, forecasts from past quarters, known truths, METR's.

The human times of ``weirdml`` are estimates of language models; of three tasks there are those of one person too. Its
authors publish horizons from the estimates alone, and calibrated on the person.
"""

import tomllib
from dataclasses import replace
from functools import partial

import bayescaling as bs
import numpy as np
import pandas as pd
import scores_forecasts
from bayescaling.inference import intervals
from bayescaling.inference.comparison.differences import differences
from bayescaling.inference.comparison.loo import unresolved
from bayescaling.inference.forecasts import PROBABILITIES, straight_line
from bayescaling.inference.words import HIGH, LOW, MIDDLE
from bayescaling.models.draws import DRAWS
from scipy import stats
from study import HERE, laws_of, register

TABLE = "weirdml"
OF = tomllib.loads((HERE / "tables" / "horizons.toml").read_text(encoding="utf-8"))
PUBLISHED, TRUTH, CASES, STEPS, NAMES = (OF[name] for name in ("published", "truth", "cases", "steps", "names"))
TRENDS = ("linear", "break", "acceleration", "logistic")
CUTS = (2024.75, 2025.0, 2025.25, 2025.5, 2025.75)  # dates at which later models were still to come
SPREADS = {"horizon_centre": 0.5, "log_slope": 0.2, "yearly_gain": 0.4}  # of truths between simulated tables
MODELS, TASKS, RUNS = 14, 50, 8
HELD = 0.5, 0.9  # of intervals that are compared with the truth
METR_RUNS, METR_HORIZONS = "metr_runs_2025_01.csv", "metr_horizons_2026_02.csv"
TYPICAL = 20  # runs of a task where all have as many


def _law(trend):
    return bs.laws.Horizons(trend=trend, estimates=True, family_effects=True)


LAWS = laws_of(TABLE, [_law(trend) for trend in TRENDS])


@register("time horizons of the built-in table and published ones", LAWS, seed=1)
def horizons_weirdml(parts, *, seed, **settings):
    """Fit the built-in table by each trend, calibrated on timed tasks, and by a line to the estimates alone."""
    table, fits = bs.load(TABLE), {}
    for trend in TRENDS:
        fits[trend] = parts.fit(trend, partial(bs.fit, _law(trend), table, seed=seed, **settings))
    estimated = table[table["estimated_minutes"].notna()].assign(minutes=lambda rows: rows["estimated_minutes"])
    alone = bs.laws.Horizons(family_effects=True, estimates=False)
    fits["estimates alone"] = parts.fit("alone", partial(bs.fit, alone, estimated, seed=seed, **settings))
    result = {name: parts.entry(f"entry {name}", partial(_entry, fit)) for name, fit in fits.items()}
    left_out = {name: parts.entry(f"left out {name}", partial(_left_out, fits[name], seed)) for name in TRENDS}
    return {"fits": result, "compared": _compared(left_out), "published_hours": PUBLISHED}


def _entry(fit):
    hours = (bs.horizons.minutes(fit) / 60).sel(share=0.5)
    return {
        "diagnostics": fit.diagnostics,
        "doubling_days": intervals.entries(bs.progress.doubling_days(fit)),
        "dates_reached": intervals.entries(bs.progress.dates_reached(fit)),
        "hours": {
            model: {"typical, 0.5": intervals.summary(hours.sel(model=model), ratio=True)} for model in PUBLISHED
        },
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


@register("time horizons forecast as of past quarters", LAWS, seed=1)
def horizons_forecasts(parts, *, seed, **settings):
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
        "law": scores_forecasts.scores(cuts, "law"),
        "law, widened by earlier cuts": scores_forecasts.scores(scores_forecasts.widened(cuts), "law"),
        "straight line": scores_forecasts.scores(cuts, "line"),
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


@register("known horizons and doubling times in simulated tables", LAWS, seed=1, simulations=100, draws=1000, tune=500,
          chains=2)  # fmt: skip
def horizons_recovery(parts, *, seed, simulations, **settings):
    """Compare intervals with the truths of simulated tables, by case and estimate, from fits that converged.

    Next to the law are the law that is given the scatter of models, and least squares on the true horizons.
    """
    result = {}
    for case, changes in CASES.items():
        make = partial(_one, **changes, settings=settings)
        entries = [parts.entry(f"{case} {s}", partial(make, [seed, s])) for s in range(simulations)]
        converged = [one["estimates"] for one in entries if one["ok"]]
        result[case] = {"converged": len(converged) / len(entries)} | {
            name: _coverage([one[name] for one in converged]) for name in entries[0]["estimates"]
        }
    return result


def _coverage(estimates):
    """Return shares of intervals that hold the truth, mean width at 90% and rms of the error in posterior sds."""
    place, error, sd, width = (np.ravel([one[name] for one in estimates]) for name in ("place", "error", "sd", "width"))
    held = {f"{share:.0%}": float(np.mean(np.abs(place - 0.5) < share / 2)) for share in HELD}
    return held | {"width": float(width.mean()), "error_in_sds": float(np.sqrt(np.mean((error / sd) ** 2)))}


def _one(entropy, settings, *, noise="beta_binomial", trend="linear", models=MODELS, tasks=TASKS, **changes):
    rng = np.random.default_rng(entropy)
    dates, minutes = np.sort(rng.uniform(2023, 2026, models)), np.exp(rng.uniform(-0.7, 7.5, tasks))
    model, task = (x.ravel() for x in np.meshgrid(np.arange(models), np.arange(tasks), indexing="ij"))
    table = pd.DataFrame({"model": [f"m{i:02d}" for i in model], "task": [f"t{j:02d}" for j in task]})
    table = table.assign(year=dates[model], minutes=minutes[task], successes=float(RUNS), runs=float(RUNS))
    truth = {name: x + SPREADS.get(name, 0.0) * rng.standard_normal() for name, x in TRUTH.items()} | changes
    simulated = bs.laws.Horizons(trend=trend)
    rows = simulated.rows(table)
    draw = simulated.prior_draws(rng, simulated.reference(rows), rows, truth=truth)
    table["successes"] = draw.replicate(rng).values[0, 0]
    seed, horizons, gain = int(rng.integers(2**31)), draw.horizon[0, 0], truth["yearly_gain"]
    fit = bs.fit(bs.laws.Horizons(noise=noise), table, seed=seed, **settings)
    estimates = {"horizons": _of_draws(fit, "horizon", horizons)}
    if trend == "linear":
        scatter = {"horizon_sd": f"LogNormal({np.log(truth['horizon_sd']):.4f}, 0.01)"}
        informed = bs.fit(bs.laws.Horizons(noise=noise, priors=scatter), table, seed=seed, **settings)
        line = stats.linregress(dates, horizons)
        estimates["doubling time"] = _of_draws(fit, "yearly_gain", gain)
        estimates["doubling time, scatter known"] = _of_draws(informed, "yearly_gain", gain)
        estimates["doubling time, least squares on true horizons"] = {
            "place": float(stats.t.cdf((gain - line.slope) / line.stderr, models - 2)),
            "error": line.slope - gain,
            "sd": line.stderr,
            "width": 2 * stats.t.ppf(0.95, models - 2) * line.stderr,
        }
    return {"estimates": estimates, "ok": fit.diagnostics["ok"]}


def _of_draws(fit, name, truth):
    """Return the share of draws below the truth, the error of the mean, the sd and the width of the 90% interval."""
    x = fit["posterior"][name].stack(point=DRAWS).transpose("point", ...).values
    low, high = np.quantile(x, [0.05, 0.95], axis=0)
    entry = {"place": (x < truth).mean(0), "error": x.mean(0) - truth, "sd": x.std(0), "width": high - low}
    return {name: value.tolist() for name, value in entry.items()}


@register("time horizons of METR's runs by its method and by ours", LAWS, foreign=True, seed=1)
def horizons_metr(parts, *, seed, tables, **settings):
    """Estimate horizons of METR's runs of January 2025 by its method and by the law, with one thing changed at a time.

    Each estimate differs from the one before in one thing: data, weights, then one slope and one trend for all models.
    Then come effects of tasks, and last effects of families with the bias of estimated times.
    """
    published = bs.read(tables / METR_HORIZONS, "values", columns={"value": "p50_minutes"}).set_index("model")
    runs = bs.read(tables / METR_RUNS, "horizons", where="model != 'human'")
    runs["year"] = runs["model"].map(NAMES).map(published["year"])
    weighted = {weights: bs.points.fit_horizons(runs, weights=weights, seed=seed) for weights in ("families", "tasks")}
    weight = runs.groupby(["model", "task_family"])["task"].transform("size") ** -0.5
    plain = bs.laws.Horizons(family_effects=False, estimates=False)
    laws = {
        "no effects of tasks": (
            replace(plain, noise="binomial", task_slopes=False, priors={"task_sd": "HalfNormal(0.001)"}),
            _recounted(runs, 1 + 0 * weight),
        ),
        "effects of tasks": (plain, runs),
        "effects of tasks, their weights": (plain, _recounted(runs, weight)),
        "law": (_law("linear"), runs),
    }
    fits = {
        name: parts.fit(name, partial(bs.fit, law, table, seed=seed, **settings)) for name, (law, table) in laws.items()
    }
    models = {}
    for model, published_as in NAMES.items():
        entry = {}
        for weights, of in weighted.items():
            limits = (float(of[x][model]) for x in ("low", "horizon", "high"))
            entry[f"weights of {weights}"] = dict(zip((LOW, MIDDLE, HIGH), limits, strict=True))
        for name, fit in fits.items():
            entry[name] = intervals.summary(np.exp(fit["posterior"]["horizon"].sel(model=model)), ratio=True)
        chain = np.array([published.at[published_as, "value"], *(entry[name][MIDDLE] for name in STEPS.values())])
        factors = dict(zip(STEPS, chain[1:] / chain[:-1] if chain.all() else [None] * len(STEPS), strict=True))
        models[model] = {"published": chain[0], **entry, "factors": factors}
    return {"models": models, "ok": {name: fit.diagnostics["ok"] for name, fit in fits.items()}}


def _recounted(runs, weight):
    """Return a table with the same shares of successes, and numbers of runs in proportion to weights of tasks."""
    counts = (TYPICAL * weight / weight.groupby(runs["model"]).transform("mean")).round()
    return runs.assign(runs=counts, successes=(counts * runs["successes"] / runs["runs"]).round())
