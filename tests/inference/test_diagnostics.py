"""Where ArviZ raises or has no answer, figures of draws are NaN or infinite and weights are as they were."""

import numpy as np
import pytest
from bayescaling.inference.diagnostics import convergence, effective_draws, smooth_weights

TAILS = (0.05, 0.95)


def test_what_is_not_finite_and_short_chains_have_no_figures():
    x = np.random.default_rng(0).normal(size=(4, 100, 3))
    x[1, 3, 0], x[..., 2] = np.inf, 1.0
    for values in (effective_draws(x), *convergence(x, TAILS)[1:]):
        assert np.isnan(values[0]) and 100 < values[1] <= 1100 and values[2] == 400
    assert np.isnan(convergence(x, TAILS)[0]).tolist() == [True, False, True]
    assert np.isnan(effective_draws(x[:, :3])).all() and np.isnan(convergence(x[:1], TAILS)[0]).all()


@pytest.mark.parametrize("last", [0.0, 5.0, 800.0])
def test_weights_that_no_pareto_distribution_fits_stay_as_they_were(last):
    count = 20 if last == 5.0 else 1000
    log_ratios = np.append(np.zeros(count - 1), last)
    log_weights, k = smooth_weights(log_ratios)
    assert k == np.inf
    np.testing.assert_allclose(np.exp(log_weights).sum(), 1)
    np.testing.assert_allclose(log_weights - log_weights[0], log_ratios)
