"""A study of rules for the next run on real pools, which do not come with the package.

Each pool has runs that may be bought and dearer runs that are to be predicted. The target of all rules is the loss of
the dearest of these. Every rule starts with the same cheapest runs, spends a share of the cost of the pool, and is
scored by one fitter: NUTS on the runs bought. Defaults are those of `bs.design` and of `design.py`, fixed before any
pool was seen. Scores are those of the runs to be predicted: R2 of median predictions, and coverage of 90% intervals
without and with the drift. The regret is that of taking the run that is predicted to be the best of them.

The second size of the pools ``parallel`` is the number of parallel streams, in place of tokens.
"""

import tomllib
import warnings
from functools import partial

import bayescaling as bs
import numpy as np
import pandas as pd
from bayescaling.inference.comparison.rollout import predicted
from design import COUPLED, FINAL, LAWS, START, SUM, Pool, bought
from study import HERE, laws_of, register

SOURCES = tomllib.loads((HERE / "tables" / "pools.toml").read_text(encoding="utf-8"))
ALONE = {"data-constrained": {SUM: bs.laws.DataConstrained()}}  # a law of more sizes: it has no point estimate here
RULES = ("plan", "gated, two laws", "v-optimal", "cheapest", "cost-random", "random")
REPEATED = {"cost-random": 5, "random": 5}  # seeds of rules that draw at random


def opened(tables, source):
    """Return runs that may be bought, in order of cost, with their cost, and the runs to be predicted."""
    table = pd.read_csv(tables / source["file"]).drop_duplicates().rename(columns=source["columns"])
    table = table[table["group"] == source["where"]] if "where" in source else table
    table["cost"] = table[source["cost"]] if "cost" in source else 6.0 * table["parameters"] * table["tokens"]
    table = table.assign(training_flop=6.0 * table["parameters"] * table["tokens"])
    parts = [table[table["split"] == name].sort_values("cost", kind="stable") for name in ("train", "test")]
    pool, ahead = (part.reset_index(drop=True) for part in parts)
    return pool, pool["cost"].to_numpy(float), ahead


def scored(pool, choice, ahead, seed):
    """Fit the runs bought, and score predictions of those ahead."""
    draws = pool.fit(choice.places, choice.law, FINAL)
    alone, drifting = (predicted(draws, ahead, seed, beyond) for beyond in ("none", "drift"))
    observed, median = (alone[name].values for name in ("observed", "q50"))
    inside = [float(((rows["q5"] <= rows["observed"]) & (rows["observed"] <= rows["q95"])).mean())
              for rows in (alone, drifting)]  # fmt: skip
    losses = ahead["loss"].to_numpy(float)
    return {
        "runs": len(choice.places),
        "r2": 1 - float(((np.exp(observed) - np.exp(median)) ** 2).sum() / ((losses - losses.mean()) ** 2).sum()),
        "error": float(np.abs(np.exp(median) / losses - 1).mean()),
        "coverage_90": inside[0],
        "coverage_90_drift": inside[1],
        "regret": float(losses[np.argmin(median)] - losses.min()),
        "failed": choice.failed,
    }


def one_pool(tables, name, seed):
    """Return means of scores of every rule at every budget of a pool, over the seeds of random rules."""
    source, laws = SOURCES[name], ALONE.get(name, LAWS)
    table, cost, ahead = opened(tables, source)
    dearest = ahead.iloc[[int(ahead["cost"].argmax())]].reset_index(drop=True)
    pool = Pool(table, cost, None, laws, dearest)
    rules = [rule for rule in RULES if COUPLED in laws or rule not in ("v-optimal", "gated, two laws")]
    result = {"pool": len(table), "predicted": len(ahead), "start": START}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        everything = scored(pool, bought(pool, "cheapest", np.inf, np.random.default_rng(seed)), ahead, seed)
        result["all runs"] = everything
        for share in source["shares"]:
            result[f"{share:g}"] = {}
            for rule in rules:
                scores = []
                for repetition in range(REPEATED.get(rule, 1)):
                    rng = np.random.default_rng([seed, repetition])
                    scores.append(scored(pool, bought(pool, rule, share * cost.sum(), rng), ahead, seed))
                result[f"{share:g}"][rule] = {name: float(np.mean([x[name] for x in scores])) for name in scores[0]}
    return result


@register("what rules for the next run predict on real pools", laws_of("chinchilla_runs", LAWS.values()), foreign=True,
          seed=1)  # fmt: skip
def design_pools(parts, *, tables, seed):
    """Buy from each real pool by every rule at every budget."""
    return {name: parts.entry(name, partial(one_pool, tables, name, seed)) for name in SOURCES}
