import bayescaling as bs
import numpy as np
import pytest
import xarray as xr
from bayescaling.inference.quantities.robust import influence


def test_influence_is_what_a_row_does_to_the_mean(fit_one_sigma):
    """Weighing a row up by a little moves the posterior mean by its influence: here a row is left out."""
    exponent = fit_one_sigma["posterior"]["exponent_parameters"]
    found = influence(fit_one_sigma, exponent)
    weights = np.exp(-bs.draws_of(fit_one_sigma).log_likelihood())
    for row in (int(np.abs(found.values).argmax()), 50, 200):
        own = weights.isel(run=row)
        without = float((exponent * own).sum() / own.sum())
        assert float(exponent.mean()) - without == pytest.approx(float(found[row]), abs=0.0006), row


def test_where_the_law_holds_the_robust_sd_is_the_posterior_one(fitter_normal, simulated, runs, truth):
    law = fitter_normal.law
    values = {name: truth[name] for name in law.prior_of}
    ratios = []
    for seed in range(4):
        table = runs.assign(loss=law.simulate(values, runs, np.random.default_rng(seed)))
        fit = fitter_normal.fit(table, seed=1)
        ratios.append(bs.robust_sd(fit, fit["posterior"]["exponent_parameters"]).loc["unit", "ratio"])
    assert np.mean(ratios) == pytest.approx(1, abs=0.15)


def test_rows_written_twice_are_found_out_by_cluster(fitter_normal, runs, truth):
    """Each loss stands four times: rows say they are four times as many, clusters of them do not."""
    law = fitter_normal.law
    values = {name: truth[name] for name in law.prior_of}
    once = runs.iloc[::4].reset_index(drop=True)
    once = once.assign(loss=law.simulate(values, once, np.random.default_rng(3)), run=np.arange(len(once)))
    fourfold = once.loc[np.repeat(once.index, 4)].reset_index(drop=True)
    fit = bs.fit(law, fourfold, seed=1)
    table = bs.robust_sd(fit, fit["posterior"]["exponent_parameters"])
    assert table.loc["run", "clusters"] == len(once)
    assert table.loc["unit", "ratio"] == pytest.approx(1, abs=0.25)
    assert table.loc["run", "ratio"] == pytest.approx(2, rel=0.25)
    assert table.loc["run", "wider"]


def test_the_runs_of_chinchilla(fit_one_sigma):
    """An independent calculation: by row .0177, by size .0207, against a posterior sd of .0111."""
    exponent = fit_one_sigma["posterior"]["exponent_parameters"]
    table = bs.robust_sd(fit_one_sigma, exponent)
    assert table.loc["unit", "robust_sd"] == pytest.approx(0.0177, rel=0.08)
    assert table.loc["parameters", "robust_sd"] == pytest.approx(0.0207, rel=0.08)
    assert table["wider"].all()
    wide = bs.robust(fit_one_sigma, exponent, share=True)
    assert float(wide.median()) == pytest.approx(float(exponent.median()), abs=5e-4)
    assert float(wide.std()) == pytest.approx(table["robust_sd"].max(), rel=0.02)
    log_size = np.log(bs.allocate(fit_one_sigma, 1e24)["parameters"].isel(compute=0))
    assert (bs.robust(fit_one_sigma, np.exp(log_size), positive=True) > 0).all()


def test_few_clusters_and_draws_that_are_not_finite(fit_default):
    exponent = fit_default["posterior"]["exponent_parameters"]
    with pytest.raises(bs.InputError, match="of the draws are not finite"):
        bs.robust_sd(fit_default, xr.where(exponent > exponent.median(), exponent, np.inf))
    assert "seed" not in bs.robust_sd(fit_default, exponent).index


def test_papers_are_the_groups_under_paper_effects(progress_draws, evaluations):
    draws = progress_draws(bs.Progress(18, paper_effects=True))
    joint = draws.of_groups()
    assert joint["paper_id"].values.tolist() == sorted(evaluations["paper_id"].unique())
    np.testing.assert_allclose(joint.sum("paper_id"), draws.total_log_likelihood())
    assert progress_draws(bs.Progress(18)).of_groups() is None
