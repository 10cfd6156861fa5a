import json
from functools import partial

import bayescaling as bs
import numpy as np
import pytest
import xarray as xr
from bayescaling.datasets import KINDS
from bayescaling.inference.estimands.planning import near_range
from bayescaling.inference.fitted import new_fit
from bayescaling.models.loss.sizes import family_constant

law_alone = partial(bs.Fit.allocate, beyond="none", robust=False)

GAMMA = family_constant()
DRAWN = 4
TARGET, BUDGET = 2.8, 1e22
DEMANDS = np.array([0.0, 1e11, 1e13])
LAWS = {
    "chinchilla": bs.laws.Chinchilla(),
    "coupled": bs.laws.Coupled(),
    "offsets": bs.laws.Offsets(),
    "kaplan": bs.laws.Kaplan(),
    "embedding-weighted": bs.laws.EmbeddingWeighted(),
    "embedding-weighted, coupled, omega 2": bs.laws.EmbeddingWeighted(omega=2.0, coupled=True),
    "embedding-corrected": bs.laws.EmbeddingCorrected(joint=True),
    "data-constrained": bs.laws.DataConstrained(),
    "data-constrained, few tokens": bs.laws.DataConstrained(),
}
PLANNED = {"data-constrained, few tokens": {"unique_tokens": 1e11}}


