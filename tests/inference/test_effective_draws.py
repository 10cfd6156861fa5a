"""Effective draws and R-hat are those of ArviZ."""

import arviz_stats.base as azb
import numpy as np
import pytest
from bayescaling.inference.effective_draws import convergence, effective_draws

TAILS = (0.05, 0.95)


def chains(shape, seed):
    """Autocorrelated chains of three quantities: one apart in its chains, one with ties and one that never varies."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(*shape, 3))
    for i in range(1, shape[1]):
        x[:, i] += rng.uniform(-0.9, 0.99) * x[:, i - 1]
    x[..., 0] += rng.normal(size=(shape[0], 1))
    x[..., 1], x[..., 2] = np.round(x[..., 1]), 1.0
    return x


@pytest.mark.parametrize("shape", [(4, 1000), (2, 251), (1, 400), (3, 16), (5, 12), (4, 5)])
def test_figures_are_those_of_arviz(shape):
    axes = {"chain_axis": 0, "draw_axis": 1}
    for seed in range(10):
        x = chains(shape, seed)
        with np.errstate(all="ignore"):
            of_mean, of_bulk = (azb.array_stats.ess(x, method=method, **axes) for method in ("mean", "bulk"))
            of_tail = azb.array_stats.ess(x, method="tail", prob=TAILS, **axes)
            r_hat = azb.array_stats.rhat(x, **axes) if shape[0] > 1 else None
        np.testing.assert_allclose(effective_draws(x), of_mean)
        figures = convergence(x, TAILS)
        np.testing.assert_allclose(figures[1:], [of_bulk, of_tail])
        if r_hat is not None:
            np.testing.assert_allclose(figures[0], r_hat)


def test_what_is_not_finite_and_short_chains_have_no_figures():
    x = chains((4, 100), 0)
    x[1, 3, 0] = np.inf
    assert np.isnan(effective_draws(x)[0]) and np.isfinite(effective_draws(x)[1])
    assert np.isnan(effective_draws(x[:, :3])).all()
