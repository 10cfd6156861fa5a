"""A study of what a change is worth: coverage of the compute multiplier, and decisions, on simulated ladders.

A simulated ladder has two recipes, `SIZES` by `RATIOS` runs each. They differ in how much parameters and tokens count
and in an exponent. Losses follow Chinchilla's law (``right``) or the coupled law with kappa 0.7 (``wrong``). Both are
fitted by Chinchilla's law, with pooled or with shared exponents. The multiplier is that at the largest run of the
ladder, and at `BEYOND` times its compute.

A decision is right where the recipe that it takes has the lower loss at the target. The fit takes the one that is
better with a probability above one half. "Train both at the largest size" takes the lower of two losses.
"""

from functools import cache, partial

import bayescaling as bs
import numpy as np
import pandas as pd
from bayescaling.inference.decisions.worth import multipliers
from bayescaling.models.loss.search import least_on_budget
from scipy.optimize import brentq
from study import laws_of, register

LAW = bs.laws.Chinchilla(noise="normal", scatter="one")
SHARED = {"pooled": ("sigma",), "shared": ("sigma", "alpha", "beta")}
TRUTH = {"E": 1.8, "A": 400.0, "B": 1200.0, "alpha": 0.34, "beta": 0.32}
KAPPA = {"right": 1.0, "wrong": 0.7}
SIZES, RATIOS = np.geomspace(3e7, 1e9, 5), (8.0, 20.0, 60.0)
BEYOND, NOISE = 10.0, 0.003
EFFICIENCY, EXPONENT = 0.25, 0.02  # sd of the log of what parameters and tokens count for, and of an exponent
ALONE = {"beyond": "none", "robust": False}
WAYS = {"quoted": ("pooled", {}), "law alone": ("pooled", ALONE), "exponents shared": ("shared", {})}
DECIDED = {"quoted": "fit", "law alone": "fit, law alone", "exponents shared": "fit, exponents shared"}


def recipes(rng, kappa):
    """Return the constants of a baseline and of a changed recipe, which differ about the centre of the ladder."""
    size, tokens, exponent = rng.standard_normal(3)
    centre = np.exp(np.log(SIZES).mean())
    base = TRUTH | {"kappa": kappa}
    alpha = base["alpha"] * np.exp(EXPONENT * exponent)
    changed = base | {
        "alpha": alpha,
        "A": base["A"] * centre ** (alpha - base["alpha"]) * np.exp(EFFICIENCY * size * base["alpha"]),
        "B": base["B"] * np.exp(EFFICIENCY * tokens * base["beta"]),
    }
    return {"baseline": base, "changed": changed}


def best_loss(constants, compute):
    """Compute the loss of the best allocation of a budget."""
    parameters, tokens = least_on_budget(np.array(compute), lambda n, d: bs.laws.Coupled.loss(n, d, **constants))
    return float(bs.laws.Coupled.loss(parameters, tokens, **constants))


def multiplier(constants, compute):
    """Compute the true log multiplier at a budget."""
    target = best_loss(constants["changed"], compute)

    def lacking(log_factor):
        return best_loss(constants["baseline"], compute * np.exp(log_factor)) - target

    return brentq(lacking, -12, 12)


def ladder(constants, rng):
    """Draw the runs of both recipes."""
    n, ratio = (x.ravel() for x in np.meshgrid(SIZES, RATIOS, indexing="ij"))
    parts = []
    for name, of in constants.items():
        mean = bs.laws.Coupled.loss(n, ratio * n, **of)
        loss = mean * np.exp(NOISE * rng.standard_normal(len(n)))
        parts.append(pd.DataFrame({"parameters": n, "tokens": ratio * n, "loss": loss, "recipe": name}))
    return bs.read(pd.concat(parts, ignore_index=True))


def drawn(kappa, seed):
    """Draw the constants of both recipes and their ladder."""
    rng = np.random.default_rng(seed)
    constants = recipes(rng, kappa)
    return constants, ladder(constants, rng)


@cache
def fitter(exponents="pooled"):
    """Return the compiled law, for any ladder."""
    return bs.Fitter(bs.laws.Grouped(LAW, "recipe", shared=SHARED[exponents]), drawn(1.0, [0])[1])


