from itertools import permutations

import bayescaling as bs
import numpy as np
import pandas as pd
import pytest
from bayescaling.inference.progress import contributions
from bayescaling.inference.progress import rate_at_optimum as quantities
from bayescaling.inference.progress.change_points import acceleration
from bayescaling.inference.progress.rate_at_optimum import GrowthAt
from bayescaling.models.progress import growth
from bayescaling.models.progress.density import log_terms
from bayescaling.models.progress.law import Progress
from bayescaling.models.progress.specifications import SPECIFICATIONS, Specification
from scipy.optimize import brentq, minimize_scalar

PLACES = ((1e25, 2023.0), (1e21, 2018.0))


def loss_at(draws, n, d, *, year, transformer=1, benchmark="wt103"):
    """Mean loss of one system for one draw, through the design of a table."""
    shrink = 1 + 2.9157 * (1 - np.exp(-1 / 2.9157)) if draws.law.data_definition == "diminishing" else 1.0
    row = {"parameters": n, "dataset_tokens": d / shrink, "year": year, "benchmark": benchmark, "epochs": 1.0}
    row |= {"transformer": transformer, "perplexity": 20.0, "vocabulary": np.nan}
    return draws.mean(pd.DataFrame([row])).values[..., 0]


def test_the_optimum_is_the_numerical_minimum():
    rng = np.random.default_rng(0)
    for _ in range(20):
        p, q = rng.normal(1, 1, 2)
        a, b = rng.uniform(0.02, 0.5, 2)
        slots = rng.uniform(30, 60)
        n, d = growth.optimum(6 * np.exp(slots), p, q, a, b)
        optimum = minimize_scalar(
            lambda x, p=p, q=q, a=a, b=b, slots=slots: np.exp(p - a * x) + np.exp(q - b * (slots - x)),
            bracket=(n - 3, n + 2),
            tol=1e-12,
        )
        assert n == pytest.approx(optimum.x, abs=1e-5)
        assert n + d == pytest.approx(slots)
        assert sum(growth.terms(n, d, p, q, a, b)) == pytest.approx(optimum.fun, rel=1e-12)
    for a, b in ((0.1, 0.0), (-0.1, 0.1), (0.1, -0.3)):
        assert np.isnan(growth.optimum(1e20, 1.0, 1.0, np.array(a), np.array(b))).all()


@pytest.mark.parametrize("benchmark", ["wt103", "wt2", "ptb"])
@pytest.mark.parametrize("k", SPECIFICATIONS)
def test_the_local_law_is_the_law(k, benchmark, progress_draws):
    law = Progress(k)
    draws = progress_draws(law, spread=0.4)
    for transformer in (True, False):
        local = GrowthAt(draws, year=2019.3, benchmark=benchmark, transformer=transformer)
        for n, d in ((1e7, 1e9), (1.7e11, 3e8), (1e8, 1e13)):
            at = {"year": 2019.3, "transformer": transformer, "benchmark": benchmark}
            np.testing.assert_allclose(local.loss(np.log(n), np.log(d)), loss_at(draws, n, d, **at), rtol=1e-9)


def least_loss(draws, compute, year, benchmark, transformer):
    """Reducible loss at the optimum of a budget, minimised numerically, (chain, draw)."""
    local = GrowthAt(draws, year=year, benchmark=benchmark, transformer=transformer)
    if local.single:
        return local.terms(0.0, np.log(compute / 6))[0]
    slots, losses = np.log(compute / 6), np.empty(local.a.shape)
    for i in np.ndindex(losses.shape):
        p, q, a, b = (x[i] for x in (local.p, local.q, local.a, local.b))

        def value(x, p=p, q=q, a=a, b=b):
            return np.exp(p - a * x) + np.exp(q - b * (slots - x))

        losses[i] = minimize_scalar(value, bracket=(0.4 * slots, 0.6 * slots), tol=1e-13).fun
    return losses


OWN_RATES = Specification("b + y + c + c:log(Y)", "")


