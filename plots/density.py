"""The density of a quantity's draws, for figures."""

import numpy as np

from .picture import Layer, frame
from .shared import ends, percent
from .style import OUTER

LEAST_DRAWS = 50  # of a prior inside a picture, below which no density is drawn


def density_layers(name, draws, look, level):
    """Return layers of a density over the central 99.8% of draws, and the low end, median and high end of its shade."""
    from scipy.stats import gaussian_kde

    values = np.ravel(draws)
    grid = np.linspace(*np.quantile(values, [0.001, 0.999]), 160)
    height = gaussian_kde(values)(grid)
    three = ends(draws, level)
    inside = (grid >= three[0]) & (grid <= three[2])
    shade = frame(x=grid[inside], low=0.0, high=height[inside])
    band = Layer("band", f"{name}, {percent(level)}", shade, look, False, opacity=OUTER)
    return [band, Layer("line", name, frame(x=grid, y=height), look)], three


def density_within(draws, low, high):
    """Return the grid and density of draws between two ends, which may hold a small share of them.

    Draws far outside do not widen the kernel. None where fewer than 50 draws lie near.
    """
    from scipy.stats import gaussian_kde

    values = np.ravel(draws)
    near = values[(values >= low - (high - low)) & (values <= high + (high - low))]
    if len(near) < LEAST_DRAWS or not near.std() > 0:
        return None
    grid = np.linspace(low, high, 80)
    return grid, gaussian_kde(near)(grid) * len(near) / len(values)
