import json

import numpy as np
import pandas as pd
import pytest
from bayescaling import load
from bayescaling.errors import DiagnosticWarning, InputError
from bayescaling.inference.points import huber
from bayescaling.inference.points.envelopes import (
    exponents_by_frontier,
    exponents_by_isoflop,
    fit_frontier,
    fit_isoflop,
)
from bayescaling.inference.points.parametric import _sample, fit_huber
from bayescaling.models.loss import chinchilla
from bayescaling.models.loss.noise import huber_logp

# Besiroglu et al. (2024)
TRUTH = {"E": 1.8172, "A": 482.01, "B": 2085.43, "alpha": 0.3478, "beta": 0.3658}


@pytest.fixture(scope="module")
def runs():
    return load("chinchilla_runs")


def digitised(runs):
    sizes = runs["parameters_digitised"]
    return runs.assign(parameters=sizes, tokens=runs["training_flop"] / (6 * sizes))


def isoflop_design(*, sizes=41, half_width=1.5, noise=0.0):
    compute = np.repeat(np.logspace(18, 22, 9), sizes)
    best, _ = chinchilla.optimum(compute, **TRUTH)
    parameters = best * np.tile(np.exp(np.linspace(-half_width, half_width * 1.2, sizes)), 9)
    tokens = compute / (6 * parameters)
    loss = chinchilla.loss(parameters, tokens, **TRUTH)
    loss *= np.exp(noise * np.random.default_rng(1).standard_normal(len(loss)))
    return pd.DataFrame({"parameters": parameters, "tokens": tokens, "training_flop": compute, "loss": loss})


@pytest.fixture(scope="module")
def noise_free():
    return isoflop_design()


# (A, B, alpha, beta, E) at the optimum without the five highest losses. The first is published as
# `482.01, 2085.43, .3478, .3658, 1.8172` by Besiroglu et al. (2024), and as `406.4, 410.7, .3392, .2849, 1.6934` by
# Hoffmann et al. (2022).
OPTIMA = {
    ("free", True): (482.006, 2085.434, 0.347813, 0.365854, 1.816864),
    ("free", False): (471.35, 2098.98, 0.346554, 0.366182, 1.816048),
    ("fixed", True): (477.83, 2143.42, 0.347311, 0.367172, 1.817218),
    ("fixed", False): (469.17, 2145.55, 0.346246, 0.367225, 1.815980),
}


@pytest.mark.parametrize(("scale", "read_off"), OPTIMA)
def test_reaches_the_known_optimum_of_the_chinchilla_runs(runs, scale, read_off):
    fit = fit_huber(digitised(runs) if read_off else runs, scale=scale, drop_highest=5)
    reached = [fit[name] for name in ("A", "B", "alpha", "beta", "E")]
    assert reached == pytest.approx(OPTIMA[scale, read_off], rel=2e-5)
    assert fit.converged
    assert fit.rows == 240
    assert fit.search["starts"] == 50
    assert fit.search["starts_at_best"] == 50
    assert fit.search["gradient_norm"] < 1e-7
    assert fit.search["hessian_min_eigenvalue"] > 1e-5


@pytest.mark.parametrize("scale", ["free", "fixed"])
def test_recovers_the_constants_of_noise_free_losses(noise_free, scale):
    fit = fit_huber(noise_free, scale=scale, starts=10)
    assert fit.converged
    assert fit["constants"] == pytest.approx(TRUTH, rel=1e-6)
    assert fit["exponent"] == pytest.approx(chinchilla.parameter_exponent(**TRUTH), rel=1e-6)


def test_recovers_the_constants_and_the_scale_of_noisy_losses():
    fit = fit_huber(isoflop_design(noise=1e-3, sizes=101), threshold=5.0, starts=5)
    assert fit["constants"] == pytest.approx(TRUTH, rel=0.1)
    assert fit.search["scale"] == pytest.approx(1e-3, rel=0.1)


