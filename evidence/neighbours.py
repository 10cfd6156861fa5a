"""Study of the test of neighbouring residuals: false alarms of right formulas, and how often wrong ones are rejected.

Tables are simulated with relative noise of 1 or 5%, over 2 to 4 decades of one column, and fitted and checked as those
of users are. Right formulas are those that the tables were drawn from. Alarms are counted of all tests together and of
the test of neighbours alone, where p is below 0.01.
"""

from functools import partial

import bayescaling as bs
import numpy as np
import pandas as pd
from bayescaling.inference.checks.verdict import NEIGHBOURS
from scipy import stats
from study import register

FLOOR, POWER = "y ~ E + A * x**-a", "y ~ A * x**-a"
NOISES = (0.01, 0.05)
ROWS, TABLES = {"right": (5, 8, 12, 20, 30, 60, 100), "wrong": (6, 8, 12, 20, 30)}, {"right": 24, "wrong": 25}
LEAST = {"sum of two": 12, "groups": 12, "offset": 12, "logistic": 8}  # rows of right forms of many constants
BRIEF = {"draws": 400, "tune": 500, "chains": 2, "least_ess": 0}


def _power(rng, x, d, g):
    return x ** -rng.uniform(0.1, 0.6)


def _floor(rng, x, d, g):
    share = rng.uniform(0.2, 0.7)
    return share + (1 - share) * x ** -rng.uniform(0.2, 0.7)


def _ceiling(rng, x, d, g):
    a = rng.uniform(0.1, 0.5)
    return 1 - rng.uniform(0.3, 0.9) * (x / x.min()) ** -a


def _offset(rng, x, d, g):
    return 0.3 + (x + 10 ** rng.uniform(-0.5, 0.5)) ** -rng.uniform(0.3, 0.8)


def _sum(rng, x, d, g):
    return 0.3 + 0.4 * x ** -rng.uniform(0.2, 0.5) + 0.3 * d ** -rng.uniform(0.2, 0.5)


def _groups(rng, x, d, g):
    slopes = rng.uniform(0.2, 0.6, 2)
    return 0.4 + np.where(g == "one", 1, rng.uniform(0.6, 1.5)) * x ** -slopes[(g == "two") * 1]


def _logistic(rng, x, d, g):
    """Return a curve that falls by half or more between two levels, in the middle of the column."""
    low, width = rng.uniform(0.1, 0.4), np.log(x.max() / x.min())
    return low + (1 - low) / (1 + x ** (rng.uniform(6, 14) / width))


def _break(rng, x, d, g):
    first, more, sharpness = rng.uniform(0.03, 0.2), rng.uniform(0.3, 0.8), rng.uniform(0.1, 0.4)
    return x**-first * (1 + x ** (1 / sharpness)) ** (-more * sharpness)


def _double_descent(rng, x, d, g):
    return x**-0.3 * (1 + rng.uniform(0.5, 1.5) * np.exp(-((np.log(x) / rng.uniform(0.6, 1.2)) ** 2)))


RIGHT = {
    "power": (POWER, _power),
    "floor": (FLOOR, _floor),
    "ceiling": ("y ~ T - A * x**-a", _ceiling),
    "offset": ("y ~ E + A * (x + x0)**-a", _offset),
    "sum of two": ("y ~ E + A * x**-a + B * d**-b", _sum),
    "groups": ("y ~ E + A[g] * x**-a[g]", _groups),
    "logistic": ("y ~ low + high / (1 + (x / mid)**b)", _logistic),
}
WRONG = {
    "break as a power with a floor": (FLOOR, _break),
    "logistic as a power with a floor": (FLOOR, _logistic),
    "double descent as a power with a floor": (FLOOR, _double_descent),
    "floor as a power": (POWER, _floor),
}


def _table(response, rng, rows, noise):
    """Simulate a table."""
    half = rng.uniform(2, 4) / 2
    x = 10 ** np.sort(np.linspace(-half, half, rows) + rng.uniform(-0.3, 0.3, rows) * half / rows)
    d, g = rng.permutation(x) * rng.uniform(0.7, 1.3, rows), np.array(["one", "two"])[np.arange(rows) % 2]
    y = response(rng, x, d, g) * np.exp(noise * rng.standard_normal(rows))
    return pd.DataFrame({"x": 1e6 * x, "d": 1e9 * d, "g": g, "y": y})


def _tried(formula, response, rows, tables, seed):
    """Fit and check tables of one form and size: how many are rejected, by all tests and by that of neighbours."""
    found = {"tables": tables, "rejected": 0, "by neighbours": 0, "converged": 0}
    for table in range(tables):
        rng = np.random.default_rng([seed, rows, table])
        simulated = _table(response, rng, rows, NOISES[table % 2])
        fit = bs.Fitter(bs.laws.Formula(formula).suited(simulated), simulated).fit(seed=1, **BRIEF)
        rejected = fit.check()["rejected_by"]
        found["rejected"] += bool(rejected)
        found["by neighbours"] += any(name.startswith(NEIGHBOURS) for name in rejected)
        found["converged"] += fit.diagnostics["divergences"] == 0 and fit.diagnostics["r_hat_max"] < 1.05
    return found


def _share(cases, of):
    """Return the share of tables of some cases, and its 95% interval."""
    count, tables = (sum(case[name] for case in cases) for name in (of, "tables"))
    return {"share": count / tables, "tables": tables, "interval": [*stats.binomtest(count, tables).proportion_ci()]}


@register("Formulas that the test of neighbouring residuals rejects: right ones, and wrong ones by rows", list, seed=1)
def neighbours(parts, *, seed):
    """Count the simulated tables of right and of wrong formulas that are rejected."""
    result = {}
    for kind, forms in ("right", RIGHT), ("wrong", WRONG):
        cases = {
            name: {
                str(rows): parts.entry(f"{name} {rows}", partial(_tried, *form, rows, TABLES[kind], seed))
                for rows in ROWS[kind]
                if rows >= LEAST.get(name, 0)
            }
            for name, form in forms.items()
        }
        result[kind] = cases
    of_right = [case for cases in result["right"].values() for case in cases.values()]
    of_largest = [cases[str(ROWS["wrong"][-1])] for cases in result["wrong"].values()]
    result["alarms"] = {name: _share(of_right, name) for name in ("rejected", "by neighbours")}
    result["seen in 30 rows"] = {name: _share(of_largest, name) for name in ("rejected", "by neighbours")}
    return result
