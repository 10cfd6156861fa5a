"""Study of ScaleBench: eight tasks with laws that others chose, tables and splits, of which this package has but one.

    python evidence/make.py scalebench --tables FOLDER

The folder has the benchmark's tables as CSV and its bounds; ``scalebench.toml`` has its laws. Each law is fitted to the
rows of training: its posterior, with two chains of 500 draws, or of usual length where these did not converge within
seconds, and by least squares within the bounds, from 64 starts. Both predict the test split, which lies beyond. R2 is of
all test rows, about the mean of each part of a task.
"""

import time
import tomllib
from dataclasses import replace

import bayescaling as bs
import numpy as np
import pandas as pd
from bayescaling.datasets.formula_nodes import evaluate, names_in
from bayescaling.datasets.formulas import parse_formula
from bayescaling.inference.formulas.ask import respond
from bayescaling.models.formula.constants import FUNCTIONS
from formulas import _rounded
from scipy.optimize import least_squares
from study import HERE, register

TASKS = tomllib.loads((HERE / "scalebench.toml").read_text(encoding="utf-8"))
STARTS, SEARCHED, LARGEST = 64, 300, 1e6  # of least squares: starts, evaluations of each, and the largest residual
WIDE, QUICK = 100, 10  # ratio of bounds between which starts are even in logarithms; seconds that allow a second try
SHARED = "domain"  # the column by whose values constants are where a law of several responses shares others


def written(of):
    """Return a law as a formula."""
    return f"{of.get('parts', '')} y ~ {of['formula']}"


def law_of(task, law, table):
    """Return a law of the benchmark as a formula, suited to a table."""
    of, options = TASKS[task]["laws"][law], {"noise": TASKS[task].get("noise", "")}
    priors = dict.fromkeys(of.get("free", "").split(), "Normal(0, 1)") | of.get("priors", {})
    formula = bs.laws.Formula(written(of), priors=priors, errors="none", **options)
    either = dict.fromkeys(of.get("either", "").split(), 0)
    if not either:
        return formula.suited(table)
    return replace(formula, signs=formula.suited(table).signs | either).suited(table)


def _laws():
    """Return each law with a table of its columns that is made up, to compare densities."""
    laws = []
    for task, of in TASKS.items():
        rng = np.random.default_rng(1)
        columns = {x: np.exp(rng.uniform(*np.log(spread[1:]), 60)) for x, spread in of["columns"].items()}
        table = pd.DataFrame({x: [_rounded(v) for v in values] for x, values in columns.items()})
        table["y"] = [_rounded(v) for v in rng.uniform(2, 4, 60)]
        table[SHARED] = np.resize(["1", "2", "3", "4", "5"], 60)
        table.attrs["source"] = task
        laws += [(law_of(task, law, table), table) for law in of["laws"]]
    return laws


def table_of(task, folder):
    """Return the rows of a task with its columns by their letters; of five losses of a row make five."""
    of, table = TASKS[task], pd.read_csv(folder / TASKS[task]["file"])
    if task == "domain_mixture":
        shares = table[[f"proportion_domain_{k}" for k in range(1, 6)]].set_axis(["p1", "p2", "p3", "p4", "p5"], axis=1)
        parts = []
        for k in range(1, 6):
            others = shares.drop(columns=f"p{k}").set_axis(["o1", "o2", "o3", "o4"], axis=1)
            same = {"split": table["split"], "group": table["group"], SHARED: str(k), "loss": table[f"loss_domain_{k}"]}
            parts.append(pd.concat([pd.DataFrame(same), shares, others], axis=1).assign(own=shares[f"p{k}"]))
        table = pd.concat(parts, ignore_index=True)
        table["part"] = table["group"] + " " + table[SHARED]
    names = {column: letter for letter, (column, *_) in of["columns"].items()} | {of["response"]: "y"}
    table = table.rename(columns=names)
    return table.assign(part=table[of["by"]] if "by" in of else "all")


def squares(formula, order, bounds, table, test):
    """Return predictions of test rows by least squares within bounds, the best of many starts."""
    node, y, (low, high) = parse_formula(formula).right, table["y"].to_numpy(float), bounds
    by_level = {name.name for name in names_in(node) if name.levels}
    names = [(x, "") for x in order if x not in by_level]
    names += [(x, level) for level in sorted(table[SHARED].unique()) for x in order if x in by_level] if by_level else []

    of_train, of_test = ({name: x.to_numpy() for name, x in rows.items()} for rows in (table, test))

    def mean(theta, rows):
        at = dict(zip(names, theta, strict=True))

        def value_of(name):
            if name.name in rows:
                return rows[name.name]
            return np.array([at[name.name, x] for x in rows[SHARED]]) if name.levels else at[name.name, ""]

        with np.errstate(all="ignore"):
            return evaluate(node, value_of, FUNCTIONS)

    def residuals(theta):
        return np.nan_to_num(np.clip(mean(theta, of_train) - y, -LARGEST, LARGEST), nan=LARGEST)

    def search(u):
        in_logs = (low > 0) & (high > WIDE * low)
        start = np.where(in_logs, np.maximum(low, 1e-9) * (high / np.maximum(low, 1e-9)) ** u, low + u * (high - low))
        return least_squares(residuals, np.clip(start, low, high), bounds=bounds, x_scale="jac", max_nfev=SEARCHED)

    ends = [search(u) for u in np.random.default_rng(1).uniform(0.001, 0.999, (STARTS, len(low)))]
    return mean(min(ends, key=lambda end: end.cost).x, of_test) + np.zeros(len(test))


