import bayescaling as bs
import numpy as np
import pytest
import xarray as xr
from bayescaling.models.loss import chinchilla
from scipy.optimize import minimize_scalar

HOFFMANN = {"E": 1.6934, "A": 406.4, "B": 410.7, "alpha": 0.3392, "beta": 0.2849}
BESIROGLU = {"E": 1.8172, "A": 482.01, "B": 2085.43, "alpha": 0.3478, "beta": 0.3658}
BUDGETS = np.logspace(15, 28, 14)
PARAMETERS = np.logspace(6, 12, 7)
TOKENS = np.logspace(8, 13, 7)


def random_constants():
    """Draw positive constants; both terms of the loss are within a factor e**2 of 1 at a billion and 20 billion."""
    random = np.random.default_rng(3)
    for _ in range(12):
        alpha, beta = random.uniform(0.1, 1, 2)
        yield {
            "E": random.uniform(0, 3),
            "A": np.exp(random.uniform(-2, 2)) * 1e9**alpha,
            "B": np.exp(random.uniform(-2, 2)) * 2e10**beta,
            "alpha": alpha,
            "beta": beta,
        }


CONSTANTS = [HOFFMANN, BESIROGLU, *random_constants()]


def written_out(parameters, tokens, c):
    return c["E"] + c["A"] / parameters ** c["alpha"] + c["B"] / tokens ** c["beta"]


@pytest.mark.parametrize("constants", [HOFFMANN, BESIROGLU])
def test_loss_is_that_of_the_equation_in_every_array_library(jax, constants):
    import pytensor.tensor as pt

    expected = written_out(PARAMETERS, TOKENS, constants)
    losses = {
        "numpy": chinchilla.loss(PARAMETERS, TOKENS, **constants),
        "xarray": chinchilla.loss(xr.DataArray(PARAMETERS, dims="run"), xr.DataArray(TOKENS, dims="run"), **constants),
        "pytensor": chinchilla.loss(pt.as_tensor(PARAMETERS), pt.as_tensor(TOKENS), **constants).eval(),
        "jax": jax.jit(chinchilla.loss)(PARAMETERS, TOKENS, **constants),
    }
    for library, value in losses.items():
        np.testing.assert_allclose(np.asarray(value), expected, rtol=1e-12, err_msg=library)


def test_constants_say_what_the_sampled_quantities_mean():
    random = np.random.default_rng(0)
    for _ in range(20):
        centre, (reducible, share), (alpha, beta) = random.uniform(1, 8), random.random(2), random.uniform(0.05, 1.2, 2)
        n, d = 10 ** random.uniform(6, 11), 10 ** random.uniform(8, 12)
        result = chinchilla.constants(centre, reducible, share, alpha, beta, reference_parameters=n, reference_tokens=d)
        assert chinchilla.loss(n, d, **result) == pytest.approx(centre, rel=1e-12)
        assert (centre - result["E"]) / centre == pytest.approx(reducible, rel=1e-12)
        assert result["A"] / n**alpha / (centre - result["E"]) == pytest.approx(share, rel=1e-11)
        assert (result["alpha"], result["beta"]) == (alpha, beta)


def test_centre_is_the_geometric_mean_of_the_sizes_whatever_the_losses(runs):
    reference = bs.laws.Chinchilla().reference(runs)
    assert reference["reference_parameters"] == pytest.approx(np.prod(runs["parameters"] ** (1 / 245)), rel=1e-12)
    assert reference["reference_tokens"] == pytest.approx(np.prod(runs["tokens"] ** (1 / 245)), rel=1e-12)
    assert bs.laws.Chinchilla().reference(runs.assign(loss=1.0)) == reference


def along_budget(log_parameters, compute, constants):
    return chinchilla.loss(np.exp(log_parameters), compute / 6 / np.exp(log_parameters), **constants)


@pytest.mark.parametrize("constants", CONSTANTS)
def test_optimum_is_where_the_loss_is_least(constants):
    parameters, tokens = chinchilla.optimum(BUDGETS, **constants)
    np.testing.assert_allclose(tokens, BUDGETS / (6 * parameters), rtol=1e-12)
    for compute, best in zip(BUDGETS, np.log(parameters), strict=True):
        # E is left out because it would hide small differences of the rest.
        minimum = minimize_scalar(
            along_budget, (best - 3, best + 2), args=(compute, constants | {"E": 0.0}), options={"xtol": 1e-10}
        )
        assert minimum.x == pytest.approx(best, abs=1e-6)
        least = along_budget(best, compute, constants)
        assert (least <= along_budget(best + np.array([-2.0, -0.1, 0.1, 2.0]), compute, constants)).all()


@pytest.mark.parametrize("constants", CONSTANTS[::4])
def test_exponent_is_the_derivative_of_the_optimum(jax, constants):
    def log_parameters(log_compute):
        return jax.numpy.log(chinchilla.optimum(jax.numpy.exp(log_compute), **constants)[0])

    slope = jax.jit(jax.grad(log_parameters))
    for compute in BUDGETS:
        assert float(slope(np.log(compute))) == pytest.approx(chinchilla.parameter_exponent(**constants), rel=1e-10)


def test_tokens_per_parameter_of_the_published_constants():
    # About 20 at this budget, as Besiroglu et al. (2024) say; the constants of Hoffmann et al. (2022) imply far more.
    assert chinchilla.parameter_exponent(**BESIROGLU) == pytest.approx(0.5126, abs=1e-4)
    (n, d), (n_hoffmann, d_hoffmann) = (chinchilla.optimum(5.76e23, **c) for c in (BESIROGLU, HOFFMANN))
    assert 15 < d / n < 25
    assert d_hoffmann / n_hoffmann > 40
