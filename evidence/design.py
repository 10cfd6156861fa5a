"""Studies of which runs to make next: what each rule's choice costs at the target, on simulated and on real pools.

A pool is a ladder of 13 sizes by 11 numbers of tokens, each run once. Every rule starts with the same cheapest runs,
counted in its budget, and spends a share of the cost of the whole pool. The law is then fitted to the runs bought. The
regret is the excess loss, in nats, of the size that the fit chooses at 100 times the dearest run, compared with the
best size. Rules see the same truths and the same noise, so that they are compared in pairs.

Rules: ``plan`` is that of `bs.design`, fitted again after each tenth of the budget; ``plan, no misfit`` leaves out the
variance of misfit. ``gated`` spreads runs by cost from where a rollout on the runs at hand fails;
with ``two laws`` it takes the coupled law first. ``v-optimal`` lowers
the variance of predictions about the target for its cost, by derivatives at a point estimate. ``cheapest`` buys in
order of cost, ``cost-random`` at random with probability inverse to cost, ``random`` with equal probability.

Real pools do not come with the package. Each has runs that may be bought and dearer runs that are to be predicted. The
target of all rules is the loss of the dearest of these. Every rule starts with the same cheapest runs, spends a share
of the cost of the pool, and is scored by one fitter: NUTS on the runs bought. Defaults are those of `bs.design` and of
this study, fixed before any pool was seen. Scores are those of the runs to be predicted: R2 of median predictions, and
coverage of 90% intervals without and with the drift. The regret is that of taking the run that is predicted to be the
best of them.

The second size of the pools ``parallel`` is the number of parallel streams, in place of tokens.
"""

import tomllib
import warnings
from functools import partial
from typing import NamedTuple

import bayescaling as bs
import numpy as np
import pandas as pd
from bayescaling.inference.comparison.rollout import predicted
from bayescaling.inference.decisions.candidates import candidate_means, misfit_variance, noise_variance, off_ratio
from bayescaling.inference.decisions.gate import CUTOFFS, FEWEST, LEAST
from bayescaling.inference.decisions.purchases import best_plan, moments, spread_out
from bayescaling.inference.decisions.targets import target_of
from bayescaling.inference.estimands.beyond import drift_of
from bayescaling.inference.settings import Settings
from bayescaling.models.loss import coupled
from scipy.optimize import least_squares
from study import HERE, laws_of, register

PARAMETERS, TOKENS = np.geomspace(1e7, 1e10, 13), np.geomspace(1e8, 1e11, 11)
BUDGETS = (0.002, 0.005, 0.01, 0.05)  # shares of the cost of the pool
START, BATCHES, TIMES = 12, 10, 100.0
SIMULATIONS = 100
EVERY = 3  # tenths of a budget between rollouts
FEWEST_FITTED = 9  # runs, as many as the law has quantities
SIZES = ["parameters", "tokens"]
SUM, COUPLED = "chinchilla", "coupled"
LAWS = {SUM: bs.laws.Chinchilla(), COUPLED: bs.laws.Coupled()}
DESIGNED = {
    "plan": {"misfit": True, "gate": None},
    "plan, no misfit": {"misfit": False, "gate": None},
    "gated": {"misfit": True, "gate": [SUM]},
    "gated, two laws": {"misfit": True, "gate": [SUM, COUPLED]},
}
RULES = (*DESIGNED, "v-optimal", "cheapest", "cost-random", "random")
LEFT_OUT = {"right": {"gated"}, "wrong": set()}  # to save time
ONCE = {"plan, no misfit": (0.01,)}  # budgets of rules that are not tried at all of them
KAPPAS = {"right": 1.0, "wrong": 0.7}
QUICK = Settings(draws=200, tune=200, chains=2, cores=1)
FINAL = Settings(draws=400, tune=400, chains=2, cores=1)
INSIDE = (0.05, 0.95)
NAMES = ("E", "A", "B", "alpha", "beta")
SOURCES = tomllib.loads((HERE / "tables" / "pools.toml").read_text(encoding="utf-8"))
ALONE = {"data-constrained": {SUM: bs.laws.DataConstrained()}}  # a law of more sizes: it has no point estimate here
OF_REAL_POOLS = ("plan", "gated, two laws", "v-optimal", "cheapest", "cost-random", "random")
REPEATED = {"cost-random": 5, "random": 5}  # seeds of rules that draw at random