def test_starts_can_be_given_and_bad_ones_are_counted(runs):
    near = [6.0, 7.5, 0.6, 0.35, 0.37]
    without_tokens = [6.0, 0.0, 0.6, 0.35, 40.0]
    fit = fit_huber(runs, scale="fixed", starts=[near, without_tokens], drop_highest=5)
    assert fit.converged
    assert (fit.search["starts"], fit.search["starts_at_best"], fit.search["starts_unconverged"]) == (2, 1, 1)
    assert fit.search["other_optima"] == []


def test_accepts_a_minimum_where_fewer_residuals_vanish_than_there_are_constants(runs):
    resampled = runs.sample(40, replace=True, random_state=52)
    fit = fit_huber(resampled, starts=10)
    assert fit.search["hessian_min_eigenvalue"] < 1e-9
    assert fit.converged
    assert fit.search["starts_at_best"] >= 9
    assert fit.search["gradient_norm"] < 1e-7


def test_is_deterministic_and_blind_to_the_order_of_rows(runs):
    first, again = (fit_huber(runs, starts=4).to_dict() for _ in range(2))
    assert first == again
    shuffled = fit_huber(runs.sample(frac=1, random_state=0), starts=4)
    assert shuffled["constants"] == pytest.approx(first["constants"], rel=1e-6)


@pytest.mark.parametrize("delta", [1e-3, 0.02, 1.0])
def test_derivatives_agree_with_finite_differences(runs, delta):
    sample, _ = _sample(runs, 0)
    theta = np.array([-1.1, -0.9, 0.6, 0.3, 0.4])
    here = huber.expand(sample, theta, delta)
    h = 1e-7

    def slope(f):
        return np.stack([(f(theta + h * e) - f(theta - h * e)) / (2 * h) for e in np.eye(5)])

    np.testing.assert_allclose(slope(lambda t: huber.expand(sample, t, delta).value), here.gradient, rtol=1e-5)
    hessian = slope(lambda t: huber.expand(sample, t, delta).gradient)
    np.testing.assert_allclose(hessian, here.hessian, rtol=1e-5, atol=1e-5 * np.abs(here.hessian).max())
    wider, narrower = (huber.expand(sample, theta, delta * (1 + s * h)).gradient for s in (1, -1))
    drift = (wider - narrower) / (2 * h * delta)
    np.testing.assert_allclose(drift, here.drift, rtol=1e-5, atol=1e-5 * np.abs(here.drift).max())


def test_joint_derivatives_agree_with_finite_differences(runs):
    sample, _ = _sample(runs, 0)
    point = np.array([-1.1, -0.9, 0.6, 0.3, 0.4, np.log(0.02)])
    h = 1e-6

    def at(point):
        return huber.joint_derivatives(sample, point[:5], np.exp(point[5]), 1.345)

    _, gradient, hessian = at(point)
    sides = [(at(point + h * e), at(point - h * e)) for e in np.eye(6)]
    np.testing.assert_allclose([(up[0] - down[0]) / (2 * h) for up, down in sides], gradient, rtol=1e-6)
    differences = np.stack([(up[1] - down[1]) / (2 * h) for up, down in sides])
    np.testing.assert_allclose(differences, hessian, rtol=1e-5, atol=1e-5 * np.abs(hessian).max())


@pytest.mark.parametrize("threshold", [1e-3, 0.3, 1.345, 20.0])
def test_profile_scale_is_the_most_likely_scale(threshold):
    residuals = np.random.default_rng(2).standard_t(2, 200) * 0.01
    scale = huber.profile_scale(residuals, threshold)
    size = np.abs(residuals) / scale
    assert (np.minimum(size, threshold) * size).sum() == pytest.approx(200, rel=1e-12)
    likelihood = [huber_logp(residuals, scale * factor, threshold).sum() for factor in (0.99, 1.0, 1.01)]
    assert np.argmax(likelihood) == 1


def test_profile_scale_of_vanishing_residuals_is_zero():
    assert huber.profile_scale(np.zeros(7), 1e-3) == 0


