"""Scores of later models, forecast as of past quarters by their dates alone, and scored once they came.

A cut is a dict of quantiles at `PROBABILITIES`, (probability, outcome), under the name of each method, and of what was
``observed``, (outcome,).
"""

from functools import partial

import bayescaling as bs
import numpy as np
from bayescaling.inference.comparison.scoring import crps
from bayescaling.inference.forecasts import PROBABILITIES, straight_line
from study import laws_of, register

LEVELS = (0.5, 0.9)


def widened(cuts, low=-np.inf, high=np.inf):
    """Widen quantiles of the law about their median by the errors of the cuts before, in sds; the first by nothing."""
    errors, result = [], []
    for of in cuts:
        quantiles, observed = np.array(of["law"]), np.array(of["observed"])
        middle, sd = np.median(quantiles, 0), quantiles.std(0)
        factor = max(1.0, np.sqrt(np.mean(np.square(np.concatenate(errors))))) if errors else 1.0
        result.append(of | {"law": np.clip(middle + factor * (quantiles - middle), low, high)})
        errors.append((observed - middle) / sd)
    return result


def scores(cuts, method):
    """Return coverage by level, the mean CRPS and the mean error, over the outcomes of all cuts."""
    held, error, score = {level: [] for level in LEVELS}, [], []
    for of in cuts:
        quantiles, observed = np.array(of[method]), np.array(of["observed"])
        for level in LEVELS:
            low, high = np.quantile(quantiles, [(1 - level) / 2, (1 + level) / 2], axis=0)
            held[level].append((low <= observed) & (observed <= high))
        error.append(np.median(quantiles, 0) - observed)
        score.append(crps(quantiles, observed))
    return {
        "coverage": {f"{level:g}": float(np.concatenate(of).mean()) for level, of in held.items()},
        "crps": float(np.concatenate(score).mean()),
        "mean_error": float(np.concatenate(error).mean()),
    }


TABLE = "eci_scores"
LAW = bs.laws.Scores(pace="linear")
CUTS = tuple(np.arange(2024.0, 2026.5, 0.25))  # dates at which later models were still to come
AHEAD = 1.0  # years within which they came
LEAST = 4  # earlier scores of a benchmark


@register("scores forecast as of past quarters", laws_of(TABLE, [LAW]), seed=1, draws=500, tune=500)
def scores_forecasts(parts, *, seed, **settings):
    """Forecast the scores of the year after each cut by the law, with and without drift, and by straight lines."""
    cuts = [parts.entry(f"{cut:g}", partial(_forecast, cut, seed=seed, **settings)) for cut in CUTS]
    return {
        "cuts": {
            f"{cut:g}": {name: of[name] for name in ("fitted", "models", "scores", "ok")}
            | {method: scores([of], method) for method in ("law", "line")}
            for cut, of in zip(CUTS, cuts, strict=True)
        },
        "law": scores(cuts, "law"),
        "law, widened by earlier cuts": scores(widened(cuts, 0, 1), "law"),
        "straight line": scores(cuts, "line"),
    }


def _forecast(cut, *, seed, **settings):
    table = LAW.rows(bs.load(TABLE))
    past = table[table["year"] < cut].reset_index(drop=True)
    by_benchmark = past.groupby("benchmark")
    several = (by_benchmark["score"].transform("size") >= LEAST) & (by_benchmark["year"].transform("nunique") > 1)
    past = past[several].reset_index(drop=True)
    fit = bs.fit(LAW, past, seed=seed, **settings)
    benchmarks = fit.draws.reference["benchmarks"]
    later = table[(table["year"] >= cut) & (table["year"] < cut + AHEAD) & table["benchmark"].isin(benchmarks)]
    later = later.assign(training_compute_flop=np.nan).reset_index(drop=True)
    rng = np.random.default_rng([seed, int(4 * cut)])
    new = fit.draws.of_unseen(later, rng).replicate(rng)
    line = []
    for row in later.itertuples():
        x, y = past.loc[past["benchmark"] == row.benchmark, ["year", "score"]].to_numpy(float).T
        line.append(np.clip(straight_line(x, y, row.year), 0, 1))
    return {
        "law": np.quantile(new.transpose("row", ...).values.reshape(len(later), -1), PROBABILITIES, axis=1).tolist(),
        "line": np.stack(line, -1).tolist(),
        "observed": later["score"].tolist(),
        "fitted": int(past["model"].nunique()),
        "models": int(later["model"].nunique()),
        "scores": len(later),
        "ok": fit.diagnostics["ok"],
    }
