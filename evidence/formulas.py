"""Studies of formulas: whether intervals hold the truth of simulated tables, and NIST's nonlinear regressions.

Each simulated table has 5 to 100 rows, at least one more than constants, one of two levels of noise, and constants
drawn over ranges that are those of no prior. ``make.py formulas_simulated --again --count 200`` makes so many tables of
each form; those that were made before are not made again.

Of NIST's regressions (https://www.itl.nist.gov/div898/strd, public domain) the formula is fitted with additive normal
noise, from no starting values. Every normal and log-normal prior is the package's own, from the place of the constant
and the scale of the columns, but three times as wide; shares keep theirs. A term or a constant that is negative is
written with a minus sign, as the language has it, and the square of a ratio as ``((x - m) / w)**2``.
"""

import json
import re
import time
from collections.abc import Callable
from typing import NamedTuple

import bayescaling as bs
import numpy as np
import pandas as pd
from bayescaling.datasets.formula_nodes import evaluate
from bayescaling.datasets.formulas import parse_formula
from bayescaling.inference.formulas.answering import Answering
from bayescaling.inference.formulas.question import parse_question
from bayescaling.models.formula.constants import FUNCTIONS
from study import register

ROWS, NOISES, COUNT, WRONG_ROWS = (5, 8, 12, 30, 100), (0.01, 0.05), 20, 30
AHEAD, FURTHER = 10, 2  # times the largest x: where a value is asked for, and where a value is whose x is asked for


class Form(NamedTuple):
    """A form of tables.

    `constants` draws the true ones from a generator, given the decades that x spans; x is 1 at its centre, and the
    response is about 1. `columns` draws the other columns. `fitted` is the formula that is fitted where it is a wrong
    one.
    """

    formula: str
    asked: tuple
    constants: Callable
    columns: Callable = lambda rng, x: {}
    fitted: str = ""


def _exponent(rng):
    return rng.uniform(0.1, 0.8)


def _shares(rng, exponents, *names):
    """Draw shares of terms at the centre, and exponents."""
    of = dict(zip(names, rng.dirichlet([3] * len(names)), strict=True))
    return of | {name: _exponent(rng) for name in exponents}


def _ceiling(rng, decades):
    a = _exponent(rng)
    return {"T": 1.0, "A": rng.uniform(0.2, 0.9) * 10 ** (-a * decades / 2), "a": a}


def _offset(rng, decades):
    of, x0 = _shares(rng, "a", "E", "A"), 10 ** (rng.uniform(-0.4, 0.2) * decades)
    return of | {"x0": x0, "A": of["A"] * (1 + x0) ** of["a"]}


def _logistic(rng, decades):
    of = {"low": rng.uniform(0.05, 0.3), "top": rng.uniform(0.6, 1.0), "m": rng.uniform(-0.25, 0.25) * decades}
    return of | {"k": rng.uniform(4, 12) / decades}


def _coupled(rng, decades):
    share, an, ad = rng.uniform(0.2, 0.8), _exponent(rng), _exponent(rng)
    return {"nc": share ** (ad / an), "an": an, "ad": ad, "dc": 1 - share}


def _groups(rng, decades):
    of = _shares(rng, "", "E", "A")
    return of | {"A": of["A"] * np.array([1, rng.uniform(0.6, 1.6)]), "a": np.array([_exponent(rng), _exponent(rng)])}


def _break(rng, decades):
    of = {"A": 1.0, "c0": rng.uniform(0.03, 0.4), "c1": rng.uniform(0.2, 0.8), "f": rng.uniform(0.1, 0.6)}
    return of | {"d1": 10 ** (rng.uniform(-0.2, 0.2) * decades)}


def _data(rng, x):
    return {"d": np.exp(rng.permutation(np.log(x)) * rng.uniform(0.7, 1.3))}


