"""Studies of the best learning rate and batch: whether intervals hold the truth, and what Step Law's rows say.

``tuning`` simulates sweeps of four sizes, three numbers of tokens, four rates and three batches, and fits the law
`RateAndBatch`. Its 90% intervals of the best rate and batch are compared with the truth. This is done at the smallest
and the largest rung, and at a target of ten times the largest size and four times the most tokens. The cost of a
rate has another form in the ``wrong`` case. It is as steep below the best rate as above it, linear far from it, and
less at large sizes.

``tuning_step_law`` fits 600 runs of the models of Li et al. (2025, arXiv:2503.04715) below their largest size, and
compares the best rate and batch that it gives for that size with the best of its 117 runs on 1e11 tokens.
"""

from functools import partial

import bayescaling as bs
import numpy as np
import pandas as pd
from bayescaling.inference.quoted import quote_draws
from bayescaling.models.loss.tuned import BATCH, RATE
from study import laws_of, register

LAW = bs.laws.RateAndBatch()
PARAMETERS, TOKENS = np.geomspace(2e7, 5e8, 4), np.geomspace(1e9, 2.5e10, 3)
RATES, BATCHES = np.geomspace(5e-4, 8e-3, 4), np.geomspace(2**16, 2**20, 3)
PLACES = {"smallest": (2e7, 1e9), "largest": (5e8, 2.5e10), "target": (5e9, 1e11)}
INSIDE = (0.05, 0.95)
LAWS = laws_of("small_lm_rates", [LAW])
BEND = 0.7  # log of the ratio of a rate to the best from which its cost becomes linear, in the wrong case
CASES = ("right", "wrong")
SETTINGS = {"draws": 400, "tune": 500, "chains": 2}
SEQUENCE, FITTED = 2048, 600  # tokens of a sequence of Step Law's models; runs that are fitted


def truth(rng):
    """Draw constants of a law with usual terms."""
    return {
        "loss_centre": 2.8,
        "reducible_share": rng.uniform(0.3, 0.5),
        "parameter_share": rng.uniform(0.4, 0.6),
        "alpha": rng.uniform(0.28, 0.42),
        "beta": rng.uniform(0.28, 0.42),
        "best_rate": np.exp(rng.uniform(-0.5, 0.5)),
        "rate_by_parameters": rng.uniform(-0.8, -0.2),
        "rate_by_tokens": rng.uniform(-0.2, 0.4),
        "rate_cost": np.exp(rng.uniform(np.log(0.004), np.log(0.02))),
        "rate_skew": rng.uniform(0.3, 1.0),
        "best_batch": np.exp(rng.uniform(-0.5, 0.5)),
        "batch_by_parameters": rng.uniform(-0.2, 0.2),
        "batch_by_tokens": rng.uniform(0.3, 0.7),
        "batch_cost": np.exp(rng.uniform(np.log(0.003), np.log(0.01))),
        "rate_by_batch": rng.uniform(0.2, 0.7),
        "sigma": np.exp(rng.uniform(np.log(0.001), np.log(0.004))),
        "nu_minus_one": 5.0,
        "sigma_parameters": 0.0,
        "sigma_tokens": 0.0,
    }


def simulated_sweep(rng, case):
    """Simulate a sweep; return its table and the constants of the law."""
    grid = [(n, d, r, b) for n in PARAMETERS for d in TOKENS for r in RATES for b in BATCHES]
    runs = pd.DataFrame(grid, columns=["parameters", "tokens", RATE, BATCH])
    values = truth(rng)
    constants = LAW.constants(values, LAW.centre(runs))
    mean = LAW.mean(constants, LAW.sizes(runs))
    if case == "wrong":
        n, d, r, b = (runs[name].to_numpy() for name in ("parameters", "tokens", RATE, BATCH))
        best = LAW.best_settings(constants, n, d)
        off = np.log(b / best[BATCH])
        x = np.log(r / best[RATE]) - constants["rate_by_batch"] * off
        cost = 2 * constants["rate_cost"] * BEND**2 * (np.sqrt(1 + (x / BEND) ** 2) - 1) * (n / n[0]) ** -0.1
        tuned = LAW.mean_of_sizes(constants, None, n, d)
        mean = tuned * np.exp(cost + constants["batch_cost"] * off**2)
    return runs.assign(loss=mean * np.exp(values["sigma"] * rng.standard_t(6, len(runs)))), constants


