"""The estimator of Ho et al. (2024): penalised least squares, for a comparison with posteriors.

The mean squared error of L = log(perplexity) plus delta times the sum of the coefficients' sizes is minimised. The
coefficients are those of the paper's code. An intercept or slope by benchmark is one of wt103 (``alpha_const``) and the
offsets of the others from it (``alpha_const_ptb``, ``alpha_const_wt2``), so that the penalty draws benchmarks together.
A slope by architecture is one of each (``alpha_param[transformer]``).

References
----------
.. [1] Ho, A. et al. (2024). Algorithmic progress in language models. arXiv:2403.05812.
"""

from dataclasses import dataclass, replace

import numpy as np

from ...datasets.requirements import positive_columns
from ...datasets.wording import listed, source_of
from ...errors import InputError
from ...models.progress.design import log_vocabulary, origin, points_of
from ...models.progress.growth import doubling_months
from ...models.progress.law import Progress
from ..workers import one_thread
from .result import PointEstimate

STEMS = {"y": "year", "n": "param", "d": "data", "c": "compute", "log(Y)": "log_year"}
STEMS |= {name: name for name in ("after", "hinge")}
OFFSETS = {None: "", "wt103": "", "ptb": "_ptb", "wt2": "_wt2"}
RANDOM_STARTS = 30
SEARCH = {"maxiter": 5000, "maxfun": 10_000, "maxcor": 30, "ftol": 0.0, "gtol": 1e-8}
OPTIMAL = 1e-8  # Largest subgradient of an optimum, nats^2 per unit of a coefficient, as delta is.
SADDLE = -1e-9  # Least scaled eigenvalue, below which a direction leads down.
SAME = 1e-9  # Difference of two objectives below which they are one optimum.


@dataclass(frozen=True)
class _Problem:
    """``exp(parameters @ theta) + exp(data @ theta) + outside @ theta`` against losses; no `data` for a single term."""

    names: tuple
    parameters: np.ndarray
    data: np.ndarray | None
    outside: np.ndarray
    loss: np.ndarray

    def predict(self, theta):
        first = np.exp(self.parameters @ theta)
        second = 0.0 if self.data is None else np.exp(self.data @ theta)
        return first + second + self.outside @ theta

    def mse(self, theta):
        # Trial points may lie far out, for nothing bounds the slopes.
        with np.errstate(over="ignore"):
            return np.mean(np.square(self.loss - self.predict(theta)))

    def objective(self, theta, delta):
        return self.mse(theta) + delta * np.abs(theta).sum()

    def expand(self, theta):
        """Compute the mean squared error, its gradient and its Hessian."""
        with np.errstate(over="ignore", invalid="ignore"):
            excess, jacobian, bends = self.outside @ theta - self.loss, self.outside, []
            for side in (self.parameters, self.data):
                if side is not None:
                    term = np.exp(side @ theta)
                    excess, jacobian = excess + term, jacobian + term[:, None] * side
                    bends.append((side, term))
            hessian = jacobian.T @ jacobian
            for side, term in bends:
                hessian = hessian + side.T @ ((excess * term)[:, None] * side)
            share = 2 / len(excess)
            return np.mean(np.square(excess)), share * (jacobian.T @ excess), share * hessian


