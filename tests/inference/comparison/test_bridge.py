import bayescaling as bs
import numpy as np
import pytest
import xarray as xr
from bayescaling.inference.comparison.bridge import LEAST_OVERLAP, bridge, left_out, log_mean_exp, log_normaliser
from bayescaling.inference.comparison.refits import exact_loo
from scipy import stats

DRAWS = (4, 1000)


def conjugate(outlier, seed=0):
    """Log densities of an observation N(mu, 1) under draws of mu with and without it, and the exact one."""
    rng = np.random.default_rng(seed)
    without = rng.normal(0.0, 1.0, DRAWS)
    having = rng.normal(outlier / 2, 0.5**0.5, DRAWS)
    exact = stats.norm.logpdf(outlier, 0, 2**0.5)
    return stats.norm.logpdf(outlier, having), stats.norm.logpdf(outlier, without), exact


@pytest.mark.parametrize("outlier", [0.0, 2.0, 4.0, 6.0])
def test_a_conjugate_model_whose_answer_is_known(outlier):
    errors, bridges = [], []
    for seed in range(20):
        having, lacking, exact = conjugate(outlier, seed)
        bridges.append(bridge(having, lacking))
        errors.append(bridges[-1].log_density - exact)
    assert np.mean(errors) == pytest.approx(0, abs=4 * np.std(errors) / np.sqrt(20))
    # The reported standard error is the error.
    assert np.median([one.se for one in bridges]) == pytest.approx(np.std(errors), rel=0.6)


def test_the_bridge_is_right_where_the_mean_over_a_refit_is_not():
    bridged, plain = [], []
    for seed in range(20):
        having, lacking, exact = conjugate(7.0, seed)
        bridged.append(bridge(having, lacking).log_density - exact)
        plain.append(log_mean_exp(lacking) - exact)
    assert np.sqrt(np.mean(np.square(bridged))) < 0.15
    assert np.sqrt(np.mean(np.square(plain))) > 2 * np.sqrt(np.mean(np.square(bridged)))


def test_overlap_is_the_integral_it_claims_to_be():
    for outlier in (0.0, 3.0):
        grid = np.linspace(-12, 12, 20_001)
        p, q = stats.norm.pdf(grid, outlier / 2, 0.5**0.5), stats.norm.pdf(grid, 0, 1)
        expected = np.trapezoid(2 * p * q / (p + q), grid)
        assert bridge(*conjugate(outlier)[:2]).overlap == pytest.approx(expected, abs=0.03)
    having, lacking, exact = conjugate(3.0)
    fewer = bridge(having, lacking[:2])
    assert fewer.log_density == pytest.approx(exact, abs=4 * fewer.se)


def test_a_density_that_says_nothing_needs_no_draws():
    flat = np.full(DRAWS, -3.25)
    assert bridge(flat, flat) == pytest.approx(bridge(flat, flat))
    assert bridge(flat, flat).log_density == pytest.approx(-3.25)
    assert bridge(flat, flat).se == 0
    with pytest.raises(ValueError, match="must be numbers"):
        bridge(flat * np.nan, flat)


@pytest.fixture(scope="module")
def worst_row(fit_normal):
    """The first run but one: Pareto k of 2.3 under normal noise."""
    return int(fit_normal.draws.log_likelihood().mean(("chain", "draw")).values.argmin())


def test_the_normal_in_between_gives_the_evidence_of_a_linear_model():
    """Of a normal posterior the bridge to a normal is exact: a stand-in for draws whose density is known."""

    class Known:
        def __init__(self, z):
            self.z = z

        def real_line(self):
            return xr.DataArray(self.z, dims=("chain", "draw", "coordinate"), coords={"coordinate": ["a", "b"]})

        def from_real_line(self, z):
            return Known(z.values)

        def log_density(self):
            tails = stats.t.logpdf(self.z, 5, loc=[1.0, -2.0], scale=[0.5, 3.0]).sum(-1)
            return xr.DataArray(tails + 4.5, dims=("chain", "draw"))

    z = stats.t.rvs(5, loc=[1.0, -2.0], scale=[0.5, 3.0], size=(*DRAWS, 2), random_state=3)
    normaliser = log_normaliser(Known(z))
    assert normaliser.log_density == pytest.approx(4.5, abs=4 * normaliser.se)
    assert normaliser.se < 0.03 and normaliser.overlap > 0.9


