import bayescaling as bs
import numpy as np
import pytest
import scipy.stats as st
from bayescaling.models import law
from bayescaling.models.backend import pymc
from bayescaling.models.priors import DISTRIBUTIONS, Prior

EXAMPLES = {
    "Normal": "Normal(-0.3, 1.7)",
    "LogNormal": "LogNormal(-1.2, 0.7)",
    "HalfNormal": "HalfNormal(0.4)",
    "TruncatedNormal": "TruncatedNormal(0.3, 0.6, 0.1, 2)",
    "StudentT": "StudentT(3, 0.5, 1.5)",
    "Laplace": "Laplace(0.2, 0.9)",
    "Gamma": "Gamma(2, 0.1)",
    "InverseGamma": "InverseGamma(3, 1.5)",
    "Exponential": "Exponential(2.5)",
    "Beta": "Beta(2, 3.5)",
    "Uniform": "Uniform(0.1, 1.2)",
}


# SciPy's distributions of the same arguments.
OF_SCIPY = {
    "Normal": lambda mu, sigma: st.norm(mu, sigma),
    "LogNormal": lambda mu, sigma: st.lognorm(sigma, scale=np.exp(mu)),
    "HalfNormal": lambda sigma: st.halfnorm(scale=sigma),
    "TruncatedNormal": lambda mu, sigma, lower, upper: st.truncnorm(
        (lower - mu) / sigma, (upper - mu) / sigma, mu, sigma
    ),
    "StudentT": lambda nu, mu, sigma: st.t(nu, mu, sigma),
    "Laplace": lambda mu, b: st.laplace(mu, b),
    "Gamma": lambda alpha, beta: st.gamma(alpha, scale=1 / beta),
    "InverseGamma": lambda alpha, beta: st.invgamma(alpha, scale=beta),
    "Exponential": lambda lam: st.expon(scale=1 / lam),
    "Beta": lambda alpha, beta: st.beta(alpha, beta),
    "Uniform": lambda lower, upper: st.uniform(lower, upper - lower),
}


