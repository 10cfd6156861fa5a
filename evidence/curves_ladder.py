"""What the uncertainty of losses costs: ladders of runs that have not ended, and errors of planned runs on tasks.

A simulated ladder has `SIZES` by `RATIOS` runs under a cosine schedule, whose final losses scatter about Chinchilla's
law. Readings lead to them along the curve law, with slow deviations; how much annealing removes is drawn for each
ladder. All runs or the largest are cut at a share of their steps and forecast. By one truth the curve law is right. By
the others what annealing removes after the cut differs by run, as on real curves. N* at `BEYOND` times the largest
run's compute is that of the coupled law alone, without its drift.

Errors on tasks are those of Gadre et al. (2024), by corpus. The last runs in compute are predicted from the others.
"""

from functools import partial

import bayescaling as bs
import numpy as np
import pandas as pd
from bayescaling.datasets.schedules import RateSchedule
from bayescaling.inference.comparison.scoring import crps
from bayescaling.inference.curves.forecast import UNSEEN
from bayescaling.inference.estimands.predict import task_errors
from bayescaling.models.curves.areas import areas
from bayescaling.models.loss.chinchilla import optimum
from study import register

TRUTH = {"E": 1.8, "A": 400.0, "B": 1200.0, "alpha": 0.34, "beta": 0.32}
SIZES, RATIOS, BEYOND = np.geomspace(3e7, 1e9, 4), (8.0, 20.0, 60.0), 10.0
STEPS, READINGS, SCHEDULE = 20_000, 200, "cosine:peak=1,warmup=400,final=0.1"
ANNEAL, ALPHA, DRIFT, NOISE, SCATTER = (-3.1, 0.35), 0.45, 0.002, 0.0005, 0.003  # within the priors of the curve law
# Sd of what annealing removes, as a share, and how many of the largest runs are cut.
TRUTHS = {"right": (0.0, 12), "annealing differs": (UNSEEN, 12), "the three largest cut": (UNSEEN, 3)}
WAYS = {"ended": False, "not ended, with their errors": True, "not ended, taken as certain": False}
TASKS, LEFT = ("error_17_tasks", "error_46_tasks"), (3, 6, 10)
HELD = ["rpj-open_lm_1b-32.0", "rpj-open_lm_7b-1.0"]  # the two largest models of the paper's first figure


def curve(end, share, anneal, cut, spread, rng):
    """Draw the readings of a run of a final loss."""
    clock = np.linspace(STEPS / READINGS, STEPS, READINGS)
    rate = RateSchedule(SCHEDULE).rates(clock, STEPS)
    area, annealed = areas(clock, rate)
    shape = 1 + share * ((area / area[-1]) ** -ALPHA - 1) - anneal * annealed
    later = np.maximum(annealed - annealed[int(cut * READINGS)], 0.0)
    slow, alike = rng.standard_normal(READINGS), clock[:-1] / clock[1:]
    for i, x in enumerate(alike, start=1):
        slow[i] = x * slow[i - 1] + np.sqrt(1 - x**2) * slow[i]
    shape += DRIFT * slow - anneal * spread * rng.standard_normal() * later
    loss = end * shape / shape[-1] * np.exp(NOISE * rng.standard_normal(READINGS))
    return pd.DataFrame({"step": clock, "rate": rate, "loss": loss})


def ladder(seed, cut, spread, unfinished, settings):
    """Simulate a ladder: quantiles of log N* minus the true one by the way, and errors of final losses in sd."""
    rng, rows, fits = np.random.default_rng(seed), [], {}
    anneal = np.exp(ANNEAL[0] + ANNEAL[1] * rng.standard_normal())
    for n, tokens in ((n, ratio * n) for n in SIZES for ratio in RATIOS):
        mean = float(bs.laws.Chinchilla.loss(n, tokens, **TRUTH))
        end = mean * np.exp(SCATTER * rng.standard_normal())
        readings = curve(end, TRUTH["B"] / tokens ** TRUTH["beta"] / mean, anneal, cut, spread, rng)
        name = f"run {len(rows)}"
        rows.append({"run": name, "parameters": n, "tokens": tokens, "loss": end})
        past = bs.read(readings[readings["step"] <= cut * STEPS].assign(run=name), "curves")
        fits[name] = bs.fit("curve", past, **settings)
    runs = bs.read(pd.DataFrame(rows))
    largest = runs["run"][runs["training_flop"].rank() > len(runs) - unfinished]
    forecast = bs.curves.ends({name: fits[name] for name in largest}, STEPS, runs, schedule=SCHEDULE)
    compute, result = BEYOND * runs["training_flop"].max(), {}
    for way, measured in WAYS.items():
        law = bs.laws.Coupled(noise="normal", scatter="one", measurement_error=measured)
        fit = bs.fit(law, runs if way == "ended" else forecast, **settings)
        best = fit.allocate(compute, beyond="none", robust=False)["parameters"].values
        result[way] = np.quantile(np.log(best / optimum(compute, **TRUTH)[0]), [0.05, 0.5, 0.95]).tolist()
    return result | {"z": ((forecast["loss"] - runs["loss"]) / forecast["loss_sd"]).dropna().tolist()}


