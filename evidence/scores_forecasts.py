"""Scores of later models, forecast as of past quarters by their dates alone, and scored once they came."""

from functools import partial

import bayescaling as bs
import numpy as np
import past_cuts
from bayescaling.inference.forecasts import PROBABILITIES, straight_line
from study import Study

TABLE = "eci_scores"
LAW = bs.laws.Scores(pace="linear")
CUTS = tuple(np.arange(2024.0, 2026.5, 0.25))  # dates at which later models were still to come
AHEAD = 1.0  # years within which they came
LEAST = 4  # earlier scores of a benchmark


def make(parts, *, seed, **settings):
    """Forecast the scores of the year after each cut by the law, with and without drift, and by straight lines."""
    cuts = [parts.entry(f"{cut:g}", partial(_forecast, cut, seed=seed, **settings)) for cut in CUTS]
    return {
        "cuts": {
            f"{cut:g}": {name: of[name] for name in ("fitted", "models", "scores", "ok")}
            | {method: past_cuts.scores([of], method) for method in ("law", "line")}
            for cut, of in zip(CUTS, cuts, strict=True)
        },
        "law": past_cuts.scores(cuts, "law"),
        "law, widened by earlier cuts": past_cuts.scores(past_cuts.widened(cuts, 0, 1), "law"),
        "straight line": past_cuts.scores(cuts, "line"),
    }


def _forecast(cut, *, seed, **settings):
    """Return quantiles of later scores, by the law and by a straight line through the past, and what came."""
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
    line = [_line(past[past["benchmark"] == row.benchmark], row.year) for row in later.itertuples()]
    return {
        "law": np.quantile(new.transpose("row", ...).values.reshape(len(later), -1), PROBABILITIES, axis=1).tolist(),
        "line": np.stack(line, -1).tolist(),
        "observed": later["score"].tolist(),
        "fitted": int(past["model"].nunique()),
        "models": int(later["model"].nunique()),
        "scores": len(later),
        "ok": fit.diagnostics["ok"],
    }


def _line(past, year):
    return np.clip(straight_line(past["year"].to_numpy(float), past["score"].to_numpy(float), year), 0, 1)


STUDIES = {
    "scores_forecasts": Study(
        "scores forecast as of past quarters",
        make,
        lambda: [(LAW, bs.load(TABLE))],
        {"seed": 1, "draws": 500, "tune": 500},
    )
}
