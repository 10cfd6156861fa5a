"""The law of time horizons: counts by threshold, trends, densities and horizons integrated out."""

import bayescaling as bs
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from bayescaling.inference.engine import compile_density, flat
from bayescaling.models.draws import DRAWS
from bayescaling.models.horizons.outcomes import FEW, log_choose, log_density, shares
from bayescaling.models.trends import level, yearly_gain
from scipy import special, stats

TRUTH = {
    "horizon_centre": 3.0,
    "horizon_sd": 0.5,
    "log_slope": -0.2,
    "task_sd": 1.2,
    "log_slope_sd": 0.3,
    "log_precision": 2.0,
    "yearly_gain": 1.8,
}


def table(models=6, tasks=8, thresholds=2, runs=5, seed=0):
    """Cells of models and tasks at rising thresholds, whose successes are still to be drawn."""
    rng = np.random.default_rng(seed)
    dates = np.sort(rng.uniform(2023, 2026, models))
    first = np.exp(rng.uniform(0, 6, tasks))
    rows = [
        {
            "model": f"m{i}",
            "year": dates[i],
            "task": f"t{j}",
            "minutes": first[j] * 3.0**k,
            "successes": 0,
            "runs": runs,
        }
        for i in range(models)
        for j in range(tasks)
        for k in range(thresholds)
    ]
    return pd.DataFrame(rows).assign(successes=runs, runs=runs)


def simulated(law, truth=TRUTH, seed=0, **sizes):
    """Return a table of successes drawn at known quantities, and the draw that holds these."""
    cells, rng = table(seed=seed, **sizes), np.random.default_rng(seed)
    rows = law.rows(cells)
    draw = law.prior_draws(rng, law.reference(rows), rows, truth={name: truth[name] for name in law.prior_of})
    cells["successes"] = draw.replicate(rng).values[0, 0]
    rows = law.rows(cells)
    return rows, law.draws(draw.real_line().rename("z").to_dataset(), rows, law.reference(rows))


def test_thresholds_of_a_run_are_one_multinomial_outcome():
    minutes, slope, horizon = np.log([10.0, 40.0, 200.0]), 0.8, np.log(50.0)
    eta = slope * (horizon - minutes)
    passed = np.array([0.0, 1.0, 1.0]) * np.exp(-slope * np.diff(minutes, prepend=minutes[0] - 1))
    at_risk, right = np.array([7.0, 5.0, 3.0]), np.array([5.0, 3.0, 0.0])
    wrong = at_risk - right
    density = log_density(shares(eta, passed), None, (right, wrong), few=True) + log_choose(right, wrong)
    above = np.array([1.0, *special.expit(eta), 0.0])
    assert density.sum() == pytest.approx(stats.multinomial.logpmf([2, 2, 3, 0], 7, above[:-1] - above[1:]))


def test_a_beta_binomial_of_every_count_adds_up_to_1_and_becomes_the_binomial():
    right = np.arange(6.0)
    counts, chances = (right, 5 - right), shares(np.array([0.4]), 0.0)

    def probability(precision, few):
        whole = log_density((1.0, 1.0), precision, (5.0, 0.0), few=few)
        return log_choose(*counts) + log_density(chances, precision, counts, few=few) - whole

    expected = stats.betabinom(5, 3 * special.expit(0.4), 3 * special.expit(-0.4)).logpmf(right)
    for few in (False, True):
        np.testing.assert_allclose(probability(np.array([3.0]), few), expected)
        binomial = stats.binom(5, special.expit(0.4)).logpmf(right)
        np.testing.assert_allclose(probability(np.array([1e9]), few), binomial, atol=1e-5)


def test_a_product_gives_the_term_of_few_runs():
    right, chances = np.arange(FEW + 1.0), shares(np.linspace(-8, 8, FEW + 1), 0.3)
    pairs = [(log_density(chances, x, (right, FEW - right), few=True), x) for x in (1e-3, 4.0, 1e5)]
    for product, precision in pairs:
        gammas = log_density(chances, precision, (right, FEW - right), few=False)
        np.testing.assert_allclose(product, gammas, atol=1e-8)
        one_by_one = [log_density([x[k] for x in chances], precision, (k, FEW - k), few=True) for k in range(FEW + 1)]
        np.testing.assert_allclose(product, one_by_one, rtol=1e-12)


@pytest.mark.parametrize("trend", ["linear", "break", "acceleration", "logistic"])
def test_the_yearly_gain_is_the_derivative_of_the_trend(trend):
    values = {
        "centre": 2.0,
        "yearly_gain": 1.3,
        "yearly_gain_change": 0.9,
        "break_place": 0.4,
        "acceleration": 0.5,
        "midpoint": 2025.4,
        "width": 1.7,
    }
    date, step, span = np.array([2022.2, 2024.0, 2026.9]), 1e-5, (2023.0, 2025.0)
    ahead, behind = (level(values, trend, date + sign * step, span) for sign in (1, -1))
    np.testing.assert_allclose((ahead - behind) / (2 * step), yearly_gain(values, trend, date, span), rtol=1e-6)