def test_warns_where_the_runs_do_not_identify_the_law(noise_free):
    two_sizes = np.where(noise_free["parameters"] > noise_free["parameters"].median(), 4e9, 2e8)
    sizes = two_sizes * (1 + 1e-12 * np.arange(len(noise_free)))
    loss = chinchilla.loss(sizes, noise_free["tokens"], **TRUTH)
    with pytest.warns(DiagnosticWarning, match="no minimum was reached"):
        runs = noise_free.drop(columns="training_flop").assign(parameters=sizes, loss=loss)
        fit = fit_huber(runs, scale="fixed", starts=3)
    assert not fit.converged


def test_warns_of_an_exponent_that_is_not_positive(noise_free):
    loss = 2 + 0.01 * (noise_free["parameters"] / 1e8) ** 0.5 + 2e3 / noise_free["tokens"] ** 0.37
    with pytest.warns(DiagnosticWarning, match=r"alpha is -0\.5, so the law has no compute optimum"):
        fit = fit_huber(noise_free.assign(loss=loss), scale="fixed", starts=10)
    assert fit["alpha"] == pytest.approx(-0.5, abs=1e-4)


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        (lambda r: r, {"scale": "loose"}, "scale 'loose' is unknown; choose one of free, fixed"),
        (lambda r: r, {"threshold": 0}, "threshold must be a positive number, not 0"),
        (lambda r: r, {"threshold": float("nan")}, "threshold must be a positive number"),
        (lambda r: r, {"drop_highest": -1}, "drop_highest must be"),
        (lambda r: r, {"drop_highest": 240}, "5 rows are too few"),
        (lambda r: r, {"starts": 0}, "starts must be 1 or more, not 0"),
        (lambda r: r, {"starts": [[1.0, 2.0]]}, "starts of shape"),
        (lambda r: r.head(5), {}, "5 rows are too few for the 5 constants of the law; give at least 6"),
        (lambda r: r.assign(parameters=1e9), {}, "column 'parameters' is 1e+09 in every row; add runs"),
        (lambda r: r.assign(tokens=2e10), {}, "column 'tokens' is 2e+10 in every row; add runs"),
        (lambda r: r.assign(parameters=1e9 + 1e9 * (r.index % 2)), {}, "column 'parameters' has 2 different values"),
        (lambda r: r.assign(loss=r["loss"].where(r.index != 3, -1)), {}, "column 'loss' is -1.0 in row 3"),
        (lambda r: r.drop(columns="tokens"), {}, 'fit_huber needs "tokens"'),
    ],
)
def test_fit_huber_refuses_bad_input_in_one_line(runs, change, options, message):
    with pytest.raises(InputError) as caught:
        fit_huber(change(runs), **options)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("estimator", [fit_isoflop, fit_frontier])
def test_envelopes_recover_the_exponent_of_noise_free_losses(noise_free, estimator):
    law = estimator(noise_free)
    assert law.converged
    assert law["exponent"] == pytest.approx(chinchilla.parameter_exponent(**TRUTH), abs=0.01)
    assert law["exponent"] + law["exponent_tokens"] == pytest.approx(1, abs=1e-9)
    best, tokens = chinchilla.optimum(1e20, **TRUTH)
    assert law["coefficient"] * 1e20 ** law["exponent"] == pytest.approx(best, rel=0.1)
    assert law["coefficient_tokens"] * 1e20 ** law["exponent_tokens"] == pytest.approx(tokens, rel=0.1)
    assert len(law.points) == 9


def test_isoflop_groups_the_chinchilla_runs_and_sums_up_what_it_used(runs):
    law = fit_isoflop(runs)
    used = law.points[law.points["used"]]
    assert law.rows == used["runs"].sum()
    assert (used["runs"] >= 8).all()
    assert law.points["training_flop"].is_monotonic_increasing
    slope, covariance = np.polyfit(np.log(used["training_flop"]), np.log(used["parameters"]), 1, cov=True)
    assert law["exponent"] == pytest.approx(slope[0], rel=1e-9)
    assert law.errors["exponent"] == pytest.approx(np.sqrt(covariance[0, 0]), rel=1e-9)
    # By this approach: .49 [.462, .534] (Hoffmann et al. 2022, table 2).
    assert 0.4 < law["exponent"] < 0.6


