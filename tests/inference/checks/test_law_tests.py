import itertools

import bayescaling as bs
import numpy as np
import pandas as pd
import pytest
from bayescaling.inference.checks.law_tests import loo_pit, neighbours
from bayescaling.models.loss.budget import compute_bins
from bayescaling.models.progress.draws import ProgressDraws
from scipy import stats

OPTIONS = ({}, {"paper_effects": True}, {"scatter": "by_benchmark"}, {"noise": "student_t"}, {"scale": "log_loss"})


def test_the_runs_of_chinchilla_are_not_the_sum_of_two_terms(fit_one_sigma, fit_default):
    """Compare with independent calculations.

    They give a score of -5.2. Over 10 bins, means and slopes have statistics of 25 and 98 with one sigma.
    With scatter by size they are 18 and 78. The PIT has p of .0015 and .25.
    """
    table = fit_one_sigma.law_tests()
    assert table.loc["score", "statistic"] == pytest.approx(-5.2, abs=0.15)
    assert table.loc["score", "p"] == pytest.approx(1e-6, rel=1)
    assert table.loc["means by compute", "statistic"] == pytest.approx(25, abs=1)
    assert table.loc["slopes by compute", "statistic"] == pytest.approx(98, abs=2)
    assert table.loc["loo_pit", "p"] < 0.005
    assert not table.loc[["score", "slopes by compute", "loo_pit"], "fits"].any()
    table = fit_default.law_tests()
    assert table.loc["slopes by compute", "statistic"] == pytest.approx(78, abs=2)
    assert table.loc["loo_pit", "p"] == pytest.approx(0.25, abs=0.1)
    assert not table.loc["score", "fits"]


@pytest.mark.thorough
def test_a_law_that_is_true_fits(fitter, simulated, quiet):
    ps = [
        fitter.fit(simulated(seed), seed=1, draws=300, tune=400, chains=2, least_ess=0).law_tests() for seed in range(8)
    ]
    for test in ("score", "means by compute", "slopes by compute", "loo_pit"):
        values = np.array([table.loc[test, "p"] for table in ps])
        assert values.min() > 0.003, test
        assert np.median(values) > 0.1, test
    along = [table.loc[[name.startswith("neighbours by ") for name in table.index], "p"].item() for table in ps]
    assert min(along) > 0.003 and np.median(along) > 0.1


def test_the_score_has_nothing_of_the_laws_own_directions(fit_default):
    draws = fit_default.draws
    law, name, value = draws.law.wider
    slopes = draws.slopes(law, [q.name for q in law.mean_parameters], **{name: value})
    by_hand = {}
    for q in bs.laws.Chinchilla.mean_parameters:
        up, down = (
            fit_default.draws.law.draws(
                draws.sampled.assign({q.name: draws.sampled[q.name] * factor}), draws.rows, draws.reference
            )
            for factor in (1.0001, 0.9999)
        )
        by_hand[q.name] = (np.log(up.mean()) - np.log(down.mean())) / 0.0002
        np.testing.assert_allclose(slopes[q.name], by_hand[q.name], rtol=1e-5, atol=1e-9)
    assert set(slopes) == {*by_hand, "kappa"}


def test_the_p_of_neighbours_is_the_share_of_all_orders():
    residuals = np.array([1.2, 0.7, -0.4, -1.1, -0.6, 0.9])
    orders = {"n": np.arange(6), "d": np.array([0, 3, 1, 4, 2, 5])}

    def largest(values):
        return max(values[order[1:]] @ values[order[:-1]] for order in orders.values())

    every = [largest(np.array(values)) for values in itertools.permutations(residuals)]
    name, statistic, p, _ = neighbours(residuals, orders)
    assert name == "n" and statistic == pytest.approx(residuals[1:] @ residuals[:-1])
    assert p == pytest.approx(np.mean(np.array(every) >= statistic - 1e-12), abs=0.02)


def test_rows_of_one_setting_that_are_alike_are_no_sign_of_another_form():
    """Of 300 tables of twelve sizes with five seeds that share most of their deviation, 5% have p below 0.05."""
    rng, sizes = np.random.default_rng(0), np.repeat(np.geomspace(1e6, 1e9, 12), 5)
    law = bs.laws.Formula("y ~ A * n**-a", columns=("n",))
    codes, orders = law.orders(pd.DataFrame({"n": rng.permutation(sizes)}))
    assert np.bincount(codes).tolist() == [5] * 12 and list(orders) == ["n"]
    ps = []
    for _ in range(300):
        residuals = rng.standard_normal(12)[codes] + 0.3 * rng.standard_normal(60)
        ps.append(neighbours(np.bincount(codes, residuals), orders)[2])
    assert stats.binomtest(int(np.sum(np.array(ps) < 0.05)), 300, 0.05).pvalue > 0.001