@pytest.mark.parametrize(
    "law",
    [
        bs.laws.Horizons(),
        bs.laws.Horizons(trend=None, noise="binomial", task_slopes=False),
        bs.laws.Horizons(trend="break"),
        bs.laws.Horizons(trend="logistic", noise="binomial"),
    ],
    ids=lambda law: law.label,
)
def test_the_compiled_density_is_that_of_the_rows_and_the_priors(law, sampled_density):
    truth = TRUTH | {"yearly_gain_change": 0.4, "break_place": 0.3, "midpoint": 2025.0, "width": 2.0}
    rows, draws = simulated(law, truth)
    density, rng = law.density(rows, law.reference(rows)), np.random.default_rng(1)
    z = flat(density.start) + 0.5 * rng.standard_normal(flat(density.start).size)
    value, _ = compile_density(density)(z, density)
    expected, _ = sampled_density(law, rows, z)
    assert value == pytest.approx(expected, rel=1e-6)
    rowwise = draws.log_likelihood().values.sum()
    together = sum(x.sum() for name, x in draws.terms().items() if not name.endswith("units"))
    assert rowwise == pytest.approx(together)


@pytest.mark.parametrize("seed", [0, 1, 3])
def test_the_density_of_what_is_sampled_is_that_of_binomials_and_normals(seed, small_tables, sampled_density):
    """Of tables with one threshold and several, few runs and none of some cells, written out in SciPy."""
    law = bs.laws.Horizons(noise="beta_binomial" if seed else "binomial")
    rows = law.rows(small_tables.horizons(seed)[0])
    density, rng = law.density(rows, law.reference(rows)), np.random.default_rng(seed)
    z = flat(density.start) + 0.3 * rng.standard_normal(flat(density.start).size)
    together, there = sampled_density(law, rows, z)
    v, horizon = {name: x[0, 0] for name, x in there.values.items()}, there.horizon[0, 0]
    effect, slope = (x[0, 0] for x in there.tasks)
    models, tasks = there.reference["models"], there.reference["tasks"]
    model, task = pd.Index(models).get_indexer(rows["model"]), pd.Index(tasks).get_indexer(rows["task"])
    share = special.expit(slope[task] * (horizon[model] - np.log(rows["minutes"]) - effect[task]))
    before = special.expit(slope[task] * (horizon[model] - np.log(rows["minutes_before"].fillna(1)) - effect[task]))
    share = share / np.where(rows["minutes_before"].notna(), before, 1.0)
    counts = rows["successes"], rows["at_risk"]
    phi = np.exp(v["log_precision"]) if seed else None
    likelihood = (
        stats.betabinom.logpmf(*counts, phi * share, phi * (1 - share)) if seed else stats.binom.logpmf(*counts, share)
    )
    year = rows.drop_duplicates("model").set_index("model").loc[models, "year"].to_numpy()
    expected = likelihood.sum() + stats.norm(0, v["task_sd"]).logpdf(effect).sum()
    expected += stats.norm(v["log_slope"], v["log_slope_sd"]).logpdf(np.log(slope)).sum()
    trend = v["horizon_centre"] + v["yearly_gain"] * (year - 2024.5)
    expected += stats.norm(trend, v["horizon_sd"]).logpdf(horizon).sum()
    expected += sum(prior.log_density(v[name]) for name, prior in law.prior_of.items())
    expected += sum(prior.from_unconstrained(z[i])[1] for i, prior in enumerate(law.prior_of.values()))
    assert float(there.log_density()[0, 0]) == pytest.approx(expected, rel=1e-9)
    assert compile_density(density)(z, density)[0] == pytest.approx(together, rel=1e-6)


def test_the_order_of_rows_does_not_matter():
    law = bs.laws.Horizons()
    rows, draws = simulated(law)
    shuffled = law.rows(rows.sample(frac=1, random_state=1))
    again = draws.law.draws(draws.real_line().rename("z").to_dataset(), shuffled, law.reference(shuffled))
    assert float(again.log_density().sum()) == pytest.approx(float(draws.log_density().sum()))


def test_draws_of_new_runs_have_the_mean_and_the_density_of_the_law():
    law = bs.laws.Horizons()
    rows, draws = simulated(law, models=3, tasks=4, thresholds=3)
    many = draws.from_real_line(draws.real_line().isel(draw=np.zeros(4000, int)).assign_coords(draw=np.arange(4000)))
    counts = many.replicate(np.random.default_rng(3))
    np.testing.assert_allclose(counts.mean(DRAWS), draws.mean().isel(chain=0, draw=0), atol=0.12)
    later = rows["minutes_before"].notna().to_numpy()
    assert (counts.values[..., later] <= counts.values[..., np.flatnonzero(later) - 1]).all()


