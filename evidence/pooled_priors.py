"""A study of priors learned from other studies: what they and a flat prior of kappa do to predictions from few runs.

The cheapest runs of each table of ``tables/beyond.json`` are fitted, and all others predicted. Pooled priors of alpha,
beta and kappa are the prediction for a new source, from the posteriors of all tables of the other sources. Sources are
Student-t distributed, with wide priors. Tables that are not built in are read from a folder.
"""

from functools import partial

import bayescaling as bs
import numpy as np
from bayescaling.inference.comparison.rollout import scored
from bayescaling.models.backend import pymc
from bayescaling.models.draws import DRAWS
from beyond import averaged, figures, weights
from beyond import read as tables_of
from study import laws_of, register

DEFAULT, POOLED = "default priors", "priors from the other sources"
OF_KAPPA, FLAT = "prior of kappa from the other sources", "flat prior of kappa"
ARMS = {
    DEFAULT: lambda pooled: {},
    POOLED: lambda pooled: pooled,
    OF_KAPPA: lambda pooled: {"kappa": pooled["kappa"]},
    FLAT: lambda pooled: {"kappa": "Uniform(0.05, 2.5)"},
}
QUANTITIES = ("alpha", "beta", "kappa")
FITTED = (10, 20)
SCORES = ("coverage_90", "crps", "interval_score")
SPREAD = 0.7  # of a logarithm under the default priors


def law(priors=()):
    """Return the coupled law without effects of sizes."""
    return bs.laws.Coupled(size_effects=False, priors=dict(priors))


def constants(table, options):
    """Return the mean and standard deviation of the logarithm of each quantity, shape (2, quantity)."""
    posterior = bs.fit(law(), table, **options)["posterior"]
    logs = np.log([posterior[name].values.ravel() for name in QUANTITIES])
    return [logs.mean(1).tolist(), logs.std(1).tolist()]


def population(estimates, seed):
    """Predict the quantities of a new source from `constants` by source and table: priors of the same 95% interval."""
    pm, rng = pymc(), np.random.default_rng(seed)
    sources = sorted({source for source, _ in estimates})
    place = np.array([sources.index(source) for source, _ in estimates])
    mean, sd = np.moveaxis(np.array(list(estimates.values())), 1, 0)
    with pm.Model():
        centre = pm.Normal("centre", [-1.2, -1.2, -0.5], SPREAD)
        between, within = (pm.HalfNormal(name, SPREAD, shape=3) for name in ("between", "within"))
        of = pm.StudentT("source", 1 + pm.Gamma("nu_minus_one", 2, 0.1), shape=(len(sources) + 1, 3))
        pm.Normal("table", centre + between * of[place], pm.math.sqrt(within**2 + sd**2), observed=mean)
        tree = pm.sample(
            1000, tune=2000, cores=1, random_seed=seed, target_accept=0.99, progressbar=False, nuts_sampler="nutpie"
        )
    new_source = tree["posterior"].isel(source_dim_0=-1)
    flat = [new_source[name].values.reshape(-1, 3) for name in ("centre", "between", "source", "within")]
    new = flat[0] + flat[1] * flat[2] + flat[3] * rng.standard_normal(flat[3].shape)
    low, middle, high = np.quantile(new, [0.025, 0.5, 0.975], axis=0)
    spread = (high - low) / (2 * 1.96)
    return {name: f"LogNormal({middle[i]:.3f}, {spread[i]:.3f})" for i, name in enumerate(QUANTITIES)}


def scores(table, fitted, priors, options):
    """Compute `figures` of the later runs under the law alone, and whether the chains converged."""
    past, ahead = table[:fitted].reset_index(drop=True), table[fitted:].reset_index(drop=True)
    fit = bs.fit(law(priors), past, **options)
    sample = fit.draws.replicate(np.random.default_rng(options["seed"]), ahead).transpose(*DRAWS, "run").values
    values = figures(scored(sample.reshape(-1, len(ahead)), np.log(ahead["loss"].to_numpy())))
    return {name: values[name] for name in SCORES} | {"ok": bool(fit.diagnostics["ok"])}


@register("whether priors learned from other studies help to predict from few runs",
          laws_of("chinchilla_runs", [law()]), foreign=True, seeds=3, draws=1000, tune=1000,
          target_accept=0.99)  # fmt: skip
def pooled_priors(parts, *, tables, seeds, **options):
    """Predict later runs of every table from its cheapest, under each set of priors."""
    by_cost = {}
    for key, table in tables_of(tables).items():
        order = np.argsort(table["parameters"] * table["tokens"], kind="stable")
        by_cost[key] = table.iloc[order].reset_index(drop=True)
    estimates = {
        key: parts.entry(f"all runs, {key}", partial(constants, table, options | {"seed": 1}))
        for key, table in by_cost.items()
    }
    priors, result = {}, {}
    for source in sorted({source for source, _ in by_cost}):
        others = {key: x for key, x in estimates.items() if key[0] != source}
        priors[source] = parts.entry(f"priors without {source}", partial(population, others, 1))
    for fitted in FITTED:
        entries = {(arm, *key): [] for key in by_cost for arm in ARMS}
        for (arm, *key), of in entries.items():
            priors_of, table = ARMS[arm](priors[key[0]]), by_cost[tuple(key)]
            for seed in range(1, seeds + 1):
                make = partial(scores, table, fitted, priors_of, options | {"seed": seed})
                of.append(parts.entry(f"{fitted} runs, {arm}, {tuple(key)}, {seed}", make))
        result[f"{fitted} runs"] = {
            arm: summary({key[1:]: x for key, x in entries.items() if key[0] == arm}) for arm in ARMS
        }
        result[f"{fitted} runs"][FLAT]["minus_default"] = {
            ", ".join(key): difference(entries[(FLAT, *key)], entries[(DEFAULT, *key)]) for key in by_cost
        }
    medians = {", ".join(key): dict(zip(QUANTITIES, np.exp(logs[0]), strict=True)) for key, logs in estimates.items()}
    return {"medians": medians, "priors": priors, "predicted": result}


def summary(entries):
    """Average scores over seeds, tables and sources, and give the share of fits that converged."""
    mean = {
        (*key, 0): {name: float(np.mean([one[name] for one in some])) for name in SCORES}
        for key, some in entries.items()
    }
    share = weights(mean)
    by_source = {
        source: averaged({key: of for key, of in mean.items() if key[0] == source}, share)
        for source in sorted({key[0] for key in mean})
    }
    converged = float(np.mean([one["ok"] for some in entries.values() for one in some]))
    return {"all": averaged(mean, share), "by_source": by_source, "converged": converged}


def difference(some, others):
    """Return the mean difference of each score between two sets of priors, and its Monte-Carlo standard error."""
    result = {}
    for name in SCORES:
        of = np.array([[one[name] for one in entries] for entries in (some, others)])
        mean, se = of[0].mean() - of[1].mean(), np.sqrt(of.var(1, ddof=1).sum() / of.shape[1])
        result[name] = {"difference": round(float(mean), 4), "se": round(float(se), 4)}
    return result