def test_neighbours_are_sought_along_what_each_law_names(runs, evaluations):
    codes, orders = bs.laws.Chinchilla().orders(runs)
    assert list(orders) == ["compute", "parameters", "tokens"]
    settings = runs.assign(code=codes).drop_duplicates("code").set_index("code").sort_index()
    for name in ("parameters", "tokens"):
        assert settings[name].iloc[orders[name]].is_monotonic_increasing
    _, orders = bs.laws.Progress(7).orders(evaluations)
    assert {"date", "parameters", "dataset_tokens"} <= {*orders} and "perplexity" not in orders
    rows = pd.DataFrame({"model": list("aabb") * 3, "year": [1.0, 1, 2, 2] * 3, "minutes": np.arange(1.0, 13)})
    codes, orders = bs.laws.Horizons().orders(rows.assign(successes=0))
    assert list(orders) == ["time"], "a model has one date and a level of its own"
    models = rows["model"].iloc[np.argsort(codes)[orders["time"]]].to_numpy()
    assert (models[1:] != models[:-1]).sum() == 1


def test_a_law_of_runs_whose_losses_bend_along_tokens_is_rejected_by_neighbours(fitter, runs, simulated, quiet):
    bent = simulated(4)
    decades = np.log10(runs["tokens"] / runs["tokens"].median())
    bent = bent.assign(loss=bent["loss"] * np.exp(0.02 * np.cos(4 * decades)))
    table = fitter.fit(bent, seed=1, draws=300, tune=400, chains=2, least_ess=0).law_tests()
    (name,) = [name for name in table.index if name.startswith("neighbours by ")]
    assert table.loc[name, "p"] < 0.001 and 0.005 < table.loc[name, "size"] < 0.02


def test_bins_of_compute():
    levels = np.repeat([1e18, 1e19, 1e20], 5) * np.tile([1.0, 1.01, 0.99, 1.0, 1.0], 3)
    assert compute_bins(levels).tolist() == [0] * 5 + [1] * 5 + [2] * 5
    bins = compute_bins(np.geomspace(1e18, 1e24, 245))
    assert np.bincount(bins).tolist() == [25, 24, 25, 24, 25, 24, 25, 24, 25, 24]
    assert compute_bins(np.geomspace(1e18, 1e24, 20)).max() == 1


def test_loo_pit_is_that_of_a_refit(fitter, fit_default, runs):
    pit = loo_pit(fit_default)
    for row in (0, 120):
        without = fitter.sample(runs.drop(index=row).reset_index(drop=True), seed=2, least_ess=0).draws
        exact = float(without.cdf(runs.iloc[[row]].reset_index(drop=True)).mean())
        assert pit[row] == pytest.approx(exact, abs=0.01)


@pytest.mark.parametrize("options", OPTIONS)
def test_evaluations_of_a_true_law_are_standard_normal_in_every_direction(options, evaluations):
    law, rng = bs.laws.Progress(7, **options), np.random.default_rng(2)
    reference = law.reference(evaluations)
    one = 0.3 * law.prior_draws(rng, reference, evaluations).z
    truth = ProgressDraws(law, reference, evaluations, one)
    sums = {}
    for _ in range(60):
        loss = truth.replicate(rng).values[0, 0]
        seen = ProgressDraws(law, reference, evaluations.assign(perplexity=law.from_scale(loss)), one)
        z = stats.norm.ppf(seen.cdf().values[0, 0])
        for name, contrast in law.contrasts(evaluations).items():
            u = contrast.directions
            np.testing.assert_allclose(u @ u.T, np.eye(len(u)), atol=1e-9)
            sums.setdefault(name, []).append(stats.chi2.sf(((u @ z) ** 2).sum(), len(u)))
    assert set(sums) == {"means by benchmark", "slopes by date", "means by paper"}
    for name, ps in sums.items():
        assert stats.kstest(ps, "uniform").pvalue > 1e-3, name


def test_papers_that_are_alike_are_found_out(evaluations, progress_draws):
    draws = progress_draws(bs.laws.Progress(7, paper_effects=True))
    rng = np.random.default_rng(0)
    loss = draws.replicate(rng).isel(chain=0, draw=0).values
    plain = bs.laws.Progress(7)
    one = draws.z[:1, :1].copy()
    apart = ProgressDraws(plain, draws.reference, evaluations.assign(perplexity=np.exp(loss)), one)
    contrast = plain.contrasts(evaluations)["means by paper"]
    z = stats.norm.ppf(np.clip(apart.cdf().values[0, 0], 1e-300, 1 - 1e-16))
    assert stats.chi2.sf(((contrast.directions @ z) ** 2).sum(), len(contrast.directions)) < 1e-3