FLOOR, POWER = "y ~ E + A * x**-a", "y ~ A * x**-a"
LOGISTIC = "y ~ low + (top - low) / (1 + exp(-k * (log10(x) - m)))"
BREAK = "y ~ A * x**-c0 * (1 + (x / d1)**(1 / f))**(-c1 * f)"
OFFSET = "y ~ E + A * (x + x0)**-a"
LOGARITHM = "y ~ a + b * log10(x)"
FORMS = {
    "power": Form(POWER, ("a",), lambda rng, decades: {"A": 1.0, "a": _exponent(rng)}),
    "floor": Form(FLOOR, ("a",), lambda rng, decades: _shares(rng, "a", "E", "A")),
    "ceiling": Form("y ~ T - A * x**-a", ("a",), _ceiling),
    "offset": Form(OFFSET, ("a",), _offset),
    "logarithm": Form(LOGARITHM, ("b",), lambda rng, decades: {"a": rng.uniform(-3, 3), "b": rng.uniform(-3, 3)}),
    "logistic": Form(LOGISTIC, ("k",), _logistic),
    "sum": Form(
        "y ~ E + A * x**-a + B * d**-b", ("a", "b"), lambda rng, decades: _shares(rng, "ab", "E", "A", "B"), _data
    ),
    "coupled": Form("y ~ ((nc / x)**(an / ad) + dc / d)**ad", ("an", "ad"), _coupled, _data),
    "groups": Form(
        "y ~ E + A[g] * x**-a[g]",
        ("a[one]", "a[two]"),
        _groups,
        lambda rng, x: {"g": np.array(["one", "two"])[np.arange(len(x)) % 2]},
    ),
    "experts": Form(
        "y ~ E + A * x**-a * (total / x)**-g",
        ("a", "g"),
        lambda rng, decades: _shares(rng, "a", "E", "A") | {"g": rng.uniform(0.05, 0.5)},
        lambda rng, x: {"total": x * 2.0 ** rng.integers(0, 7, len(x))},
    ),
    "bits": Form(
        "y ~ A * (x * (1 - exp(-bits / h)))**-a",
        ("a", "h"),
        lambda rng, decades: {"A": 1.0, "a": _exponent(rng), "h": rng.uniform(1, 5)},
        lambda rng, x: {"bits": rng.permutation(np.resize([2.0, 3, 4, 6, 8, 16], len(x)))},
    ),
    "break": Form(BREAK, ("c0", "c1"), _break),
}
WRONG = {
    "break as a power with floor": Form(BREAK, (), _break, fitted=FLOOR),
    "logistic as a power": Form(LOGISTIC, (), _logistic, fitted="y ~ A * x**a"),
    "double descent as a power": Form(
        "y ~ A * x**-a + B * exp(-(log(x) / w)**2)",
        (),
        lambda rng, decades: {"A": 1.0, "a": _exponent(rng), "B": rng.uniform(0.2, 1), "w": rng.uniform(0.3, 1)},
        fitted=POWER,
    ),
    "offset as a power": Form(
        "y ~ A * (x + x0)**-a",
        (),
        lambda rng, decades: {"A": 1.0, "x0": 10 ** (rng.uniform(-0.2, 0.2) * decades), "a": rng.uniform(0.3, 0.9)},
        fitted=POWER,
    ),
}


def table_of(form, rng, rows, noise):
    """Simulate a table; also return the truth of each question by its text, with the place of a value as (x, value)."""
    decades = rng.uniform(2, 4)
    constants = form.constants(rng, decades)
    n = max(rows, sum(map(np.size, constants.values())) + 1)
    x = 10 ** np.sort(decades * (np.linspace(-0.5, 0.5, n) + rng.uniform(-0.3, 0.3, n) / n))
    others = form.columns(rng, x)
    # Columns that are compared with x have its unit.
    units = {"x": 10 ** rng.uniform(-3, 9), "y": 10 ** rng.uniform(-2, 2)}
    units |= {"total": units["x"], "d": 10 ** rng.uniform(0, 10)}
    right = parse_formula(form.formula).right

    def response(columns):
        groups = np.array(columns.get("g", "")) == "two"

        def value_of(name):
            value = constants[name.name] if name.name in constants else columns[name.name]
            return np.asarray(value)[groups * 1] if name.levels else value

        return evaluate(right, value_of, FUNCTIONS)

    y = response({"x": x} | others)
    of_noise = noise * rng.standard_normal(n)
    y = y + 2 * y.std() * of_noise if form.formula == LOGARITHM else y * np.exp(of_noise)

    def scaled(values):
        """Return columns in their units, to six digits."""
        return {k: v if k == "g" else np.vectorize(_rounded)(v * units.get(k, 1.0)) for k, v in values.items()}

    table = pd.DataFrame(scaled({"y": y, "x": x} | others))
    unit = units["y"] if form.formula == LOGARITHM else 1.0  # of a slope in the logarithm of x
    truths = {}
    for name in form.asked:
        key, _, level = name.partition("[")
        truths[name] = unit * float(np.ravel(constants[key])[int(level == "two]")])
    for times in (AHEAD, FURTHER) if form.asked else ():
        at = {"x": times * x.max()} | {name: max(values) for name, values in others.items()}
        at |= {"total": 8 * at["x"]} if "total" in at else {}
        value, given = float(units["y"] * response(at)), [f"{name} = {of}" for name, of in scaled(at).items()]
        place, *rest = given
        if times == AHEAD:
            truths["y at " + ", ".join(given)] = value
    if form.asked:
        truths[f"x where y = {value!r}" + (f" at {', '.join(rest)}" if rest else "")] = float(place[4:])
    return table, truths