@pytest.mark.parametrize("text", EXAMPLES.values(), ids=EXAMPLES)
def test_scipy_has_the_same_distribution(text):
    prior = Prior.parse(text)
    scipy, shares = OF_SCIPY[prior.distribution](**prior.arguments), np.array([1e-6, 0.001, 0.3, 0.5, 0.7, 0.999])
    x = scipy.ppf(shares)
    np.testing.assert_allclose(prior.quantile(shares), x, rtol=1e-9)
    np.testing.assert_allclose(prior.log_density(x), scipy.logpdf(x), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(prior.support, scipy.support(), rtol=1e-12)
    low, high = prior.support
    assert (prior.log_density(np.array([low - 1.0, high + 1.0])[np.isfinite([low, high])]) == -np.inf).all()
    assert st.kstest(prior.drawn(np.random.default_rng(1), 2000), scipy.cdf).pvalue > 1e-3


def test_every_distribution_is_tested():
    assert EXAMPLES.keys() == DISTRIBUTIONS.keys() == OF_SCIPY.keys()


@pytest.mark.parametrize("text", EXAMPLES.values(), ids=EXAMPLES)
def test_pymc_has_the_same_density(text, as_written):
    pm = pymc()
    prior = Prior.parse(text)
    x = prior.quantile([0.001, 0.05, 0.3, 0.5, 0.7, 0.95, 0.999])
    with pm.Model():
        of_pymc = pm.logp(prior.variable("x"), x).eval(mode=as_written)
    off = 1e-8 if prior.distribution == "TruncatedNormal" else 1e-11  # PyMC's normaliser of it is no closer
    np.testing.assert_allclose(prior.log_density(x), of_pymc, rtol=off, atol=off)


@pytest.mark.parametrize("text", EXAMPLES.values(), ids=EXAMPLES)
def test_unconstrained_values_come_back_with_their_jacobian(text):
    prior = Prior.parse(text)
    x = prior.quantile(np.linspace(0.01, 0.99, 21))
    z = prior.to_unconstrained(x)
    back, log_jacobian = prior.from_unconstrained(z)
    np.testing.assert_allclose(back, x, rtol=1e-12)
    step = 1e-6
    slope = (prior.from_unconstrained(z + step)[0] - prior.from_unconstrained(z - step)[0]) / (2 * step)
    np.testing.assert_allclose(log_jacobian, np.log(slope), rtol=1e-6, atol=1e-7)
    low, high = prior.support
    everywhere = prior.from_unconstrained(np.array([-30.0, 30.0]))[0]
    assert low <= everywhere.min()
    assert everywhere.max() <= high


@pytest.mark.parametrize(
    "text",
    [
        "LogNormal(-1, 0.5)",
        "LogNormal(mu=-1, sigma=0.5)",
        "LogNormal(-1, sigma=0.5)",
        " LogNormal( sigma = 5e-1 , mu = -1.0 ) ",
        Prior("LogNormal", {"mu": -1.0, "sigma": 0.5}),
    ],
)
def test_one_prior_can_be_written_in_many_ways(text):
    assert Prior.parse(text) == Prior("LogNormal", {"mu": -1.0, "sigma": 0.5})


@pytest.mark.parametrize("text", EXAMPLES.values(), ids=EXAMPLES)
def test_densities_of_coordinates_are_those_of_values_with_their_jacobian(text):
    prior = Prior.parse(text)
    for z in np.linspace(-3, 3, 13):
        value, log_slope = prior.from_unconstrained(z)
        x, density = prior.of_coordinate(z)
        assert x == pytest.approx(float(value), rel=1e-12, abs=1e-12)
        assert density == pytest.approx(float(prior.log_density(value) + log_slope), rel=1e-10, abs=1e-10)


@pytest.mark.parametrize("text", ["Normal(0.123456789, 1)", "Normal(0.1, 1e-05)", "Uniform(1, 1.0000000001)"])
def test_priors_keep_every_digit(text):
    assert str(Prior.parse(text)) == text
    law = bs.laws.Chinchilla(priors={"alpha": "LogNormal(-1.123456789, 1)"})
    assert law.options["priors"] == {"alpha": "LogNormal(-1.123456789, 1)"}


REFUSALS = [
    ("Normal(0, 5e-324)", "too close together for double precision"),
    ("Normal(0, 1e200)", "too large, too small"),
    ("LogNormal(800, 1)", "too large, too small"),
    ("LogNormal(-700, 1)", "too close together"),
    ("Uniform(1, 1.0000000000000002)", "too close together"),
    ("Normal(١, 1)", "cannot be read"),
    ("Normal(mu=0, mu=1)", "cannot be read"),
    ("Normal(mu=0, 1)", "cannot be read"),
    ("Normal(\x00, 1)", "cannot be read"),
    ("LogNormal", "cannot be read; write for example"),
    ("LogNormal(-1, 0.5", "cannot be read"),
    ("__import__('os').getcwd()", "cannot be read"),
    ("LogNormal('a', 0.5)", "cannot be read"),
    ("", "cannot be read"),
    (0.5, "cannot be read"),
    ("Lognormal(-1, 0.5)", 'distribution "Lognormal" is unknown; did you mean "LogNormal"'),
    ("Weibull(1, 2)", 'distribution "Weibull" is unknown; choose one of Normal, LogNormal'),
    ("LogNormal(-1)", "LogNormal takes 2 parameters: mu, sigma"),
    ("LogNormal(-1, scale=0.5)", "LogNormal takes 2 parameters"),
    ("LogNormal(-1, -0.5)", "is no distribution: check the signs"),
    ("Uniform(2, 1)", "is no distribution"),
    ("TruncatedNormal(0, 1, 3, 2)", "is no distribution"),
    ("Normal(1e999, 1)", "is no distribution"),
]


@pytest.mark.parametrize(("text", "words"), REFUSALS)
def test_what_is_no_prior_is_refused(text, words):
    with pytest.raises(bs.InputError) as error:
        Prior.parse(text)
    assert words in str(error.value)
    assert repr(text) in str(error.value)


@pytest.mark.parametrize(
    ("priors", "words"),
    [
        (
            {"alpha": "Normal(0, 1)"},
            r"prior alpha='Normal\(0, 1\)' has support \(-inf, inf\), but alpha lies in \(0, inf\)",
        ),
        ({"reducible_share": "Uniform(0, 1.5)"}, r"has support \(0, 1.5\), but reducible_share lies in \(0, 1\)"),
        ({"parameter_share": "HalfNormal(1)"}, "parameter_share lies in"),
        (
            {"E": "Normal(1.8, 0.1)"},
            "prior on 'E': it is derived, not sampled; priors can be set on loss_centre, reducible_share",
        ),
        ({"A": "LogNormal(6, 1)"}, "'A': it is derived"),
        ({"exponent_parameters": "Beta(2, 2)"}, "it is derived"),
        ({"nu": "Gamma(2, 0.1)"}, "'nu': it is derived, not sampled; .*, sigma_parameters, sigma_tokens$"),
        ({"gamma": "Gamma(2, 0.1)"}, "'gamma': it is not known to this law; priors can be set on"),
    ],
)
def test_priors_that_do_not_fit_the_law_are_refused(priors, words):
    with pytest.raises(bs.InputError, match=words):
        bs.laws.Chinchilla(priors=priors)


def test_a_prior_on_what_the_noise_lacks_is_refused():
    with pytest.raises(bs.InputError, match="nu_minus_one"):
        bs.laws.Chinchilla(noise="normal", priors={"nu_minus_one": "Gamma(2, 0.1)"})


def test_a_prior_is_replaced_and_the_others_stay():
    changed = bs.laws.Chinchilla(priors={"alpha": "LogNormal(mu=-1, sigma=0.5)"})
    default = bs.laws.Chinchilla()
    assert str(changed.prior_of["alpha"]) == "LogNormal(-1, 0.5)"
    assert {k: v for k, v in changed.prior_of.items() if k != "alpha"} == {
        k: v for k, v in default.prior_of.items() if k != "alpha"
    }
    assert law("chinchilla", **changed.options) == changed


def test_default_priors_hold_published_constants_and_say_what_they_claim(truth):
    priors = bs.laws.Chinchilla().prior_of
    for name, x in truth.items():
        low, high = priors[name].quantile([0.001, 0.999])
        assert low < x < high, name
    np.testing.assert_allclose(priors["alpha"].quantile([0.025, 0.975]), [0.08, 1.2], rtol=0.05)
    np.testing.assert_allclose(priors["sigma"].quantile([0.025, 0.975]), [0.0005, 0.19], rtol=0.1)
    np.testing.assert_allclose(priors["loss_centre"].quantile([0.025, 0.975]), [1.1, 8], rtol=0.05)


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("chinchila", {}, 'law "chinchila" is unknown; did you mean "chinchilla"'),
        ("chinchilla", {"nois": "normal"}, r'option .*"nois" is unknown; did you mean "noise"'),
        ("chinchilla", {"noise": "cauchy"}, 'noise "cauchy" is unknown'),
    ],
)
def test_unknown_laws_and_options_are_refused(name, options, words):
    with pytest.raises(bs.InputError, match=words):
        law(name, **options)


