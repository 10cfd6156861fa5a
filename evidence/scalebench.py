"""Study of ScaleBench: eight tasks with laws that others chose, tables and splits, of which this package has but one.

The folder ``--tables`` has its tables as CSV and its bounds; ``scalebench.toml`` has its laws. Each law is fitted to
the rows of training: its posterior, by two chains of 500 draws, or of 2,000 where these did not converge in seconds,
and by least squares within the bounds, from 64 starts. R2 is of all test rows, about the mean of each part of a task.
"""

import time
import tomllib
from dataclasses import replace

import bayescaling as bs
import numpy as np
import pandas as pd
from bayescaling.inference.formulas.ask import respond
from bayescaling.inference.points.least_squares import Residuals
from formulas import _rounded
from scipy.optimize import least_squares
from study import HERE, register

TASKS: dict = tomllib.loads((HERE / "scalebench.toml").read_text(encoding="utf-8"))
SOURCE = TASKS.pop("source")
STARTS, SEARCHED, POLISHED, LARGEST = 64, 50, 500, 1e6  # of least squares: starts, evaluations, the largest residual
FINISHED, WIDE, QUICK = 4, 100, 5  # best ends searched further; ratio of bounds in logarithms; seconds of a first try
SHARED = "domain"  # the column by whose values constants are where a law of several responses shares others


def law_of(task, law, table):
    """Return a law of the benchmark as a formula, suited to a table."""
    of, noise = TASKS[task]["laws"][law], TASKS[task].get("noise", "")
    priors = dict.fromkeys(of.get("free", "").split(), "Normal(0, 1)") | of.get("priors", {})
    written = f"{of.get('parts', '')} y ~ {of['formula']}"
    formula = bs.laws.Formula(written, priors=priors, errors="none", noise=noise)
    signs = formula.suited(table).signs | dict.fromkeys(of.get("either", "").split(), 0)
    return replace(formula, signs=signs).suited(table)


def _laws():
    """Return each law with a table of its columns that is made up, to compare densities."""
    laws = []
    for task, of in TASKS.items():
        rng = np.random.default_rng(1)
        columns = {x: np.exp(rng.uniform(*np.log(ends), 60)) for x, (_, *ends) in of["columns"].items()}
        columns |= {"y": rng.uniform(2, 4, 60)}
        table = pd.DataFrame({x: [_rounded(v) for v in values] for x, values in columns.items()})
        table[SHARED], table.attrs["source"] = np.resize([*"12345"], 60), task
        laws += [(law_of(task, law, table), table) for law in of["laws"]]
    return laws


def table_of(task, folder):
    """Return the rows of a task with its columns by their letters; of five losses of a row make five."""
    of, table = TASKS[task], pd.read_csv(folder / TASKS[task]["file"])
    if task == "domain_mixture":
        table = table[table["group"] == of["group"]]
        shares = table.filter(like="proportion").set_axis(["p1", "p2", "p3", "p4", "p5"], axis=1)
        parts = []
        for k in "12345":
            others = shares.drop(columns=f"p{k}").set_axis(["o1", "o2", "o3", "o4"], axis=1)
            same = {SHARED: f"d{k}", "loss": table[f"loss_domain_{k}"], "part": table["group"] + f" {k}"}
            parts.append(pd.concat([table, shares, others], axis=1).assign(own=shares[f"p{k}"], **same))
        table = pd.concat(parts, ignore_index=True)
    names = {column: letter for letter, (column, *_) in of["columns"].items()} | {of["response"]: "y"}
    return table.rename(columns=names).assign(part=table[of["by"]] if "by" in of else "all")


def squares(law, order, limits, train, test):
    """Return predictions of test rows by least squares within bounds, the best of many starts."""
    law, (low, high) = replace(law, noise="additive"), limits[["low", "high"]].to_numpy(float).T
    problem, ahead = Residuals(law, train), Residuals(law, test)
    names = [x for x in order if x not in law.groups]
    names += [f"{x}[d{k}]" for k in "12345" for x in order if x in law.groups]
    place = [names.index(x) for x in problem.names]

    def residuals(x):
        return np.clip(problem.residuals(x[place]), -LARGEST, LARGEST)

    def search(start, most):
        return least_squares(residuals, np.clip(start, low, high), bounds=(low, high), x_scale="jac", max_nfev=most)

    us, floor = np.random.default_rng(1).uniform(0.001, 0.999, (STARTS, len(low))), np.maximum(low, 1e-9)
    starts = np.where((low > 0) & (high > WIDE * low), floor * (high / floor) ** us, low + us * (high - low))
    ends = sorted((search(start, SEARCHED) for start in starts), key=lambda end: end.cost)[:FINISHED]
    return ahead.mean(min((search(end.x, POLISHED) for end in ends), key=lambda end: end.cost).x[place])


