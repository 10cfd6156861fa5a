"""Least squares of a formula, with neither starting values nor bounds."""

from __future__ import annotations

import warnings

import numpy as np

from ...datasets.formula_nodes import Name
from ...datasets.reader import TableSource, as_table
from ...datasets.wording import source_of
from ...errors import DiagnosticWarning, InputError
from ...models.formula.law import Formula
from .result import PointEstimate

SCREENED, SOLVED = 1000, 12  # draws of the prior, and those of least sum of squares, from which searches start
POLISHED = 3  # times, each in units of where the last ended
SAME = 1e-6  # relative difference of two sums of squares below which they are one minimum
FLAT = 1e-4  # the most that residuals may point along the tangents of a minimum, as a share of their length
HUGE = 1e100
COARSE, FINE = ({"xtol": x, "ftol": x, "gtol": x, "max_nfev": n} for x, n in ((1e-8, 400), (1e-15, 1000)))


def fit_formula(formula: str | Formula, table: TableSource, *, starts: int = SOLVED, seed: int = 1) -> PointEstimate:
    """Fit a formula by least squares of its residuals, on the scale of its noise.

    That is the logarithm of a positive response, unless the formula has ``noise="additive"``. Standard errors of rows
    are not used. Starts are draws of the prior, each with the best values of those constants in which the formula is
    linear. The priors have no other part in the estimates, and signs are free.

    Parameters
    ----------
    formula : str or Formula
        Such as ``"loss ~ E + A * n**-alpha"``, or ``bs.laws.Formula(..., noise="additive")``.
    table : DataFrame, path, str or mapping
    starts : int
        Number of searches, from the draws of least sum of squares of 1,000; half as many start from other signs.
    seed : int

    Returns
    -------
    PointEstimate
        The best end. ``constants`` are by name, and `errors` are their standard errors by the curvature there.
        `search` has ``objective``, the sum of squares, and ``starts_at_best`` of the ``starts``.

    Raises
    ------
    InputError
        If the formula does not suit the table, or the response is a count.

    Warns
    -----
    DiagnosticWarning
        If the best end is no minimum, or the rows do not decide all constants.

    Examples
    --------
    >>> import bayescaling as bs
    >>> import pandas as pd
    >>> table = pd.DataFrame({"n": [1e6, 3e6, 1e7, 3e7, 1e8, 3e8], "loss": [4.12, 3.61, 3.22, 2.92, 2.71, 2.54]})
    >>> round(bs.points.fit_formula("loss ~ E + A * n**-alpha", table)["alpha"], 2)
    0.25
    """
    law = Formula(formula) if isinstance(formula, str) else formula
    table = as_table(table, "columns", law.needed)
    law = law.suited(table)
    if law.counts:
        raise InputError(f"{law.observed} is a count; least squares need noise='additive'")
    rows = law.rows(table)
    problem = Residuals(law, rows)
    # Signs of constants inside functions are mostly those of the prior, but not always.
    points = sorted(problem.starts(seed), key=problem.squares)[:starts]
    points += sorted(problem.starts(seed, either_sign=True), key=problem.squares)[: starts // 2]
    ends = [problem.searched(start, COARSE) for start in points]
    tolerance = FLAT**2 * SAME * problem.total
    best = [end for end in ends if end[0] <= min(end[0] for end in ends) * (1 + SAME) + tolerance]
    end = max(best, key=lambda end: np.count_nonzero(end[1] > 0))  # of two that differ by signs alone
    for _ in range(POLISHED):
        end = min((problem.searched(end[1], FINE), end), key=lambda end: end[0])
    objective, theta, jacobian = end
    at_best = sum(end[0] <= objective * (1 + SAME) + tolerance for end in ends)
    left, sizes, right = np.linalg.svd(jacobian / np.linalg.norm(jacobian, axis=0), full_matrices=False)
    residuals, free = problem.residuals(theta), max(1, len(rows) - len(theta))
    tangent = np.linalg.norm(left.T @ residuals) / max(np.linalg.norm(residuals), np.finfo(float).tiny)
    decided = sizes[-1] > 1e-10 * sizes[0]
    root = right.T / sizes / np.linalg.norm(jacobian, axis=0)[:, None]
    errors = np.sqrt(objective / free * (root**2).sum(1))
    converged = bool(decided and (tangent < FLAT or objective < SAME**2 * problem.total))
    message = f"a minimum, reached from {at_best} of {len(ends)} starts"
    if not converged:
        message = "no minimum was reached" if decided else "the rows do not decide all constants"
        warnings.warn(f"fit_formula: {message}", DiagnosticWarning, stacklevel=2)
    return PointEstimate(
        estimator=f"least squares of {law.label}",
        estimates={"constants": dict(zip(problem.names, theta.tolist(), strict=True))},
        source=source_of(table),
        rows=len(rows),
        converged=converged,
        message=message,
        errors=dict(zip(problem.names, errors.tolist(), strict=True)),
        search={"objective": float(objective), "starts": len(ends), "starts_at_best": at_best},
    )


class Residuals:
    """Residuals of a formula on rows, of a vector of its constants, those by group one after the other."""

    def __init__(self, law, rows):
        self.law, self.rows, self.reference = law, rows, law.reference(rows)
        self.design = law.design_arrays(rows)
        levels = dict(law.levels)
        self.groups = {name: levels.get(law.groups.get(name), ()) for name in law.roles}
        self.names = [str(Name(name, own)) for name in law.roles for own in [(x,) for x in self.groups[name]] or [()]]
        linear = [role.kind in ("amplitude", "level") for role in law.roles.values()]
        self.linear = np.repeat(linear, [max(1, len(own)) for own in self.groups.values()])
        self.y = law.response(rows)
        self.weights = 1 / self.y if law.noise == "relative" else np.ones(len(rows))
        self.total = float((self.design["row_y"] ** 2).sum())

    def mean(self, theta):
        """Return the mean response, (row,)."""
        constants, place = {}, 0
        for name, own in self.groups.items():
            constants[name] = theta[place : place + len(own)] if own else theta[place]
            place += max(1, len(own))
        with np.errstate(all="ignore"):
            mean = self.law.mean({}, self.design, self.reference, {k: np.asarray(x) for k, x in constants.items()})
        return np.broadcast_to(mean, len(self.rows))

    def residuals(self, theta):
        """Return residuals on the scale of the noise."""
        with np.errstate(all="ignore"):
            residuals = self.design["row_y"] - self.law.on_scale(self.mean(theta))
        return np.nan_to_num(residuals, nan=HUGE, posinf=HUGE, neginf=-HUGE)

    def squares(self, theta):
        """Return the sum of squares."""
        return float((self.residuals(theta) ** 2).sum())

    def searched(self, start, tolerances):
        """Return the sum of squares, the constants and the Jacobian at the end of a search, in units of its start."""
        from scipy import optimize

        unit = np.abs(start) + 1e-12 * np.abs(start).max()
        found = optimize.least_squares(
            lambda u: self.residuals(u * unit), start / unit, "3-point", method="lm", **tolerances
        )
        return 2 * found.cost, found.x * unit, found.jac / unit

    def starts(self, seed, *, either_sign=False):
        """Yield draws of the prior, with the best values of constants in which the formula is linear."""
        draws = self.law.prior_draws(np.random.default_rng(seed), self.reference, self.rows, SCREENED).named()
        drawn = np.column_stack([draws[name].values[0].reshape(SCREENED, -1) for name in self.law.roles])
        if either_sign:
            drawn *= np.where(self.linear, 1, np.random.default_rng(seed).choice([-1, 1], drawn.shape))
        for theta in drawn[np.isfinite(drawn).all(1)]:
            if self.linear.any():
                theta = self._with_linear(theta)
            if theta is not None:
                yield theta

    def _with_linear(self, theta):
        theta = np.where(self.linear, 0.0, theta)
        rest, units = self.mean(theta), np.eye(len(theta))[self.linear]
        columns = np.stack([self.mean(theta + unit) - rest for unit in units], axis=1) * self.weights[:, None]
        sizes = np.linalg.norm(columns, axis=0)
        if not (np.isfinite(sizes).all() and (sizes > 0).all() and np.isfinite(rest).all()):
            return None
        theta[self.linear] = np.linalg.lstsq(columns / sizes, (self.y - rest) * self.weights, rcond=1e-13)[0] / sizes
        return theta
