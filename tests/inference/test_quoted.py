"""One function makes every interval that is printed, and the plain posterior is one keyword away."""

import numpy as np
from bayescaling.inference.quoted import drift_errors, quote_draws


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
    size, error = fit_default["posterior"]["A"], 2 * drift_errors(fit_default)["size"]
    plain = {"robust": False, "drift": error}
    np.testing.assert_allclose(quote_draws(fit_default, size, **plain), size * np.exp(error))
    log = quote_draws(fit_default, np.log(size), bounded=False, **plain)
    np.testing.assert_allclose(log, np.log(size) + error)
