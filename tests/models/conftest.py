"""Small tables, and the density of what is sampled, worked out from that of the draws and how these change with it."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

STEP = 1e-5


@pytest.fixture(scope="session")
def small_tables():
    """The module of `tests/ordinary` that simulates small tables."""
    path = Path(__file__).parents[1] / "ordinary" / "small_tables.py"
    spec = importlib.util.spec_from_file_location("small_tables", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def sampled_density():
    """Return the log density at a point of the sampler's coordinates, by differences of the draws, and the draw there.

    It is the density of the draws times the determinant of their derivatives.
    """

    def density_at(law, rows, z):
        reference = law.reference(rows)
        points = z + STEP * np.concatenate([np.zeros((1, len(z))), np.eye(len(z)), -np.eye(len(z))])
        draws = law.draws(law.density(rows, reference).named(points[None]), rows, reference)
        ahead, behind = np.split(draws.z[0, 1:], 2)
        sign, log_determinant = np.linalg.slogdet((ahead - behind) / (2 * STEP))
        assert sign > 0
        there = draws.from_real_line(draws.real_line().isel(draw=[0]))
        return float(there.log_density()[0, 0]) + log_determinant, there

    return density_at