def truth(rng, kappa):
    """Draw constants of a law whose terms are usual, and the scale of its noise."""
    n, d = np.exp(np.log(PARAMETERS).mean()), np.exp(np.log(TOKENS).mean())
    alpha, beta = rng.uniform(0.28, 0.42), rng.uniform(0.28, 0.42)
    terms = rng.uniform(0.25, 0.7, 2)
    constants = {"E": rng.uniform(1.5, 2.0), "A": terms[0] * n**alpha, "B": terms[1] * d**beta}
    return constants | {"alpha": alpha, "beta": beta, "kappa": kappa}, np.exp(rng.uniform(np.log(0.002), np.log(0.008)))


def simulated_pool(rng, kappa):
    """Simulate every run of the ladder; returns the table, the cost of each, and the truth."""
    n, d = (x.ravel() for x in np.meshgrid(PARAMETERS, TOKENS, indexing="ij"))
    constants, sigma = truth(rng, kappa)
    losses = coupled.loss(n, d, **constants) * np.exp(sigma * rng.standard_t(5, len(n)))
    table = pd.DataFrame({"parameters": n, "tokens": d, "loss": losses})
    order = np.argsort(6 * n * d, kind="stable")
    return bs.read(table.iloc[order].reset_index(drop=True)), constants


class Pool:
    """A pool of runs with their costs, and fits of laws to some; the target is at a compute, or the loss of a run."""

    def __init__(self, table, cost, compute, laws, run=None):
        self.table, self.cost, self.compute, self.run = table, cost, compute, run
        self.fitters = {name: bs.Fitter(law, table) for name, law in laws.items()}
        self.centre, self.fits = [np.log(table[name]).mean() for name in SIZES], {}

    def target(self, draws):
        """Return the `Target` under draws."""
        return target_of(draws, "allocation" if self.run is None else self.run, self.compute, {})

    def fit(self, places, law=SUM, settings=QUICK):
        """Return draws of a law on the runs at some places."""
        key = law, settings, tuple(np.sort(places))
        if key not in self.fits:
            rows = self.table.iloc[np.sort(places)].reset_index(drop=True)
            self.fits[key] = self.fitters[law].draws(rows, settings=settings, seed=len(places))[0]
        return self.fits[key]

    def passes(self, places, law):
        """Return whether 90% intervals hold enough of the dearer runs, fitted to cheaper ones, as in `gate`."""
        cost, covered = self.cost[places], []
        for cutoff in np.unique(np.quantile(cost, CUTOFFS)):
            past = places[cost < cutoff]
            if len(past) >= FEWEST_FITTED:
                ahead = self.table.iloc[places[cost >= cutoff]].reset_index(drop=True)
                rows = predicted(self.fit(past, law), ahead, 1)
                covered += list(((rows["observed"] >= rows["q5"]) & (rows["observed"] <= rows["q95"])).values)
        return len(covered) < FEWEST or np.mean(covered) >= LEAST


class Bought(NamedTuple):
    """Runs that a rule bought, the law to fit to them, and whether the first law failed a rollout."""

    places: np.ndarray
    law: str = SUM
    failed: bool = False


