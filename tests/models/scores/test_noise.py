import numpy as np
import pytest
import scipy.stats as st
from bayescaling.models.scores.noise import END, NOISES, Beta, LogitT4
from scipy.integrate import quad
from scipy.special import expit, logit

ETA = np.linspace(-8, 8, 33)[:, None]
LOG_NOISE = np.log([0.01, 0.03, 0.1, 0.3, 0.6])


def beta(eta, log_noise):
    precision = 0.25 / np.exp(log_noise) ** 2
    return st.beta(precision * expit(eta), precision * expit(-eta))


def test_the_beta_is_that_of_its_mean_and_precision():
    density = Beta.log_density(ETA, LOG_NOISE, np.log(0.3), np.log(0.7))
    np.testing.assert_allclose(density, beta(ETA, LOG_NOISE).logpdf(0.3), rtol=1e-9, atol=1e-9)


def test_the_beta_has_nearly_the_noise_as_its_sd_in_the_middle():
    np.testing.assert_allclose(Beta.sd(0.0, LOG_NOISE), beta(0.0, LOG_NOISE).std())
    assert Beta.sd(0.0, np.log(0.1)) == pytest.approx(0.1, rel=0.03)


def test_the_mass_of_a_beta_at_an_end_is_that_of_the_incomplete_beta():
    log_mass, exact = Beta.log_below(ETA, LOG_NOISE), beta(ETA, LOG_NOISE).cdf(END)
    finite = exact > 1e-300
    assert finite.mean() > 0.7
    np.testing.assert_allclose(np.exp(log_mass)[finite], exact[finite], rtol=2e-6)


def test_the_mass_of_students_t_at_an_end_is_exact_in_both_tails():
    t = (logit(END) - ETA) / (4 * np.exp(LOG_NOISE))
    np.testing.assert_allclose(LogitT4.log_below(ETA, LOG_NOISE), st.t(4).logcdf(t), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", NOISES)
def test_the_densities_and_the_masses_of_the_ends_add_up_to_one(name):
    noise = NOISES[name]
    for at in ((0.4, np.log(0.1)), (-4.0, np.log(0.2)), (5.0, np.log(0.05))):
        eta, log_noise = at
        between, _ = quad(lambda y, at=at: np.exp(noise.log_density(*at, np.log(y), np.log1p(-y))), END, 1 - END)
        ends = np.exp(noise.log_below(eta, log_noise)) + np.exp(noise.log_below(-eta, log_noise))
        assert between + ends == pytest.approx(1, rel=1e-4)


@pytest.mark.parametrize("name", NOISES)
def test_draws_are_distributed_as_the_cdf_says(name):
    noise, rng = NOISES[name], np.random.default_rng(1)
    drawn = noise.draw(np.full(4000, -1.0), np.log(0.1), rng)
    assert st.kstest(drawn, lambda y: noise.cdf(-1.0, np.log(0.1), y)).pvalue > 0.01
    assert noise.sd(-1.0, np.log(0.1)) == pytest.approx(drawn.std(), rel=0.15)


@pytest.mark.parametrize("name", NOISES)
def test_means_of_few_questions_vary_as_the_binomial_does(name):
    noise, rng, eta = NOISES[name], np.random.default_rng(2), 0.6
    for items, log_noise in ((30, np.log(1e-3)), (200, np.log(0.05))):
        true = noise.draw(np.full(200_000, eta), log_noise, rng)
        scores = rng.binomial(items, np.clip(true, 0, 1)) / items
        sd = noise.sd(eta, noise.with_sampling(eta, log_noise, 1 / items))
        assert sd == pytest.approx(scores.std(), rel=0.01 if name == "beta" else 0.1)
    np.testing.assert_allclose(noise.with_sampling(0.0, LOG_NOISE, 0.0), LOG_NOISE)
