import arviz_stats.base as azb
import bayescaling as bs
import numpy as np
import pytest
import xarray as xr
from bayescaling.inference.comparison import importance
from bayescaling.inference.comparison.importance import cut_factor, importance_sampling, smoothed
from bayescaling.inference.fitted import WEIGHTED, changed_fit, results_of
from scipy.special import logsumexp
from scipy.stats import norm

ROWS, IMPUTATIONS, EACH = 40, 100, 40


def dataarray(density):
    return xr.DataArray(density, dims=("chain", "draw", "run"))


def test_tails_are_as_long_as_the_effective_draws_of_each_unit_allow():
    random = np.random.default_rng(1)
    slow = np.repeat(random.standard_normal((4, 250)), 4, axis=1)  # a quarter as many draws as it seems
    fast = random.standard_normal((4, 1000))
    density = norm.logpdf(2.0, np.stack([slow, fast], axis=-1))
    log_weights, k = smoothed(-density, dataarray(density))
    np.testing.assert_allclose(np.exp(log_weights).sum(("chain", "draw")), 1)
    for i, efficiency in enumerate((0.25, 1.0)):
        expected = azb.array_stats.psislw(density[..., i].ravel(), r_eff=efficiency)[1]
        other = azb.array_stats.psislw(density[..., i].ravel(), r_eff=1.25 - efficiency)[1]
        assert abs(float(k[i]) - float(expected)) < 0.2 * abs(float(k[i]) - float(other))


def test_too_few_draws_for_a_tail_are_refused_and_a_few_more_are_not():
    density = norm.logpdf(2.0, np.random.default_rng(1).standard_normal((1, 25, 3)))
    assert np.isfinite(smoothed(-density, dataarray(density))[0]).all()
    with pytest.raises(bs.InputError, match="needs at least 25 draws, and there are 24; sample more"):
        smoothed(-density[:, 1:], dataarray(density[:, 1:]))


def test_where_no_tail_can_be_fitted_pareto_k_is_infinite_and_nothing_is_nan():
    density = np.random.default_rng(1).standard_normal((4, 250, 3))
    density[2, 5, 1] = -720  # compared with its ratio all others are 0
    density[..., 2] = -1.5
    log_weights, k = smoothed(-density, dataarray(density))
    np.testing.assert_allclose(np.exp(log_weights).sum(("chain", "draw")), 1)
    assert float(k[0]) < 0.7 and np.isinf(k[1:]).all()
    np.testing.assert_allclose(logsumexp(log_weights + density, axis=(0, 1))[1:], [-720 + np.log(1000), -1.5])


def test_without_a_unit_a_cut_weighs_its_imputations_anew():
    """Simulate rows theta + x phi + noise, theta with prior `N(0, 1)` and phi with `N(0.5, 0.07)` from other data."""
    random = np.random.default_rng(2)
    x = random.normal(1, 1, ROWS)
    y = 0.3 + 0.5 * x + 0.5 * random.standard_normal(ROWS)
    phi = 0.5 + 0.07 * random.standard_normal(IMPUTATIONS)
    precision = 1 + ROWS / 0.25
    centre = ((y - np.outer(phi, x)).sum(1) / 0.25) / precision
    theta = centre[:, None] + precision**-0.5 * random.standard_normal((IMPUTATIONS, EACH))
    density = norm.logpdf(y, theta[..., None] + phi[:, None, None] * x, 0.5).reshape(4, -1, ROWS)
    codes = np.repeat(np.arange(IMPUTATIONS), EACH).reshape(4, -1)

    lower = precision - 4
    left = (centre[:, None] * precision - (y - np.outer(phi, x)) / 0.25) / lower
    exact = logsumexp(norm.logpdf(y, left + np.outer(phi, x), (0.25 + 1 / lower) ** 0.5), axis=0) - np.log(IMPUTATIONS)

    def elpd(log_ratios):
        log_weights, k = smoothed(log_ratios, dataarray(density))
        assert k.max() < 0.7
        return logsumexp(log_weights + density, axis=(0, 1))

    plain, resolved = elpd(-density), elpd(cut_factor(density, codes) - density)
    assert plain.sum() < exact.sum() - 0.5
    assert resolved.sum() == pytest.approx(exact.sum(), abs=0.1)
    np.testing.assert_allclose(resolved, exact, atol=0.05)


def test_draws_at_one_phi_have_no_factor_beyond_their_noise():
    random = np.random.default_rng(3)
    density = norm.logpdf(random.standard_normal(20), random.standard_normal((4, 1000, 1)) * 0.2, 1.0)
    codes = np.repeat(np.arange(100), 40).reshape(4, 1000)
    assert cut_factor(density, codes).std() < 0.01


def test_a_law_with_quantities_from_upstream_is_not_refitted(runs, quiet):
    fit = bs.fit(bs.laws.EmbeddingCorrected(), runs, seed=1, draws=200, tune=400, chains=2, check=False)
    assert fit.loo().elpd == importance_sampling(fit).elpd
    with pytest.raises(bs.InputError, match="has no one posterior that could be fitted again"):
        fit.loo(high_k="refit")


def test_of_many_units_those_with_even_weights_keep_them():
    rng = np.random.default_rng(3)
    spread = np.array([0.02, 0.1, 0.6, 1.5])  # the first two stay within a factor e
    density = xr.DataArray(spread * rng.standard_normal((4, 500, 4)) - 1, dims=("chain", "draw", "run"))
    smooth, k = importance.smoothed(-density.values, density)
    for_many, k_kept = importance.smoothed(-density.values, density, many=True)
    assert (k_kept.values == 0).tolist() == [True, True, False, False]
    xr.testing.assert_identical(for_many[..., 2:], smooth[..., 2:])
    np.testing.assert_array_equal(k_kept[2:], k[2:])
    elpd, elpd_kept = (logsumexp(weights + density, axis=(0, 1)) for weights in (smooth, for_many))
    np.testing.assert_allclose(elpd_kept, elpd, atol=1e-3)
    np.testing.assert_allclose(logsumexp(for_many, axis=(0, 1)), 0, atol=1e-12)


def test_a_large_table_is_judged_as_without_its_size(monkeypatch, runs):
    fit = bs.fit("chinchilla", runs, seed=1, draws=300, tune=500, log_likelihood=False, check=False)
    plain, others = importance.importance_sampling(fit), changed_fit(fit, {}, fit.record)
    monkeypatch.setattr(importance, "MANY", 100)
    result = importance.importance_sampling(others)
    assert (result.pareto_k.values == 0).sum() > 20 > (plain.pareto_k.values == 0).sum()
    assert result.elpd == pytest.approx(plain.elpd, abs=0.01)
    pit = [results_of(one)[WEIGHTED]["pit"].values for one in (fit, others)]
    np.testing.assert_allclose(pit[1], pit[0], atol=0.02)