def designed(pool, places, budget, *, misfit, gate):
    """Buy by the draws rule until the budget is spent, fitting again after each tenth of it.

    With a gate, rollouts are made before every third tenth, by the first law of `gate` until it fails, then by the
    next. Where none is left, the rest of the budget is spread by cost.
    """
    left, most, laws = budget - pool.cost[places].sum(), budget / BATCHES, list(gate or [SUM])
    for batch in range(10 * BATCHES):
        free = np.setdiff1d(np.arange(len(pool.cost)), places)
        free = free[pool.cost[free] <= left]
        if not free.size:
            break
        others = pool.table.iloc[free].reset_index(drop=True)
        if gate and batch % EVERY == 0:
            while laws and not pool.passes(places, laws[0]):
                laws.pop(0)
        draws = pool.fit(places, laws[0] if laws else gate[-1])
        target = pool.target(draws)
        if not laws:
            chosen = free[spread_out(pool.cost[free], off_ratio(others, target.ratio), left)]
            return Bought(np.append(places, chosen), gate[-1], True)
        noise = noise_variance(draws, others) + (misfit_variance(draws, target.ratio, others) if misfit else 0.0)
        plan = best_plan(moments(target.draws, candidate_means(draws, others), noise), pool.cost[free], left)
        spent = np.cumsum(pool.cost[free[plan.order]])
        chosen = free[plan.order[: int(np.searchsorted(spent, most)) + 1]]
        places, left = np.append(places, chosen), left - pool.cost[chosen].sum()
    return Bought(places, laws[0], len(laws) < len(gate or [SUM]))


def point(table, centre):
    """Estimate the constants by robust least squares of log loss, in logarithms, (5,)."""
    n, d, y = (np.log(table[name].to_numpy(float)) for name in (*SIZES, "loss"))

    def residual(z):
        e, a, b, alpha, beta = z
        return np.log(np.exp(e) + np.exp(a - alpha * (n - centre[0])) + np.exp(b - beta * (d - centre[1]))) - y

    start, bounds = np.array([np.log(1.7), -0.8, -0.8, 0.34, 0.34]), ([-3, -6, -6, 0.02, 0.02], [3, 3, 3, 2, 2])
    return least_squares(residual, start, loss="soft_l1", f_scale=0.01, bounds=bounds).x


def derivatives(z, centre, parameters, tokens):
    """Return derivatives of log loss by the constants of `point`, (run, 5)."""
    n, d = np.log(parameters) - centre[0], np.log(tokens) - centre[1]
    e, a, b, alpha, beta = z
    parts = np.stack([np.exp(e) + 0 * n, np.exp(a - alpha * n), np.exp(b - beta * d)])
    e, a, b = parts / parts.sum(0)
    return np.stack([e, a, b, -a * n, -b * d], axis=1)


def sizes_about(z, pool):
    """Return sizes and tokens about the best size at the target, under the constants of `point`."""
    alpha, beta = z[3:]
    slots = pool.compute / 6
    scale = np.log(alpha / beta) + z[1] - z[2] + alpha * pool.centre[0] - beta * pool.centre[1]
    sizes = np.exp((scale + beta * np.log(slots)) / (alpha + beta)) * np.geomspace(1 / 3, 3, 5)
    return sizes, slots / sizes


def v_optimal(pool, places, budget):
    """Buy by local V-optimality for losses about the best size at the target, estimated again after each tenth."""
    left, most = budget - pool.cost[places].sum(), budget / BATCHES
    n, d = (pool.table[name].to_numpy(float) for name in ("parameters", "tokens"))
    while True:
        z, spent = point(pool.table.iloc[places], pool.centre), 0.0
        ahead = sizes_about(z, pool) if pool.run is None else pool.run[SIZES].to_numpy().T
        about, by_run = derivatives(z, pool.centre, *ahead), derivatives(z, pool.centre, n, d) / 0.005
        information = by_run[places].T @ by_run[places] + 1e-2 * np.eye(5)
        while spent < most:
            free = np.setdiff1d(np.arange(len(n)), places)
            free = free[pool.cost[free] <= left]
            if not free.size:
                return places
            inverse = np.linalg.inv(information)
            seen = about @ inverse @ by_run[free].T
            gains = (seen**2).sum(0) / (1 + np.einsum("ij,jk,ik->i", by_run[free], inverse, by_run[free]))
            chosen = free[np.argmax(gains / pool.cost[free])]
            information = information + np.outer(by_run[chosen], by_run[chosen])
            places, left, spent = np.append(places, chosen), left - pool.cost[chosen], spent + pool.cost[chosen]


