"""Minima of a smooth function plus weighted absolute values, to the accuracy of the arithmetic.

Within an orthant the sum is smooth, so the coefficients that are not zero take Newton steps in a trust region. A step
ends where the first of them reaches zero, and that one rests there. Once the others are settled, the resting one that
its gradient pulls hardest beyond its weight moves again. A point is tested by its subgradient. At a minimum the
gradient of every coefficient is minus its weight times its sign, or at most its weight in size where it is zero.
"""

from dataclasses import dataclass

import numpy as np

SETTLED = 1e-11
ROUNDING = 1e-14


@dataclass(frozen=True)
class Minimum:
    """Where a descent ended, and how far that is from a minimum.

    Parameters
    ----------
    theta : ndarray
        The point.
    value : float
        The smooth function plus the weighted absolute values.
    residual : float
        Least size of an element of the subgradient, the largest over coefficients; 0 at a minimum.
    eigenvalue : float
        Least eigenvalue of the Hessian by the coefficients that are not zero, scaled to a unit diagonal; not negative
        at a minimum.
    """

    theta: np.ndarray
    value: float
    residual: float
    eigenvalue: float


def subgradient(theta, gradient, weights):
    """Return the element of least size of the subgradient at a point, given the gradient of the smooth function."""
    beyond = np.sign(gradient) * np.maximum(np.abs(gradient) - weights, 0)
    return np.where(theta == 0, beyond, gradient + weights * np.sign(theta))


def judge(expand, theta, weights):
    """Return the point itself as a `Minimum`, without a step."""
    smooth, gradient, hessian = expand(theta)
    used = np.flatnonzero((theta != 0) | (weights == 0))
    unit = _units(hessian)[used]
    eigenvalues = np.linalg.eigvalsh(unit[:, None] * hessian[np.ix_(used, used)] * unit)
    return Minimum(
        theta=theta,
        value=float(smooth + weights @ np.abs(theta)),
        residual=float(np.abs(subgradient(theta, gradient, weights)).max()),
        eigenvalue=float(eigenvalues.min(initial=np.inf)),
    )


def minimise(expand, theta, weights, *, iterations=500):
    """Descend from `theta` to a `Minimum`, in at most so many iterations.

    `expand` returns value, gradient and Hessian of the smooth function at a point; the weights of the absolute values
    are at least 0.
    """
    theta, radius, stuck = np.array(theta, float), 1.0, False
    here = expand(theta)
    moving = (theta != 0) | (weights == 0)
    for _ in range(iterations):
        smooth, gradient, hessian = here
        pull, units = subgradient(theta, gradient, weights), _units(hessian)
        strain = np.abs(pull) * units
        if stuck or strain[moving].max(initial=0) <= SETTLED:
            resting = np.where(moving, 0, strain)
            if resting.max() <= SETTLED:
                break
            moving[resting.argmax()] = True
        free = np.flatnonzero(moving)
        slope, curvature = units[free] * pull[free], units[free, None] * hessian[np.ix_(free, free)] * units[free]
        step, _ = trust_region_step(slope, curvature, radius)
        share, stopped = _until_zero(theta[free], pull[free], units[free] * step, weights[free])
        step = share * step
        there = theta.copy()
        there[free] += units[free] * step
        there[free[stopped]] = 0.0
        reached = expand(there)

        predicted = -(slope @ step + step @ curvature @ step / 2)
        value = smooth + weights @ np.abs(theta)
        drop = value - (reached[0] + weights @ np.abs(there))
        lost_in_rounding = predicted <= ROUNDING * value
        if lost_in_rounding:
            left = np.abs(subgradient(there, reached[1], weights)) * _units(reached[2])
            better = stopped.any() or left[free].max() < strain[free].max()
        else:
            better = drop > 0
            # A point beyond the range of numbers has no drop and counts as a bad step.
            if not drop >= predicted / 4:
                radius = np.linalg.norm(step) / 4
            elif drop > 3 * predicted / 4:
                radius = max(radius, 2 * np.linalg.norm(step))
        stuck = lost_in_rounding and not better
        if better:
            theta, here = there, reached
            moving[free[stopped]] = False
    return judge(expand, theta, weights)


def trust_region_step(gradient, hessian, radius):
    """Return the step to the minimum of a quadratic model within a ball, and the decrease that the model predicts."""
    curvature, axes = np.linalg.eigh(hessian)
    slopes = axes.T @ gradient
    if curvature[0] > 0 and np.linalg.norm(slopes / curvature) <= radius:
        step = -slopes / curvature
    else:
        low = max(0.0, -curvature[0]) + ROUNDING * np.abs(curvature).max() + np.finfo(float).tiny
        high = low + np.linalg.norm(slopes) / radius
        for _ in range(40):
            middle = np.sqrt(low * high)
            outside = np.linalg.norm(slopes / (curvature + middle)) > radius
            low, high = (middle, high) if outside else (low, middle)
        step = -slopes / (curvature + high)
    return axes @ step, float(-(slopes @ step + curvature @ step**2 / 2))


def _until_zero(theta, pull, step, weights):
    """Return the share of a step until the first coefficient reaches zero from its side, and which one; 1 if none."""
    side = np.where(theta == 0, -np.sign(pull), np.sign(theta))
    crossing = (weights > 0) & (side * step < 0) & (np.abs(step) >= np.abs(theta))
    shares = np.where(crossing, np.abs(theta) / np.where(crossing, np.abs(step), 1.0), np.inf)
    share = min(1.0, float(shares.min(initial=np.inf)))
    return share, crossing & (shares <= share)


def _units(hessian):
    diagonal = np.abs(np.diag(hessian))
    return 1 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