@pytest.mark.parametrize(("compute", "year"), PLACES)
@pytest.mark.parametrize("k", [*SPECIFICATIONS, OWN_RATES], ids=str)
def test_the_rate_is_the_fall_of_the_budget_of_one_optimal_loss(k, compute, year, fit_of):
    draws, fit = fit_of(Progress(k), spread=0.3)
    places = quantities.labels_of(fit)
    rates = quantities.growth_rates(fit, compute=compute, year=year)
    assert list(rates) == list(places)
    step = 1e-3
    for label, (benchmark, transformer) in places.items():

        def log_loss(log_compute, date, place=(benchmark, transformer)):
            return np.log(least_loss(draws, np.exp(log_compute), date, *place))

        at = np.log(compute)
        by_year = (log_loss(at, year + step) - log_loss(at, year - step)) / (2 * step)
        by_compute = (log_loss(at + 0.01, year) - log_loss(at - 0.01, year)) / 0.02
        assert (by_compute < 0).all()
        np.testing.assert_allclose(rates[label], by_year / by_compute, rtol=2e-4, atol=1e-5)
        assert np.all(rates[label] == 0) == (k in (16, 17))


@pytest.mark.parametrize("k", [k for k in SPECIFICATIONS if k not in (16, 17)])
def test_optimal_scaling_is_the_rate_for_small_gains_of_compute(k, progress_draws):
    draws = progress_draws(Progress(k), draws=40)
    local = GrowthAt(draws)
    rate, here = local.rate(1e24), local.optimum(1e24)
    there = local.optimum(1e24 * (1 + 1e-5))
    years = growth.years_to_match(*local.terms(*here), *local.falls(*here), sum(local.terms(*there)))
    positive = rate > 0.02
    assert 5 < positive.sum() < 40
    np.testing.assert_allclose(years[positive], 1e-5 / rate[positive], rtol=1e-2)
    assert np.isinf(years[rate < 0]).all()
    if k in (12, 18):  # the loss falls alike in both terms, so that doublings agree however far
        np.testing.assert_allclose(local.years_to_double(1e24)[positive], np.log(2) / rate[positive], rtol=1e-9)


def test_quantiles_of_doubling_times_read_never_where_rates_cross_zero():
    rng, probabilities = np.random.default_rng(0), (0.025, 0.25, 0.5, 0.75, 0.975)
    positive = rng.lognormal(size=(3, 27))
    expected = np.quantile(growth.doubling_months(positive), probabilities)
    np.testing.assert_allclose(growth.doubling_quantiles(positive, probabilities), expected)
    crossing = np.sort(np.append(positive, -rng.lognormal(size=40)))  # 40 of 121: never at 81/121 and beyond
    quantiles = growth.doubling_quantiles(crossing, (0.3, 0.65, 0.7, 0.975))
    times = np.sort(np.where(crossing > 0, 12 * np.log(2) / crossing, np.inf))
    np.testing.assert_allclose(quantiles[:2], times[[36, 78]])
    assert np.isinf(quantiles[2:]).all()
    assert np.isinf(growth.doubling_quantiles(np.zeros(5), [0.5])).all()


def test_years_to_match_are_the_root():
    rng, counts = np.random.default_rng(1), {"never": 0, "reached": 0}
    for _ in range(300):
        first, second = rng.uniform(0.2, 3, 2)
        falls, target = rng.normal(0.03, 0.06, 2), (first + second) * rng.uniform(0.7, 0.999)

        def excess(t, first=first, second=second, falls=falls, target=target):
            return first * np.exp(-falls[0] * t) + second * np.exp(-falls[1] * t) - target

        years = float(growth.years_to_match(first, second, *falls, target))
        grid = np.concatenate([np.linspace(0, 200, 20_001), np.geomspace(200, 1e5, 2000)])
        with np.errstate(over="ignore"):
            below = np.flatnonzero(excess(grid) <= 0)
        if below.size == 0:
            assert np.isinf(years)
            counts["never"] += 1
        else:
            assert years == pytest.approx(brentq(excess, grid[below[0] - 1], grid[below[0]], xtol=1e-12), rel=1e-7)
            counts["reached"] += 1
    assert min(counts.values()) > 50
    # Falling slowly for ever, back up before the target, up from the start, and still.
    assert growth.years_to_match(1.0, 1.0, 1e-4, 1.0, 0.9) == pytest.approx(np.log(1 / 0.9) / 1e-4)
    assert np.isinf(growth.years_to_match(1.0, 1.0, 0.2, -0.1, 1.8))
    assert np.isinf(growth.years_to_match(1.0, 1.0, [-0.1, 0.0, 0.1], [-0.1, 0.0, -0.2], 1.9)).all()


