"""A study of time horizons: how often intervals hold the truths, under a wrong noise and trend too."""

from functools import partial

import bayescaling as bs
import numpy as np
import pandas as pd
from bayescaling.models.draws import DRAWS
from study import Study

TABLE = "weirdml"
TRENDS = ("linear", "break", "acceleration", "logistic")
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
    draw = simulated.known_draws(truth, simulated.reference(rows), rows, rng)
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
    return [(bs.laws.Horizons(trend=trend, estimates=True, family_effects=True), table) for trend in TRENDS]


STUDIES = {
    "horizons_recovery": Study(
        "known horizons and doubling times in simulated tables",
        recovery,
        _laws,
        {"seed": 1, "simulations": 20, "draws": 400, "tune": 500, "chains": 2},
    ),
}