def in_order(pool, places, budget, order):
    """Buy in an order what the rest of the budget affords."""
    left = budget - pool.cost[places].sum()
    for place in order:
        if place not in places and pool.cost[place] <= left:
            places, left = np.append(places, place), left - pool.cost[place]
    return places


def bought(pool, rule, budget, rng):
    """Return the `Bought` of a rule; runs of the pool are in order of cost."""
    places, everything = np.arange(START), np.arange(len(pool.cost))
    if rule in DESIGNED:
        return designed(pool, places, budget, **DESIGNED[rule])
    if rule == "v-optimal":
        return Bought(v_optimal(pool, places, budget))
    weight = 1 / pool.cost if rule == "cost-random" else np.ones(len(everything))
    order = everything if rule == "cheapest" else rng.choice(everything, len(everything), False, weight / weight.sum())
    return Bought(in_order(pool, places, budget, order))


def scored(pool, one, constants, rng):
    """Fit the runs bought, and compare its decision and its loss at the target with the truth."""
    places = one.places
    draws = pool.fit(places, one.law, FINAL)
    best, target = target_of(draws, "allocation", pool.compute, {}), target_of(draws, "loss", pool.compute, {})
    true_size, true_tokens = coupled.optimum(pool.compute, **constants)
    least, chosen = coupled.loss(true_size, true_tokens, **constants), np.exp(best.draws.mean())
    decades = np.log10(pool.compute / pool.cost[places].max())
    drift = drift_of(draws.law)
    drifting = [x.draws + drift.slopes(rng, x.draws.shape, x.of) * decades for x in (best, target)]
    answers = {"size": np.log(true_size), "loss": np.log(least)}
    samples = {"size": best.draws, "loss": target.draws}
    samples |= {"size, drift": drifting[0], "loss, drift": drifting[1]}
    ends = {name: np.quantile(x, INSIDE) for name, x in samples.items()}
    hits = {name: bool(low <= answers[name.partition(",")[0]] <= high) for name, (low, high) in ends.items()}
    return {
        "runs": len(places),
        "spent": float(pool.cost[places].sum() / pool.cost.sum()),
        "regret": float(coupled.loss(chosen, pool.compute / (6 * chosen), **constants) - least),
        "expected": best.excess,
        "error": float(abs(np.exp(np.median(target.draws)) - least)),
        "covered": hits,
        "failed": one.failed,
    }


def simulated(parts, *, seed, simulations, kappa):
    """Simulate pools, buy from each by every rule at every budget, and summarise."""
    pools = range(simulations)
    return summarised([parts.entry(f"pool {s}", lambda s=s: one_pool([seed, s], kappa)) for s in pools], kappa)


def rules_at(share, kappa):
    """Return the rules that are tried at a budget."""
    left_out = next(LEFT_OUT[name] for name, value in KAPPAS.items() if value == kappa)
    return [rule for rule in RULES if rule not in left_out and share in ONCE.get(rule, BUDGETS)]