def penalised_fit(specification, table, *, delta=0.0025, converged=False):
    """Fit a specification, a number of table 10 of Ho et al. (2024) [1]_ or a custom one, by the paper's estimator.

    By default SLSQP runs from zeros at SciPy's default settings, as the paper's code does; it stops early, and where it
    stops is part of the estimate. With `converged` the objective is minimised to the accuracy of the arithmetic, from
    where SLSQP stops, from zeros and from random points, and the best optimum is returned. The penalty has the weight
    `delta`.

    The `PointEstimate` has ``coefficients`` by the paper's names, and ``doubling_months``: months in which effective
    compute doubles, ``12 log 2 / (alpha_year/alpha_param + beta_year/beta_data)`` where the specification has both; on
    wt103 and for transformers where slopes differ. It is None without progress (16 and 17), where a rate or an exponent
    is not positive, and for 14 and 15, whose rate changes with compute. In `search` are ``specification`` (a number or
    formulas) and ``delta``; ``objective``, the mean squared error plus the penalty, and ``mse``, that error alone, in
    nats^2; ``iterations`` of SLSQP from zeros; and ``subgradient``, the least size of an element, the largest over
    coefficients, 0 at an optimum. `converged` is whether subgradient and Hessian confirm an optimum; SLSQP stops before
    one.
    """
    law = Progress(specification)
    problem = _problem(law, table)
    delta = _weight(delta)
    stop = _slsqp(problem, delta)
    if not converged:
        ending = f"SLSQP from zeros: {stop.message[:1].lower()}{stop.message[1:]} after {stop.nit} iterations"
        return _summary(law, problem, delta, stop.x, stop.nit, ending, table)
    ends = [_descend(problem, start, delta) for start in _starts(problem, stop.x)]
    values = [problem.objective(end, delta) for end in ends]
    ending = f"reached from {sum(value <= min(values) + SAME for value in values)} of {len(ends)} starts"
    return _summary(law, problem, delta, ends[int(np.argmin(values))], stop.nit, ending, table)


def _weight(delta):
    try:
        weight = float(delta)
    except (TypeError, ValueError):
        weight = np.nan
    if not 0 <= weight < np.inf:
        raise InputError(f"delta must be a number of at least 0, not {delta!r}")
    return weight


def _problem(law, table):
    rows = law.selected(table)
    if others := sorted({*rows["benchmark"]} - {*law.benchmarks}, key=str):
        place = source_of(table)
        raise InputError(
            f"{place}: column 'benchmark' has {listed(others)}; the paper's estimator is of {listed(law.benchmarks)}: "
            "leave such rows out with where= (--where)"
        )
    positive_columns(rows, ("parameters", "dataset_tokens", "year", "perplexity"), purpose=law.name)
    points = points_of(law, rows, origin(law, rows)) | {"log(Y)": np.log(rows["year"].to_numpy(float))}
    sides = [_named(columns, points, prefix) for columns, prefix in zip(law.predictors, ("alpha", "beta"), strict=True)]
    if law.spec.shared_year:
        sides[1] = {name.replace("beta_year", "alpha_year"): column for name, column in sides[1].items()}
    outside = {"gamma_vocabulary": log_vocabulary(rows)} if law.spec.vocabulary else {}
    names = tuple(dict.fromkeys([*sides[0], *sides[1], *outside]))
    if len(rows) < len(names):
        place = source_of(table)
        raise InputError(f"{place}: {len(rows)} rows are fewer than the {len(names)} coefficients; add evaluations")

    def matrix(columns):
        nothing = np.zeros(len(rows))
        return np.column_stack([columns.get(name, nothing) for name in names])

    loss = np.log(rows["perplexity"].to_numpy(float))
    return _Problem(names, matrix(sides[0]), matrix(sides[1]) if sides[1] else None, matrix(outside), loss)


def _named(columns, points, prefix):
    """Return columns by the names of their coefficients; wt103's covers all rows, the others are offsets from it."""
    named = {}
    for column in columns:
        stem = "_".join(STEMS[factor] for factor in column.factors) or "const"
        architecture = f"[{column.architecture}]" if column.architecture else ""
        offset = column.benchmark if OFFSETS[column.benchmark] else None
        values = replace(column, benchmark=offset).values(points)
        named[f"{prefix}_{stem}{OFFSETS[column.benchmark]}{architecture}"] = -values if column.factors else values
    return named


def _slsqp(problem, delta):
    from scipy.optimize import minimize

    # Its small systems take ten times as long where several threads share them.
    with np.errstate(invalid="ignore"), one_thread():
        return minimize(problem.objective, np.zeros(len(problem.names)), delta, method="SLSQP")


