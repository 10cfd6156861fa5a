from functools import partial

import bayescaling as bs
import numpy as np
import pytest
import xarray as xr
from bayescaling.inference.points import huber
from bayescaling.models.loss import chinchilla
from bayescaling.models.loss.data_constrained import PUBLISHED, loss, optimal_parameters
from bayescaling.models.loss.search import least_on_budget

law_alone = partial(bs.Fit.allocate, beyond="none", robust=False)

# The constants that Muennighoff et al. (2023) held while they fitted the two decays.
CONSTANTS = {
    "E": np.exp(0.6254804), "A": np.exp(6.255414), "B": np.exp(7.3049974), "alpha": 0.3526596, "beta": 0.3526596,
}  # fmt: skip
HALVES = {name: CONSTANTS[name] for name in ("A", "B", "alpha", "beta")}
UNEQUAL = CONSTANTS | {"alpha": 0.30, "beta": 0.42, "B": 8000.0}
TRUTH = {
    "loss_centre": 2.9, "reducible_share": 0.36, "parameter_share": 0.5, "alpha": 0.36, "beta": 0.34,
    "repetition_decay": 12.0, "excess_decay": 4.0,
    "sigma": 0.004, "nu_minus_one": 8.0, "sigma_parameters": 0.0, "sigma_tokens": 0.0,
}  # fmt: skip


def sizes_of(runs):
    return [runs[name].to_numpy(float) for name in ("parameters", "tokens", "unique_tokens")]


# The loss ------------------------------------------------------------------------------------------------------------


def test_the_published_decays_are_those_of_the_paper():
    assert PUBLISHED == {"repetition_decay": 15.387756, "excess_decay": 5.309743}


def test_the_published_example_has_its_loss(jax):
    import pytensor.tensor as pt

    expected, sizes = 2.2256440889984477, (6.34e9, 242e9, 25e9)
    assert float(loss(*sizes, **CONSTANTS, **PUBLISHED)) == pytest.approx(expected, rel=1e-14)
    for result in (
        loss(*(xr.DataArray(x) for x in sizes), **CONSTANTS, **PUBLISHED),
        loss(*(jax.numpy.asarray(x) for x in sizes), **CONSTANTS, **PUBLISHED),
        loss(*(pt.as_tensor(np.float64(x)) for x in sizes), **CONSTANTS, **PUBLISHED).eval(),
    ):
        assert float(result) == pytest.approx(expected, rel=1e-12)


def test_the_published_objective_is_found_on_its_runs():
    runs = bs.load("data_constrained_runs")
    runs = runs[runs["in_published_fit"] == 1]
    assert len(runs) == 182
    observed = runs["loss"].to_numpy(float)
    mean = loss(*sizes_of(runs), **CONSTANTS, **PUBLISHED)
    objective = 1e-3 * huber.penalty(np.log(observed) - np.log(mean), 1e-3)
    assert objective == pytest.approx(0.015825937, abs=5e-9)
    explained = 1 - ((observed - mean) ** 2).sum() / ((observed - observed.mean()) ** 2).sum()
    assert explained == pytest.approx(0.77220, abs=1e-5)


@pytest.mark.parametrize("constants", [CONSTANTS, UNEQUAL], ids=["equal", "unequal"])
def test_data_seen_once_have_the_chinchilla_law_up_to_the_optimal_size(constants):
    tokens = np.geomspace(1e8, 1e13, 6)
    enough = optimal_parameters(tokens, **{name: constants[name] for name in HALVES})
    for share in (1e-3, 0.1, 1.0):
        expected = chinchilla.loss(share * enough, tokens, **constants)
        for unique in (tokens, 3 * tokens):
            losses = loss(share * enough, tokens, unique, **constants, **PUBLISHED)
            np.testing.assert_allclose(losses, expected, rtol=1e-13)
    beyond = loss(5 * enough, tokens, tokens, **constants, **PUBLISHED)
    assert (beyond > chinchilla.loss(5 * enough, tokens, **constants)).all()


