import bayescaling as bs
import numpy as np
import pytest
import xarray as xr
from bayescaling.models import chinchilla, embeddings, kaplan
from bayescaling.models.configurations import chinchilla_configurations
from bayescaling.models.embedding_sizes import estimates
from scipy.optimize import minimize_scalar

BESIROGLU = {"E": 1.8172, "A": 482.01, "B": 2085.43, "alpha": 0.3478, "beta": 0.3658}
HOFFMANN = {"E": 1.6934, "A": 406.4, "B": 410.7, "alpha": 0.3392, "beta": 0.2849}
CONSTANTS = {"Besiroglu": BESIROGLU, "Hoffmann": HOFFMANN}
GAMMA = 47491.0
SIZES = np.logspace(2, 12, 41)
DELTAS = (0.2, 1 / 3, 0.34, 0.7)


@pytest.mark.parametrize("delta", DELTAS)
def test_nonembedding_inverts_total(delta):
    total = embeddings.total(SIZES, GAMMA, delta)
    assert np.allclose(total, SIZES + GAMMA * SIZES**delta, rtol=1e-13)
    assert np.allclose(embeddings.nonembedding(total, GAMMA, delta), SIZES, rtol=1e-9)


def test_the_constant_is_that_of_width_and_depth():
    width, layers, vocabulary = 640.0, 10.0, 32000.0
    gamma = embeddings.embedding_constant(vocabulary, width / layers)
    nonembedding = 12 * layers * width**2
    assert gamma * nonembedding ** (1 / 3) == pytest.approx(vocabulary * width, rel=1e-12)
    assert embeddings.aspect_ratio(gamma, vocabulary) == pytest.approx(64, rel=1e-12)


@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize("constants", CONSTANTS.values(), ids=list(CONSTANTS))
def test_the_budget_of_an_optimum_is_where_the_loss_is_stationary(jax, constants, delta):
    compute = embeddings.compute_of_optimum(SIZES, **constants, gamma=GAMMA, delta=delta)

    def reducible(log_n, log_compute):
        n = jax.numpy.exp(log_n)
        total = n + GAMMA * n**delta
        by_size = constants["A"] * total ** -constants["alpha"]
        by_tokens = constants["B"] * (jax.numpy.exp(log_compute) / (6 * n)) ** -constants["beta"]
        return by_size + by_tokens

    slope = jax.vmap(jax.grad(reducible))(np.log(SIZES), np.log(compute))
    assert np.abs(slope / jax.vmap(reducible)(np.log(SIZES), np.log(compute))).max() < 1e-8


@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize("constants", CONSTANTS.values(), ids=list(CONSTANTS))
def test_the_local_exponent_is_the_derivative_of_the_optimum(jax, constants, delta):
    def log_compute(log_n):
        n = jax.numpy.exp(log_n)
        return jax.numpy.log(embeddings.compute_of_optimum(n, **constants, gamma=GAMMA, delta=delta))

    derivative = 1 / np.asarray(jax.vmap(jax.grad(log_compute))(np.log(SIZES)))
    found = embeddings.local_exponent(SIZES, **constants, gamma=GAMMA, delta=delta)
    assert np.allclose(found, derivative, rtol=1e-8)


@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize("constants", CONSTANTS.values(), ids=list(CONSTANTS))
def test_the_local_exponent_has_its_limits(constants, delta):
    alpha, beta = constants["alpha"], constants["beta"]
    small, large = embeddings.local_exponent(np.array([1e-30, 1e40]), **constants, gamma=GAMMA, delta=delta)
    assert small == pytest.approx(beta / (alpha * delta + beta), rel=1e-6)
    assert small == pytest.approx(embeddings.exponent_of_small_models(**constants, delta=delta), rel=1e-6)
    assert large == pytest.approx(beta / (alpha + beta), rel=1e-6)


def test_every_array_library_gives_the_same(jax):
    import pytensor.tensor as pt

    def all_of(n):
        named = BESIROGLU | {"gamma": GAMMA, "delta": 0.34}
        total = embeddings.total(n, GAMMA, 0.34)
        return [
            total,
            embeddings.nonembedding(total, GAMMA, 0.34),
            embeddings.compute_of_optimum(n, **named),
            embeddings.local_exponent(n, **named),
            embeddings.elasticity(n, GAMMA, 0.34, 0.5),
        ]

    expected = all_of(SIZES)
    for convert, back in (
        (lambda x: xr.DataArray(x, dims="size"), np.asarray),
        (jax.numpy.asarray, np.asarray),
        (pt.as_tensor, lambda x: x.eval()),
    ):
        found = all_of(convert(SIZES))
        assert all(np.allclose(back(x), y, rtol=1e-12) for x, y in zip(found, expected, strict=True))