def one_sweep(seed, case):
    """Fit a simulated sweep; return by place and setting whether the interval holds the truth, and its width."""
    runs, constants = simulated_sweep(np.random.default_rng(seed), case)
    fit = bs.fit(LAW, runs, seed=1, **SETTINGS)
    scores = {"verdict": fit.check()["verdict"], "ok": fit.diagnostics["ok"]}
    for place, (n, d) in PLACES.items():
        best = LAW.best_settings(fit["posterior"].to_dataset(), n, d)
        for name, draws in quote_draws(fit, best).items():
            low, high = np.quantile(draws, INSIDE)
            true = LAW.best_settings(constants, n, d)[name]
            scores[f"{name}, {place}"] = {"covered": bool(low <= true <= high), "factor": float(high / low)}
    return scores


@register("whether intervals of the best learning rate and batch hold the truth", LAWS, seed=1, simulations=100)
def tuning(parts, *, seed, simulations):
    """Simulate sweeps of both cases, fit them and count."""
    result = {}
    for number, case in enumerate(CASES):
        seeds = [[seed, number, s] for s in range(simulations)]
        entries = [parts.entry(f"{case} {of[-1]}", partial(one_sweep, of, case)) for of in seeds]
        names = [name for name in entries[0] if name not in ("verdict", "ok")]
        result[case] = {"sweeps": len(entries), "fits": sum(entry["verdict"] == "fits" for entry in entries)} | {
            name: {
                "coverage_90": float(np.mean([entry[name]["covered"] for entry in entries])),
                "median_factor": float(np.median([entry[name]["factor"] for entry in entries])),
            }
            for name in names
        }
    return result


@register("the best learning rate and batch of a model larger than all that are fitted", LAWS, foreign=True, seed=1)
def tuning_step_law(parts, *, tables, seed):
    """Fit Step Law's smaller models, and compare what is best at the largest with its runs."""
    rows = pd.read_csv(tables / "scalebench_lr_bsz.csv")
    runs = rows[["data_size", "lr", "lm_loss"]].set_axis(["tokens", RATE, "loss"], axis=1)
    runs["parameters"] = rows["non_embedding_param_size"].astype(float)
    runs[BATCH] = SEQUENCE * rows["bsz"].astype(float)
    target = runs[rows["split"] == "test"]
    smaller = runs[runs["parameters"] < target["parameters"].max()]
    fitted = smaller.sample(FITTED, random_state=seed).reset_index(drop=True)
    fit = bs.fit(LAW, fitted, seed=seed)
    n, d = (float(target[name].iloc[0]) for name in ("parameters", "tokens"))
    quoted = quote_draws(fit, LAW.best_settings(fit["posterior"].to_dataset(), n, d))
    best_run = target.loc[target["loss"].idxmin()]
    middles = {name: float(draws.median()) for name, draws in quoted.items()}
    off = sum(np.log(target[name] / middles[name]) ** 2 for name in middles)
    nearest = target.loc[off.idxmin()]
    exponents = ("rate_by_parameters", "rate_by_tokens", "batch_by_parameters", "batch_by_tokens", "rate_by_batch")
    values = quote_draws(fit, {name: fit["posterior"][name] for name in exponents})
    return {
        "runs": len(fitted),
        "target": {"parameters": n, "tokens": d, "runs": len(target)},
        "best": {name: _quantiles(x) for name, x in quoted.items()},
        "best_run": {name: float(best_run[name]) for name in (*middles, "loss")},
        "nearest_run": {name: float(nearest[name]) for name in (*middles, "loss")},
        "lost_by_nearest": float(np.log(nearest["loss"] / best_run["loss"])),
        "exponents": {name: _quantiles(x) for name, x in values.items()},
        "verdict": fit.check()["verdict"],
        "ok": fit.diagnostics["ok"],
    }


def _quantiles(draws):
    return dict(zip(("q5", "q50", "q95"), map(float, np.quantile(draws, (0.05, 0.5, 0.95))), strict=True))
