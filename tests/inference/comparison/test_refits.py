import warnings

import arviz_stats as azs
import bayescaling as bs
import numpy as np
import pandas as pd
import pytest
from bayescaling.inference.checks.sensitivity import prior_driven
from bayescaling.inference.comparison.bridge import log_mean_exp
from bayescaling.inference.comparison.importance import importance_sampling
from bayescaling.inference.comparison.refits import REFIT, resolve, unreliable
from bayescaling.inference.fitted import LEFT_OUT, changed_fit, results_of
from bayescaling.inference.progress import futures
from bayescaling.inference.progress.compare import compare as compare_progress
from bayescaling.inference.progress.compare import loo_predictions, pooled_rates
from bayescaling.inference.progress.rate_at_optimum import doubling_times, growth_rates
from bayescaling.models.draws import flatten
from bayescaling.models.progress.draws import ProgressDraws
from bayescaling.models.progress.law import Progress
from bayescaling.models.progress.specifications import SPECIFICATIONS
from scipy import stats

SHORT = {"draws": 300, "tune": 300, "chains": 2, "least_ess": 0}


@pytest.fixture(scope="session")
def fit_main(progress_fitter):
    """Specification 7 on the built-in evaluations, everything by default."""
    return progress_fitter.fit(law=Progress(7), seed=1)


@pytest.fixture(scope="session")
def fits(progress_fitter, fit_main):
    settings = {"seed": 2}
    return {16: progress_fitter.fit(law=Progress(16), **settings), 7: fit_main} | {
        18: progress_fitter.fit(law=Progress(18), **settings)
    }


@pytest.fixture(scope="session")
def comparison(progress_fitter, fits):
    with warnings.catch_warnings():  # of refits of specification 16, a few of whose draws diverge
        warnings.simplefilter("ignore", bs.DiagnosticWarning)
        return compare_progress(fits)


def psis(fit):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bs.DiagnosticWarning)
        return importance_sampling(fit)


def refit(fitter, law, rows, seed):
    return fitter.sample(rows, law=law, seed=seed, least_ess=0, **REFIT).draws


def densities_by_refit(fitter, train, target, seed):
    """Densities of some rows under a fit of specification 7 to others, (chain, draw, row), and their means."""
    table = fitter.table
    draws, ahead = refit(fitter, Progress(7), table[train], seed), table[target].reset_index(drop=True)
    mean, sigma = draws.mean(ahead).values, draws.named()["sigma"].values[..., None]
    return stats.norm.pdf(np.log(ahead["perplexity"].to_numpy()), mean, sigma), mean


def held_out(fitter, fit, left, seed):
    """Log densities of rows by a refit without them, of each and of all together, and their means."""
    draws = fit.draws
    rowwise, joint, mean = draws.left_out(refit(fitter, draws.law, draws.rows[~left], seed), left)
    return log_mean_exp(rowwise), log_mean_exp(joint), mean.mean((0, 1))


def test_the_main_specification_on_the_papers_data(fit_main):
    diagnostics = fit_main.diagnostics
    assert diagnostics["ok"]
    assert diagnostics["divergences"] == 0
    assert diagnostics["r_hat_max"] <= 1.01
    draws = fit_main["posterior"].to_dataset()
    assert min(float(v.min()) for v in azs.ess(draws, method="bulk").values()) > 400
    table = doubling_times(fit_main)
    assert 7 < table.loc["all", "q50"] < 11
    assert 3 < table.loc["all", "q2.5"] < 6
    assert 15 < table.loc["all", "q97.5"] < 60
    assert table.loc["all", "p_progress"] > 0.98
    assert table.loc["all", "no_optimum"] == 0
    assert table.loc["all", "optimal_q50"] == pytest.approx(table.loc["all", "q50"], rel=0.1)
    result = psis(fit_main)
    assert float(result.elpd) == pytest.approx(16.8, abs=0.5)
    assert float(result.pareto_k.max()) < 0.7
    # The data inform the scatter, and inform least how two terms share their progress.
    driven = prior_driven(fit_main).set_index("coefficient")
    assert driven.loc["sigma", "ratio"] < 0.2
    assert set(driven.index) == set(flatten(draws))
    assert (driven["prior_driven"] == (driven["ratio"] > 0.8)).all()


def test_a_stored_fit_is_whole(fit_main, tmp_path):
    fit_main.save(tmp_path / "seven.nc")
    opened = bs.open(tmp_path / "seven.nc")
    stored = opened["posterior"].to_dataset()
    again = opened.draws
    for name, values in again.named().items():
        np.testing.assert_allclose(values, stored[name], rtol=1e-12, err_msg=name)
        np.testing.assert_array_equal(stored[name], fit_main["posterior"][name])
    assert set(again.named()) == set(stored)
    np.testing.assert_allclose(again.log_likelihood(), fit_main["log_likelihood"]["loss"], rtol=1e-12)
    pd.testing.assert_frame_equal(doubling_times(opened), doubling_times(fit_main))