def test_draws_without_an_optimum_are_counted_and_left_out(fit_of):
    draws, fit = fit_of(Progress(14), draws=200, spread=0.9)
    local = GrowthAt(draws, year=2060.0)
    lost = (local.a <= 0) | (local.b <= 0)
    assert 5 < lost.sum() < 150
    table = quantities.doubling_times(fit, year=2060.0)
    assert table.loc["wt103", "no_optimum"] == lost.sum()
    rate = local.rate()
    assert np.isnan(rate[lost]).all()
    assert table.loc["wt103", "p_progress"] == pytest.approx((rate[~lost] > 0).mean())
    assert table.loc["wt103", "q50"] == growth.doubling_quantiles(rate[~lost], [0.5])[0]


def test_shapley_values_are_fair():
    rng = np.random.default_rng(0)
    worth = {moves: rng.normal(size=5) for moves in np.ndindex(2, 2, 2, 2)}
    gains = growth.shapley(lambda moves: worth[tuple(int(m) for m in moves)], 4)
    np.testing.assert_allclose(sum(gains), worth[1, 1, 1, 1] - worth[0, 0, 0, 0])
    orders = list(permutations(range(4)))
    brute = np.zeros(5)
    for order in orders:
        before = [int(m in order[: order.index(2)]) for m in range(4)]
        after = [*before[:2], 1, *before[3:]]
        brute += (worth[tuple(after)] - worth[tuple(before)]) / len(orders)
    np.testing.assert_allclose(gains[2], brute)
    together = growth.shapley(lambda moves: float(moves[0] and moves[1]), 3)
    assert together == pytest.approx([0.5, 0.5, 0.0])
    assert growth.shapley(lambda moves: 3.0 * moves[0] - moves[1], 2) == pytest.approx([3.0, -1.0])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"systems": lambda t: t.drop(columns="parameters")}, "parameters"),
        ({"pairs": [("GPT-2", "GPT-9")]}, 'the table of systems lacks .*"GPT-9"'),
        ({"k": 18}, "progress-18 has one term"),
    ],
)
def test_attribution_says_what_it_lacks(change, message, fit_of):
    _, fit = fit_of(Progress(change.get("k", 7)))
    systems = change.get("systems", lambda t: t)(bs.load("attribution_systems"))
    with pytest.raises(bs.InputError, match=message):
        contributions.attribution(fit, systems, change.get("pairs"))


def test_rates_that_depend_on_the_optimal_size_are_of_a_benchmark(fit_of):
    for k, labels in ((7, ["all"]), (14, ["wt103", "wt2", "ptb"]), (15, ["wt103", "wt2", "ptb"])):
        _, fit = fit_of(Progress(k), spread=0.3)
        assert list(quantities.growth_rates(fit)) == labels
    rates = quantities.growth_rates(fit, compute=1e22)
    assert float(abs(rates["wt103"] - rates["ptb"]).max()) > 1e-6