def sampled(law, table):
    """Fit a law with short chains; again with those that are usual where it did not converge and that took seconds."""
    fitter, begun = bs.Fitter(law, table), time.process_time()
    fit = fitter.fit(seed=1, draws=500, tune=500, chains=2, least_ess=0)
    again = not fit.diagnostics["ok"] and time.process_time() - begun < QUICK
    return fitter.fit(seed=1) if again else fit


def predicted(fit, test):
    """Return draws of new rows, (sample, row), under the law alone and with the drift that the package quotes."""
    law, mean = fit.law, fit.draws.mean(test).values.reshape(-1, len(test))
    noise = fit.draws.replicate(np.random.default_rng(1), test).values.reshape(mean.shape) - law.on_scale(mean)
    quoted = respond(fit, test[[*law.columns, *law.apart]].to_dict("records"))
    return {name: law.from_scale(law.on_scale(x) + noise) for name, x in (("alone", mean), ("quoted", quoted))}


def tried(task, law, table, limits):
    """Fit a law to each part of a task, and compare its predictions of the test rows with those of least squares."""
    of, order = TASKS[task]["laws"][law], TASKS[task]["laws"][law]["order"].split()
    by, begun = of.get("by", "part"), time.process_time()
    entry = {"fits": 0, "converged": 0, "elpd": 0.0, "rows": 0, "high_k": 0, "refused": []}
    found = []
    for part, rows in table.groupby(by):
        train, test = (rows[rows["split"] == x].reset_index(drop=True) for x in ("train", "test"))
        train = train.iloc[:: TASKS[task].get("thin", 1)].reset_index(drop=True)
        own = limits if by != "part" or task != "domain_mixture" else limits[(int(part[-1]) - 1) * len(order) :]
        count = None if by != "part" else len(order)
        bounds = own[["low", "high"]].to_numpy(float)[:count].T
        test["squares"] = squares(written(of), order, bounds, train, test)
        found.append(test)
        entry["fits"] += 1
        try:
            fit = sampled(law_of(task, law, train), train)
        except bs.InputError as error:
            entry["refused"].append(str(error))
            continue
        for name, y in predicted(fit, test).items():
            test[f"{name} low"], test[name], test[f"{name} high"] = np.quantile(y, [0.05, 0.5, 0.95], axis=0)
        loo = fit.loo(high_k="none")
        entry["converged"] += bool(fit.diagnostics["ok"])
        entry["elpd"] += float(loo.elpd)
        entry["rows"] += len(train)
        entry["high_k"] += int((np.asarray(loo.pareto_k) > 0.7).sum())
    return entry | _errors(pd.concat(found)) | {"seconds": time.process_time() - begun}


def _errors(test):
    """Return R2 and the root mean square error of the test rows, and how many lie in 90% intervals."""
    total = ((test["y"] - test.groupby("part")["y"].transform("mean")) ** 2).sum()
    of = {"test_rows": len(test)}
    for name in ("squares", "alone", "quoted"):
        if name in test and test[name].notna().all():
            errors = ((test[name] - test["y"]) ** 2).sum()
            of[name] = {"R2": float(1 - errors / total), "rmse": float(np.sqrt(errors / len(test)))}
            if f"{name} low" in test:
                of[name]["held"] = int(test["y"].between(test[f"{name} low"], test[f"{name} high"]).sum())
    return of


@register(
    "laws of ScaleBench fitted to its tables, against least squares within its bounds",
    _laws,
    name="scalebench",
    foreign=True,
)
def scalebench(parts, *, tables):
    """Fit every law to every task; `tables` is the folder of the benchmark's tables and bounds."""
    limits = pd.read_csv(tables / "scalebench_bounds.csv")
    result = {}
    for task, of in TASKS.items():
        table, laws = table_of(task, tables), {}
        for law in of["laws"]:
            own = limits[(limits["task"] == task) & (limits["law"] == law)]
            laws[law] = parts.entry(f"{task} {law}", lambda t=task, x=law, y=table, z=own: tried(t, x, y, z))
        result[task] = {"rows": int((table["split"] == "train").sum()), "laws": laws}
    return result
