"""Point estimates of the Chinchilla law: the parametric estimator of Hoffmann et al. (2022), approach 3."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ...datasets.reader import TableSource, as_table
from ...datasets.requirements import positive_columns
from ...datasets.wording import source_of
from ...errors import DiagnosticWarning, InputError
from ...models.loss import chinchilla
from . import huber
from .result import PointEstimate

SCALES = ("free", "fixed")
FEWEST_ROWS = 6
FEWEST_SIZES = 3
SCREENED = 50
START_GRID = dict.fromkeys("ab", np.arange(0.0, 26.0, 5.0)) | {"e": np.arange(-1.0, 1.1, 0.5)}
START_GRID |= dict.fromkeys(("alpha", "beta"), np.arange(0.0, 2.1, 0.5))

NARROWEST = 1e-10  # Narrowest quadratic zone in log loss, well above the rounding of a residual.
OPTIMAL = 1e-5  # Largest relative gradient of a minimum; a single run among 245 pulls 4e-3.
FLAT = 1e-6  # Scaled eigenvalue of a flat direction over delta: curvature is that small where residuals vanish.
ALIKE = 1e-6  # Largest difference of a logarithm or an exponent between two coarse minima that are one.
SAME = 1e-6  # Relative difference of two objectives below which they are one optimum.
ROUNDS = 200


@dataclass(frozen=True)
class _Solution:
    theta: np.ndarray
    scale: float | None
    objective: float
    optimality: float
    eigenvalue: float
    delta: float

    @property
    def converged(self):
        return self.optimality <= OPTIMAL and self.eigenvalue > FLAT * min(1.0, self.delta)


def fit_huber(
    runs: TableSource,
    *,
    threshold: float = 1e-3,
    scale: str = "free",
    starts: int | ArrayLike | None = None,
    drop_highest: int = 0,
) -> PointEstimate:
    """Fit ``E + A/N**alpha + B/D**beta`` to log loss by Huber's criterion.

    With ``scale="fixed"`` the sum of Huber's function of the residuals of the log loss is minimised, as equation 3 of
    Hoffmann et al. (2022) has it [1]_. With ``scale="free"`` the likelihood of a Huber density is maximised whose
    threshold is in units of its free scale, the estimator of Besiroglu et al. (2024) [2]_; at the default threshold
    that is least absolute deviations in effect.

    From each start the minimum is followed from a wide threshold to the requested one. A free scale alternates between
    its closed form at given constants and the constants at a given scale. The gradient and Hessian by all of them
    jointly decide whether the end is a minimum.

    Parameters
    ----------
    runs : DataFrame, path, str or mapping
        One row a run: ``parameters`` N, ``tokens`` D and ``loss`` in nats per token, all positive.
    threshold : float
        Where Huber's function turns from quadratic to linear: in units of the scale if that is free, else in log loss.
    scale : {"free", "fixed"}
        Whether the density has a free scale.
    starts : int or array_like, optional
        Number of starts (50) to solve in full of the 4,500 of the grid of Hoffmann et al., which are all screened. The
        best at each pair of exponents come first. Or the starts themselves, rows of log A, log B, log E, alpha, beta.
    drop_highest : int
        Number of rows of highest loss to leave out.

    Returns
    -------
    PointEstimate
        The best end of all starts. ``constants`` are E, A, B, alpha and beta of the loss in nats per token.
        ``exponent`` is that of compute-optimal parameters in compute, ``beta/(alpha+beta)``. In `search` are

        - ``threshold`` and ``scale`` of the Huber density, in log loss; None if the scale was fixed;
        - ``objective``: with a free scale the negative log likelihood in nats, else the sum of Huber's function;
        - ``starts``, ``starts_at_best`` that ended at this optimum and ``starts_unconverged`` that reached no minimum;
        - ``other_optima``: ``objective`` and number of ``starts`` of other minima that starts converged to;
        - ``gradient_norm``: largest absolute gradient by a constant, as a share of the most that the runs could pull on
          it (0 to 1);
        - ``hessian_min_eigenvalue``: the least, scaled to a unit diagonal, by log constants at the centre of the runs,
          exponents and, where free, log scale; positive at a minimum.

    Raises
    ------
    InputError
        If a column is missing or not positive, a size has fewer than 3 different values, fewer than 6 rows remain, or
        an option is unknown.

    Warns
    -----
    DiagnosticWarning
        If the best end is not a minimum, or an exponent is not positive.

    References
    ----------
    .. [1] Hoffmann, J. et al. (2022). Training compute-optimal large language models. arXiv:2203.15556, section 3.3.
    .. [2] Besiroglu, T. et al. (2024). Chinchilla scaling: a replication attempt. arXiv:2404.10102.

    Examples
    --------
    >>> import bayescaling as bs
    >>> runs = bs.load("chinchilla_runs").nsmallest(240, "loss")
    >>> round(bs.points.fit_huber(runs)["E"], 2)
    1.82
    """
    runs = as_table(runs)
    check_huber(threshold=threshold, scale=scale, drop_highest=drop_highest)
    sample, centre = _sample(runs, drop_highest)
    points = _starts(starts, sample, centre)
    solutions = _solutions(sample, points, float(threshold), free=scale == "free")
    fit = _summary(solutions, sample, centre, threshold, runs)
    if not fit.converged or min(fit["alpha"], fit["beta"]) <= 0:
        warnings.warn(f"fit_huber: {fit.message}", DiagnosticWarning, stacklevel=2)
    return fit


def check_huber(*, threshold=1e-3, scale="free", drop_highest=0):
    """Raise `InputError` for options of `fit_huber` that no table could be used with."""
    if scale not in SCALES:
        raise InputError(f"scale {scale!r} is unknown; choose one of {', '.join(SCALES)}")
    if not (isinstance(threshold, (int, float)) and 0 < threshold < np.inf):
        raise InputError(f"threshold must be a positive number, not {threshold!r}")
    if not (isinstance(drop_highest, (int, np.integer)) and drop_highest >= 0):
        raise InputError(f"drop_highest must be a number of rows, 0 or more, not {drop_highest!r}")


def _sample(runs, drop_highest):
    columns = positive_columns(runs, ("parameters", "tokens", "loss"), purpose="fit_huber")
    place = source_of(runs)
    rows = np.sort(np.argsort(columns["loss"], kind="stable")[: max(0, len(runs) - drop_highest)])
    if len(rows) < FEWEST_ROWS:
        raise InputError(
            f"{place}: {len(rows)} rows are too few for the 5 constants of the law; give at least {FEWEST_ROWS}"
        )
    for name in ("parameters", "tokens"):
        sizes = np.unique(columns[name][rows])
        if len(sizes) == 1:
            raise InputError(f"{place}: column {name!r} is {sizes[0]:g} in every row; add runs of other {name}")
        if len(sizes) < FEWEST_SIZES:
            raise InputError(
                f"{place}: column {name!r} has {len(sizes)} different values and the law needs {FEWEST_SIZES}; "
                f"add runs of other {name}"
            )
    log_parameters, log_tokens, log_loss = (np.log(column[rows]) for column in columns.values())
    centre = log_parameters.mean(), log_tokens.mean()
    return huber.Sample(log_parameters - centre[0], log_tokens - centre[1], log_loss), centre


def _starts(starts, sample, centre):
    if starts is None or isinstance(starts, (int, np.integer)):
        return _screened(SCREENED if starts is None else int(starts), sample, centre)
    points = np.atleast_2d(np.asarray(starts, dtype=float))
    if points.ndim != 2 or points.shape[1] != 5 or not len(points) or not np.isfinite(points).all():
        raise InputError(
            f"starts of shape {points.shape} are not rows of 5 finite numbers; give log A, log B, log E, alpha, beta"
        )
    return _centred(points, centre)


def _centred(points, centre):
    a, b, e, alpha, beta = points.T
    return np.stack([a - alpha * centre[0], b - beta * centre[1], e, alpha, beta], axis=1)


def _screened(number, sample, centre):
    if number < 1:
        raise InputError(f"starts must be 1 or more, not {number}")
    cells = np.stack(np.meshgrid(START_GRID["alpha"], START_GRID["beta"]), axis=-1).reshape(-1, 2)
    levels = np.stack(np.meshgrid(*(START_GRID[name] for name in "abe")), axis=-1).reshape(-1, 3)
    ranked = []
    for exponents in cells:
        points = _centred(np.hstack([levels, np.broadcast_to(exponents, (len(levels), 2))]), centre)
        misfit = np.abs(sample.residuals(points)).sum(axis=1)
        order = np.argsort(misfit, kind="stable")
        ranked += [(rank, misfit[i], points[i]) for rank, i in enumerate(order)]
    ranked.sort(key=lambda entry: entry[:2])
    return [point for _, _, point in ranked[:number]]


def _solutions(sample, points, threshold, *, free):
    """Solve from each start; of those that lead to one coarse minimum, the first is followed for all."""
    solve, floor = (_solve_free, NARROWEST) if free else (_solve_fixed, threshold)
    solutions, followed = [], []
    for point in points:
        theta, here, delta = huber.coarse_minimum(sample, point, floor)
        alike = (end for other, width, end in followed if width == delta and np.abs(theta - other).max() <= ALIKE)
        solution = next(alike, None) or solve(sample, theta, here, delta, threshold)
        solutions.append(solution)
        if here.optimality <= OPTIMAL:
            followed.append((theta, delta, solution))
    return solutions


def _solve_fixed(sample, theta, here, delta, threshold):
    if here.optimality <= OPTIMAL:
        theta, here = huber.follow(sample, theta, here, delta, threshold)
    else:
        here = huber.expand(sample, theta, threshold)
    return _Solution(theta, None, threshold * here.value, here.optimality, _least_eigenvalue(here.hessian), threshold)


def _solve_free(sample, theta, here, delta, threshold):
    """Alternate between the scale of greatest likelihood and the constants at that scale.

    Below `NARROWEST` the rounding of the residuals would decide the constants, so the scale is held there.
    """
    if here.optimality <= OPTIMAL:
        for _ in range(ROUNDS):
            target = max(NARROWEST, threshold * huber.profile_scale(here.residuals, threshold))
            if abs(target - delta) <= huber.SETTLED * delta:
                break
            theta, here = huber.follow(sample, theta, here, delta, target)
            delta = target
    scale = max(NARROWEST, threshold * huber.profile_scale(here.residuals, threshold)) / threshold
    value, gradient, hessian = huber.joint_derivatives(sample, theta, scale, threshold)
    delta = threshold * scale
    held = delta <= NARROWEST
    scale_pull = 0.0 if held else abs(gradient[5]) / len(here.residuals)
    optimality = max(huber.expand(sample, theta, delta).optimality, scale_pull)
    eigenvalue = _least_eigenvalue(hessian[:5, :5] if held else hessian)
    return _Solution(theta, scale, value, optimality, eigenvalue, delta)


def _least_eigenvalue(hessian):
    unit = np.sqrt(np.maximum(np.abs(np.diag(hessian)), np.finfo(float).tiny))
    return float(np.linalg.eigvalsh(hessian / np.outer(unit, unit))[0])


def _summary(solutions, sample, centre, threshold, runs):
    rows = len(sample.log_loss)
    lowest = min(solutions, key=lambda s: s.objective)
    free = lowest.scale is not None
    tolerance = SAME * rows if free else SAME * lowest.objective + rows * (SAME * threshold) ** 2
    minima = sorted((s for s in solutions if s.converged), key=lambda s: s.objective)
    at_best = [s for s in minima if s.objective <= lowest.objective + tolerance]
    best = at_best[0] if at_best else lowest
    a, b, e, alpha, beta = best.theta
    # 0/0 where the loss depends on neither size, and infinite where no minimum was reached
    with np.errstate(invalid="ignore", over="ignore"):
        exponent = float(chinchilla.parameter_exponent(alpha=alpha, beta=beta))
        constants = {
            "E": float(np.exp(e)),
            "A": float(np.exp(a + alpha * centre[0])),
            "B": float(np.exp(b + beta * centre[1])),
            "alpha": float(alpha),
            "beta": float(beta),
        }
    search = {
        "threshold": float(threshold),
        "scale": best.scale,
        "objective": best.objective,
        "starts": len(solutions),
        "starts_at_best": len(at_best),
        "other_optima": _distinct([s.objective for s in minima[len(at_best) :]], tolerance),
        "starts_unconverged": len(solutions) - len(minima),
        "gradient_norm": best.optimality,
        "hessian_min_eigenvalue": best.eigenvalue,
    }
    return PointEstimate(
        estimator=f"Huber, {'free' if free else 'fixed'} scale",
        estimates={"constants": constants, "exponent": exponent},
        source=source_of(runs),
        rows=rows,
        converged=best.converged,
        message=_message(best, constants, threshold, len(at_best), len(solutions)),
        search=search,
    )


def _distinct(objectives, tolerance):
    optima = []
    for objective in objectives:
        if optima and objective <= optima[-1]["objective"] + tolerance:
            optima[-1]["starts"] += 1
        else:
            optima.append({"objective": objective, "starts": 1})
    return optima


def _message(best, constants, threshold, at_best, starts):
    measures = f"relative gradient {best.optimality:.1e}, least scaled eigenvalue {best.eigenvalue:.1e}"
    if not best.converged:
        return f"no minimum was reached ({measures}); a constant may be unidentified, add runs of other sizes"
    sentences = [f"a minimum ({measures}), reached from {at_best} of {starts} starts"]
    sentences += [
        f"{name} is {constants[name]:.3g}, so the law has no compute optimum"
        for name in ("alpha", "beta")
        if constants[name] <= 0
    ]
    if best.scale is not None and best.scale * threshold <= NARROWEST:
        sentences.append("the residuals are at rounding, so the scale is only an upper bound")
    return "; ".join(sentences)