def test_rows_that_importance_sampling_fails_are_refitted(fits, progress_fitter, evaluations):
    fit, resolved, before = changed_fit(fits[18], {}, fits[18].record), psis(fits[18]), psis(fits[18])
    resolved.pareto_k.values[[3, 77]] = 0.9, np.nan
    exact = resolve(fit, resolved, seed=5)
    assert np.flatnonzero(exact["refitted"]).tolist() == [3, 77]
    predicted = loo_predictions(fit, resolved, exact)
    for row in (3, 77):
        left = np.arange(len(evaluations)) == row
        rowwise, _, mean = held_out(progress_fitter, fit, left, seed=5)
        assert resolved.elpd_i.values[row] == float(exact["elpd"][row]) != before.elpd_i.values[row]
        assert resolved.elpd_i.values[row] == pytest.approx(rowwise[0], abs=0.2)
        assert float(exact["mean"][row]) == predicted[row] == mean[0]
    others = ~np.isin(np.arange(len(evaluations)), (3, 77))
    np.testing.assert_array_equal(resolved.elpd_i.values[others], before.elpd_i.values[others])
    np.testing.assert_array_equal(predicted[others], loo_predictions(fit, before)[others])
    assert resolved.elpd == pytest.approx(resolved.elpd_i.values.sum())
    assert not unreliable(resolved).any()
    assert resolved.pareto_k.values[3] == 0.9
    assert resolved.p == pytest.approx(float(before.p) + float(before.elpd) - resolved.elpd)


def test_refits_are_kept_with_the_fit(fits, progress_fitter, tmp_path):
    fit, resolved, again = changed_fit(fits[18], {}, fits[18].record), psis(fits[18]), psis(fits[18])
    for result in (resolved, again):
        result.pareto_k.values[5] = 0.9
    exact = resolve(fit, resolved, seed=5)
    assert LEFT_OUT not in fit and results_of(fit)[LEFT_OUT] is exact
    fit.save(tmp_path / "fit.nc")
    opened = bs.open(tmp_path / "fit.nc")
    cached = resolve(opened, again, seed=6)
    assert cached.identical(exact)
    np.testing.assert_array_equal(again.elpd_i, resolved.elpd_i)


def test_comparison_by_hand(comparison, fits, progress_fitter, evaluations, quiet):
    table, pointwise = comparison
    assert table.index.tolist() == [7, 18, 16]
    assert table["rank"].tolist() == [1, 2, 3]
    observed = np.log(evaluations["perplexity"].to_numpy())
    for k, fit in fits.items():
        result = psis(fit)
        refitted = resolve(fit, result)
        assert table.loc[k, "refitted"] == refitted["refitted"].sum() == (psis(fit).pareto_k > 0.7).sum()
        np.testing.assert_allclose(pointwise[k], result.elpd_i.values)
        difference = (pointwise[k] - pointwise[7]).to_numpy()
        by_paper = np.array([difference[evaluations["paper_id"] == p].sum() for p in evaluations["paper_id"].unique()])
        assert len(by_paper) == 144
        assert table.loc[k, "elpd"] == pytest.approx(pointwise[k].sum())
        assert table.loc[k, "elpd_diff"] == pytest.approx(difference.sum())
        assert table.loc[k, "dse"] == pytest.approx(np.sqrt(231) * difference.std(ddof=1))
        assert table.loc[k, "dse_by_paper"] == pytest.approx(np.sqrt(144) * by_paper.std(ddof=1))
        error = observed - loo_predictions(fit, result, refitted)
        assert table.loc[k, "loo_mse"] == pytest.approx((error**2).mean())
        assert table.loc[k, "loo_r2"] == pytest.approx(1 - (error**2).mean() / observed.var())
    for weighting in ("stacking", "pseudo_bma", "equal", "by_paper_stacking"):
        assert (table[weighting] >= 0).all()
        assert table[weighting].sum() == pytest.approx(1)
        if weighting != "equal":
            assert table.loc[16, weighting] < 0.02
    # No progress is far worse; compute alone predicts about as well as the main specification.
    assert table.loc[16, "elpd_diff"] < -3 * table.loc[16, "dse_by_paper"]
    assert abs(table.loc[18, "elpd_diff"]) < 2 * table.loc[18, "dse_by_paper"]
    other = table.loc[16]
    assert other["p_worse"] == stats.norm.cdf(-other["elpd_diff"] / other["dse_by_paper"])
    assert f"specification {table.index[0]} " in table.attrs["sentence"]
    with pytest.raises(bs.InputError, match="different observations"):
        compare_progress(fits | {9: progress_fitter.fit(law=Progress(18, architectures="other"), **SHORT)})