def _rounded(x):
    return float(f"{x:.6g}")


def law_of(formula):
    """Return the law of a formula, with the noise that tables of it have."""
    return bs.laws.Formula(formula, noise="additive" if formula == LOGARITHM else "relative")


def tried(form, seed, rows, noise):
    """Fit a form to one simulated table: whether it converged, held the truths, and was rejected."""
    table, truths = table_of(form, np.random.default_rng(seed), rows, noise)
    begun = time.process_time()
    fit = bs.fit(law_of(form.fitted or form.formula), table, seed=1, check=False)
    seconds = time.process_time() - begun
    entry = {name: fit.diagnostics[name] for name in ("ok", "divergences", "r_hat_max", "ess_bulk_min", "ess_tail_min")}
    entry |= {
        "rows": len(table),
        "noise": noise,
        "seconds": seconds,
        "rejected": fit.check()["rejected_by"],
        "answers": {},
    }
    answers = fit.ask(*truths)
    for question, truth in truths.items():
        low, high = answers.loc[question, ["q2.5", "q97.5"]]
        name, below = question.split(" =")[0], share_below(fit, question, truth)
        entry["answers"][name] = {"90%": 0.05 <= below <= 0.95, "95%": bool(low <= truth <= high)}
    return entry


def share_below(fit, question, truth):
    """Return the share of draws of an answer below the truth; of a place, of draws of the value there, below it."""
    if " where " in question:
        name, _, right = question.partition(" where y = ")
        value, _, rest = right.partition(" at ")
        question, truth = f"y at {name} = {truth!r}" + (f", {rest}" if rest else ""), float(value)
    answers = Answering(fit, question, drifts=False).rows(parse_question(question))
    return float((answers[question][0] < truth).mean())


def _laws():
    """Return the law of each form, suited to a table of it."""
    laws = []
    for name, form in FORMS.items():
        table, _ = table_of(form, np.random.default_rng(1), 12, 0.01)
        table.attrs["source"] = name
        laws.append((law_of(form.formula).suited(table), table))
    return laws