def one_pool(seed, kappa):
    """Return the scores of every rule at every budget on one simulated pool."""
    rng, scores = np.random.default_rng(seed), {}
    table, constants = simulated_pool(rng, kappa)
    cost = table["training_flop"].to_numpy(float)
    runs = Pool(table, cost, TIMES * cost.max(), LAWS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for share in BUDGETS:
            for rule in rules_at(share, kappa):
                choice = bought(runs, rule, share * cost.sum(), rng)
                scores[f"{rule} at {share:g}"] = scored(runs, choice, constants, rng)
    return scores


def summarised(entries, kappa):
    """Return means over pools of each rule and budget, and differences in pairs from the plan of `bs.design`."""
    results = {"pools": len(entries)}
    for share in BUDGETS:
        results[f"{share:g}"] = {rule: _row(entries, rule, share) for rule in rules_at(share, kappa)}
    return results


def _row(entries, rule, share):
    scores = [entry[f"{rule} at {share:g}"] for entry in entries]
    plans = [entry[f"plan at {share:g}"] for entry in entries]
    row = {name: float(np.mean([one[name] for one in scores])) for name in ("runs", "spent", "expected", "failed")}
    for name in ("regret", "error"):
        values = np.array([one[name] for one in scores])
        more = values - [one[name] for one in plans]
        row |= {name: float(values.mean()), f"{name}_median": float(np.median(values))}
        row |= {f"{name}_more": float(more.mean()), f"{name}_more_se": float(more.std(ddof=1) / np.sqrt(len(more)))}
    shares = {name: float(np.mean([one["covered"][name] for one in scores])) for name in scores[0]["covered"]}
    return row | {"coverage_90": shares}


for case, value in KAPPAS.items():
    register(f"what rules for the next run cost at the target, where the law is {case}",
             laws_of("chinchilla_runs", LAWS.values()), name=f"design_{case}", seed=2, simulations=SIMULATIONS,
             kappa=value)(simulated)  # fmt: skip


def opened(tables, source):
    """Return runs that may be bought, in order of cost, with their cost, and the runs to be predicted."""
    table = pd.read_csv(tables / source["file"]).drop_duplicates().rename(columns=source["columns"])
    table = table[table["group"] == source["where"]] if "where" in source else table
    table["cost"] = table[source["cost"]] if "cost" in source else 6.0 * table["parameters"] * table["tokens"]
    table = table.assign(training_flop=6.0 * table["parameters"] * table["tokens"])
    parts = [table[table["split"] == name].sort_values("cost", kind="stable") for name in ("train", "test")]
    pool, ahead = (part.reset_index(drop=True) for part in parts)
    return pool, pool["cost"].to_numpy(float), ahead


def scored_ahead(pool, choice, ahead, seed):
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


def real_pool(tables, name, seed):
    """Return means of scores of every rule at every budget of a pool, over the seeds of random rules."""
    source, laws = SOURCES[name], ALONE.get(name, LAWS)
    table, cost, ahead = opened(tables, source)
    dearest = ahead.iloc[[int(ahead["cost"].argmax())]].reset_index(drop=True)
    pool = Pool(table, cost, None, laws, dearest)
    rules = [rule for rule in OF_REAL_POOLS if COUPLED in laws or rule not in ("v-optimal", "gated, two laws")]
    result = {"pool": len(table), "predicted": len(ahead), "start": START}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        everything = scored_ahead(pool, bought(pool, "cheapest", np.inf, np.random.default_rng(seed)), ahead, seed)
        result["all runs"] = everything
        for share in source["shares"]:
            result[f"{share:g}"] = {}
            for rule in rules:
                scores = []
                for repetition in range(REPEATED.get(rule, 1)):
                    rng = np.random.default_rng([seed, repetition])
                    scores.append(scored_ahead(pool, bought(pool, rule, share * cost.sum(), rng), ahead, seed))
                result[f"{share:g}"][rule] = {name: float(np.mean([x[name] for x in scores])) for name in scores[0]}
    return result


@register("what rules for the next run predict on real pools", laws_of("chinchilla_runs", LAWS.values()), foreign=True,
          seed=1)  # fmt: skip
def design_pools(parts, *, tables, seed):
    """Buy from each real pool by every rule at every budget."""
    return {name: parts.entry(name, partial(real_pool, tables, name, seed)) for name in SOURCES}