def evidence_by_importance_sampling(draws, points=50_000):
    """Log normaliser by points of a Student-t about the draws: nothing here is bridged."""
    real = draws.real_line()
    sample = real.values.reshape(-1, real.sizes["coordinate"])
    about = stats.multivariate_t(sample.mean(0), 1.3 * np.cov(sample.T), df=5, seed=3)
    z = about.rvs(points)
    at = xr.DataArray(z[None], dims=real.dims, coords={"coordinate": real["coordinate"].values, "chain": [0]})
    with np.errstate(all="ignore"):
        weights = draws.from_real_line(at.assign_coords(draw=np.arange(points))).log_density().values.ravel()
    weights = np.where(np.isfinite(weights), weights, -np.inf) - about.logpdf(z)
    ratios = np.exp(weights - weights.max())
    assert ratios.sum() ** 2 / (ratios**2).sum() > points / 3
    return log_mean_exp(weights[None])


def test_rows_of_any_pareto_k_agree_with_brute_force(fitter_normal, fit_normal, worst_row, quiet):
    raw, draws = fit_normal.loo(high_k="none"), fit_normal.draws
    whole = evidence_by_importance_sampling(draws)
    k = raw.pareto_k.values
    assert k[worst_row] > 1.5
    for row in (worst_row, *np.argsort(-k)[1:3]):
        table = exact_loo(fit_normal, [row])
        without = fitter_normal.sample(draws.without(row), seed=4, least_ess=0, draws=1000, tune=500).draws
        exact = whole - evidence_by_importance_sampling(without)
        assert float(table["elpd"][row]) == pytest.approx(exact, abs=0.05 + 4 * float(table["elpd_se"][row])), row


def test_a_prior_that_changes_with_the_rows_has_no_bridge(progress_draws):
    draws = progress_draws(bs.laws.Progress(7, penalty=0.01))
    lacking = np.log(np.random.default_rng(1).gamma(2, size=(4, 50)))
    ratio = left_out(draws, lacking + 1, None, lacking)
    assert ratio.log_density == pytest.approx(log_mean_exp(lacking))
    assert np.isnan(ratio.overlap)


def test_a_refit_of_fewer_draws_than_coordinates_keeps_its_bridge(fit_normal):
    draws = fit_normal.draws
    few = draws.from_real_line(draws.real_line().isel(chain=[0], draw=slice(0, 6)))
    having, lacking = (scale * np.random.default_rng(1).normal(size=(1, 6)) for scale in (1, 20))
    ratio = left_out(draws, having, few, lacking - 100)
    assert ratio == bridge(having, lacking - 100)
    assert ratio.overlap < LEAST_OVERLAP


def test_both_bridges_to_a_run_left_out_agree(lengths_fit, lengths_fitter, quiet):
    """Counts have binomial coefficients, which the densities that are bridged to a normal must hold too."""
    draws = lengths_fit.draws
    (having,) = lengths_fit["log_likelihood"].data_vars.values()
    having = having.transpose("chain", "draw", "run").values
    for run in (0, 4):
        remaining = draws.without(run)
        without = lengths_fitter.sample(remaining, law=draws.law, seed=3, least_ess=0, draws=1000, tune=500).draws
        direct = bridge(having[..., run], draws.left_out_density(without, run).values)
        whole, rest = log_normaliser(draws), log_normaliser(without)
        by_normal, se = whole.log_density - rest.log_density, np.hypot(whole.se, rest.se)
        assert draws.log_choose()[run] > 100
        assert by_normal == pytest.approx(direct.log_density, abs=4 * np.hypot(se, direct.se) + 0.3), run
