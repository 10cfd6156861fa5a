"""Numerics of the Huber estimator of the Chinchilla law on log loss, down to thresholds at which it is least absolutes.

A point is ``theta = (a, b, e, alpha, beta)`` with a = log A, b = log B and e = log E at the centre of the runs. The
predicted log loss is ``logsumexp(a - alpha n, b - beta d, e)`` for centred logarithms n of N and d of D. Losses enter
through ``h_delta(r) = r**2/(2 delta)`` for ``|r| <= delta`` and ``|r| - delta/2`` beyond. The residual is
r = log(observed) - log(predicted). This is Huber's function divided by delta, which tends to ``|r|`` as delta falls.

At small delta the minimum is a near-vertex where as many residuals vanish as there are constants, and a method that
starts anywhere else sees only kinks. `follow` therefore lowers delta by halves and extrapolates the path of minima,
which becomes straight in delta once the vanishing residuals no longer change [1]_.

References
----------
.. [1] Madsen, K. and Nielsen, H. B. (1993). A finite smoothing algorithm for linear l1 estimation. SIAM J. Optim. 3(2).
"""

from dataclasses import dataclass
from functools import lru_cache
from operator import attrgetter

import numpy as np

from ...models.loss.noise import huber_logp

SETTLED = 1e-9


@dataclass(frozen=True)
class Sample:
    """Logarithms of the runs, (run,): of N and D, centred at their means, and of the loss in nats per token."""

    log_parameters: np.ndarray
    log_tokens: np.ndarray
    log_loss: np.ndarray

    def predict(self, theta):
        """Return the predicted log loss at points (..., 5), (..., run), and the shares of its terms, (3, ..., run)."""
        a, b, e, alpha, beta = np.moveaxis(np.asarray(theta, dtype=float)[..., None], -2, 0)
        terms = np.stack(np.broadcast_arrays(a - alpha * self.log_parameters, b - beta * self.log_tokens, e))
        largest = terms.max(axis=0)
        shares = np.exp(terms - largest)
        total = shares.sum(axis=0)
        return largest + np.log(total), shares / total

    def residuals(self, theta):
        """Return the log of the observed minus the log of the predicted loss."""
        return self.log_loss - self.predict(theta)[0]


@dataclass(frozen=True)
class Expansion:
    """Second-order expansion of the sum of h_delta over runs at a point: value, and derivatives by theta.

    `drift` is the derivative of the gradient by delta. `pull` is the absolute gradient as a share of the most that the
    runs could pull, in [0, 1] for each constant; 0 at a minimum. Residuals are of the log loss.
    """

    value: float
    gradient: np.ndarray
    hessian: np.ndarray
    drift: np.ndarray
    pull: np.ndarray
    residuals: np.ndarray

    @property
    def optimality(self):
        """Largest pull on a constant."""
        return float(self.pull.max())


def penalty(residuals, delta):
    """Sum of h_delta over the last axis."""
    size = np.abs(residuals)
    return np.where(size <= delta, size**2 / (2 * delta), size - delta / 2).sum(axis=-1)


def expand(sample, theta, delta):
    """Return the `Expansion` of the sum of h_delta at a point, (5,); delta is in log loss."""
    predicted, (share_a, share_b, share_e) = sample.predict(theta)
    residuals = sample.log_loss - predicted
    n, d = sample.log_parameters, sample.log_tokens
    jacobian = np.stack([share_a, share_b, share_e, -n * share_a, -d * share_b], axis=1)
    slope = np.clip(residuals / delta, -1, 1)
    inside = np.abs(residuals) <= delta
    gradient = -jacobian.T @ slope
    hessian = jacobian.T @ ((inside / delta + slope)[:, None] * jacobian)
    in_a, in_b = slope * share_a, slope * share_b
    hessian[[0, 1, 2, 3, 4], [0, 1, 2, 3, 4]] -= [in_a.sum(), in_b.sum(), slope @ share_e, in_a @ n**2, in_b @ d**2]
    hessian[[0, 3, 1, 4], [3, 0, 4, 1]] += [in_a @ n, in_a @ n, in_b @ d, in_b @ d]
    reach = np.abs(jacobian).sum(axis=0)
    return Expansion(
        value=float(penalty(residuals, delta)),
        gradient=gradient,
        hessian=hessian,
        drift=jacobian[inside].T @ slope[inside] / delta,
        pull=np.abs(gradient) / np.maximum(reach, np.finfo(float).tiny),
        residuals=residuals,
    )