def test_the_optimal_size_of_distinct_data_is_that_of_the_chinchilla_law():
    budgets = np.geomspace(1e17, 1e26, 10)
    for constants in (CONSTANTS, UNEQUAL):
        named = {name: constants[name] for name in HALVES}
        parameters, tokens = chinchilla.optimum(budgets, **named)
        np.testing.assert_allclose(optimal_parameters(tokens, **named), parameters, rtol=1e-11)


@pytest.mark.parametrize("constants", [CONSTANTS, UNEQUAL], ids=["equal", "unequal"])
@pytest.mark.parametrize("epochs", [1.0, 4.0, 60.0])
def test_first_derivatives_are_continuous_at_the_optimal_size(jax, constants, epochs):
    unique = 3e9
    enough = float(optimal_parameters(unique, **{name: constants[name] for name in HALVES}))
    at = np.log([enough, epochs * unique, unique])

    def of_logs(logs):
        return loss(*(jax.numpy.exp(logs[i]) for i in range(3)), **constants, **PUBLISHED)

    slope = jax.grad(of_logs)
    below, above = (np.asarray(slope(at + np.array([side * 1e-9, 0, 0]))) for side in (-1, 1))
    np.testing.assert_allclose(below, above, rtol=1e-6, atol=1e-9)
    step = 1e-4

    def size_moved(by):
        return float(loss(enough * np.exp(by), epochs * unique, unique, **constants, **PUBLISHED))

    sides = [(size_moved(side * step) - size_moved(0)) / (side * step) for side in (-1, 1)]
    # The error of one-sided differences is half the step times the second derivatives, which are of the first's order.
    assert sides[0] == pytest.approx(sides[1], rel=5 * step)
    assert sides[0] == pytest.approx(below[0], rel=5 * step)


# The optimum ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("constants", [CONSTANTS, UNEQUAL], ids=["equal", "unequal"])
def test_the_search_finds_the_closed_form_of_the_chinchilla_law(constants):
    budgets = np.geomspace(1e15, 1e26, 12)
    expected = chinchilla.optimum(budgets, **{name: constants[name] for name in HALVES})
    plain = least_on_budget(budgets, lambda n, d: chinchilla.loss(n, d, **constants))
    fresh = least_on_budget(budgets, lambda n, d: loss(n, d, d, **constants, **PUBLISHED))
    np.testing.assert_allclose(plain, expected, rtol=1e-5)
    np.testing.assert_allclose(fresh, expected, rtol=1e-5)


@pytest.mark.parametrize("compute", [1e19, 1e21, 1e23])
@pytest.mark.parametrize("unique", [1e8, 2e9, 1e11])
def test_the_search_is_as_good_as_a_grid_where_tokens_are_limited(compute, unique):
    def at(parameters, tokens):
        return loss(parameters, tokens, unique, **UNEQUAL, **PUBLISHED)

    parameters, tokens = least_on_budget(np.array(compute), at)
    assert 6 * parameters * tokens == pytest.approx(compute, rel=1e-12)
    grid = np.geomspace(1e3, compute / 6 / 1e3, 200_001)
    losses = at(grid, compute / 6 / grid)
    assert float(at(parameters, tokens)) <= losses.min() + 1e-14
    # Far beyond what the tokens are worth the loss is flat to the last digit: any of those sizes will do.
    least = grid[losses <= losses.min() + 1e-14]
    assert least.min() * (1 - 1e-3) <= float(parameters) <= least.max() * (1 + 1e-3)


# The law -------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def repeated():
    """Runs of the paper with losses that the law draws at `TRUTH`."""
    runs = bs.load("data_constrained_runs")
    runs = runs[runs["in_published_fit"] == 1].reset_index(drop=True)
    return runs.assign(loss=bs.laws.DataConstrained().simulate(TRUTH, runs, np.random.default_rng(7)))


@pytest.fixture(scope="module")
def repeated_fitter(repeated):
    return bs.Fitter(bs.laws.DataConstrained(), repeated)


