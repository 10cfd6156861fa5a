import bayescaling as bs
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from bayescaling.models.loss import embeddings, kaplan
from bayescaling.models.loss.embedding.configurations import DELTA, RATIO, SCATTER
from bayescaling.models.loss.embedding.weighted import OMEGA
from bayescaling.models.loss.sizes import chinchilla_configurations, estimates, least_squares, regression
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
    np.testing.assert_allclose(total, SIZES + GAMMA * SIZES**delta, rtol=1e-13)
    np.testing.assert_allclose(embeddings.nonembedding(total, GAMMA, delta), SIZES, rtol=1e-10)


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

    slope = jax.grad(reducible)
    at = np.log(SIZES), np.log(compute)
    by_size, by_compute = (jax.vmap(jax.grad(slope, argnums=i))(*at) for i in (0, 1))
    assert (by_size > 0).all()
    # Newton's step to the root: the relative error of the budget.
    assert np.abs(jax.vmap(slope)(*at) / by_compute).max() < 1e-8
    exponent = embeddings.local_exponent(SIZES, **constants, gamma=GAMMA, delta=delta)
    np.testing.assert_allclose(exponent, -by_compute / by_size, rtol=1e-8)


@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize("constants", CONSTANTS.values(), ids=list(CONSTANTS))
def test_the_local_exponent_has_its_limits(constants, delta):
    alpha, beta = constants["alpha"], constants["beta"]
    small, large = embeddings.local_exponent(np.array([1e-30, 1e40]), **constants, gamma=GAMMA, delta=delta)
    assert small == pytest.approx(beta / (alpha * delta + beta), rel=1e-6)
    assert small == pytest.approx(embeddings.exponent_of_small_models(**constants, delta=delta), rel=1e-6)
    assert large == pytest.approx(beta / (alpha + beta), rel=1e-6)


@pytest.mark.parametrize("weight", [0.0, 0.5, 1.0, 5.0])
@pytest.mark.parametrize("delta", DELTAS)
def test_the_elasticity_is_the_derivative_of_the_weighted_size(jax, delta, weight):
    def log_counted(log_n):
        n = jax.numpy.exp(log_n)
        return jax.numpy.log(n + weight * GAMMA * n**delta)

    derivative = jax.vmap(jax.grad(log_counted))(np.log(SIZES))
    np.testing.assert_allclose(embeddings.elasticity(SIZES, GAMMA, delta, weight), derivative, rtol=1e-10)


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
            embeddings.embedding_constant(n, 64.0),
            embeddings.aspect_ratio(n, 32000.0),
            *kaplan.returns(n, 20 * n, **kaplan.PUBLISHED),
        ]

    expected = all_of(SIZES)
    for convert, back in (
        (lambda x: xr.DataArray(x, dims="size"), np.asarray),
        (jax.numpy.asarray, np.asarray),
        (pt.as_tensor, lambda x: x.eval()),
    ):
        results = all_of(convert(SIZES))
        for x, y in zip(results, expected, strict=True):
            np.testing.assert_allclose(back(x), y, rtol=1e-11)


def test_estimators_of_the_constant_agree_with_what_is_known():
    table = estimates(chinchilla_configurations(), 32000)
    assert table["least_squares"]["gamma"] == pytest.approx(47490, abs=10)
    assert table["least_squares"]["delta"] == pytest.approx(0.339, abs=5e-4)
    assert table["regression"]["gamma"] == pytest.approx(24506, abs=10)
    assert table["regression"]["delta"] == pytest.approx(0.374, abs=5e-4)
    assert table["proportional"]["gamma"] == pytest.approx(52960, abs=10)
    assert table["proportional"]["delta"] == 1 / 3
    assert table["proportional"]["aspect_ratio"] == pytest.approx(54.4, abs=0.05)


def test_every_estimator_finds_a_relation_without_scatter():
    sizes = pd.DataFrame({"parameters_nonembedding": np.geomspace(1e5, 1e10, 12)})
    sizes["parameters"] = embeddings.total(sizes["parameters_nonembedding"], 20000.0)
    for name, estimate in estimates(sizes, 32000).items():
        assert (estimate["gamma"], estimate["delta"]) == pytest.approx((20000, 1 / 3), rel=1e-6), name
    steep = sizes.assign(parameters=embeddings.total(sizes["parameters_nonembedding"], 500.0, 0.5))
    assert least_squares(steep) == pytest.approx((500, 0.5), rel=1e-6)
    assert regression(steep) == pytest.approx((500, 0.5), rel=1e-6)


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
    law = bs.laws.EmbeddingWeighted(omega=omega)
    n, total, tokens = law.optimal_sizes(BESIROGLU, compute, gamma=GAMMA)
    assert 6 * total * tokens == pytest.approx(compute, rel=1e-12)
    assert total == pytest.approx(embeddings.total(n, GAMMA), rel=1e-12)
    assert n == pytest.approx(numerical_optimum(law, BESIROGLU, compute), rel=1e-4)