@register(
    "whether intervals of formulas hold the truth of simulated tables, and wrong forms are rejected",
    _laws,
    name="formulas_simulated",
    seed=1,
)
def simulated(parts, *, seed, count=COUNT):
    """Fit every form to simulated tables of it, and wrong forms to half as many tables of others."""

    def entry(name, form, k, rows, noise):
        part = f"{name} {noise} {k}" if form.fitted else f"{name} {k}"
        return parts.entry(part, lambda: tried(form, [seed, *name.encode(), k], rows, noise))

    cases = [(k, ROWS[k % len(ROWS)], NOISES[k // len(ROWS) % len(NOISES)]) for k in range(count)]
    right = {name: _summary([entry(name, form, *case) for case in cases]) for name, form in FORMS.items()}
    wrong = {}
    for name, form in WRONG.items():
        for noise in NOISES:
            made = [entry(name, form, k, WRONG_ROWS, noise) for k in range(count // 2)]
            wrong[f"{name}, noise {noise:.0%}"] = {"tables": len(made), "rejected": _share(made, "rejected")}
    return {"right": right, "wrong": wrong}


def _share(entries, what):
    return sum(bool(entry[what]) for entry in entries) / len(entries)


def _summary(entries):
    """Return shares of tables that converged, were rejected and whose intervals held the truths, and CPU seconds."""
    held = {
        width: {name: _share([e["answers"][name] for e in entries], width) for name in entries[0]["answers"]}
        for width in ("90%", "95%")
    }
    by_rows = {}
    for rows in sorted({entry["rows"] for entry in entries}):
        of = [entry for entry in entries if entry["rows"] == rows]
        inside = [answer for entry in of for answer in entry["answers"].values()]
        by_rows[rows] = {"converged": _share(of, "ok"), "90%": _share(inside, "90%")}
    seconds = [entry["seconds"] for entry in entries]
    return {
        "tables": len(entries),
        "converged": _share(entries, "ok"),
        "rejected": _share(entries, "rejected"),
        "held": held,
        "by_rows": by_rows,
        "seconds": {"median": float(np.median(seconds)), "mean": float(np.mean(seconds)), "most": max(seconds)},
    }


# NIST ----------------------------------------------------------------------------------------------------------------

WIDER = 3  # times the standard deviation of the package's own prior
SIGNED = {
    "Bennett5": "y ~ -b1 * (b2 + x)**(-1/b3)",
    "Hahn1": "y ~ (b1 - b2*x + b3*x**2 - b4*x**3) / (1 - b5*x + b6*x**2 - b7*x**3)",
    "Kirby2": "y ~ (b1 - b2*x + b3*x**2) / (1 - b4*x + b5*x**2)",
    "MGH17": "y ~ b1 + b2*exp(-x*b4) - b3*exp(-x*b5)",
    "Nelson": "log(y) ~ b1 - b2*x1*exp(b3*x2)",
}
# Constants of terms of one shape, which may change places; the second of each decides the order.
EXCHANGED = {
    "Lanczos": (("b1", "b2"), ("b3", "b4"), ("b5", "b6")),
    "Gauss": (("b3", "b4", "b5"), ("b6", "b7", "b8")),
    "MGH17": (("b2", "b4"), ("b3", "b5")),
}


@register(
    "NIST's nonlinear regressions as formulas: least squares, and posteriors under wide priors",
    _laws,
    name="formulas_nist",
    foreign=True,
    seed=1,
)
def nist(parts, *, seed, tables):
    """Compare least squares and posteriors with NIST's certified values, problem by problem."""
    problems = json.loads((tables / "certified.json").read_text(encoding="utf-8"))
    result = {"points": {}, "posterior": {}}
    for name, of in problems.items():
        table = pd.read_csv(tables / f"{name}.csv")
        of["formula"] = re.sub(r"\((x - b\d)\)\*\*2/(b\d)\*\*2", r"((\1)/\2)**2", of["formula"])
        result["points"][name] = parts.entry(f"points {name}", lambda of=of, t=table, n=name: _points(n, of, t))
        result["posterior"][name] = parts.entry(
            f"posterior {name}", lambda of=of, t=table, n=name: _posterior(n, of, t, seed)
        )
    return result


def _points(name, of, table):
    """Return the digits to which least squares meet the certified estimates and standard deviations."""
    estimate = bs.points.fit_formula(bs.laws.Formula(of["formula"], noise="additive", errors="none"), table)
    both = {b: np.array([estimate[b], estimate.errors[b]]) for b in of["certified"]}
    found = _ordered(name, both, by={b: np.full(2, x[0]) for b, x in both.items()})
    digits = [_digits(found, of[what], k) for k, what in enumerate(("certified", "sd"))]
    return {"digits": digits[0], "digits_of_sd": digits[1], "converged": estimate.converged}


def _digits(found, certified, k):
    return float(min(-np.log10(max(abs(found[b][k] / x - 1), 1e-12)) for b, x in certified.items()))


def _posterior(name, of, table, seed):
    """Return how far posterior means are from certified ones, in certified sds, and the ratio of sds."""

    def law(priors):
        formula = SIGNED.get(name, of["formula"])
        return bs.laws.Formula(formula, noise="additive", tails="normal", errors="none", priors=priors)

    wider = {
        quantity: f"{prior.distribution}({prior.arguments['mu']!r}, {WIDER * prior.arguments['sigma']!r})"
        for quantity, prior in law({}).suited(table).prior_of.items()
        if prior.distribution in ("Normal", "LogNormal")
    }
    begun = time.process_time()
    try:
        fitter = bs.Fitter(law(wider).suited(table), table)
        fit = fitter.fit(seed=seed, target_accept=0.95, least_ess=0)  # chains of 1,000 + 1,000 once, of any ESS
    except bs.InputError as error:
        return {"ok": False, "refused": str(error)}
    entry = {key: fit.diagnostics[key] for key in ("ok", "divergences", "r_hat_max", "ess_bulk_min")}
    signs = {b: -1 if name in SIGNED and x < 0 else 1 for b, x in of["certified"].items()}
    draws = _ordered(name, {b: sign * fit["posterior"][b].values.ravel() for b, sign in signs.items()})
    entry["means"] = {b: (draws[b].mean() - x) / of["sd"][b] for b, x in of["certified"].items()}
    entry["sds"] = {b: draws[b].std() / x for b, x in of["sd"].items()}
    return entry | {"seconds": time.process_time() - begun}


def _ordered(name, values, by=None):
    """Return constants whose terms that may change places are in the order of their second."""
    for start, groups in EXCHANGED.items():
        if name.startswith(start):
            order = np.argsort([(by or values)[group[1]] for group in groups], axis=0)
            for same in zip(*groups, strict=True):
                rows = np.take_along_axis(np.stack([values[b] for b in same]), order, axis=0)
                values = values | dict(zip(same, rows, strict=True))
    return values