@pytest.fixture(scope="module")
def repeated_fit(repeated_fitter):
    return repeated_fitter.fit(seed=1)


def test_the_law_has_its_loss_of_data_seen_once_at_the_centre(repeated):
    law = bs.laws.DataConstrained()
    reference = law.reference(repeated)
    constants = law.constants(TRUTH, reference)
    assert reference == bs.laws.Chinchilla().reference(repeated)
    centre = reference["reference_parameters"], reference["reference_tokens"]
    named = {name: constants[name] for name in CONSTANTS}
    assert chinchilla.loss(*centre, **named) == pytest.approx(TRUTH["loss_centre"], rel=1e-12)


def test_a_fit_to_simulated_runs_recovers_the_truth(repeated_fit):
    posterior = repeated_fit["posterior"]
    assert repeated_fit.diagnostics["divergences"] < 20
    for name, true in TRUTH.items():
        low, high = np.quantile(posterior[name], [0.005, 0.995])
        assert low < true < high, name
    # Informative intervals: much narrower than the priors.
    for name in ("repetition_decay", "excess_decay"):
        assert float(np.log(posterior[name]).std()) < 0.5


def test_one_value_of_unique_tokens_is_enough(repeated, repeated_fitter, quiet):
    one = repeated.assign(unique_tokens=2e9)
    one["loss"] = bs.laws.DataConstrained().simulate(TRUTH, one, np.random.default_rng(3), repeated_fitter.reference)
    fit = repeated_fitter.fit(one, seed=1, draws=250, tune=500)
    for name in ("loss_centre", "alpha", "beta", "repetition_decay"):
        low, high = np.quantile(fit["posterior"][name], [0.005, 0.995])
        assert low < TRUTH[name] < high, name


def test_tables_that_cannot_inform_the_law_are_refused(repeated):
    with pytest.raises(bs.InputError, match='the data-constrained law needs "unique_tokens"'):
        bs.laws.DataConstrained().rows(repeated.drop(columns="unique_tokens"))
    for column in ("parameters", "tokens"):
        with pytest.raises(bs.InputError, match=f"column '{column}' is 1e\\+09 in every row"):
            bs.laws.DataConstrained().rows(repeated.assign(**{column: 1e9}))


def test_an_allocation_is_of_the_distinct_tokens_that_are_planned(repeated_fit):
    budgets = [1e19, 1e22]
    fresh, few, many = (law_alone(repeated_fit, budgets, unique_tokens=u) for u in (None, 1e9, 1e15))
    posterior = repeated_fit["posterior"]
    constants = {name: posterior[name].values[..., None] for name in HALVES}
    parameters, tokens = chinchilla.optimum(np.array(budgets), **constants)
    for plan in (fresh, many):
        np.testing.assert_allclose(plan["parameters"], parameters, rtol=1e-4)
        np.testing.assert_allclose(plan["tokens"], tokens, rtol=1e-4)
        assert (plan["epochs"] == 1).all()
    np.testing.assert_allclose(6 * few["parameters"] * few["tokens"], np.broadcast_to(budgets, tokens.shape), rtol=1e-9)
    np.testing.assert_allclose(few["epochs"], np.maximum(few["tokens"] / 1e9, 1), rtol=1e-12)
    assert (few["epochs"].sel(compute=1e22) > 1).all()
    assert (few["loss"].sel(compute=1e22) > fresh["loss"].sel(compute=1e22)).all()


@pytest.mark.parametrize("unique_tokens", [0, -1e9, float("inf"), float("nan"), "many"])
def test_distinct_tokens_that_are_none_are_refused(repeated_fit, unique_tokens):
    with pytest.raises(bs.InputError, match="unique_tokens must be a positive number, not"):
        law_alone(repeated_fit, 1e20, unique_tokens=unique_tokens)


def test_what_the_law_does_not_plan_is_refused(repeated_fit):
    with pytest.raises(bs.InputError, match='"vocabulary" is unknown; choose one of unique_tokens'):
        law_alone(repeated_fit, 1e20, vocabulary=32_000)