def _descend(problem, start, delta):
    """Return the minimum that a start leads to.

    The coefficients are differences of positive halves, in which the penalty is smooth. Those that are not zero where
    the search in the halves ends are then solved for.
    """
    from scipy.optimize import minimize, root

    size = len(start)

    def by_halves(halves):
        value, gradient, _ = problem.expand(halves[:size] - halves[size:])
        if not np.isfinite(value):
            return np.inf, np.zeros(2 * size)
        return value + delta * halves.sum(), np.concatenate([gradient, -gradient]) + delta

    halves = np.concatenate([np.maximum(start, 0), np.maximum(-start, 0)])
    halves = minimize(by_halves, halves, jac=True, method="L-BFGS-B", bounds=[(0, None)] * 2 * size, options=SEARCH).x
    theta = halves[:size] - halves[size:]
    used = np.flatnonzero(theta)

    def slopes(values):
        _, gradient, hessian = problem.expand(np.bincount(used, values, size))
        return gradient[used] + delta * np.sign(theta[used]), hessian[np.ix_(used, used)]

    return np.bincount(used, root(slopes, theta[used], jac=True).x, size) if used.size else theta


def _starts(problem, stop):
    # Terms of a few nats at the origin, which change by up to a few e-folds over the table.
    spread = [0.0 if "log_year" in name else 1.0 if "const" in name else 0.1 for name in problem.names]
    noise = np.random.default_rng(1).standard_normal((RANDOM_STARTS, len(stop)))
    return [stop, np.zeros(len(stop)), *(np.array(spread) * noise)]


def _summary(law, problem, delta, theta, iterations, ending, table):
    _, gradient, hessian = problem.expand(theta)
    at_zero = np.sign(gradient) * np.maximum(np.abs(gradient) - delta, 0)
    subgradient = float(np.abs(np.where(theta == 0, at_zero, gradient + delta * np.sign(theta))).max())
    used = (theta != 0) | (delta == 0)
    unit = np.sqrt(np.abs(np.diag(hessian)[used]))
    eigenvalue = float(np.linalg.eigvalsh(hessian[np.ix_(used, used)] / np.outer(unit, unit)).min(initial=np.inf))
    optimal = subgradient <= OPTIMAL and eigenvalue >= SADDLE
    coefficients = dict(zip(problem.names, theta.tolist(), strict=True))
    measures = f"subgradient {subgradient:.1e}, least scaled eigenvalue {eigenvalue:.1e}"
    number = law.specification if isinstance(law.specification, int) else f"{law.spec.parameters} | {law.spec.data}"
    search = {
        "specification": number,
        "delta": delta,
        "objective": float(problem.objective(theta, delta)),
        "mse": float(problem.mse(theta)),
        "iterations": int(iterations),
        "subgradient": subgradient,
    }
    return PointEstimate(
        estimator=f"Penalised least squares of {law.label}",
        estimates={"coefficients": coefficients, "doubling_months": _doubling(law, coefficients)},
        source=source_of(table),
        rows=len(problem.loss),
        converged=optimal,
        message=f"{'an optimum' if optimal else 'no optimum'} ({measures}); {ending}",
        search=search,
    )


def _doubling(law, coefficients):
    if any(column.kind == "rate" for predictor in law.predictors for column in predictor):
        return None

    def slope(prefix, *stems):
        names = [f"{prefix}_{stem}{level}" for stem in stems for level in ("", "[transformer]")]
        return next((coefficients[name] for name in names if name in coefficients), None)

    rate = 0.0
    for prefix, size in (("alpha", slope("alpha", "param", "compute")), ("beta", slope("beta", "data"))):
        if size is not None and size <= 0:
            return None
        fall = slope("alpha" if law.spec.shared_year else prefix, "year")
        rate += 0.0 if size is None or fall is None else fall / size
    return float(doubling_months(rate)) if rate > 0 else None
