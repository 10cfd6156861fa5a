from functools import partial

import bayescaling as bs
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from bayescaling.models.loss.noise import huber_logp
from scipy import stats

law_alone = partial(bs.Fit.allocate, beyond="none", robust=False)

BUDGETS = np.array([1e17, 1e20, 5.76e23, 1e26])


@pytest.fixture(scope="module")
def sizes():
    return pd.DataFrame({"parameters": [1e8, 7e10, 4e11], "tokens": [1e10, 1.4e12, 8e12]})


@pytest.fixture(scope="module")
def draws(fit_default):
    return fit_default["posterior"].to_dataset()


def test_allocation_is_the_closed_form_of_each_draw(fit_default, draws):
    plan = law_alone(fit_default, BUDGETS)
    assert dict(plan.sizes) == {"chain": 4, "draw": 1000, "compute": 4}
    A, B, alpha, beta, E = (draws[name].values[..., None] for name in ("A", "B", "alpha", "beta", "E"))
    ratio = (alpha * A / (beta * B)) ** (1 / (alpha + beta))
    parameters = ratio * (BUDGETS / 6) ** (beta / (alpha + beta))
    tokens = (BUDGETS / 6) ** (alpha / (alpha + beta)) / ratio
    np.testing.assert_allclose(plan["parameters"], parameters, rtol=1e-10)
    np.testing.assert_allclose(plan["tokens"], tokens, rtol=1e-10)
    np.testing.assert_allclose(plan["tokens_per_parameter"], tokens / parameters, rtol=1e-10)
    np.testing.assert_allclose(plan["loss"], E + A / parameters**alpha + B / tokens**beta, rtol=1e-12)
    spent = 6 * plan["parameters"] * plan["tokens"]
    np.testing.assert_allclose(spent, np.broadcast_to(BUDGETS, tokens.shape), rtol=1e-12)


def test_extrapolation_counts_decades_beyond_the_runs(fit_default, runs):
    least, greatest = runs["training_flop"].min(), runs["training_flop"].max()
    budgets = [least / 100, least, np.sqrt(least * greatest), greatest, 10 * greatest]
    plan = law_alone(fit_default, budgets)
    np.testing.assert_allclose(plan["extrapolation"], [-2, 0, 0, 0, 1], atol=1e-8)
    assert list(plan["outside"].values) == [True, False, False, False, True]
    assert plan["extrapolation"].attrs["units"] == "decades"


@pytest.mark.parametrize("budget", [0, -1e20, np.nan, np.inf, [1e20, -1], [[1e20]], "much"])
def test_budgets_that_are_none_are_refused(fit_default, budget):
    with pytest.raises(bs.InputError, match="compute must be positive FLOP, not"):
        law_alone(fit_default, budget)


def test_means_are_those_of_the_law(fit_default, draws, sizes):
    predicted = fit_default.predict(sizes, beyond="none", noise=False, robust=False)
    assert predicted["loss"].dims == ("chain", "draw", "run")
    for row, (parameters, tokens) in enumerate(sizes.itertuples(index=False)):
        expected = draws["E"] + draws["A"] / parameters ** draws["alpha"] + draws["B"] / tokens ** draws["beta"]
        np.testing.assert_allclose(predicted["loss"].isel(run=row), expected, rtol=1e-12)
    np.testing.assert_array_equal(predicted["tokens"], sizes["tokens"])


def test_predictions_scatter_as_student_t_about_each_draw(fit_default, draws, sizes, runs):
    log_loss = np.log(fit_default.predict(sizes, beyond="none", seed=5)["loss"])
    mean = np.log(fit_default.predict(sizes, beyond="none", noise=False, robust=False)["loss"])
    slopes = {name: draws[f"sigma_{name}"] for name in sizes}
    held = {name: np.log(sizes[name]).clip(np.log(runs[name]).min(), np.log(runs[name]).max()) for name in sizes}
    away = {name: xr.DataArray(held[name] - np.log(runs[name]).mean(), dims="run") for name in sizes}
    sigma = draws["sigma"] * np.exp(sum(slopes[name] * away[name] for name in sizes))
    place = stats.t.cdf(((log_loss - mean) / sigma).values, draws["nu"].values[..., None])
    for row in range(3):
        assert stats.kstest(place[..., row].ravel(), "uniform").pvalue > 1e-3
    for level in (0.025, 0.25, 0.5, 0.75, 0.975):
        quantile = log_loss.quantile(level, ("chain", "draw"))
        unit = ((quantile - mean) / sigma).transpose("chain", "draw", "run").values
        below = stats.t.cdf(unit, draws["nu"].values[..., None]).mean(axis=(0, 1))
        np.testing.assert_allclose(below, level, atol=4 * np.sqrt(level * (1 - level) / 4000))


def test_seed_of_a_prediction(fit_default, sizes):
    first, again = fit_default.predict(sizes), fit_default.predict(sizes)
    assert first.identical(again)
    assert fit_default.predict(sizes, seed=1).identical(first)
    assert not fit_default.predict(sizes, seed=2).identical(first)


def test_prediction_leaves_the_reading_error_out(fit_reading_error, sizes):
    draws = fit_reading_error["posterior"].to_dataset()
    log_loss = fit_reading_error.predict(sizes, beyond="none", seed=1)["loss"]
    mean = fit_reading_error.predict(sizes, beyond="none", noise=False, robust=False)["loss"]
    unit = ((log_loss - mean) / draws["sigma"]).values
    grid = np.linspace(-40, 40, 80_001)
    cumulative = np.cumsum(np.exp(huber_logp(grid, 1.0, 1.345))) * (grid[1] - grid[0])
    for row in range(3):
        assert stats.kstest(unit[..., row].ravel(), lambda x: np.interp(x, grid, cumulative)).pvalue > 1e-3


def test_tables_without_sizes_are_refused(fit_default, sizes):
    with pytest.raises(bs.InputError, match='a prediction needs "tokens"'):
        fit_default.predict(sizes.drop(columns="tokens"))
    for wrong in (0, -1e9, np.nan, np.inf, "big"):
        spoilt = sizes.astype(object)
        spoilt.loc[1, "tokens"] = wrong
        with pytest.raises(bs.InputError, match=r"column 'tokens' is .* in row 1, which is not a positive number"):
            fit_default.predict(spoilt)