def test_a_paper_left_out_is_left_out_whole(comparison, fit_main, progress_fitter, evaluations):
    table = fit_main.loo(by="paper_id")
    assert (len(table), table["refitted"].sum()) == (144, comparison[0].loc[7, "papers_refitted"])
    assert (table["refitted"] == ~(table["pareto_k"] <= 0.7)).all()
    assert table["overlap"].notna().equals(table["refitted"])
    elpd = table["elpd"].to_numpy()
    assert elpd.sum() == pytest.approx(comparison[0].loc[7, "elpd_papers"])
    draws = fit_main.draws
    ids, counts = np.unique(evaluations["paper_id"], return_counts=True)
    for i in np.argsort(-counts)[:2]:
        left = (evaluations["paper_id"] == ids[i]).to_numpy()
        refits = [refit(progress_fitter, draws.law, draws.rows[~left], seed) for seed in (3, 4)]
        by_chain = np.concatenate([np.exp(draws.left_out(fitted, left)[1]).mean(1) for fitted in refits])
        error = by_chain.std(ddof=1) / by_chain.mean() / np.sqrt(len(by_chain))
        assert error < 0.06
        assert np.log(by_chain.mean()) == pytest.approx(elpd[i], abs=4 * error + 0.03)
        rowwise, joint, _ = held_out(progress_fitter, fit_main, left, seed=3)
        assert len(rowwise) == counts[i] > 2
        assert joint == pytest.approx(np.log(by_chain[:4].mean()))
        assert joint != pytest.approx(rowwise.sum(), abs=1e-6)


@pytest.mark.thorough
def test_the_future_is_predicted_from_the_past_alone(progress_fitter, evaluations):
    year = evaluations["year"].to_numpy()
    table = futures.by_cutoff(
        futures.future_rows(progress_fitter, Progress(7), cutoffs=(2013, 2017, 2021, 2030), seed=2)
    )
    assert table["cutoff"].tolist() == [2017, 2021]
    for _, row in table.iterrows():
        past, target = year < row["cutoff"], (year >= row["cutoff"]) & (year < row["cutoff"] + 1)
        assert (row["trained"], row["predicted"]) == (past.sum(), target.sum())
        density, mean = densities_by_refit(progress_fitter, past, target, 2)
        error = np.log(evaluations["perplexity"].to_numpy()[target]) - mean.mean((0, 1))
        assert row["elpd"] == pytest.approx(np.log(density.mean((0, 1))).sum())
        assert row["mse"] == pytest.approx((error**2).mean())
    # Later rows have no effect.
    changed = bs.progress.new_fitter(
        evaluations.assign(perplexity=evaluations["perplexity"] * np.where(year < 2018, 1, 3))
    )
    changed._compiled = progress_fitter._compiled
    again = futures.by_cutoff(futures.future_rows(changed, Progress(7), cutoffs=(2017,), seed=2))
    pd.testing.assert_series_equal(again.iloc[0], table.iloc[0])


def test_laws_are_compared_by_the_years_that_all_can_predict(progress_fitter, evaluations):
    laws = {"paper's": Progress(7), "no progress": Progress(16), "one intercept": Progress(1)}
    table, rows = futures.compare_futures(progress_fitter, laws, cutoffs=(2014, 2020), seed=2)
    # Before 2014 all rows are of ptb, so that laws with an intercept for each benchmark predict nothing.
    assert set(rows["one intercept"]["cutoff"]) == {2020}
    assert table.index[0] == table["elpd"].idxmax() and table["elpd_diff"].iloc[0] == 0
    matrix = np.stack([rows[name]["elpd"] for name in table.index], axis=1)
    np.testing.assert_allclose(table["elpd"], matrix.sum(0))
    np.testing.assert_allclose(table["elpd_2020"], table["elpd"])
    below = matrix - matrix[:, [0]]
    np.testing.assert_allclose(table["dse"], np.sqrt(len(below)) * below.std(axis=0, ddof=1))
    papers = evaluations["paper_id"].to_numpy()[rows["paper's"]["row"]]
    summed = np.stack([below[papers == paper].sum(0) for paper in np.unique(papers)])
    np.testing.assert_allclose(table["dse_by_paper"], np.sqrt(len(summed)) * summed.std(axis=0, ddof=1))
    # No mixture is better than that of the weights.
    mixed = np.log(np.exp(matrix) @ table["stacking"]).sum()
    assert mixed >= matrix.sum(0).max() - 1e-6 and mixed >= np.log(np.exp(matrix).mean(1)).sum() - 1e-6