def test_a_model_left_out_has_its_horizon_integrated_out():
    law = bs.laws.Horizons()
    rows, draws = simulated(law, models=4, tasks=6)
    near = draws.real_line().isel(draw=np.zeros(300, int)).assign_coords(draw=np.arange(300))
    rng = np.random.default_rng(1)
    # Horizons as far apart as those of a posterior, about which the nodes lie.
    spread = np.where(near["coordinate"].str.startswith("horizon["), 0.6, 0.2)
    near = near + spread * rng.standard_normal(near.shape)
    posterior = draws.from_real_line(near)
    density = posterior.by_group("model").sel(group="m2").values[0, 0]
    one = rows[rows["model"] == "m2"]
    mean = law.expected(posterior.values, posterior.design)[0, 0, 2]
    sd = posterior.values["horizon_sd"][0, 0]
    horizons = np.linspace(mean - 12 * sd - 12, mean + 12 * sd + 12, 4001)
    z = np.repeat(near.values[0, :1], len(horizons), 0)
    z[:, list(near["coordinate"].values).index("horizon[m2]")] = horizons
    at = draws.from_real_line(near.isel(draw=np.zeros(len(horizons), int)).copy(data=z[None]))
    logs = at.log_likelihood(one).sum("row").values[0] + stats.norm(mean, sd).logpdf(horizons)
    brute = special.logsumexp(logs) + np.log(horizons[1] - horizons[0])
    assert density == pytest.approx(brute, abs=5e-3)


def test_estimates_are_corrected_by_tasks_that_were_timed_too():
    cells = table(tasks=12, thresholds=1)
    timed = cells["task"].isin(["t0", "t1", "t2", "t3"])
    cells = cells.assign(
        time_source=np.where(timed, "timed", "estimated"),
        estimated_minutes=np.where(timed, 4.0 * cells["minutes"], np.nan),
    )
    law = bs.laws.Horizons(estimates=True)
    rows = law.rows(cells)
    reference = law.reference(rows)
    np.testing.assert_allclose(reference["anchors"], np.log(4.0))
    values = {name: np.full((1, 1), x) for name, x in (TRUTH | {"estimate_bias": 0.7, "estimate_sd": 0.4}).items()}
    effect, _ = law._expected_effects(values, law.design_arrays(rows, reference))
    estimated = np.array(reference["estimated"])
    np.testing.assert_allclose(effect[0, 0], np.where(estimated, -0.7, 0.0))


def test_tasks_of_a_family_are_normal_with_an_effect_in_common():
    cells = table(tasks=9)
    cells["task_family"] = cells["task"].map({f"t{j}": f"f{j % 4}" for j in range(9)})
    law = bs.laws.Horizons(family_effects=True, task_slopes=False)
    rows = law.rows(cells)
    draws = law.prior_draws(np.random.default_rng(0), law.reference(rows), rows, truth=TRUTH | {"family_sd": 0.8})
    same = np.equal.outer(draws.design["task_family"], draws.design["task_family"])
    covariance = TRUTH["task_sd"] ** 2 * np.eye(9) + 0.8**2 * same
    effect, terms = draws.tasks[0][0, 0], draws.terms()
    density = terms["task_units"].sum() + terms["family"].sum()
    np.testing.assert_allclose(density, stats.multivariate_normal(cov=covariance).logpdf(effect))


@pytest.mark.parametrize("thresholds", [1, 3])
def test_what_is_drawn_of_a_law_is_what_its_sampled_coordinates_give(thresholds):
    law = bs.laws.Horizons()
    rows = law.rows(table(thresholds=thresholds))
    reference = law.reference(rows)
    draws = law.prior_draws(np.random.default_rng(0), reference, rows, truth=TRUTH)
    models, tasks = law._draw_units(draws.values, rows, reference, np.random.default_rng(0))
    named = {"horizon_units": (("chain", "draw", "model"), models[..., 0])}
    named["task_units"] = (("chain", "draw", "task", "part"), tasks)
    sampled = xr.Dataset(named | {name: (("chain", "draw"), x) for name, x in draws.values.items()})
    again = law.draws(sampled, rows, reference)
    np.testing.assert_allclose(again.z, draws.z, atol=1e-9)


@pytest.mark.parametrize(
    ("law", "change", "message"),
    [
        (bs.laws.Horizons(), lambda t: t.drop(columns="year"), "trend=None"),
        (bs.laws.Horizons(family_effects=True), lambda t: t, "task_family"),
        (bs.laws.Horizons(), lambda t: t[t["model"].isin(["m0", "m1"])], "at least 3"),
        (bs.laws.Horizons(), lambda t: t.assign(minutes=5.0), "several lengths"),
    ],
)
def test_a_table_that_cannot_inform_the_law_is_refused(law, change, message):
    with pytest.raises(bs.InputError, match=message):
        law.rows(change(table(thresholds=1)))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::bayescaling.errors.TableNote")  # decimal years are read as days
def test_known_horizons_are_recovered():
    law = bs.laws.Horizons()
    rows, truth = simulated(law, models=12, tasks=40, thresholds=1, runs=8)
    fit = bs.fit(law, rows, seed=1, draws=400, tune=500, check=False)
    assert fit.diagnostics["ok"]
    for name, value in TRUTH.items():
        low, high = np.quantile(fit["posterior"][name], [0.001, 0.999])
        assert low < value < high, name
    draws = fit["posterior"]["horizon"]
    distance = (draws.mean(DRAWS).values - truth.horizon[0, 0]) / draws.std(DRAWS).values
    assert np.abs(distance).max() < 4
