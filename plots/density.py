"""The density of a quantity's draws, for figures."""

import numpy as np


def density(draws, points=160):
    """Return the grid and kernel density of one quantity's draws over its central 99.8%."""
    from scipy.stats import gaussian_kde

    values = np.ravel(draws)
    low, high = np.quantile(values, [0.001, 0.999])
    grid = np.linspace(low, high, points)
    return grid, gaussian_kde(values)(grid)