def test_rows_left_out_of_a_paper_are_predicted_given_its_other_rows(progress_draws, evaluations):
    law = Progress(7, paper_effects=True)
    draws = progress_draws(law, draws=1)
    papers, named = evaluations["paper_id"].to_numpy(), draws.named()
    left = np.random.default_rng(0).uniform(size=231) < 0.4
    assert {0, 1, 2} <= set(np.bincount(papers)[papers[left]] - np.bincount(papers[left])[papers[left]])
    rowwise, joint, mean = draws.left_out(draws, left)
    cov = float(named["sigma"].item()) ** 2 * np.eye(231)
    cov += float(named["paper_sd"].item()) ** 2 * (papers[:, None] == papers)
    residual = np.log(evaluations["perplexity"].to_numpy()) - draws.mean().values[0, 0]
    gain = cov[np.ix_(left, ~left)] @ np.linalg.inv(cov[np.ix_(~left, ~left)])
    centre, spread = gain @ residual[~left], cov[np.ix_(left, left)] - gain @ cov[np.ix_(~left, left)]
    expected = stats.norm.logpdf(residual[left], centre, np.sqrt(np.diag(spread)))
    np.testing.assert_allclose(rowwise[0, 0], expected, rtol=1e-8, atol=1e-10)
    assert joint.item() == pytest.approx(stats.multivariate_normal(centre, spread).logpdf(residual[left]))
    np.testing.assert_array_equal(mean, draws.mean().values[..., left])


def test_pooled_rates_mix_as_the_weights_say():
    rates = {7: np.full((2, 10), 1.0), 16: np.zeros((2, 10)), 18: np.array([[2.0, np.nan, 3.0]]), 3: np.full(4, 9.0)}
    weights = {7: 0.5, 16: 0.2, 18: 0.3, 3: 0.0}
    pooled = pooled_rates(rates, weights, draws=40_000, seed=3)
    assert pooled.shape == (40_000,)
    for value, share in ((1.0, 0.5), (0.0, 0.2), (2.0, 0.15), (3.0, 0.15), (9.0, 0.0)):
        assert (pooled == value).mean() == pytest.approx(share, abs=0.01)
    doubled = pooled_rates(rates, {k: 2 * w for k, w in weights.items()}, draws=40_000, seed=3)
    np.testing.assert_array_equal(pooled, doubled)


def simulated(law, table, seed, **truth):
    """Evaluations that a law draws at a z from half its prior's spread, and the draw of that z."""
    rng = np.random.default_rng([seed, 99 if truth else law.specification])
    z = 0.5 * rng.normal(size=(1, 1, law.dimension))
    for name, value in truth.items():
        z[..., law.slices[name]] = value
    drawn = ProgressDraws(law, law.reference(table), table, z)
    loss = drawn.mean().values[0, 0] + drawn.named()["sigma"].item() * rng.normal(size=len(table))
    return table.assign(perplexity=np.exp(loss)), drawn


@pytest.mark.thorough
def test_intervals_cover_the_truth_as_often_as_they_say(progress_fitter, evaluations, quiet):
    ranks = {}
    for k in SPECIFICATIONS:
        table, drawn = simulated(Progress(k), evaluations, 3)
        draws = flatten(progress_fitter.fit(table, law=Progress(k), seed=3, **SHORT)["posterior"].to_dataset())
        truth = flatten(drawn.named())
        assert set(draws) == set(truth)
        ranks |= {(k, name): float((x < truth[name].item()).mean()) for name, x in draws.items()}
    shares = np.array(list(ranks.values()))
    assert len(shares) == 302
    assert 0.80 < ((shares > 0.05) & (shares < 0.95)).mean() < 0.97
    assert 0.38 < ((shares > 0.25) & (shares < 0.75)).mean() < 0.62
    assert 0.4 < shares.mean() < 0.6


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_no_progress_is_not_taken_for_progress(seed, progress_fitter, evaluations, quiet):
    table, drawn = simulated(Progress(7), evaluations, seed, yearly_total=0.0, yearly_split=0.0)
    assert drawn.named()["alpha_year"].item() == drawn.named()["beta_year"].item() == 0
    fit = progress_fitter.fit(table, law=Progress(7), seed=seed, **SHORT)
    assert 0.01 < float((growth_rates(fit)["all"] > 0).mean()) < 0.99
