"""A study of rules for the next run on real pools, which do not come with the package.

Each pool has runs that may be bought and dearer runs that are to be predicted. The target of all rules is the loss of
the dearest of these. Every rule starts with the same cheapest runs, spends a share of the cost of the pool, and is
scored by one fitter: NUTS on the runs bought. Defaults are those of `bs.design` and of `design.py`, fixed before any
pool was seen. Scores are those of the runs to be predicted: R2 of median predictions, and coverage of 90% intervals
without and with the drift. The regret is that of taking the run that is predicted to be the best of them.

The second size of the pools ``parallel`` is the number of parallel streams, in place of tokens.
"""

import warnings
from functools import partial
from typing import NamedTuple

import bayescaling as bs
import numpy as np
import pandas as pd
from bayescaling.inference.comparison.rollout import predicted
from design import COUPLED, FINAL, LAWS, START, SUM, Pool, bought
from study import laws_of, register

RULES = ("plan", "gated, two laws", "v-optimal", "cheapest", "cost-random", "random")
REPEATED = {"cost-random": 5, "random": 5}  # seeds of rules that draw at random


class Source(NamedTuple):
    """A table of a pool.

    Attributes
    ----------
    file : str
    columns : dict of str to str
        Columns of the law by those of the file.
    where : str or None
    laws : dict of str to Law
    shares : tuple of float
        Budgets, as shares of the cost of the pool.
    cost : str, optional
        Column of the cost; 6ND by default.
    """

    file: str
    columns: dict
    where: str | None
    laws: dict
    shares: tuple
    cost: str | None = None


PARALLEL = {"num_params": "parameters", "parallel_size": "tokens"}
SOURCES = {
    "farseer": Source("scalebench_farseer.csv", {"N": "parameters", "D": "tokens"}, None, LAWS, (0.01, 0.05, 0.1)),
    "parallel, pile": Source("scalebench_parallel.csv", PARALLEL, "pile", LAWS, (0.75, 0.9), "parameters"),
    "parallel, stack": Source("scalebench_parallel.csv", PARALLEL, "stack", LAWS, (0.75, 0.9), "parameters"),
    "data-constrained": Source(
        "scalebench_data_constrained.csv",
        {"params": "parameters"},
        None,
        {SUM: bs.laws.DataConstrained()},
        (0.01, 0.05, 0.1),
    ),
}


def opened(tables, source):
    """Return runs that may be bought, in order of cost, with their cost, and the runs to be predicted."""
    table = pd.read_csv(tables / source.file).drop_duplicates().rename(columns=source.columns)
    table = table if source.where is None else table[table["group"] == source.where]
    table["cost"] = table[source.cost] if source.cost else 6.0 * table["parameters"] * table["tokens"]
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


def one_pool(tables, source, seed):
    """Return means of scores of every rule at every budget of a pool, over the seeds of random rules."""
    table, cost, ahead = opened(tables, source)
    dearest = ahead.iloc[[int(ahead["cost"].argmax())]].reset_index(drop=True)
    pool = Pool(table, cost, None, source.laws, dearest)
    # A law of more sizes has no point estimate here, and no second law.
    rules = [rule for rule in RULES if COUPLED in source.laws or rule not in ("v-optimal", "gated, two laws")]
    result = {"pool": len(table), "predicted": len(ahead), "start": START}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        everything = scored(pool, bought(pool, "cheapest", np.inf, np.random.default_rng(seed)), ahead, seed)
        result["all runs"] = everything
        for share in source.shares:
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
    return {name: parts.entry(name, partial(one_pool, tables, source, seed)) for name, source in SOURCES.items()}
