from functools import partial

import bayescaling as bs
import numpy as np
import pandas as pd
import pytest
from bayescaling.models.loss import chinchilla, frontier

law_alone = partial(bs.Fit.allocate, beyond="none", robust=False)

BESIROGLU = {"E": 1.8172, "A": 482.01, "B": 2085.43, "alpha": 0.3478, "beta": 0.3658}
TRUTH = {
    "loss_centre": 2.4, "reducible_share": 0.25, "gamma": 0.18,
    "sigma": 0.004, "nu_minus_one": 8.0, "sigma_training_flop": 0.0,
}  # fmt: skip


@pytest.fixture(scope="module")
def best_runs():
    compute = pd.DataFrame({"training_flop": np.geomspace(1e17, 1e23, 60)})
    return compute.assign(loss=bs.laws.Frontier().simulate(TRUTH, compute, np.random.default_rng(2)))


@pytest.fixture(scope="module")
def frontier_of_best(best_runs):
    return bs.fit(bs.laws.Frontier(), best_runs, seed=1)


def test_the_frontier_of_a_chinchilla_law_has_this_form():
    compute = np.geomspace(1e15, 1e27, 25)
    parameters, tokens = chinchilla.optimum(compute, **BESIROGLU)
    least = chinchilla.loss(parameters, tokens, **BESIROGLU)
    reducible = np.log(chinchilla.loss(parameters, tokens, **(BESIROGLU | {"E": 0.0})))
    slope, intercept = np.polyfit(np.log(compute), reducible, 1)
    gamma = BESIROGLU["alpha"] * BESIROGLU["beta"] / (BESIROGLU["alpha"] + BESIROGLU["beta"])
    assert -slope == pytest.approx(gamma, rel=1e-10)
    losses = frontier.loss(compute, E=BESIROGLU["E"], A=np.exp(intercept), gamma=gamma)
    np.testing.assert_allclose(losses, least, rtol=1e-10)


def test_constants_say_what_the_sampled_quantities_mean(best_runs):
    law = bs.laws.Frontier()
    reference = law.reference(best_runs)
    assert reference["reference_compute"] == pytest.approx(1e20)
    constants = law.constants(TRUTH, reference)
    assert law.mean(constants, {"training_flop": 1e20}) == pytest.approx(TRUTH["loss_centre"], rel=1e-12)
    assert constants["E"] == pytest.approx(TRUTH["loss_centre"] * (1 - TRUTH["reducible_share"]), rel=1e-12)


def test_a_fit_recovers_the_truth(frontier_of_best, best_runs):
    posterior = frontier_of_best["posterior"]
    truth = TRUTH | {"E": 1.8, "A": float(bs.laws.Frontier().constants(TRUTH, {"reference_compute": 1e20})["A"])}
    for name, true in truth.items():
        low, high = np.quantile(posterior[name], [0.005, 0.995])
        assert low < true < high, name
    assert float(posterior["gamma"].std()) < 0.03
    assert frontier_of_best.diagnostics["ok"], frontier_of_best.diagnostics["warnings"]


def test_an_allocation_gives_the_loss_alone(frontier_of_best):
    budgets = [1e20, 1e25]
    plan = law_alone(frontier_of_best, budgets)
    assert set(plan.data_vars) == {"loss", "extrapolation", "outside"}
    assert plan["loss"].dims == ("chain", "draw", "compute")
    posterior = frontier_of_best["posterior"]
    E, A, gamma = (posterior[name].values[..., None] for name in ("E", "A", "gamma"))
    np.testing.assert_allclose(plan["loss"], E + A / np.array(budgets) ** gamma, rtol=1e-10)
    np.testing.assert_allclose(plan["extrapolation"], [0, 2], atol=1e-8)
    with pytest.raises(bs.InputError, match='"vocabulary" is unknown; choose one of nothing'):
        law_alone(frontier_of_best, budgets, vocabulary=32_000)


def test_runs_of_one_budget_are_refused(best_runs):
    with pytest.raises(bs.InputError, match="column 'training_flop' is 1e\\+20 in every row"):
        bs.laws.Frontier().rows(best_runs.assign(training_flop=1e20))
