import bayescaling as bs
import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, logit

RUNS, SLOPE, DAYS = 1000, -0.6, 120.0
MODELS = pd.DataFrame({"model": list("abcd"), "year": [2023.0, 2023.6, 2024.1, 2025.0]})


def table_of(minutes, families, share):
    """Return a table of all models with shares of successes by model and task."""
    tasks = pd.DataFrame({"task": [f"t{j}" for j in range(len(minutes))], "minutes": minutes, "task_family": families})
    cells = MODELS.merge(tasks, how="cross")
    return cells.assign(runs=RUNS, successes=RUNS * np.ravel(share))


@pytest.fixture
def on_curves():
    """Return successes that lie on logistic curves, with log2 horizons on a line."""
    log2_horizon = 3 + (MODELS["year"] - 2024) * 365.25 / DAYS
    minutes = 2.0 ** np.arange(-2, 10)
    share = expit(SLOPE * (np.log2(minutes) - log2_horizon.to_numpy()[:, None]))
    return table_of(minutes, list("xxxxxyyyyzzw"), share), 2**log2_horizon


@pytest.mark.parametrize("weights", ["families", "tasks"])
def test_horizons_and_doubling_time_of_logistic_curves_are_exact(on_curves, weights):
    table, horizons = on_curves
    estimate = bs.points.fit_horizons(table, weights=weights, penalty=0.0, bootstraps=200)
    assert estimate.converged
    np.testing.assert_allclose(estimate["horizon"], horizons, rtol=1e-6)
    assert estimate["doubling_days"] == pytest.approx(DAYS, rel=1e-6)
    assert estimate["doubling_low"] < DAYS < estimate["doubling_high"]
    assert (estimate["low"] < horizons.to_numpy()).all() and (horizons.to_numpy() < estimate["high"]).all()


@pytest.mark.parametrize(
    ("weights", "weight"), [("families", np.array([0.5, 0.5, 0.5, 0.5, 1.0])), ("tasks", np.ones(5))]
)
def test_a_family_counts_by_the_root_of_its_tasks(weights, weight):
    minutes, share = [2.0, 2.0, 32.0, 32.0, 32.0], np.array([0.9, 0.7, 0.5, 0.3, 0.1])
    estimate = bs.points.fit_horizons(
        table_of(minutes, list("xxxxy"), np.tile(share, 4)), weights=weights, penalty=0.0, bootstraps=0
    )
    early, late = (logit(np.average(share[at], weights=weight[at])) for at in (slice(2), slice(2, 5)))
    np.testing.assert_allclose(np.log2(estimate["horizon"]), 1 + 4 * early / (early - late))


def test_a_model_that_solves_nothing_or_everything_has_no_horizon(on_curves):
    table, _ = on_curves
    table.loc[table["model"] == "a", "successes"] = 0.0
    table.loc[table["model"] == "d", "successes"] = float(RUNS)
    estimate = bs.points.fit_horizons(table, penalty=0.0, bootstraps=20)
    assert estimate["high"]["a"] == estimate["horizon"]["a"] == 0 and estimate["low"]["d"] == np.inf
    assert estimate["doubling_days"] == pytest.approx(DAYS, rel=1e-6) and "2 of 4 models" in estimate.message


def test_a_penalty_flattens_the_curve_and_other_weights_are_refused(on_curves):
    table, _ = on_curves
    free, penalised = (bs.points.fit_horizons(table, penalty=x, bootstraps=0)["horizon"] for x in (0.0, 0.1))
    assert np.log2(penalised).std() > np.log2(free).std()
    with pytest.raises(bs.InputError, match="weights"):
        bs.points.fit_horizons(table, weights="runs")
    with pytest.raises(bs.InputError, match='all tasks of "a" have one length'):
        bs.points.fit_horizons(table[(table["model"] != "a") | (table["minutes"] == 1)])
