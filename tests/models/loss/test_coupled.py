import bayescaling as bs
import numpy as np
import pytest
from bayescaling.models.loss import chinchilla, coupled, kaplan
from bayescaling.models.loss.search import least_on_budget

CONSTANTS = {"E": 1.7, "A": 240.0, "B": 1400.0, "alpha": 0.295, "beta": 0.333}
VALUES = {"loss_centre": 2.6, "reducible_share": 0.34, "parameter_share": 0.4, "alpha": 0.3, "beta": 0.35, "kappa": 0.7}
N, D = np.geomspace(1e6, 1e12, 7)[:, None], np.geomspace(1e8, 1e13, 6)


def test_at_kappa_one_it_is_the_chinchilla_law():
    sums = chinchilla.loss(N, D, **CONSTANTS)
    np.testing.assert_allclose(coupled.loss(N, D, **CONSTANTS, kappa=1.0), sums, rtol=1e-12)


def test_without_a_floor_and_with_kappa_beta_it_is_kaplans_law():
    of_kaplan = {"Nc": 6.4e13, "Dc": 1.8e13, "aN": 0.076, "aD": 0.103}
    A, B = of_kaplan["Nc"] ** of_kaplan["aN"], of_kaplan["Dc"] ** of_kaplan["aD"]
    losses = coupled.loss(N, D, E=0.0, A=A, B=B, alpha=0.076, beta=0.103, kappa=0.103)
    np.testing.assert_allclose(losses, kaplan.loss(N, D, **of_kaplan), rtol=1e-12)


def test_as_kappa_vanishes_the_larger_term_alone_counts():
    larger = np.maximum(240.0 * N**-0.295, 1400.0 * D**-0.333)
    np.testing.assert_allclose(coupled.loss(N, D, **CONSTANTS, kappa=1e-9), 1.7 + larger, rtol=1e-8)


@pytest.mark.parametrize("kappa", [0.2, 0.7, 1.0, 2.0])
def test_the_optimum_is_the_least_loss_on_the_budget(kappa):
    budgets = np.geomspace(1e18, 1e26, 5)
    n, d = coupled.optimum(budgets, **CONSTANTS, kappa=kappa)
    np.testing.assert_allclose(6 * n * d, budgets, rtol=1e-12)
    searched, _ = least_on_budget(budgets, lambda n, d: coupled.loss(n, d, **CONSTANTS, kappa=kappa))
    np.testing.assert_allclose(n, searched, rtol=1e-4)
    np.testing.assert_allclose(*coupled.returns(n, d, **CONSTANTS, kappa=kappa), rtol=1e-10)


def test_constants_say_what_the_sampled_quantities_mean():
    constants = coupled.constants(**VALUES, reference_parameters=2e9, reference_tokens=5e10)
    assert coupled.loss(2e9, 5e10, **constants) == pytest.approx(2.6, rel=1e-12)
    assert constants["E"] == pytest.approx(2.6 * 0.66, rel=1e-12)
    u, v = (np.exp(x) for x in coupled.log_terms(2e9, 5e10, **{k: constants[k] for k in constants if k != "E"}))
    assert u / (u + v) == pytest.approx(0.4, rel=1e-12)


@pytest.fixture(scope="module")
def fitter_coupled(runs):
    return bs.Fitter(bs.laws.Coupled(), runs)


def test_simulated_runs_give_kappa_back(fitter_coupled, runs, truth):
    law = fitter_coupled.law
    truths = truth | {"kappa": 0.6, "sigma_parameters": 0.3, "sigma_tokens": -0.3, "nu_minus_one": 8.0}
    simulated = runs.assign(loss=law.simulate(truths, runs, np.random.default_rng(8)))
    fit = fitter_coupled.fit(simulated, seed=1)
    for name, true in truths.items():
        low, high = np.quantile(fit["posterior"][name], [0.001, 0.999])
        assert low < true < high, name
    assert float(fit["posterior"]["kappa"].std()) < 0.1


@pytest.fixture(scope="module")
def fit_by_size(fitter_coupled):
    return fitter_coupled.fit(seed=1)


def test_the_runs_of_chinchilla_want_coupled_terms(fit_by_size):
    """Compare with an independent model of the same law, noise and runs.

    There kappa is .69 (.03), the exponent .531. The elpd is 892.3.
    """
    posterior = fit_by_size["posterior"]
    assert float(posterior["kappa"].mean()) == pytest.approx(0.69, abs=0.01)
    assert float(posterior["exponent_parameters"].mean()) == pytest.approx(0.531, abs=0.003)
    assert float(posterior["exponent_parameters"].std()) == pytest.approx(0.010, abs=0.001)
    assert fit_by_size.loo().elpd == pytest.approx(892.3, abs=1.0)
    assert fit_by_size.diagnostics["ok"]