def _laws():
    curve = bs.laws.Curve()
    return [(bs.laws.Coupled(measurement_error=True), bs.load("chinchilla_runs")), (curve, curve.usual_table())]


@register("what the unfinished part of the runs of a ladder costs: coverage and width of N* on simulated ladders",
          _laws, seed=1, simulations=40, cut=0.6, draws=400, tune=500, chains=2)  # fmt: skip
def curves_ladder(parts, *, seed, simulations, cut, **settings):
    """Summarise ladders: coverage and width of N* by the way, and coverage of the final losses."""
    summary = {}
    for truth, (spread, unfinished) in TRUTHS.items():
        results = [
            parts.entry(f"{truth} {i}", partial(ladder, [seed, i], cut, spread, unfinished, settings | {"seed": i}))
            for i in range(simulations)
        ]
        within = float((np.abs([one["z"] for one in results]) < 1.645).mean())
        summary[truth] = {"final losses within 1.645 sd": within}
        for way in WAYS:
            low, middle, high = np.array([one[way] for one in results]).T
            factor, error = float(np.exp(np.median(high - low))), float((middle**2).mean() ** 0.5)
            held = float(((low <= 0) & (high >= 0)).mean())
            summary[truth][way] = {"coverage_90": held, "median_factor_90": factor, "rms_error": error}
    return summary


def predicted(past, ahead, task, settings):
    """Predict a task's errors of runs ahead: 5, 50, 95% quantiles and CRPS, by what is carried of their losses."""
    loss, tasks = bs.fit("coupled", past, **settings), bs.fit("task-error", past.assign(error=past[task]), **settings)
    drawn, rng = loss.predict(ahead, task=tasks), np.random.default_rng(settings["seed"])
    middle, truth = drawn["loss"].median(("chain", "draw")).values, ahead["loss"].to_numpy()
    errors = {"its distribution": drawn["error"]}
    for name, exact in (("its median", middle), ("the true loss", truth)):
        errors[name] = task_errors(tasks, loss, drawn["loss"] * 0 + exact, rng)
    result = {"run": ahead["run"].tolist(), "error": ahead[task].tolist(), "ways": {}}
    for name, error in errors.items():
        sample = error.values.reshape(-1, len(ahead))
        scores = crps(sample, ahead[task].to_numpy())
        result["ways"][name] = [*np.quantile(sample, [0.05, 0.5, 0.95], axis=0).tolist(), scores.tolist()]
    return result


def _law_of_tasks():
    return [(bs.laws.TaskError(), bs.load("overtraining_runs").rename(columns={"error_17_tasks": "error"}))]


@register("how often intervals of errors on tasks hold those of larger models, with and without the loss's uncertainty",
          _law_of_tasks, seed=1, draws=1000, tune=1000)  # fmt: skip
def tasks(parts, **settings):
    """Summarise errors of the largest models, left out: coverage, width and CRPS; and those of the paper's two."""
    runs = bs.load("overtraining_runs").sort_values("training_flop")
    paper = runs["run"].isin(HELD)
    cuts = [(of[:-left], of[-left:]) for _, of in runs.groupby("corpus") for left in LEFT]
    cuts.append((runs[(runs["corpus"] == "RedPajama") & ~paper], runs[paper]))
    results = [
        parts.entry(f"{task} {i}", partial(predicted, *(x.reset_index() for x in of), task, settings))
        for i, of in enumerate(cuts)
        for task in TASKS
    ]
    summary, left = {"of the paper": dict(zip(TASKS, results[-2:], strict=True))}, results[:-2]
    observed = np.concatenate([one["error"] for one in left])
    for way in left[0]["ways"]:
        low, _, high, scores = np.concatenate([one["ways"][way] for one in left], axis=1)
        held = float(((low <= observed) & (observed <= high)).mean())
        summary[way] = {"predictions": len(observed), "coverage_90": held, "width_90": float((high - low).mean())}
        summary[way] |= {"crps": float(scores.mean())}
    return summary