OBJECTS = [
    ("preliz", lambda pz: pz.LogNormal(-1.123456789, 1), "LogNormal(-1.123456789, 1)"),
    ("preliz", lambda pz: pz.Gamma(mu=2, sigma=1), "Gamma(4, 2)"),
    ("pymc", lambda pm: pm.LogNormal.dist(-1.123456789, 1), "LogNormal(-1.123456789, 1)"),
    ("pymc", lambda pm: pm.HalfNormal.dist(0.3), "HalfNormal(0.3)"),
    ("pymc", lambda pm: pm.Gamma.dist(mu=2, sigma=1), "Gamma(4, 2)"),
    ("pymc", lambda pm: pm.Exponential.dist(3), "Exponential(3)"),
    ("pymc_extras.prior", lambda px: px.Prior("LogNormal", mu=-1.123456789, sigma=1), "LogNormal(-1.123456789, 1)"),
]


@pytest.mark.parametrize(("package", "make", "text"), OBJECTS)
def test_priors_of_other_packages_are_taken_with_every_digit(package, make, text):
    distribution = make(pytest.importorskip(package))
    assert str(Prior.parse(distribution)) == text
    assert bs.laws.Chinchilla(priors={"alpha": distribution}).options["priors"] == {"alpha": text}


@pytest.mark.parametrize(
    ("package", "make", "words"),
    [
        ("preliz", lambda pz: pz.Normal(), "its parameters are not all numbers"),
        ("pymc", lambda pm: pm.Normal.dist(pm.Normal.dist(), 1), "its parameters are not all numbers"),
        ("pymc", lambda pm: pm.Weibull.dist(1, 2), 'distribution "Weibull" is unknown'),
        ("preliz", lambda pz: pz.Weibull(1, 2), 'distribution "Weibull" is unknown'),
        ("pymc_extras.prior", lambda px: px.Prior("Gamma", mu=2, sigma=1), "Gamma takes 2 parameters: alpha, beta"),
        ("pymc_extras.prior", lambda px: px.Prior("Normal", mu=px.Prior("Normal"), sigma=1), "not all numbers"),
        ("pymc_extras.prior", lambda px: px.Prior("Normal", mu=0, sigma=1, dims="x"), "has dims or a transform"),
        ("pymc_extras.prior", lambda px: px.Prior("Normal", mu=0, sigma=1, transform="exp"), "dims or a transform"),
    ],
)
def test_priors_of_other_packages_that_cannot_be_used_are_refused(package, make, words):
    distribution = make(pytest.importorskip(package))
    with pytest.raises(bs.InputError, match=words) as error:
        Prior.parse(distribution)
    assert str(error.value).isprintable()


class Other:
    """What distributions of PreliZ have, as far as priors are concerned."""

    param_names = ("mu", "sigma")

    def __str__(self):
        return "Normal(mu=0.123, sigma=1)"


def test_a_distribution_is_read_by_its_numbers_not_as_it_shows_them():
    distribution = type("Normal", (Other,), {"mu": 0.123456789, "sigma": 1})()
    assert str(Prior.parse(distribution)) == "Normal(0.123456789, 1)"
    with pytest.raises(bs.InputError, match="not all numbers"):
        Prior.parse(type("Normal", (Other,), {"mu": None, "sigma": 1})())
