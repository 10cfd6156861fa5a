"""The law of a run's loss: its areas, its density, its blocks, what it predicts ahead, and what it refuses."""

import bayescaling as bs
import numpy as np
import pytest
from bayescaling.inference.engine import compile_density, flat
from bayescaling.models.curves.areas import areas
from bayescaling.models.draws import DRAWS
from scipy import stats

TRUTH = {
    "loss_centre": 3.0,
    "reducible_share": 0.08,
    "alpha": 0.5,
    "anneal": 0.04,
    "drift": 0.001,
    "drift_range": 1.0,
    "noise": 0.0005,
}
NOISY = TRUTH | {"drift": 0.004, "noise": 0.006}


@pytest.fixture
def curves():
    """Two runs of one size under different schedules."""
    table = bs.load("schedule_curves")
    return table[table["run"].isin(["100M cosine_24000", "100M wsdcon_9"])]


def simulated(curves, truth=TRUTH, seed=0):
    """Return blocks drawn at known quantities, and the draw that holds these."""
    law, rng = bs.laws.Curve(), np.random.default_rng(seed)
    rows = law.rows(curves)
    draws = law.prior_draws(rng, law.reference(rows), rows, truth=truth)
    rows = rows.assign(loss=draws.replicate(rng).values[0, 0])
    return rows, law.prior_draws(rng, law.reference(rows), rows, truth=truth)


def covariance(rows, truth):
    """Return the covariance of blocks: deviations of one run are alike, readings have errors of their own."""
    places, run = np.log(rows["clock"].to_numpy()), rows["run"].to_numpy()
    alike = np.exp(-np.abs(np.subtract.outer(places, places)) / truth["drift_range"]) * np.equal.outer(run, run)
    scatter = truth["noise"] ** 2 / np.minimum(rows["readings"], 4)
    return truth["loss_centre"] ** 2 * (truth["drift"] ** 2 * alike + np.diag(scatter))


@pytest.mark.parametrize("memory", [0.0, 40.0])
def test_areas_are_sums_over_steps(memory):
    steps = np.arange(1, 2001)
    rate = np.where(steps < 1200, np.minimum(steps / 100, 1.0), np.maximum(1.0 - (steps - 1200) / 500, 0.2))
    rate[1500:] += 0.3  # it rises again
    area, annealed = areas(steps, rate, memory=memory, power=0.7)
    np.testing.assert_allclose(area, np.cumsum(rate**0.7), rtol=0.01, atol=1.0)
    falls = np.where(steps > 100, -np.diff(rate, prepend=0.0), 0.0)
    effect = 1.0 - np.exp(-np.subtract.outer(steps, steps) / memory) if memory else np.ones((2000, 2000))
    by_steps = (np.tril(effect) * falls).sum(1)
    np.testing.assert_allclose(annealed, by_steps, atol=0.01)


def test_areas_of_few_readings_resume_where_they_were(curves):
    of = curves[curves["run"] == "100M cosine_24000"]
    area, annealed = areas(of["clock"], of["rate"])
    few = areas(of["clock"][::4], of["rate"][::4])
    np.testing.assert_allclose(few, (area[::4], annealed[::4]), rtol=0.002, atol=0.002)
    resumed = areas(of["clock"][80:], of["rate"][80:], peak=of["rate"].max(), before=(area[80], annealed[80]))
    np.testing.assert_allclose(resumed, (area[80:], annealed[80:]), rtol=1e-10)


@pytest.mark.parametrize("truth", [TRUTH, NOISY], ids=["smooth", "noisy"])
def test_blocks_are_normal_together(curves, truth):
    rows, draws = simulated(curves, truth)
    joint = stats.multivariate_normal(draws.mean().values[0, 0], covariance(rows, truth)).logpdf(rows["loss"])
    for of in (draws.total_log_likelihood(), draws.log_likelihood(), draws.by_group("run")):
        assert float(of.sum()) == pytest.approx(joint)
    assert sum(float(x.sum()) for x in draws.terms().values()) == pytest.approx(joint)


def test_the_compiled_density_is_that_of_the_draws(curves):
    rows, draws = simulated(curves, NOISY)
    law, z = draws.law, draws.real_line().values[0, 0]
    density = law.density(rows, law.reference(rows))
    assert len(z) == flat(density.start).size
    evaluate = compile_density(density)
    value, gradient = evaluate(z, density)
    assert value == pytest.approx(float(draws.log_density()[0, 0]), rel=1e-9)
    for i in range(len(z)):
        ends = (float(draws.from_real_line(draws.real_line() + step * (np.arange(len(z)) == i)).log_density()[0, 0])
                for step in (1e-5, -1e-5))  # fmt: skip
        assert np.subtract(*ends) / 2e-5 == pytest.approx(gradient[i], rel=1e-4, abs=1e-3)


