import itertools

import bayescaling as bs
import numpy as np
import pytest
import xarray as xr
from bayescaling.inference.engine import compile_density
from bayescaling.models.backend import pymc
from bayescaling.models.loss.noise import Noise, huber_draw, huber_logp, huber_normaliser, normal_logp, student_t_logp
from scipy import stats
from scipy.integrate import quad

THRESHOLDS = (0.05, 0.5, 1.345, 4.0)
DENSITIES = {
    "normal": lambda x: normal_logp(x, 0.7),
    "student_t nu=1.3": lambda x: student_t_logp(x, 0.7, 1.3),
    "student_t nu=30": lambda x: student_t_logp(x, 0.7, 30.0),
    **{f"huber k={k}": lambda x, k=k: huber_logp(x, 0.7, k) for k in THRESHOLDS},
}


def mass(log_density):
    """Integral over the line; beyond 1e5 scales the tail of a Student-t is left out."""
    ends = [0.0, *np.geomspace(0.1, 1e5, 40) * 0.7]

    def both_sides(x):
        return sum(np.exp(float(log_density(side))) for side in (-x, x))

    return sum(quad(both_sides, a, b)[0] for a, b in itertools.pairwise(ends))


@pytest.mark.parametrize("name", DENSITIES)
def test_density_integrates_to_one(name):
    missing = 2 * stats.t.sf(1e5, 1.3) if name == "student_t nu=1.3" else 0.0
    assert mass(DENSITIES[name]) + missing == pytest.approx(1, abs=1e-9)


