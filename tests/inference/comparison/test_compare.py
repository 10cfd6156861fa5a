import warnings

import arviz_stats as azs
import bayescaling as bs
import numpy as np
import pytest
from bayescaling.inference.comparison.importance import importance_sampling
from bayescaling.inference.comparison.loo import loo
from bayescaling.inference.comparison.refits import exact_loo, largest_k_left, unreliable
from bayescaling.inference.comparison.weights import equal, pseudo_bma, stacking, weigh
from bayescaling.inference.fitted import changed_fit
from scipy.optimize import minimize
from scipy.special import logsumexp, softmax
from scipy.stats import norm

LIMIT = 0.7


@pytest.fixture(scope="module")
def loo_normal(fit_normal):
    """PSIS alone, and with refits."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bs.DiagnosticWarning)
        return fit_normal.loo(high_k="none"), fit_normal.loo()


def test_loo_is_that_of_arviz(fit_default):
    # ArviZ gives every row a tail for the posterior's effective draws; ours are for the row's own.
    ours, of_arviz = fit_default.loo(), azs.loo(fit_default.tree, var_name="log_loss", pointwise=True)
    assert (ours.elpd, ours.p) == pytest.approx((of_arviz.elpd, of_arviz.p), abs=0.01)
    assert ours.se == pytest.approx(np.sqrt(245) * of_arviz.elpd_i.values.std(ddof=1), rel=1e-3)
    np.testing.assert_allclose(ours.elpd_i, of_arviz.elpd_i, atol=0.01)
    assert float(ours.elpd_i.sum()) == pytest.approx(float(ours.elpd))


def test_refits_give_what_importance_sampling_gives(fitter_normal, fit_normal, loo_normal, runs, quiet):
    raw, _ = loo_normal
    rows = [3, 100, 200]
    assert (raw.pareto_k.values[rows] < LIMIT).all()
    exact = exact_loo(fit_normal, rows, seed=2)
    assert np.flatnonzero(exact["refitted"]).tolist() == rows
    assert np.isnan(exact["elpd"].values[~exact["refitted"].values]).all()
    weights = np.exp(importance_sampling(fit_normal).log_weights)
    predicted = (fit_normal.draws.mean() * weights).sum(("chain", "draw")) / weights.sum(("chain", "draw"))
    for row in rows:
        error = float(exact["elpd_se"][row])
        assert error < 0.05
        assert float(exact["elpd"][row]) == pytest.approx(float(raw.elpd_i[row]), abs=4 * error + 0.02)
        assert float(exact["mean"][row]) == pytest.approx(float(predicted[row]), rel=1e-3)


def test_loo_refits_where_it_is_asked_to(fitter_normal, fit_normal, loo_normal, quiet):
    raw, _ = loo_normal
    fit, high = changed_fit(fit_normal, {}, fit_normal.record), raw.pareto_k.values > LIMIT
    resolved = fit.loo(seed=3)
    np.testing.assert_array_equal(resolved.pareto_k, raw.pareto_k)
    assert resolved.resolved[high].all()
    assert not unreliable(resolved).any()
    assert largest_k_left(resolved) == raw.pareto_k.values[~high].max()
    exact = exact_loo(fit_normal, np.flatnonzero(high), seed=3)
    np.testing.assert_array_equal(resolved.elpd_i.values[high], exact["elpd"].values[high])
    np.testing.assert_array_equal(resolved.elpd_i.values[~high], raw.elpd_i.values[~high])
    assert resolved.elpd == pytest.approx(resolved.elpd_i.values.sum())
    with pytest.raises(bs.InputError, match='high_k "refits" is unknown; did you mean "refit"'):
        fit_normal.loo(high_k="refits")


def test_loo_warns_of_what_remains(fit_normal):
    with pytest.warns(
        bs.DiagnosticWarning,
        match="^chinchilla, noise=normal, scatter=one: Pareto k is above 0.7 at .* of 245 observations",
    ):
        loo(changed_fit(fit_normal, {}, fit_normal.record), high_k="none")


def test_comparison_adds_up(fit_default, fit_normal, loo_normal):
    results = {"normal": loo_normal[1], "student": fit_default.loo()}
    table = bs.compare({"normal": fit_normal, "student": fit_default})
    assert list(table.index) == ["student", "normal"]
    assert list(table["rank"]) == [1, 2]
    difference = (results["normal"].elpd_i - results["student"].elpd_i).values
    best, other = table.loc["student"], table.loc["normal"]
    assert (best["elpd_diff"], best["dse"]) == (0, 0)
    assert other["elpd_diff"] == pytest.approx(other["elpd"] - best["elpd"])
    assert other["elpd_diff"] < -200
    centred = difference - difference.sum() / 245
    assert other["dse"] == pytest.approx(np.sqrt(245 * (centred**2).sum() / 244), rel=1e-12)
    assert table["weight"].sum() == pytest.approx(1)
    assert best["weight"] > 0.8
    assert best["pareto_k_max"] == float(results["student"].pareto_k.max())
    assert other["k_above_0.7"] == 0
    assert best["divergences"] == 0
    assert np.isnan(best["p_worse"])
    assert other["p_worse"] == norm.cdf(-other["elpd_diff"] / other["dse"])
    assert list(table["flags"]) == ["", ""]
    assert table.attrs["sentence"].startswith("student predicts left-out runs better than normal by")


@pytest.mark.parametrize("weighting", ["stacking", "pseudo_bma", "equal"])
def test_weightings_reach_the_table(fit_default, fit_normal, loo_normal, weighting):
    results = {"student": fit_default.loo(), "normal": loo_normal[1]}
    fits = {"student": fit_default, "normal": fit_normal}
    table = bs.compare(fits, weighting=weighting)
    expected = weigh(np.stack([r.elpd_i.values for r in results.values()], axis=1), weighting)
    assert list(table.loc[["student", "normal"], "weight"]) == list(expected)


def test_incomparable_fits_are_refused(fit_default, fit_reading_error, fitter, runs, quiet):
    with pytest.raises(bs.InputError, match="'a' is scored on the log_loss scale and 'b' on the loss scale"):
        bs.compare({"a": fit_default, "b": fit_reading_error})
    fewer = fitter.fit(runs.iloc[:240], seed=1, draws=50, tune=200, chains=2)
    with pytest.raises(bs.InputError, match=r"'a' and 'b' were fitted to different observations \(245 and 240 rows\)"):
        bs.compare({"a": fit_default, "b": fewer})
    changed = runs.assign(loss=runs["loss"].where(runs.index != 7, 2.5))
    turned = fitter.fit(changed, seed=1, draws=50, tune=200, chains=2)
    with pytest.raises(bs.InputError, match="different observations \\(from row 7 on\\)"):
        bs.compare({"a": fit_default, "b": turned})
    with pytest.raises(bs.InputError, match="at least two fits"):
        bs.compare({"a": fit_default})
    with pytest.raises(bs.InputError, match='weighting "stacked" is unknown'):
        bs.compare({"a": fit_default, "b": fit_default}, weighting="stacked")


@pytest.mark.filterwarnings("ignore::bayescaling.DiagnosticWarning")
def test_weights_by_rollout_are_those_of_later_runs(runs):
    laws = {"coupled": bs.laws.Coupled(), "offsets": bs.laws.Offsets()}
    fits = {name: bs.fit(law, runs, seed=1, draws=250, tune=400, chains=2, check=False) for name, law in laws.items()}
    weight = bs.compare(fits, weighting="rollout")["weight"]
    assert weight.sum() == pytest.approx(1) and weight["coupled"] > 0.9 > bs.compare(fits)["weight"]["coupled"]
    fit = bs.fit(bs.laws.Progress(16), bs.load("lm_progress"), seed=1, draws=50, tune=100, chains=2, check=False)
    with pytest.raises(bs.InputError, match="'a' is a fit of progress"):
        bs.compare({"a": fit, "b": fit}, weighting="rollout")


def random_elpd(seed, observations=80, models=4):
    random = np.random.default_rng(seed)
    return random.normal(0, 1, (observations, models)) + random.normal(0, 0.3, models) - 2


@pytest.mark.parametrize("seed", range(6))
def test_stacking_is_the_best_mixture(seed):
    elpd_i = random_elpd(seed)
    weights = stacking(elpd_i)
    assert weights.sum() == pytest.approx(1)
    assert (weights >= 0).all()
    starts = np.vstack([np.zeros(4), 3 * np.eye(4)])
    optima = [
        minimize(lambda z: -logsumexp(elpd_i, axis=1, b=softmax(z)).sum(), z, method="BFGS", tol=1e-10) for z in starts
    ]
    assert logsumexp(elpd_i, axis=1, b=weights).sum() == pytest.approx(-min(f.fun for f in optima), abs=1e-6)
    # Karush, Kuhn and Tucker: no model would gain, and those in use are all alike.
    gain = np.exp(elpd_i - logsumexp(elpd_i, axis=1, b=weights)[:, None]).mean(axis=0)
    assert (gain <= 1 + 1e-8).all()
    np.testing.assert_allclose(gain[weights > 1e-4], 1, atol=1e-6)


def test_stacking_mixes_where_pseudo_bma_does_not():
    # Two models, each right on its half: the best mixture is even; the first is slightly better in sum.
    elpd_i = np.where(np.arange(100)[:, None] % 2 == np.array([0, 1]), 0.0, -5.0)
    np.testing.assert_allclose(stacking(elpd_i), 0.5, atol=1e-6)
    np.testing.assert_allclose(equal(elpd_i), 0.5)
    alone = stacking(elpd_i + np.array([0.0, -50.0]))
    np.testing.assert_allclose(alone, [1, 0], atol=1e-6)


def test_pseudo_bma_of_a_constant_difference_is_akaikes():
    base = np.random.default_rng(0).normal(size=40)
    elpd_i = np.stack([base, base - 0.05, base], axis=1)
    np.testing.assert_allclose(pseudo_bma(elpd_i), softmax([0, -40 * 0.05, 0]), rtol=1e-12)


def test_pseudo_bma_is_the_mean_over_bootstraps():
    # Differences d_i of two models: the bootstrapped sum is about normal with mean sum(d) and variance n var(d).
    elpd_i = random_elpd(1, observations=400, models=2) * 0.05
    difference = elpd_i[:, 0] - elpd_i[:, 1]
    normal = difference.sum() + np.sqrt(400) * difference.std() * np.random.default_rng(2).standard_normal(100_000)
    assert pseudo_bma(elpd_i, bootstrap=20_000)[0] == pytest.approx((1 / (1 + np.exp(-normal))).mean(), abs=0.01)


@pytest.mark.parametrize("weighting", ["stacking", "pseudo_bma"])
def test_weights_need_finite_values(weighting):
    elpd_i = random_elpd(0)
    elpd_i[3, 1] = -np.inf
    with pytest.raises(bs.InputError, match="observation 3 under model 1 is -inf"):
        weigh(elpd_i, weighting)
