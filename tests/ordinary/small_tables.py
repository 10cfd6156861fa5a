"""Small tables of horizons and of scores, simulated at random as users have them, with their truth."""

import numpy as np
import pandas as pd


def horizons(seed):
    """Simulate successes of 5 to 12 models on up to 60 tasks, with or without scatter, some cells missing.

    Returns
    -------
    table : DataFrame
    truth : dict
        ``log_slope``, ``yearly_gain``, and ``horizon``, log minutes by model.
    """
    rng = np.random.default_rng([1, seed])
    models, tasks, runs = rng.integers(5, 13), rng.choice([6, 10, 20, 40, 60]), rng.integers(1, 9)
    scattered, several = rng.random() < 0.75, rng.random() < 0.2
    task_sd, horizon_sd = (rng.uniform(0.3, 2), rng.uniform(0.1, 1)) if scattered else (0.0, 0.0)
    log_slope, gain = rng.normal(-0.3, 0.3), rng.uniform(0.5, 2.5)
    year = np.sort(rng.uniform(2022, 2026, models))
    horizon = 3 + gain * (year - 2024.5) + horizon_sd * rng.standard_normal(models)
    minutes = np.exp(rng.uniform(np.log(0.1), np.log(1000), tasks))
    thresholds = minutes[:, None] * 3.0 ** np.arange(3 if several else 1)
    harder = task_sd * rng.standard_normal(tasks)
    rows, measured = [], rng.random((models, tasks)) < (0.8 if rng.random() < 0.5 else 1.0)
    for i, j in zip(*np.nonzero(measured), strict=True):
        left = runs
        shares = 1 / (1 + np.exp(-np.exp(log_slope) * (horizon[i] - np.log(thresholds[j]) - harder[j])))
        for k, share in enumerate(shares):
            left = rng.binomial(left, share / (shares[k - 1] if k else 1.0))
            rows.append((f"model {i}", year[i], f"task {j}", thresholds[j, k], left, runs))
    table = pd.DataFrame(rows, columns=["model", "year", "task", "minutes", "successes", "runs"])
    return table, {"log_slope": log_slope, "yearly_gain": gain, "horizon": horizon}


def scores(seed):
    """Simulate scores of 5 to 12 models on up to 12 benchmarks, with or without numbers of questions.

    Returns
    -------
    table : DataFrame
    truth : dict
        ``capability`` by model, ``slope`` and ``difficulty`` by benchmark.
    """
    rng = np.random.default_rng([2, seed])
    models, benchmarks = rng.integers(5, 13), rng.integers(4, 13)
    scattered, counted = rng.random() < 0.75, rng.random() < 0.5
    slope_sd, noise = (0.4, rng.uniform(0.01, 0.08)) if scattered else (0.0, 0.0)
    capability, difficulty = rng.normal(0, 1.2, models), rng.normal(0, 1.5, benchmarks)
    slope = np.exp(slope_sd * rng.standard_normal(benchmarks))
    mean = 1 / (1 + np.exp(-slope * (capability[:, None] - difficulty)))
    if noise:
        precision = 0.25 / (noise * np.exp(0.4 * rng.standard_normal(benchmarks))) ** 2
        mean = rng.beta(precision * mean, precision * (1 - mean))
    questions = rng.choice([40, 100, 200, 500, 1000, 3000], benchmarks)
    score = rng.binomial(questions, np.clip(mean, 0, 1)) / questions
    measured = rng.random(score.shape) < (0.85 if rng.random() < 0.5 else 1.0)
    model, benchmark = np.nonzero(measured)
    table = pd.DataFrame({
        "model": [f"model {i}" for i in model],
        "benchmark": [f"benchmark {j}" for j in benchmark],
        "score": score[measured],
    })  # fmt: skip
    table = table.assign(items=questions[benchmark]) if counted else table
    return table, {"capability": capability, "slope": slope, "difficulty": difficulty}
