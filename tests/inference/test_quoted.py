"""One function makes every interval that is printed, and the plain posterior is one keyword away."""

import numpy as np
import pytest
import xarray as xr
from bayescaling.inference.estimands.beyond import Drift
from bayescaling.inference.quoted import drift_errors, quote_draws
from bayescaling.models.draws import DRAWS
from scipy import optimize, stats


def test_an_interval_is_robust_unless_the_plain_posterior_is_wanted(fit_default):
    exponent = fit_default["posterior"]["exponent_parameters"]
    assert fit_default.check()["verdict"] != "fits"
    np.testing.assert_array_equal(quote_draws(fit_default, exponent), fit_default.robust(exponent))
    np.testing.assert_array_equal(quote_draws(fit_default, exponent, robust=False), exponent)
    both = quote_draws(fit_default, {"a": exponent, "still": 0 * exponent + 2.0})
    np.testing.assert_array_equal(both["a"], quote_draws(fit_default, exponent))
    np.testing.assert_array_equal(both["still"], 2.0)
    assert quote_draws(fit_default, {}) == {}


def test_the_drift_multiplies_what_is_positive_and_is_added_to_logarithms(fit_default):
    size, error = fit_default["posterior"]["A"], drift_errors(fit_default, "size", 2.0)
    plain = {"robust": False, "drift": error, "paired": True}
    np.testing.assert_allclose(quote_draws(fit_default, size, **plain), size * np.exp(error))
    log = quote_draws(fit_default, np.log(size), bounded=False, **plain)
    np.testing.assert_allclose(log, np.log(size) + error)


@pytest.mark.parametrize(("width", "decades"), [(0.08, 1.9), (0.5, 1.0), (0.02, 0.05)])
def test_quantiles_with_the_drift_are_those_of_the_mixture_whatever_its_seed(fit_default, width, decades):
    drift, shape, p = Drift(0.01, 0.5, 0.002, size=0.1, size_spread=1.0), (4, 500), (0.025, 0.5, 0.975)
    values = width * stats.norm.ppf((np.arange(2000) + 0.5) / 2000)

    def quoted(seed):
        rng = np.random.default_rng(seed)
        shuffled = xr.DataArray(rng.permutation(values).reshape(shape), dims=DRAWS)
        errors = xr.DataArray(decades * drift.slopes(rng, shape, "size"), dims=DRAWS)
        at = {drift: quote_draws(fit_default, shuffled, robust=False, bounded=False, drift=drift * errors)
              for drift in (0, 1)}  # fmt: skip
        np.testing.assert_array_equal(at[0], shuffled)
        total = (shuffled + errors).values.ravel()
        np.testing.assert_array_equal(total.argsort(), at[1].values.ravel().argsort())
        return np.quantile(at[1], p)

    ends = np.array([quoted(seed) for seed in range(5)])
    np.testing.assert_allclose(ends, np.broadcast_to(ends[0], ends.shape), atol=1e-12)
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    sd = np.hypot(width, decades * 0.1 * np.exp(nodes))

    def beyond(x, share):
        return stats.norm.cdf(x / sd) @ weights / weights.sum() - share

    exact = [optimize.brentq(beyond, -20, 20, args=(share,)) for share in p]
    np.testing.assert_allclose(ends[0], exact, atol=0.006 * (exact[2] - exact[0]))
