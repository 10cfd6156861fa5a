"""The drift of a law beyond its runs: its scales, where it applies, and what it does to predictions and allocations."""

import warnings

import bayescaling as bs
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from bayescaling.inference.estimands.allocate import compute_range
from bayescaling.inference.estimands.beyond import (
    Drift,
    decades_beyond,
    decades_outside,
    difference_of,
    drift_of,
    drifts,
    error_variance,
    sides_outside,
)
from bayescaling.inference.quoted import drift_errors, quote_draws
from scipy import integrate, stats

DRIFT = Drift(loss=0.02, spread=0.5, step=0.003, size=0.1, size_spread=0.0)


@pytest.fixture(scope="module")
def ahead(runs):
    largest = runs["training_flop"].max()
    sizes = [(1e9, 2e10), (5e9, 10 * largest / 6 / 5e9), (5e9, 100 * largest / 6 / 5e9)]
    return pd.DataFrame(sizes, columns=["parameters", "tokens"])


def test_errors_grow_with_the_decades_beyond_and_are_none_inside():
    errors = DRIFT.errors(np.random.default_rng(1), np.array([0.0, 1.0, 2.0]), (20_000,), scatter=False)
    assert (errors[:, 0] == 0).all()
    np.testing.assert_allclose(errors[:, 2], 2 * errors[:, 1])
    assert np.log(np.abs(errors[:, 1])).std() == pytest.approx(np.hypot(0.5, np.pi / 8**0.5), rel=0.03)


def test_the_density_of_errors_is_that_of_the_mixture():
    def mixture(x, z):
        return stats.norm.pdf(z) * stats.norm.pdf(x, 0, np.hypot(1.5 * 0.02 * np.exp(0.5 * z), 0.003))

    for x in (0.0, 0.03, 0.1):
        expected = integrate.quad(lambda z, x=x: mixture(x, z), -6, 6)[0]
        log_density = DRIFT.log_density(np.random.default_rng(2), np.full((40_000, 1), x), np.array([1.5]))[0]
        assert np.exp(log_density) == pytest.approx(expected, rel=0.03)


def test_the_drift_of_a_law_is_its_own_or_that_of_a_sum():
    grouped = bs.laws.Grouped(bs.laws.Coupled(), "corpus")
    for side, by_law in drifts().items():
        assert drift_of(bs.laws.Coupled(), side) == by_law["coupled"] == drift_of(grouped, side)
        assert drift_of(bs.laws.DataConstrained(), side) == by_law["chinchilla"]
        of_frontiers = bs.laws.Formula("loss ~ E + A * C**-a").suited(pd.DataFrame({"C": [1.0, 2], "loss": [2.0, 1]}))
        assert drift_of(of_frontiers, side) == by_law["frontier"]
    above = drifts()["above"]
    assert above["coupled"].loss < above["chinchilla"].loss < above["offsets"].loss


def test_decades_are_counted_from_the_largest_run_of_the_group():
    fitted = pd.DataFrame({"parameters": [1e9, 1e9], "tokens": [1e10, 1e12], "corpus": ["a", "b"]})
    new = pd.DataFrame({"parameters": [1e9] * 3, "tokens": [1e12] * 3, "corpus": ["a", "b", "c"]})
    law = bs.laws.Grouped(bs.laws.Chinchilla(), "corpus")
    np.testing.assert_allclose(decades_beyond(law, fitted, new), [2, 0, 0], atol=1e-9)
    assert (decades_beyond(bs.laws.Progress(7), fitted, new) == 0).all()


def test_predictions_inside_the_runs_are_unchanged_and_beyond_they_are_wider(fit_default, ahead):
    with_drift, alone = (np.log(fit_default.predict(ahead, beyond=x)["loss"]) for x in ("drift", "none"))
    np.testing.assert_array_equal(with_drift.isel(run=0), alone.isel(run=0))
    difference = with_drift - alone
    sd = difference.isel(run=[1, 2]).std(("chain", "draw"))
    assert float(sd[0]) > 0.01 and float(sd[1]) > 1.5 * float(sd[0])
    correlation = np.corrcoef(difference[..., 1].values.ravel(), difference[..., 2].values.ravel())[0, 1]
    assert correlation > 0.95  # one error a decade for all runs of a draw
    predicted = fit_default.predict(ahead, noise=False)
    in_tokens = np.log10(ahead["tokens"] / fit_default.rows["tokens"].max())
    assert in_tokens[1] > 1  # the decades of compute
    np.testing.assert_allclose(predicted["beyond"], np.maximum(in_tokens, 0), atol=1e-9)