@pytest.mark.parametrize("k", [2, 7, 15, 16])
def test_attribution_shares_out_the_fall_of_loss(k, fit_of):
    draws, fit = fit_of(Progress(k), spread=0.4)
    systems = bs.load("attribution_systems")
    shares = contributions.attribution(fit, systems)["share"]
    assert shares.sizes["pair"] == len(systems) * (len(systems) - 1) / 2
    np.testing.assert_allclose(shares.sum("move"), 1.0)
    if k in (2, 16):
        assert np.abs(shares.sel(move="parameter_efficiency")).max() < 1e-9
    if k == 16:
        assert np.abs(shares.sel(move="data_efficiency")).max() < 1e-9
    start, end = systems.iloc[0], systems.iloc[-1]
    dates = [t.year + (t.day_of_year - 1) / 365 for t in pd.to_datetime([start.publication_date, end.publication_date])]

    def value(moves):
        n, d = (start, end)[moves[0]].parameters, (start, end)[moves[1]].dataset_tokens
        laws = [GrowthAt(draws, year=dates[moves[i]]) for i in (2, 3)]
        return np.exp(laws[0].p - laws[0].a * np.log(n)) + np.exp(laws[1].q - laws[1].b * np.log(d))

    gains = np.stack(growth.shapley(value, 4))
    pair = f"{start.system}>{end.system}"
    np.testing.assert_allclose(shares.sel(pair=pair), gains / gains.sum(0), rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("k", [7, 15, 18])
@pytest.mark.parametrize("form", ["exp", "sigmoid"])
def test_a_transformers_gain_is_the_scale_that_makes_up_for_its_absence(k, form, fit_of):
    draws, fit = fit_of(Progress(k, transformer=form, irreducible=True), draws=30, spread=0.4)
    gains = contributions.transformer_gain(fit, compute=(1e22, 1e24))
    factor = draws.named()["transformer_factor"].values
    assert (form == "sigmoid") == (factor < 1).all()
    np.testing.assert_allclose(gains["loss_reduction_percent"], 100 * (1 - factor))
    for compute in (1e22, 1e24):
        size, gain = np.sqrt(compute / 6), gains["gain"].sel(compute=compute).values[0]
        local = GrowthAt(draws)
        usable = (local.a[0] > 0) & (local.single | (local.b[0] > 0))
        assert usable.sum() > 15
        np.testing.assert_array_equal(np.isfinite(gain), usable)
        assert ((gain > 1) == (factor[0] < 1))[usable].all()
        ours = loss_at(draws, size, size, year=2023.0, transformer=1)[0]
        for draw in np.flatnonzero(usable)[:4]:

            def excess(log_a, draw=draw, ours=ours, size=size):
                moved = loss_at(draws, size * np.exp(log_a), size * np.exp(log_a), year=2023.0, transformer=0)
                return moved[0, draw] - ours[draw]

            assert np.log(gain[draw]) == pytest.approx(2 * brentq(excess, -60, 60), abs=1e-7)


def test_effective_compute_builds_up(fit_of):
    draws, fit = fit_of(Progress(9))
    years = np.array([2014.0, 2016.5, 2022.0])
    factors, rate = contributions.effective_compute(fit, years), GrowthAt(draws).rate()
    np.testing.assert_allclose(factors, np.array([0, 2.5, 8])[:, None, None] * rate)


@pytest.mark.parametrize("form", ["hinge", "jump"])
def test_acceleration_is_the_change_of_the_slopes(form, fit_of):
    draws, fit = fit_of(Progress(7, cutoff=2018.0, cutoff_form=form), draws=50)
    slopes, v = acceleration(fit), {name: x.values[..., None] for name, x in draws.named().items()}
    first, second = np.exp(log_terms(draws.law, draws.c, draws.design))
    share = first / (first + second)
    slope = (share * v["alpha_param"] + (1 - share) * v["beta_data"]).mean(-1) / 2
    before = (share * v["alpha_year"] + (1 - share) * v["beta_year"]).mean(-1) / slope
    change = (share * v["alpha_year_change"] + (1 - share) * v["beta_year_change"]).mean(-1) / slope
    np.testing.assert_allclose(slopes["before"], before, atol=1e-9)
    np.testing.assert_allclose(slopes["after"] - slopes["before"], change, atol=1e-9)
    assert slopes["p_faster"] == float((change > 0).mean())
