"""Coordinates in which the posterior of a large table is nearly a standard normal, from its mode and curvature.

Of so many rows a gradient takes milliseconds, and a sampler spends more than half of them on finding the scales of the
posterior. A search for the mode and second derivatives there take a hundred.
"""

from dataclasses import dataclass

import numpy as np

from ..engine import flat

LEAST_ROWS = 5_000
SEARCHES = 4  # from starts as the chains have them, which must all end at one mode
STEP = 1e-4  # of second derivatives
POLISHED, SAME = 1e-3, 0.1  # distances from the mode, in posterior sds
MOST_STEPS = 20  # of Newton's method


@dataclass(frozen=True, eq=False)
class Whitened:
    """A block of coordinates as a linear function of others, of which it has as many."""

    block: object
    centre: np.ndarray
    factor: np.ndarray
    axis = None

    @property
    def start(self):
        """Return where chains start, (coordinate,)."""
        return 0.0 * self.centre

    def values(self, z, parents=None):
        """Return what the block does at the coordinates that these stand for."""
        return self.block.values(self.centre + (self.factor * z).sum(-1), parents)

    def named(self, z):
        """Return the variables of a Dataset by name, from coordinates (chain, draw, coordinate)."""
        return self.block.named(self.centre + z @ self.factor.T)


def whitened(compiled, density, seed):
    """Return a density of a large table in coordinates whose posterior is nearly a standard normal.

    It is None of a smaller table, of a law with coordinates of models or groups, and where searches end at several
    modes.
    """
    rows = max((len(x) for name, x in density.arrays.items() if density.axes[name] is not None), default=0)
    if rows < LEAST_ROWS or len(density.blocks) > 1:
        return None
    rng, start, function = np.random.default_rng(seed), flat(density.start), compiled.on(density)
    modes = [_mode(function, start + rng.uniform(-1, 1, len(start))) for _ in range(SEARCHES)]
    if any(mode is None for mode in modes):
        return None
    (centre, root), *others = modes
    if any(np.linalg.norm(root.T @ (other - centre)) > SAME for other, _ in others):
        return None
    block = Whitened(density.blocks[0], centre, np.linalg.inv(root.T))
    return density._replace(blocks=(block,), low_rank=False)


def _mode(function, start):
    """Return a mode and the Cholesky root of the information there; None where the search finds none."""
    from scipy.optimize import minimize

    def slope(z):
        return -function(z)[1]

    def with_slope(z):
        value, gradient = function(z)
        return (-value, -gradient) if np.isfinite(value) else (np.inf, np.zeros(len(z)))

    z = minimize(with_slope, start, jac=True, method="L-BFGS-B").x
    for _ in range(MOST_STEPS):
        steps = STEP * np.eye(len(z))
        information = np.stack([slope(z + step) - slope(z - step) for step in steps]) / (2 * STEP)
        try:
            root = np.linalg.cholesky((information + information.T) / 2)
        except np.linalg.LinAlgError:
            return None
        away = np.linalg.solve(root, slope(z))
        z = z - np.linalg.solve(root.T, away)
        if np.linalg.norm(away) < POLISHED:
            return z, root
    return None