def minimise(sample, theta, delta, *, iterations=100):
    """Minimise at one delta from `theta`, by Newton's method in a trust region: the point reached and its `Expansion`.

    The decrease that is left near a narrow minimum is lost in the rounding of the sum, so the gradient is solved there.
    """
    from scipy import optimize

    @lru_cache(maxsize=2)  # SciPy asks for value and Hessian apart
    def at(point):
        with np.errstate(over="ignore", invalid="ignore"):  # of trial points far out
            return expand(sample, np.frombuffer(point), delta)

    def derivatives(point, *names):
        return attrgetter(*names)(at(point.tobytes()))

    theta = optimize.minimize(
        derivatives,
        theta,
        args=("value", "gradient"),
        jac=True,
        hess=lambda point, *_: derivatives(point, "hessian"),
        method="trust-exact",
        options={"maxiter": iterations, "gtol": SETTLED * len(sample.log_loss)},
    ).x
    here = expand(sample, theta, delta)
    if here.optimality >= SETTLED:
        solved = optimize.root(derivatives, theta, args=("gradient", "hessian"), jac=True).x
        there = expand(sample, solved, delta)
        if there.optimality < here.optimality:
            return solved, there
    return theta, here


def follow(sample, theta, here, delta, target):
    """Follow the path of minima from `delta`, where `theta` is one, to `target`; return point and `Expansion`."""
    halvings = max(1, int(np.ceil(abs(np.log2(target / delta)))))
    for after in np.geomspace(delta, target, halvings + 1)[1:]:
        extrapolated = theta - np.linalg.lstsq(here.hessian, here.drift)[0] * (after - delta)
        starts = [theta, extrapolated]
        nearest = np.argmin([penalty(sample.residuals(start), after) for start in starts])
        theta, here = minimise(sample, starts[nearest], after)
        delta = after
    return theta, here


def coarse_minimum(sample, theta, floor):
    """Minimise from an arbitrary start, at a delta of at least `floor` and wide enough to see no kinks.

    The point, its `Expansion` and its delta are returned. Above `floor` the delta is a power of two, so that starts
    that lead to one minimum end at one point.
    """
    delta = max(floor, float(np.median(np.abs(sample.residuals(theta)))))
    theta, _ = minimise(sample, theta, delta, iterations=200)
    narrower = max(floor, min(delta, float(np.abs(sample.residuals(theta)).max())))
    narrower = max(floor, 2.0 ** np.floor(np.log2(narrower)))
    return *minimise(sample, theta, narrower, iterations=200), narrower


def profile_scale(residuals, threshold):
    """Return the scale of greatest likelihood under the Huber density, in closed form; 0 if every residual is 0.

    It solves ``sum(psi(r/s) r/s) = runs``. This is a quadratic in s, given which residuals r of the log loss lie within
    the threshold, which is in units of the scale s.
    """
    size = np.sort(np.abs(residuals))
    squares = np.cumsum(size**2)
    beyond = np.append(np.cumsum(size[::-1])[::-1][1:], 0.0)
    within = int((threshold**2 * (squares + size * beyond) >= len(size) * size**2).sum())
    square = squares[within - 1] if within else 0.0
    linear = threshold * size[within:].sum()
    return float((linear + np.sqrt(linear**2 + 4 * len(size) * square)) / (2 * len(size)))


def joint_derivatives(sample, theta, scale, threshold):
    """Return the negative log likelihood of the Huber density in nats, its gradient (6,) and its Hessian.

    The derivatives are by theta and the log of the scale.
    """
    part = expand(sample, theta, threshold * scale)
    units = part.residuals / scale
    inside = np.abs(units) <= threshold
    score = np.clip(units, -threshold, threshold) * units
    weight = threshold / scale
    gradient = np.append(weight * part.gradient, len(units) - score.sum())
    hessian = np.empty((6, 6))
    hessian[:5, :5] = weight * part.hessian
    hessian[:5, 5] = hessian[5, :5] = threshold**2 * part.drift - gradient[:5]
    hessian[5, 5] = score.sum() + (units[inside] ** 2).sum()
    return float(-huber_logp(part.residuals, scale, threshold).sum()), gradient, hessian