def test_a_run_ahead_is_normal_given_its_blocks(curves):
    rows, _ = simulated(curves, NOISY)
    law, run = bs.laws.Curve(), "100M wsdcon_9"
    seen, last = rows.iloc[:-1], rows.iloc[-1]
    draws = law.prior_draws(None, law.reference(rows), seen, truth=NOISY)
    many = draws.from_real_line(
        draws.real_line().isel(draw=np.zeros(20_000, int)).assign_coords(draw=np.arange(20_000))
    )
    place = (np.array([last[name]]) for name in ("area", "annealed", "clock"))
    loss, gain = many.ahead(run, *place, np.random.default_rng(1))
    mean = law.prior_draws(None, law.reference(rows), rows, truth=NOISY).mean().values[0, 0]
    of = covariance(rows, NOISY)
    slow = of[-1, :-1]
    weights = np.linalg.solve(of[:-1, :-1], slow)
    expected = mean[-1] + weights @ (seen["loss"] - mean[:-1])
    sd = np.sqrt((NOISY["loss_centre"] * NOISY["drift"]) ** 2 - weights @ slow)
    assert float(loss.mean()) == pytest.approx(expected, abs=5 * sd / 20_000**0.5)
    assert float(loss.std()) == pytest.approx(sd, rel=0.03)
    assert float(gain[0, 0, 0]) == pytest.approx(0.12 * (last["annealed"] - seen["annealed"].iloc[-1]))
    other, whole = many.ahead(None, *(np.array([last[name]]) for name in ("area", "annealed", "clock")),
                              np.random.default_rng(1))  # fmt: skip
    assert float(other.std()) == pytest.approx(NOISY["loss_centre"] * NOISY["drift"], rel=0.03)
    assert float(whole[0, 0, 0]) == pytest.approx(0.12 * last["annealed"])


def test_new_blocks_have_the_scatter_of_the_law_and_uniform_probabilities(curves):
    rows, draws = simulated(curves, NOISY)
    many = draws.from_real_line(draws.real_line().isel(draw=np.zeros(4000, int)).assign_coords(draw=np.arange(4000)))
    new = many.replicate(np.random.default_rng(1))
    np.testing.assert_allclose(new.mean(DRAWS), draws.mean()[0, 0], atol=0.003)
    np.testing.assert_allclose(new.std(DRAWS), np.sqrt(np.diag(covariance(rows, NOISY))), rtol=0.08)
    cdf = [simulated(curves, NOISY, seed)[1].cdf().values.ravel() for seed in range(6)]
    assert stats.kstest(np.concatenate(cdf), "uniform").pvalue > 0.01


def test_blocks_are_means_without_the_start(curves):
    rows = bs.laws.Curve().rows(curves)
    for run, of in rows.groupby("run"):
        readings = curves[curves["run"] == run]
        start = readings["clock"].iloc[0] + 0.05 * np.ptp(readings["clock"])
        after = readings[readings["clock"] >= start]
        assert of["readings"].sum() == len(after) and len(of) <= 48
        assert np.average(of["loss"], weights=of["readings"]) == pytest.approx(after["loss"].mean())
    assert bs.laws.Curve().rows(rows) is rows


def test_too_few_readings_are_refused(curves):
    with pytest.raises(bs.InputError, match="needs 8, so log more often or wait"):
        bs.laws.Curve().rows(curves.head(7))


@pytest.mark.parametrize("options", [{"memory": -1}, {"memory": "long"}, {"priors": {"beta": "Normal(0, 1)"}}])
def test_unknown_options_are_refused(options):
    with pytest.raises(bs.InputError, match=r"memory|beta"):
        bs.laws.Curve(**options)


@pytest.mark.slow
@pytest.mark.parametrize("truth", [TRUTH, NOISY], ids=["smooth", "noisy"])
def test_known_quantities_are_recovered(curves, truth):
    rows, _ = simulated(curves, truth)
    fit = bs.fit("curve", rows, seed=1, draws=400, tune=600, check=False)
    assert fit.diagnostics["ok"]
    for name, x in truth.items():
        low, high = np.quantile(fit["posterior"][name], [0.001, 0.999])
        assert low < x < high, name


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore::bayescaling.DiagnosticWarning")  # of two short chains
def test_intervals_of_simulated_curves_hold(curves):
    options = {"simulations": 40, "seed": 1, "draws": 600, "tune": 600, "chains": 2}
    some = curves[curves["run"] == "100M wsdcon_9"]
    ranks = bs.calibrate("curve", some, **options)["rank"].sel(quantity=list(TRUTH)).values / 100
    inside = (np.abs(ranks - 0.5) < 0.45).mean()
    assert 0.82 < inside < 0.97