def sampled(law, table):
    """Fit a law with short chains; with longer ones where these did not converge and took seconds."""
    fitter, begun = bs.Fitter(law, table), time.process_time()
    fit = fitter.fit(seed=1, draws=500, tune=500, chains=2, least_ess=0, target_accept=0.9)
    if fit.diagnostics["ok"] or time.process_time() - begun > QUICK:
        return fit
    return fitter.fit(seed=1, draws=2000, tune=1000, chains=2, least_ess=0, target_accept=0.95)


def predicted(fit, test):
    """Return draws of new rows, (sample, row), under the law alone and with the drift that the package quotes."""
    law, mean = fit.law, fit.draws.mean(test).values.reshape(-1, len(test))
    noise = fit.draws.replicate(np.random.default_rng(1), test).values.reshape(mean.shape) - law.on_scale(mean)
    quoted = respond(fit, test[[*law.columns, *law.apart]].to_dict("records"))
    return {name: law.from_scale(law.on_scale(x) + noise) for name, x in (("alone", mean), ("quoted", quoted))}


def tried(task, law, table, limits):
    """Fit a law to each part of a task, and compare its predictions of the test rows with those of least squares."""
    of, begun, found = TASKS[task]["laws"][law], time.process_time(), []
    order, by = of["order"].split(), of.get("by", "part")
    entry = {"fits": 0, "converged": 0, "elpd": 0.0, "rows": 0, "high_k": 0}
    for part, rows in table.groupby(by):
        train, test = (rows[rows["split"] == x].reset_index(drop=True) for x in ("train", "test"))
        train = train.iloc[:: TASKS[task].get("thin", 1)].reset_index(drop=True)
        first = (int(part[-1]) - 1) * len(order) if len(limits) > len(order) and by == "part" else 0
        own = limits[first:][: len(order)] if by == "part" else limits
        suited = law_of(task, law, train)
        fit = sampled(suited, train)
        test["squares"] = squares(suited, order, own, train, test)
        for name, y in predicted(fit, test).items():
            test[f"{name} low"], test[name], test[f"{name} high"] = np.quantile(y, [0.05, 0.5, 0.95], axis=0)
        loo = fit.loo(high_k="none")
        of_fit = (1, bool(fit.diagnostics["ok"]), loo.elpd, len(train), int((np.asarray(loo.pareto_k) > 0.7).sum()))
        entry = {key: entry[key] + x for key, x in zip(entry, of_fit, strict=True)}
        found.append(test)
    test = pd.concat(found)
    entry |= {"test_rows": len(test), "seconds": time.process_time() - begun}
    total = ((test["y"] - test.groupby("part")["y"].transform("mean")) ** 2).sum()
    for name in ("squares", "alone", "quoted"):
        errors = test[name] - test["y"]
        entry[name] = {"R2": float(1 - (errors**2).sum() / total), "rmse": float(np.sqrt((errors**2).mean()))}
        if name != "squares":
            entry[name]["held"] = int(test["y"].between(test[f"{name} low"], test[f"{name} high"]).sum())
    return entry


@register("laws of ScaleBench fitted to its tables, and least squares within its bounds", _laws, foreign=True)
def scalebench(parts, *, tables):
    """Fit every law to every task; `tables` is the folder of the benchmark's tables and bounds."""
    limits, result = pd.read_csv(tables / "scalebench_bounds.csv"), {}
    for task, of in TASKS.items():
        table, laws = table_of(task, tables), {}
        for law in of["laws"]:
            own = limits[(limits["task"] == task) & (limits["law"] == law)]
            laws[law] = parts.entry(f"{task} {law}", lambda t=task, x=law, y=table, z=own: tried(t, x, y, z))
        by_loo = max(laws, key=lambda name: laws[name]["elpd"])
        by_test = sorted(laws, key=lambda name: -laws[name]["quoted"]["R2"])
        result[task] = {"rows": int((table["split"] == "train").sum()), "converged": 0, "as_good": 0}
        result[task] |= {"chosen": by_loo, "rank": by_test.index(by_loo) + 1, "best": by_test[0], "laws": laws}
        for fits in laws.values():
            result[task]["converged"] += fits["converged"] == fits["fits"]
            result[task]["as_good"] += fits["quoted"]["R2"] >= fits["squares"]["R2"] - 0.01
    return {"source": SOURCE, "tasks": result}