def test_errors_below_the_runs_are_those_of_their_side(fit_default, runs):
    law, least = fit_default.law, float(runs["training_flop"].min())
    smaller = pd.DataFrame({"parameters": [5e7, 5e7], "tokens": least / np.array([10.0, 1000.0]) / 6 / 5e7})
    decades = decades_beyond(law, fit_default.rows, smaller)
    assert (decades < -0.9).all()
    with_drift, alone = (np.log(fit_default.predict(smaller, beyond=x)["loss"]) for x in ("drift", "none"))
    added = with_drift.var(("chain", "draw")) - alone.var(("chain", "draw"))
    np.testing.assert_allclose(added, error_variance(law, decades), rtol=0.2)
    below = drift_of(law, "below")
    np.testing.assert_allclose(error_variance(law, decades), below.mean_square() * decades**2 + below.step**2)
    at, near = (fit_default.allocate(least / x, robust=False)["parameters"].isel(compute=0) for x in (100, 0.5))
    law_alone = fit_default.allocate(least / 100, beyond="none", robust=False)["parameters"].isel(compute=0)
    assert float(np.log(at).std()) > 1.1 * float(np.log(law_alone).std())
    xr.testing.assert_equal(
        near, fit_default.allocate(least / 0.5, beyond="none", robust=False)["parameters"].isel(compute=0)
    )


def test_a_larger_size_is_beyond_the_runs_whatever_its_compute():
    fitted = pd.DataFrame({"parameters": [1e8, 1e9], "tokens": [1e12, 1e11]})
    new = pd.DataFrame({"parameters": [1e10, 1e9, 1e8], "tokens": [1e9, 1e11, 1e13]})
    # The first has a tenth of the least tokens, twice over, which is farther than ten times the largest size.
    np.testing.assert_allclose(decades_beyond(bs.laws.Coupled(), fitted, new), [-2, 0, 1], atol=1e-9)


def test_both_sides_are_counted_along_the_columns_of_a_law_where_compute_is_unknown():
    fitted, new = pd.DataFrame({"loss": [2.5, 3.0]}), pd.DataFrame({"loss": [0.25, 2.7, 6.0]})
    above, below = sides_outside(bs.laws.TaskError(), fitted, new)
    np.testing.assert_allclose(above, [0, 0, np.log10(2)], atol=1e-8)
    np.testing.assert_allclose(below, [1, 0, 0], atol=1e-8)
    assert np.isnan(sides_outside(bs.laws.TaskError(), fitted, pd.DataFrame({"error": [0.5]}))).all()


def test_a_prediction_outside_the_runs_is_weak_on_both_sides(fit_default):
    least, most = fit_default.rows["tokens"].agg(["min", "max"])
    size = fit_default.rows["parameters"].median()
    runs = pd.DataFrame({"parameters": [7e3, size, size], "tokens": [least, least * 2, most * 1400]})
    predicted = fit_default.predict(runs)
    document = predicted.document()
    grades = [run["strength"] for run in document["runs"]]
    assert grades[0] == grades[2] == document["standing"]["strength"] == "weak"
    assert any("below the smallest run" in reason for reason in document["runs"][0]["because"])
    assert any("above the largest fitted run" in reason for reason in document["runs"][2]["because"])
    assert "1,400" in str(predicted) and "below the runs by" in str(predicted) and "within the runs" in str(predicted)