def test_normal_and_student_t_are_those_of_scipy_and_pymc(as_written):
    pm = pymc()
    x = np.linspace(-20, 20, 401)
    np.testing.assert_allclose(normal_logp(x, 0.3), stats.norm.logpdf(x, scale=0.3), rtol=1e-12)
    for nu in np.array([1.01, 1.6, 4.0, 60.0]):
        ours = student_t_logp(x, 0.3, nu)
        np.testing.assert_allclose(ours, stats.t.logpdf(x, nu, scale=0.3), rtol=1e-10, atol=1e-10)
        of_pymc = pm.logp(pm.StudentT.dist(nu=nu, mu=np.float64(0), sigma=np.float64(0.3)), x).eval(mode=as_written)
        np.testing.assert_allclose(ours, of_pymc, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("threshold", THRESHOLDS)
def test_huber_density_is_written_out(threshold):
    sigma, x = 0.6, np.linspace(-5, 5, 101)
    u = x / sigma
    rho = [0.5 * v**2 if abs(v) <= threshold else threshold * (abs(v) - threshold / 2) for v in u]
    normaliser = np.sqrt(2 * np.pi) * (2 * stats.norm.cdf(threshold) - 1) + 2 / threshold * np.exp(-(threshold**2) / 2)
    assert huber_normaliser(threshold) == pytest.approx(normaliser, rel=1e-12)
    np.testing.assert_allclose(huber_logp(x, sigma, threshold), -np.array(rho) - np.log(sigma * normaliser), rtol=1e-12)


@pytest.mark.parametrize("threshold", THRESHOLDS)
def test_huber_draws_follow_the_huber_density(threshold):
    draws = huber_draw(np.random.default_rng(1), threshold, 20_000)
    # The density has exponential tails of rate `threshold`: 40 of their lengths hold all of it.
    grid = np.linspace(-1, 1, 4001) * (threshold + 40 / threshold)
    pieces = np.exp(huber_logp(grid, 1.0, threshold))
    cumulative = np.concatenate([[0], np.cumsum((pieces[1:] + pieces[:-1]) / 2 * np.diff(grid))])
    assert stats.kstest(draws, lambda x: np.interp(x, grid, cumulative)).pvalue > 0.01


@pytest.mark.parametrize(("family", "arguments"), [("normal", ()), ("student_t", (2.5,)), ("huber", ())])
@pytest.mark.parametrize("reading", [False, True])
@pytest.mark.parametrize("skew", [False, True])
def test_draws_follow_the_density_that_is_scored(family, arguments, reading, skew):
    noise = Noise(family, "loss", 1.0, reading, skew=skew)
    sigma, halfwidth = np.array([0.3]), np.array([0.5])
    arguments = (*arguments, *((1.7,) if skew else ()))
    draws = noise.draw(np.random.default_rng(2), (20_000,), sigma, *arguments, halfwidth=halfwidth)
    grid = np.linspace(-60, 60, 40_001)
    density = np.exp(noise.logp(grid, sigma, *arguments, halfwidth=np.full(grid.shape, 0.5)))
    if family == "normal" and reading and not skew:
        assert draws.std() == pytest.approx(np.sqrt(sigma**2 + 0.5**2 / 3), rel=0.02)
        return
    cumulative = (np.cumsum(density) - density / 2) * (grid[1] - grid[0])
    assert stats.kstest(draws, lambda x: np.interp(x, grid, cumulative)).pvalue > 0.01
    predicted = noise.cdf(grid, sigma, *arguments, halfwidth=np.full(grid.shape, 0.5))
    far = predicted[0]  # what a Student-t has below the grid
    np.testing.assert_allclose(predicted, cumulative + far, atol=4e-4)


def convolved(family, residual, halfwidth, sigma, shape):
    """Log mean density within a reading error, by adaptive quadrature between the places where it is not smooth."""
    log_density = {"student_t": student_t_logp, "huber": huber_logp}[family]

    def density(x):
        return np.exp(float(log_density(x, sigma, shape)))

    marks = sigma * np.array([-100, -10, -shape, -1, 0, 1, shape, 10, 100])
    within = np.unique(marks[abs(marks - residual) < halfwidth])
    ends = [residual - halfwidth, *within, residual + halfwidth]
    parts = [quad(density, a, b, epsabs=0, epsrel=1e-11)[0] for a, b in itertools.pairwise(ends)]
    return np.log(sum(parts) / (2 * halfwidth))


# Largest error of a log density for sigma >= halfwidth/5 and for sigma = halfwidth/100. The Huber density is not smooth
# at its threshold, so quadrature is less exact there.
CONVOLUTIONS = [
    ("student_t", 1.1, 1e-11, 1e-7),
    ("student_t", 1.7, 1e-11, 1e-7),
    ("student_t", 8.0, 1e-11, 1e-5),
    ("huber", 1e-3, 2e-6, 2e-6),
    ("huber", 0.5, 1e-4, 2e-3),
    ("huber", 1.345, 1e-4, 2e-3),
]


@pytest.mark.parametrize(("family", "shape", "tolerance", "far"), CONVOLUTIONS)
def test_reading_error_is_convolved(family, shape, tolerance, far):
    halfwidth = 0.003
    residual = np.array([0.0, 0.0004, 0.0017, 0.0029, 0.003, 0.0031, 0.004, -0.0045, 0.05])
    noise = Noise(family, "log_loss", shape if family == "huber" else 1.345, True)
    for ratio in (1e3, 5, 1, 0.5, 0.2, 0.01):
        sigma = ratio * halfwidth
        near = residual if ratio >= 0.2 or family == "student_t" else residual[abs(residual) < halfwidth]
        arguments = (sigma, shape) if family == "student_t" else (sigma,)
        densities = noise.logp(near, *arguments, halfwidth=np.full(near.shape, halfwidth))
        expected = [convolved(family, r, halfwidth, sigma, shape) for r in near]
        off = tolerance if ratio >= 0.2 else far
        np.testing.assert_allclose(densities, expected, rtol=0, atol=off, err_msg=f"sigma/h {ratio}")


def test_reading_error_adds_its_variance_under_normal_noise():
    noise, residual = Noise("normal", "loss", 1.345, True), np.linspace(-3, 3, 7)
    halfwidth = np.linspace(0, 2, 7)
    expected = stats.norm.logpdf(residual, scale=np.sqrt(0.4**2 + halfwidth**2 / 3))
    np.testing.assert_allclose(noise.logp(residual, 0.4, halfwidth=halfwidth), expected, rtol=1e-12)


def test_reading_error_is_relative_on_the_log_scale(runs):
    on = {
        scale: bs.laws.Chinchilla(scale=scale, measurement_error=True).halfwidth(runs) for scale in ("loss", "log_loss")
    }
    np.testing.assert_array_equal(on["loss"], runs["loss_halfwidth"])
    ends = np.log(runs["loss"] + runs["loss_halfwidth"]) - np.log(runs["loss"] - runs["loss_halfwidth"])
    np.testing.assert_allclose(on["log_loss"], ends / 2, rtol=1e-4)
    assert bs.laws.Chinchilla().halfwidth(runs) is None


@pytest.mark.parametrize(("family", "shape"), [("student_t", (1.7,)), ("huber", ()), ("normal", ())])
def test_no_reading_error_is_no_reading_error(family, shape):
    residual = np.array([-2.0, -0.1, 0.0, 0.3, 50.0])
    with_error = Noise(family, "loss", 1.345, True).logp(residual, 0.4, *shape, halfwidth=np.zeros(5))
    without = Noise(family, "loss", 1.345, False).logp(residual, 0.4, *shape)
    np.testing.assert_allclose(with_error, without, rtol=0, atol=1e-8)


COMBINATIONS = [
    {"noise": noise, "scale": scale, "scatter": "one", "measurement_error": reading}
    for noise, scale, reading in itertools.product(
        ("student_t", "normal", "huber"), ("log_loss", "loss"), (False, True)
    )
] + [
    {"noise": noise, "scatter": "by_size", "skew": skew, "measurement_error": reading}
    for noise, skew, reading in itertools.product(("student_t", "normal", "huber"), (False, True), (False, True))
]


def marked(options):
    """One reading error suffices for the quick tests."""
    slow = options["measurement_error"] and options["noise"] != "normal"
    name = " ".join(map(str, options.values()))
    return pytest.param(options, id=name, marks=[pytest.mark.thorough] if slow else [])


@pytest.mark.parametrize("options", [marked(options) for options in COMBINATIONS])
def test_what_is_sampled_is_what_is_scored(runs, options):
    law, random = bs.laws.Chinchilla(**options), np.random.default_rng(4)
    few = runs.iloc[:12].assign(loss_halfwidth=lambda t: t["loss_halfwidth"].where(t.index > 0, 0.0))
    reference = law.reference(few)
    density = law.density(few, reference)
    evaluate = compile_density(density)
    for _ in range(3):
        values = {name: float(prior.drawn(random)) for name, prior in law.prior_of.items()}
        z = np.array([prior.to_unconstrained(values[name]) for name, prior in law.prior_of.items()], float)
        parts = [(prior, *prior.from_unconstrained(x)) for prior, x in zip(law.prior_of.values(), z, strict=True)]
        log_prior = sum(float(prior.log_density(x) + jacobian) for prior, x, jacobian in parts)
        sampled = xr.Dataset({name: (("chain", "draw"), [[x]]) for name, x in values.items()})
        draws = law.draws(sampled, few, reference)
        expected = log_prior + draws.total_log_likelihood().item()
        assert draws.log_density().item() == pytest.approx(expected, rel=1e-10)
        value, gradient = evaluate(z, density)
        assert value == pytest.approx(expected, rel=1e-10)
        steps = 1e-5 * np.eye(len(z))
        numerical = [(evaluate(z + step, density)[0] - evaluate(z - step, density)[0]) / 2e-5 for step in steps]
        np.testing.assert_allclose(gradient, numerical, rtol=1e-4, atol=1e-3)


def test_unknown_noise_and_scale_and_threshold_are_refused():
    with pytest.raises(bs.InputError, match='noise "student" is unknown; did you mean "student_t"'):
        bs.laws.Chinchilla(noise="student").prior_of  # noqa: B018
    with pytest.raises(bs.InputError, match='scale "log" is unknown'):
        bs.laws.Chinchilla(scale="log").prior_of  # noqa: B018
    with pytest.raises(bs.InputError, match='scatter "by-size" is unknown; did you mean "by_size"'):
        bs.laws.Chinchilla(scatter="by-size")
    for threshold in (0.0, -1.0, np.inf, np.nan, "1"):
        with pytest.raises(bs.InputError, match="must be a positive number"):
            bs.laws.Chinchilla(noise="huber", threshold=threshold)


SLOPES = {"sigma_parameters": 0.4, "sigma_tokens": -0.3}


def test_scatter_follows_the_sizes_and_is_held_beyond_the_fitted_ones(runs, truth):
    law = bs.laws.Chinchilla()
    reference = law.reference(runs)
    values = {name: np.array([[[x]]]) for name, x in (truth | SLOPES).items()}
    n, d = (runs[name].to_numpy() for name in ("parameters", "tokens"))
    sigma, _ = law.residuals.arguments(values, reference, {"parameters": n, "tokens": d})
    centred = [np.log(x) - np.log(x).mean() for x in (n, d)]
    np.testing.assert_allclose(sigma[0, 0], 0.004 * np.exp(0.4 * centred[0] - 0.3 * centred[1]), rtol=1e-12)
    beyond = {"parameters": np.array([1e3 * n.max()]), "tokens": np.array([1e-3 * d.min()])}
    at_ends = {"parameters": np.array([n.max()]), "tokens": np.array([d.min()])}
    scales = [law.residuals.arguments(values, reference, sizes)[0].item() for sizes in (beyond, at_ends)]
    assert scales[0] == pytest.approx(scales[1], rel=1e-12)
    assert scales[0] > 0.004
    derived = law.residuals.derived(values, reference)
    for name, at in (("sigma_smallest_run", (n * d).argmin()), ("sigma_largest_run", (n * d).argmax())):
        assert derived[name].item() == pytest.approx(sigma[0, 0, at], rel=1e-12)


def test_scatter_by_size_is_recovered(fitter, runs, truth):
    truths = truth | SLOPES | {"nu_minus_one": 6.0}
    simulated = runs.assign(loss=fitter.law.simulate(truths, runs, np.random.default_rng(5)))
    fit = fitter.fit(simulated, seed=1)
    for name, true in truths.items():
        low, high = np.quantile(fit["posterior"][name], [0.001, 0.999])
        assert low < true < high, name
    assert float(fit["posterior"]["sigma_parameters"].std()) < 0.1


def test_the_runs_of_chinchilla_scatter_by_size(fit_default):
    """An independent model of the same law and runs: slopes .40 and -.35, elpd 865.8."""
    assert float(fit_default["posterior"]["sigma_parameters"].mean()) == pytest.approx(0.40, abs=0.02)
    assert float(fit_default["posterior"]["sigma_tokens"].mean()) == pytest.approx(-0.35, abs=0.02)
    assert fit_default.loo().elpd == pytest.approx(865.8, abs=1.0)


@pytest.mark.parametrize("slope", [-0.4, 0.0, 0.4])
def test_beyond_the_fitted_sizes_the_scatter_is_at_least_that_at_the_centre(slope):
    noise, sizes = Noise("normal", sizes=("parameters", "tokens")), np.geomspace(1e7, 1e10, 9)
    reference = noise.centre({"parameters": sizes, "tokens": 20 * sizes})
    values = {"sigma": np.array([[0.01], [0.02]]), "sigma_parameters": slope, "sigma_tokens": -slope / 2}
    fitted = {"parameters": sizes, "tokens": 20 * sizes}
    (inside,) = noise.arguments(values, reference, fitted)
    np.testing.assert_array_equal(inside, *noise.arguments(values, reference, fitted, fitted=True))
    logs = np.log(sizes) - np.log(sizes).mean()
    np.testing.assert_allclose(inside, values["sigma"] * np.exp(slope / 2 * logs), rtol=1e-12)
    for factor, end in ((1e4, -1), (1e-4, 0)):  # all rows larger, then smaller, than every run
        (sigma,) = noise.arguments(values, reference, {name: factor * x for name, x in fitted.items()})
        edge = np.broadcast_to(inside[:, [end]], sigma.shape)
        np.testing.assert_allclose(sigma, np.maximum(edge, values["sigma"]), rtol=1e-12)
    # Only one of the sizes is outside: the value of the other is unchanged.
    (sigma,) = noise.arguments(values, reference, {"parameters": np.array([1e12]), "tokens": 20 * sizes[:1]})
    held = values["sigma"] * np.exp(slope * logs[-1] - slope / 2 * logs[0])
    np.testing.assert_allclose(sigma, np.maximum(held, values["sigma"]), rtol=1e-12)
    # A size that differs from the largest by rounding alone is inside.
    (rounded,) = noise.arguments(values, reference, {name: x[-1:] * (1 + 1e-13) for name, x in fitted.items()})
    np.testing.assert_allclose(rounded, inside[:, -1:], rtol=1e-10)