def fitted(exponents, kappa, seed, settings):
    """Fit one ladder, and check the law."""
    fit = fitter(exponents).fit(drawn(kappa, seed)[1], seed=seed[-1], **settings)
    fit.check()
    return fit


def simulated(parts, name, kappa, seed, settings):
    """Return true log multipliers of a ladder, their quantiles in each way, and what each decision takes."""
    fits = {
        exponents: parts.fit(f"{name} {seed[-1]} {exponents}", partial(fitted, exponents, kappa, seed, settings))
        for exponents in SHARED
    }
    constants, runs = drawn(kappa, seed)
    largest = float((6 * runs["parameters"] * runs["tokens"]).max())
    budgets = [largest, BEYOND * largest]
    truth = [multiplier(constants, compute) for compute in budgets]
    quantiles, better = {}, {}
    for way, (exponents, options) in WAYS.items():
        result = multipliers(fits[exponents], "baseline", np.array(budgets), **options)[0].isel(group=0)
        sample = np.log(result["multiplier"].transpose("chain", "draw", "compute").values.reshape(-1, len(budgets)))
        ends = [0.05, 0.25, 0.5, 0.75, 0.95]
        quantiles[way] = np.quantile(sample, ends, axis=0, method="inverted_cdf").clip(-14, 14).T.tolist()
        better[way] = (sample > 0).mean(0).tolist()
    pair = runs[6 * runs["parameters"] * runs["tokens"] > 0.999 * largest].set_index("recipe")["loss"]
    return {
        "truth": truth,
        "quantiles": quantiles,
        "p_better": better,
        "largest_pair": bool(pair["changed"] < pair["baseline"]),
        "share_of_compute": 2 * largest / float((6 * runs["parameters"] * runs["tokens"]).sum()),
        "ok": all(fit.diagnostics["ok"] for fit in fits.values()),
        "verdict": fits["pooled"].check()["verdict"],
    }


def summary(ladders):
    """Summarise ladders: coverage and width at each target, and how often each decision is right."""
    truth = np.array([one["truth"] for one in ladders])
    result = {"ladders": len(ladders), "converged": sum(one["ok"] for one in ladders)}
    result["law_rejected"] = sum(one["verdict"] != "fits" for one in ladders)
    for place, target in enumerate(("at the largest run", f"at {BEYOND:g} times its compute")):
        true, figures = truth[:, place], {}
        for name in WAYS:
            q = np.array([one["quantiles"][name][place] for one in ladders])
            figures[name] = {
                "coverage_50": float(((q[:, 1] <= true) & (true <= q[:, 3])).mean()),
                "coverage_90": float(((q[:, 0] <= true) & (true <= q[:, 4])).mean()),
                "median_factor_90": float(np.exp(np.median(q[:, 4] - q[:, 0]))),
                "rms_error": float(np.sqrt(np.mean((q[:, 2] - true) ** 2))),
            }
        pair = np.array([one["largest_pair"] for one in ladders])
        sure = np.array([abs(one["p_better"]["quoted"][place] - 0.5) >= 0.45 for one in ladders])
        takes = {way: np.array([one["p_better"][way][place] > 0.5 for one in ladders]) for way in WAYS}
        chosen = takes["quoted"]
        figures["decision_right"] = {
            **{name: float((takes[way] == (true > 0)).mean()) for way, name in DECIDED.items()},
            "largest pair": float((pair == (true > 0)).mean()),
            "fit, where a direction is claimed": float((chosen == (true > 0))[sure].mean()) if sure.any() else None,
            "share with a direction": float(sure.mean()),
        }
        result[target] = figures
    result["share_of_compute_of_the_pair"] = float(np.mean([one["share_of_compute"] for one in ladders]))
    return result


@register("how often intervals of the compute multiplier hold the true one, and decisions that follow",
          laws_of("overtraining_runs", [bs.laws.Grouped(LAW, "corpus", shared=("sigma",))]), seed=1, simulations=100,
          draws=300, tune=400, chains=2, least_ess=100)  # fmt: skip
def worth(parts, *, seed, simulations, **settings):
    """Simulate ladders under both laws."""
    result = {}
    for name, kappa in KAPPA.items():
        make = partial(simulated, parts, name, kappa, settings=settings)
        ladders = [parts.entry(f"{name} {i}", partial(make, [seed, i])) for i in range(simulations)]
        result[name] = summary(ladders)
    return result