def fit_to(law, spread=0.1):
    """A fit whose draws lie about the medians of the prior, in place of a sampler's."""
    table = bs.load("chinchilla_runs").assign(unique_tokens=1e12)
    rows = law.rows(table.assign(parameters_nonembedding=table["parameters"] - 32_000 * 10))
    reference = law.reference(rows)
    medians = {name: prior.median for name, prior in law.prior_of.items()}
    one = law.prior_draws(np.random.default_rng(0), reference, rows, truth=medians).real_line()
    noise = spread * np.random.default_rng(3).normal(size=(2, DRAWN // 2, one.sizes["coordinate"]))
    real = xr.DataArray(
        one.values + noise,
        dims=("chain", "draw", "coordinate"),
        coords={"chain": [0, 1], "draw": range(DRAWN // 2), "coordinate": one["coordinate"]},
    )
    draws = law.prior_draws(np.random.default_rng(0), reference, rows, truth=medians).from_real_line(real)
    groups = {
        "posterior": draws.named(),
        "unconstrained_posterior": draws.real_line().to_dataset(name="z"),
        "constant_data": KINDS["runs"].to_dataset(rows),
    }
    record = {"law": {"name": law.name, "options": law.options, "reference": reference}, "data": {"source": "test"}}
    return new_fit(groups, json.loads(json.dumps(record)))


@pytest.fixture(scope="module", params=list(LAWS))
def planned(request):
    return fit_to(LAWS[request.param]), PLANNED.get(request.param, {})


@pytest.fixture(scope="module")
def plain():
    return fit_to(bs.laws.Chinchilla())


def one_draw(fit, i):
    """The law's loss under one draw, of N_T and D, written out here once more."""
    law = fit.law
    posterior = fit["posterior"].to_dataset().stack(sample=("chain", "draw")).isel(sample=i)
    constants = {name: float(x) for name, x in posterior.data_vars.items()}

    def loss(nonembedding, total, tokens, unique_tokens=None):
        columns = {"parameters": total, "parameters_nonembedding": nonembedding, "tokens": tokens}
        columns["unique_tokens"] = tokens if unique_tokens is None else unique_tokens
        if law.name == "embedding-corrected":
            return law.mean_of_sizes(constants, nonembedding, total, tokens)
        return law.mean(constants, columns)

    return loss


def sizes_about(fit, total, decades, points):
    """N_x and N_T on a fine grid; laws that know no embeddings take N_T alone."""
    nonembedding = np.geomspace(total / 10**decades, total * 10**decades, points)
    return nonembedding, nonembedding + GAMMA * np.cbrt(nonembedding)


def of_sample(plan, name, i, **at):
    return float(plan[name].sel(**at).stack(sample=("chain", "draw")).squeeze()[i])


def test_no_size_on_a_fine_grid_reaches_the_target_for_less(planned):
    fit, options = planned
    plan = law_alone(fit, loss=TARGET, demand=DEMANDS, **options)
    assert plan["reached"].all()
    np.testing.assert_allclose(plan["loss"], TARGET, rtol=1e-9)
    for i in range(DRAWN):
        loss = one_draw(fit, i)
        for demand in DEMANDS:
            parameters, tokens = (of_sample(plan, name, i, demand=demand) for name in ("parameters", "tokens"))
            size, total = sizes_about(fit, parameters, 1.5, 400)
            log_d = np.linspace(np.log(tokens) - 7, np.log(tokens) + 7, 1500)
            losses = loss(size[:, None], total[:, None], np.exp(log_d), **options)
            needed = [np.interp(TARGET, row[::-1], log_d[::-1], left=np.inf, right=np.inf) for row in losses]
            cost = (6 * total * np.exp(needed) + 2 * total * demand).min()
            spent = of_sample(plan, "total_compute", i, demand=demand)
            assert spent == pytest.approx(6 * parameters * tokens + 2 * parameters * demand, rel=1e-9)
            assert cost * (1 - 2e-3) < spent < cost * (1 + 1e-6)


def test_no_size_on_a_fine_grid_has_less_loss_for_training_and_inference(planned):
    fit, options = planned
    plan = law_alone(fit, BUDGET, demand=DEMANDS, **options)
    np.testing.assert_allclose(plan["total_compute"], BUDGET, rtol=1e-9)
    for i in range(DRAWN):
        loss = one_draw(fit, i)
        for demand in DEMANDS:
            size, total = sizes_about(fit, of_sample(plan, "parameters", i, demand=demand), 2, 20_000)
            tokens = (BUDGET - 2 * total * demand) / (6 * total)
            valid = tokens > 1
            least = loss(size[valid], total[valid], tokens[valid], **options).min()
            assert least * (1 - 1e-6) < of_sample(plan, "loss", i, demand=demand) < least * (1 + 1e-9)


def test_without_demand_a_budget_is_spent_as_before(planned):
    fit, options = planned
    before = law_alone(fit, BUDGET, **options)
    plan = law_alone(fit, BUDGET, demand=0, **options).isel(demand=0)
    np.testing.assert_allclose(plan["loss"], before["loss"], rtol=1e-12)
    np.testing.assert_allclose(plan["parameters"], before["parameters"], rtol=1e-5)
    again = law_alone(fit, loss=float(before["loss"].isel(chain=0, draw=0, compute=0)), **options)
    np.testing.assert_allclose(again["total_compute"].isel(chain=0, draw=0), BUDGET, rtol=1e-7)


@pytest.mark.parametrize("demand", [None, 1e12])
@pytest.mark.parametrize("tolerance", [1e-3, 0.05])
def test_sizes_nearly_the_best_end_where_a_fine_grid_says(planned, tolerance, demand):
    fit, options = planned
    plan = law_alone(fit, BUDGET, demand=demand, near_optimal=tolerance, **options)
    for i in range(DRAWN):
        loss = one_draw(fit, i)
        best, low, high = (of_sample(plan, f"parameters{end}", i) for end in ("", "_near_low", "_near_high"))
        size, total = sizes_about(fit, best, 4, 40_000)
        tokens = (BUDGET - 2 * total * (demand or 0)) / (6 * total)
        valid = tokens > 1
        total, tokens = total[valid], tokens[valid]
        losses = loss(size[valid], total, tokens, **options)
        near = losses <= (1 + tolerance) * losses.min()
        assert low == pytest.approx(total[near].min(), rel=2e-3)
        assert high == pytest.approx(total[near].max(), rel=2e-3)
        assert of_sample(plan, "tokens_near_low", i) == pytest.approx(tokens[near].min(), rel=1e-2)
        assert of_sample(plan, "tokens_near_high", i) == pytest.approx(tokens[near].max(), rel=1e-2)


def test_sizes_that_reach_a_target_for_nearly_the_least_end_at_that_cost(planned):
    fit, options = planned
    plan = law_alone(fit, loss=TARGET, demand=1e12, near_optimal=0.2, **options)
    for end, other in (("low", "high"), ("high", "low")):
        parameters, tokens = plan[f"parameters_near_{end}"], plan[f"tokens_near_{other}"]
        np.testing.assert_allclose(
            6 * parameters * tokens + 2 * parameters * 1e12, 1.2 * plan["total_compute"], rtol=1e-6
        )
    assert (plan["parameters_near_low"] < plan["parameters"]).all()
    assert (plan["parameters"] < plan["parameters_near_high"]).all()


def constants_of(fit):
    return tuple(fit["posterior"][name] for name in ("E", "A", "B", "alpha", "beta"))


@pytest.mark.parametrize("demand", [1e10, 1e12, 1e15])
def test_returns_to_size_and_tokens_are_as_what_they_cost(plain, demand):
    _, A, B, alpha, beta = constants_of(plain)
    for asked in ({"loss": TARGET}, {"compute": 1e25}):
        plan = law_alone(plain, **asked, demand=demand).squeeze()
        to_size, to_tokens = alpha * A / plan["parameters"] ** alpha, beta * B / plan["tokens"] ** beta
        np.testing.assert_allclose(to_size / to_tokens, 1 + demand / (3 * plan["tokens"]), rtol=1e-5)


def test_more_demand_makes_models_smaller_trained_longer_and_saves_more(plain):
    plan = law_alone(plain, loss=TARGET, demand=[0, 1e11, 1e12, 1e13])
    assert (plan["parameters"].diff("demand") < 0).all()
    assert (plan["tokens"].diff("demand") > 0).all()
    assert (plan["saved"].diff("demand") > 0).all()
    np.testing.assert_allclose(plan["saved"].isel(demand=0), 0, atol=1e-9)
    without, served = plan.isel(demand=0), plan.sel(demand=1e13)
    naive = without["training_compute"] + 2 * without["parameters"] * 1e13
    np.testing.assert_allclose(served["saved"], 1 - served["total_compute"] / naive, rtol=1e-6)


def test_draws_whose_floor_is_too_high_are_counted_and_infinite(plain):
    floor = plain["posterior"]["E"]
    target = float(floor.median())
    with pytest.warns(bs.DiagnosticWarning, match=f"in {DRAWN // 2} of {DRAWN} draws, which no size reaches"):
        plan = law_alone(plain, loss=target, demand=1e12, near_optimal=0.01).squeeze()
    np.testing.assert_array_equal(plan["reached"], floor < target)
    np.testing.assert_allclose(plan["floor"], floor, rtol=1e-9)
    for name in ("parameters", "tokens", "total_compute", "parameters_near_low", "extrapolation"):
        np.testing.assert_array_equal(np.isfinite(plan[name]), plan["reached"])
    np.testing.assert_allclose(plan["loss"], np.maximum(floor, target), rtol=1e-9)
    assert float(plan["near_probability"]) <= 0.5


def test_a_target_that_no_draw_reaches_is_refused(plain):
    with pytest.raises(bs.InputError, match=r"loss 0.5 is at or below the floor of the chinchilla fit.*in every draw"):
        law_alone(plain, loss=[2.5, 0.5])


def test_how_far_an_answer_lies_beyond_the_runs_is_said_by_draw(plain):
    runs = plain.rows
    plan = law_alone(plain, loss=TARGET, demand=[0, 1e16])
    compute, ratio = 6 * runs["parameters"] * runs["tokens"], runs["tokens"] / runs["parameters"]
    above = np.log10(plan["training_compute"] / compute.max()).clip(min=0)
    np.testing.assert_allclose(plan["extrapolation"], above, atol=1e-8)
    above = np.log10(plan["tokens_per_parameter"] / ratio.max()).clip(min=0)
    below = np.log10(plan["tokens_per_parameter"] / ratio.min()).clip(max=0)
    np.testing.assert_allclose(plan["tokens_per_parameter_extrapolation"], above + below, atol=1e-8)
    assert (above.sel(demand=1e16) > 0).all()
    assert plan["outside"].equals(plan["extrapolation"] != 0)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({}, "give compute, a budget in FLOP, or loss, a target in nats per token, not neither"),
        ({"compute": 1e21, "loss": 2.5}, "not both"),
        ({"loss": 0}, "loss must be positive nats per token, not 0"),
        ({"loss": "low"}, "loss must be positive nats per token, not 'low'"),
        ({"loss": []}, "loss must be positive"),
        ({"loss": 2.5, "demand": -1}, "demand must be tokens, at least 0, not -1"),
        ({"loss": 2.5, "demand": np.inf}, "demand must be tokens, at least 0, not inf"),
        ({"compute": 1e21, "near_optimal": 0}, "near_optimal must be one positive tolerance, not 0"),
        ({"compute": 1e21, "near_optimal": [0.1, 0.2]}, "near_optimal must be one positive tolerance"),
        ({"compute": [1e21, 1e12], "demand": 1e12}, r"1e\+12 FLOP does not serve a demand of 1e\+12 tokens"),
        ({"loss": 2.5, "unique_tokens": 1e9}, '"unique_tokens" is unknown'),
    ],
)
def test_what_cannot_be_asked_is_refused(plain, asked, message):
    with pytest.raises(bs.InputError, match=message):
        law_alone(plain, **asked)


def test_the_range_of_half_the_draws_is_that_of_a_fine_grid():
    rng = np.random.default_rng(5)
    low = xr.DataArray(np.exp(rng.normal(size=(2, 200))), dims=("chain", "draw"))
    high = low * np.exp(rng.exponential(4.0, size=(2, 200)))
    region = near_range(low, high)
    grid = np.geomspace(1e-3, 1e5, 20_001)
    share = ((low.values.ravel()[:, None] <= grid) & (grid <= high.values.ravel()[:, None])).mean(0)
    assert float(region["near_probability"]) == pytest.approx(share.max(), abs=1e-9)
    assert float(region["near_low"]) == pytest.approx(grid[share >= 0.5].min(), rel=1e-3)
    assert float(region["near_high"]) == pytest.approx(grid[share >= 0.5].max(), rel=1e-3)
    assert share[np.searchsorted(grid, float(region["near_parameters"]))] == pytest.approx(share.max(), abs=0.01)


def test_where_draws_do_not_agree_there_is_no_range():
    apart = xr.DataArray([[1.0, 10.0, 100.0, 1000.0]], dims=("chain", "draw"))
    region = near_range(apart, 2 * apart)
    assert np.isnan([region["near_low"], region["near_high"]]).all()
    assert float(region["near_probability"]) == 0.25


def test_several_demands_at_once_have_the_sizes_of_each_alone():
    fit = fit_to(LAWS["chinchilla"])
    together = law_alone(fit, loss=TARGET, demand=DEMANDS)["parameters"]
    for demand in DEMANDS:
        alone = law_alone(fit, loss=TARGET, demand=demand)["parameters"]
        np.testing.assert_allclose(together.sel(demand=demand).values.ravel(), alone.values.ravel(), rtol=1e-9)