def test_isoflop_takes_budgets_and_says_why_it_leaves_groups_out(noise_free):
    first, second = noise_free["training_flop"].unique()[:2]
    far = noise_free["training_flop"] > 1e20
    selected = far | (noise_free["training_flop"] == first) & (noise_free["parameters"] < 5e7)
    few = noise_free[noise_free["training_flop"] == second].head(3)
    law = fit_isoflop(pd.concat([noise_free[selected], few]), compute=noise_free["training_flop"].unique())
    assert law.points["reason"].tolist()[:2] == [
        "the parabola has no minimum within the sizes of the group",
        "fewer than 8 runs",
    ]
    assert law.points["used"].tolist() == [False, False, True, True, True, True]
    document = json.loads(json.dumps(law.to_dict(), allow_nan=False))
    assert document["points"][0]["parameters"] is None


@pytest.mark.parametrize("estimator", [fit_isoflop, fit_frontier])
def test_envelopes_warn_without_enough_optima(noise_free, estimator):
    with pytest.warns(DiagnosticWarning, match="2 of 2 levels of compute have an optimum"):
        law = estimator(noise_free[noise_free["training_flop"] < 5e18])
    assert not law.converged
    assert law.to_dict()["exponent"] is None


@pytest.mark.parametrize(
    ("estimator", "options", "message"),
    [
        (fit_isoflop, {"width": 0}, "width must be a positive number"),
        (fit_isoflop, {"minimum_runs": 3}, "minimum_runs must be 4 or more"),
        (fit_isoflop, {"minimum_runs": 300}, "column 'training_flop' has no 300 runs within 0.1 decades"),
        (fit_isoflop, {"compute": [-1.0]}, "compute must be positive numbers of FLOP"),
        (fit_isoflop, {"compute": [1e30]}, "column 'training_flop' has no"),
        (fit_frontier, {"bins": 2}, "bins must be 3 or more, not 2"),
        (fit_frontier, {"minimum_runs": 2}, "minimum_runs must be 3 or more"),
    ],
)
def test_envelopes_refuse_bad_options(runs, estimator, options, message):
    with pytest.raises(InputError, match=message):
        estimator(runs, **options)


@pytest.mark.parametrize(
    ("estimator", "of_tables"), [(fit_isoflop, exponents_by_isoflop), (fit_frontier, exponents_by_frontier)]
)
def test_exponents_of_many_tables_are_those_of_each(runs, estimator, of_tables):
    losses = runs["loss"].to_numpy()[:, None] * np.exp(
        np.random.default_rng(1).normal(0, [0, 0.01, 0.1], (len(runs), 3))
    )
    exponents = [estimator(runs.assign(loss=loss))["exponent"] for loss in losses.T]
    np.testing.assert_allclose(of_tables(runs, losses), exponents, rtol=1e-9)
    assert len(set(exponents)) == 3


def test_a_table_without_optima_has_no_exponent(runs):
    falling = 30 - np.log(runs["parameters"].to_numpy())
    for of_tables in (exponents_by_isoflop, exponents_by_frontier):
        (exponent,) = of_tables(runs, falling[:, None])
        assert np.isnan(exponent)


def test_levels_of_a_column_are_groups_in_that_compute(noise_free):
    """The optimum is a power of the compute of the column, here a constant times 6ND raised to 1.1."""
    counted = noise_free["training_flop"] ** 1.1 / 3
    law, usual = fit_isoflop(noise_free.assign(budget=counted), by="budget"), fit_isoflop(noise_free)
    np.testing.assert_allclose(law.points["training_flop"], np.unique(counted))
    np.testing.assert_allclose(law.points[["parameters", "tokens"]], usual.points[["parameters", "tokens"]])
    assert law["exponent"] == pytest.approx(usual["exponent"] / 1.1)
    few = noise_free.groupby("training_flop").nth([0, 13, 26, 40]).reset_index(drop=True)
    assert fit_isoflop(few, by="training_flop").converged


def test_levels_and_budgets_exclude_each_other(noise_free):
    with pytest.raises(InputError, match="give one of them"):
        fit_isoflop(noise_free, by="training_flop", compute=[1e20])
    with pytest.raises(InputError, match="budget"):
        fit_isoflop(noise_free, by="budget")