@pytest.fixture(scope="module")
def fit_short(fitter, runs):
    """Return a fit of few draws, in each of which a target takes a search."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bs.DiagnosticWarning)
        return fitter.fit(runs, seed=1, draws=200, tune=500, chains=2, least_ess=0)


@pytest.mark.filterwarnings("ignore:chinchilla. a loss of 1.95:bayescaling.DiagnosticWarning")
@pytest.mark.parametrize("what", [{"loss": 1.95}, {"loss": 1.95, "demand": 1e13}, {"loss": 4.5}])
def test_a_target_is_reached_where_the_drifting_loss_is_it(fit_short, what):
    at, alone = (fit_short.allocate(**what, beyond=x, robust=False) for x in ("drift", "none"))
    ends, spent = compute_range(fit_short), at["training_compute"].isel(target=0)
    draws = {name: fit_short["posterior"][name] for name in ("E", "A", "B", "alpha", "beta")}
    # N* moves at equal compute: the size of the law's own optimum at this compute gives the loss that drifts.
    error = drift_errors(fit_short, "loss", decades_outside(spent, *ends))
    sides = [float(side.mean()) for side in (spent > ends[1], spent < ends[0])]
    assert sides == ([1, 0] if what["loss"] < 4 else [0, 1])
    if "demand" not in what:
        best = fit_short.allocate(1e23, beyond="none", robust=False)
        ratio = best["parameters"].isel(compute=0) / (1e23 / 6) ** (draws["beta"] / (draws["alpha"] + draws["beta"]))
        n = ratio * (at["training_compute"].isel(target=0) / 6) ** (draws["beta"] / (draws["alpha"] + draws["beta"]))
        d = at["training_compute"].isel(target=0) / 6 / n
        loss = draws["E"] + draws["A"] / n ** draws["alpha"] + draws["B"] / d ** draws["beta"]
        finite = np.isfinite(loss)
        reached = (loss * np.exp(error)).where(finite)
        share = (abs(reached / what["loss"] - 1) < 2e-4).mean()
        assert float(share) > 0.99 * float(finite.mean())
    spread = [np.log(x["total_compute"].where(np.isfinite(x["total_compute"]))).std() for x in (at, alone)]
    assert float(spread[0]) > float(spread[1])


def test_an_allocation_spends_its_budget_whatever_is_added(fit_default):
    for what in ({}, {"demand": 1e12}, {"near_optimal": 1e-3}):
        at = fit_default.allocate([1e21, 1e24], **what)
        spent = 6 * at["parameters"] * at["tokens"] + 2 * at["parameters"] * what.get("demand", 0.0)
        np.testing.assert_allclose((spent / at["compute"]).values, 1, rtol=1e-9)
        np.testing.assert_allclose((at["tokens"] / at["parameters"] / at["tokens_per_parameter"]).values, 1, rtol=1e-9)
    assert (at["parameters_near_low"] < at["parameters"]).all() and (
        at["parameters"] < at["parameters_near_high"]
    ).all()


def test_tokens_per_parameter_that_no_run_has_widen_what_serves_a_demand(fit_default):
    at = fit_default.allocate(1e21, demand=[0.0, 1e13]).isel(compute=0)
    alone = fit_default.allocate(1e21, demand=[0.0, 1e13], beyond="none").isel(compute=0)
    spread, without = (np.log(x["tokens_per_parameter"]).std(("chain", "draw")).values for x in (at, alone))
    assert float(at["tokens_per_parameter_extrapolation"].isel(demand=1).median()) > 0
    assert spread[0] == pytest.approx(without[0]) and spread[1] > 1.5 * without[1]
    assert float(at["tokens"].quantile(0.01)) > 1e9  # a demand leaves something for training


def test_an_allocation_is_as_wide_as_its_robust_interval_and_the_drift_together(fit_default):
    inside, beyond = 1e21, 1e24
    law = fit_default.allocate([inside, beyond], beyond="none", robust=False)["parameters"]
    quoted = fit_default.allocate([inside, beyond])["parameters"]
    log_size = np.log(law.sel(compute=inside, drop=True))
    expected = quote_draws(fit_default, log_size)
    assert float(np.log(quoted.sel(compute=inside)).std()) == pytest.approx(float(expected.std()), rel=0.05)
    ends = [np.log(x.sel(compute=beyond)).quantile([0.05, 0.95]) for x in (law, quoted)]
    assert float(ends[1][1] - ends[1][0]) > 1.5 * float(ends[0][1] - ends[0][0])


def test_groups_share_all_of_their_drift_but_what_differences_showed():
    rng, difference = np.random.default_rng(1), (0.004, 0.3)
    slopes = DRIFT.slopes_of_groups(rng, (40_000,), 3, difference)
    np.testing.assert_allclose(slopes.std(0), np.sqrt(DRIFT.mean_square()), rtol=0.05)
    assert np.diff(slopes).std(0) == pytest.approx(0.004 * np.exp(0.3**2), rel=0.05)
    independent = DRIFT.slopes_of_groups(rng, (40_000,), 2, (10.0, 0.0))
    assert np.corrcoef(independent.T)[0, 1] == pytest.approx(0.0, abs=0.02)


@pytest.mark.parametrize("name", ["coupled", "chinchilla"])
def test_differences_carry_less_drift_than_one_group(name):
    law = bs.laws.Grouped(getattr(bs.laws, name.title())(), "corpus")
    scale, spread = difference_of(law)
    assert 0 < scale * np.exp(spread**2) < np.sqrt(drift_of(law).mean_square())