@pytest.mark.parametrize("budget", [1e14, 1e16, 3e16, 1e18])
def test_of_two_local_optima_the_better_is_found(budget):
    # The best size leaps from a hundred thousand parameters to billions at a budget of about 2e16.
    law = bs.laws.EmbeddingWeighted(omega=20.0)
    constants, family = {"E": 0.0, "A": 2.0, "B": 1.0, "alpha": 0.1, "beta": 0.04}, {"gamma": 2e5, "delta": 0.1}

    def loss(n):
        total = embeddings.total(n, **family)
        return law.mean_of_sizes(constants, n, total, budget / (6 * total))

    grid = np.geomspace(1, embeddings.nonembedding(budget / 6, **family), 4001)
    losses = loss(grid)
    lower = (losses[1:-1] < losses[:-2]) & (losses[1:-1] < losses[2:])
    assert lower.sum() == 2
    optimum = law.optimal_sizes(constants, budget, **family)[0]
    assert optimum == pytest.approx(grid[losses.argmin()], rel=0.02)
    assert loss(optimum) <= losses.min()


@pytest.mark.parametrize("compute", [1e15, 1e19, 1e24])
def test_kaplans_optimum_within_a_family_is_the_numerical_one(compute):
    law = bs.laws.Kaplan()
    n, total, tokens = law.optimal_sizes(kaplan.PUBLISHED, compute, gamma=GAMMA)
    assert 6 * total * tokens == pytest.approx(compute, rel=1e-12)
    assert n == pytest.approx(numerical_optimum(law, kaplan.PUBLISHED, compute), rel=1e-4)


@pytest.mark.parametrize("compute", [1e15, 1e19, 1e24])
def test_kaplans_optimum_without_embeddings_is_the_closed_form(compute):
    n, total, tokens = bs.laws.Kaplan().optimal_sizes(kaplan.PUBLISHED, compute, gamma=1e-9)
    assert (n, tokens) == pytest.approx(kaplan.optimum(compute, **kaplan.PUBLISHED), rel=1e-9)
    assert total == pytest.approx(n, rel=1e-9)


def test_kaplans_returns_are_the_derivatives_of_its_loss(jax):
    rng = np.random.default_rng(1)
    n, d = (np.exp(rng.uniform(np.log(1e4), np.log(1e12), 30)) for _ in range(2))

    def loss(log_n, log_d):
        return kaplan.loss(jax.numpy.exp(log_n), jax.numpy.exp(log_d), **kaplan.PUBLISHED)

    by_size, by_tokens = jax.vmap(jax.grad(loss, argnums=(0, 1)))(np.log(n), np.log(d))
    np.testing.assert_allclose(kaplan.returns(n, d, **kaplan.PUBLISHED), [-by_size, -by_tokens], rtol=1e-9)


def test_kaplans_constants_give_the_loss_and_the_share_at_the_centre():
    centre = {"reference_parameters": 3e8, "reference_tokens": 2e10}
    constants = kaplan.constants(2.7, 0.3, 0.08, 0.1, **centre)
    assert kaplan.loss(3e8, 2e10, **constants) == pytest.approx(2.7, rel=1e-12)
    by_size = (constants["Nc"] / 3e8) ** 0.8
    assert by_size / (by_size + constants["Dc"] / 2e10) == pytest.approx(0.3, rel=1e-12)


def test_draws_of_kaplans_priors_have_the_loss_at_the_centre_that_they_state(runs):
    law = bs.laws.Kaplan()
    values = {name: prior.drawn(np.random.default_rng(i), 4000) for i, (name, prior) in enumerate(law.prior_of.items())}
    reference = law.reference(runs)
    centre = {
        "parameters_nonembedding": np.exp(np.log(runs["parameters_nonembedding"]).mean()),
        "tokens": np.exp(np.log(runs["tokens"]).mean()),
    }
    loss = law.mean(law.constants(values, reference), centre)
    np.testing.assert_allclose(loss, values["loss_centre"], rtol=1e-9)
    assert np.quantile(loss, [0.025, 0.975]) == pytest.approx([1.1, 8], rel=0.1)


@pytest.mark.parametrize(
    ("quantity", "low", "high"),
    [(OMEGA, 0.03, 3.7), (RATIO, 0.007, 2.6), (DELTA, 0.05, 0.72), (SCATTER, 0.003, 0.13)],
    ids=lambda x: getattr(x, "name", None),
)
def test_priors_hold_95_per_cent_where_they_say(quantity, low, high):
    # The ends are stated to one digit or two.
    assert quantity.checked(quantity.prior).quantile([0.025, 0.975]) == pytest.approx((low, high), rel=0.2)