def test_estimators_of_the_constant_agree_with_what_is_known():
    found = estimates(chinchilla_configurations(), 32000)
    assert found["least_squares"]["gamma"] == pytest.approx(47490, abs=10)
    assert found["least_squares"]["delta"] == pytest.approx(0.339, abs=5e-4)
    assert found["regression"]["gamma"] == pytest.approx(24506, abs=10)
    assert found["regression"]["delta"] == pytest.approx(0.374, abs=5e-4)
    assert found["proportional"]["gamma"] == pytest.approx(52960, abs=10)
    assert found["proportional"]["aspect_ratio"] == pytest.approx(54.4, abs=0.05)


def numerical_optimum(law, constants, compute):
    def loss(log_n):
        n = np.exp(log_n)
        total = embeddings.total(n, GAMMA)
        return law.mean_of_sizes(constants, n, total, compute / (6 * total))

    grid = np.linspace(np.log(1), np.log(compute / 6) * 0.98, 4000)
    start = grid[np.argmin(loss(grid))]
    return np.exp(
        minimize_scalar(loss, bounds=(start - 0.1, start + 0.1), method="bounded", options={"xatol": 1e-10}).x
    )


@pytest.mark.parametrize("compute", [1e15, 1e19, 1e24])
@pytest.mark.parametrize("omega", [0.0, 0.5, 1.0, 2.0, 5.0])
def test_the_optimum_at_a_weight_is_the_numerical_one(omega, compute):
    law = bs.EmbeddingWeighted(omega=omega)
    n, total, tokens = law.optimum(BESIROGLU, compute, gamma=GAMMA)
    assert 6 * total * tokens == pytest.approx(compute, rel=1e-12)
    assert total == pytest.approx(embeddings.total(n, GAMMA), rel=1e-12)
    assert n == pytest.approx(numerical_optimum(law, BESIROGLU, compute), rel=1e-4)


@pytest.mark.parametrize("compute", [1e15, 1e19, 1e24])
def test_the_optimum_at_weight_one_is_chinchillas(compute):
    without_floor = {name: BESIROGLU[name] for name in ("A", "B", "alpha", "beta")}
    _, total, tokens = bs.EmbeddingWeighted(omega=1.0).optimum(BESIROGLU, compute, gamma=GAMMA)
    assert (total, tokens) == pytest.approx(chinchilla.optimum(compute, **without_floor), rel=1e-9)


@pytest.mark.parametrize("compute", [1e15, 1e19, 1e24])
def test_kaplans_optimum_within_a_family_is_the_numerical_one(compute):
    law = bs.Kaplan()
    n, total, tokens = law.optimum(kaplan.PUBLISHED, compute, gamma=GAMMA)
    assert 6 * total * tokens == pytest.approx(compute, rel=1e-12)
    assert n == pytest.approx(numerical_optimum(law, kaplan.PUBLISHED, compute), rel=1e-4)


def test_kaplans_returns_are_the_derivatives_of_its_loss(jax):
    rng = np.random.default_rng(1)
    n, d = (np.exp(rng.uniform(np.log(1e4), np.log(1e12), 30)) for _ in range(2))

    def loss(log_n, log_d):
        return kaplan.loss(jax.numpy.exp(log_n), jax.numpy.exp(log_d), **kaplan.PUBLISHED)

    by_size, by_tokens = jax.vmap(jax.grad(loss, argnums=(0, 1)))(np.log(n), np.log(d))
    assert np.allclose(kaplan.returns(n, d, **kaplan.PUBLISHED), [-by_size, -by_tokens], rtol=1e-9)


def test_kaplans_constants_give_the_loss_and_the_share_at_the_centre():
    centre = {"reference_parameters": 3e8, "reference_tokens": 2e10}
    constants = kaplan.constants(2.7, 0.3, 0.08, 0.1, **centre)
    assert kaplan.loss(3e8, 2e10, **constants) == pytest.approx(2.7, rel=1e-12)
    by_size = (constants["Nc"] / 3e8) ** 0.8
    assert by_size / (by_size + constants["Dc"] / 2e10) == pytest.approx(0.3, rel=1e-12)
