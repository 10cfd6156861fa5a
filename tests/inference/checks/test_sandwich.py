from functools import partial

import bayescaling as bs
import numpy as np
import pytest
import xarray as xr
from bayescaling.inference.intervals import robust_entries

law_alone = partial(bs.Fit.allocate, beyond="none", robust=False)

LESS = 0.02  # of a row's weight: influence is to first order


def test_influence_is_what_a_row_does_to_the_mean(fit_one_sigma, influence):
    """Weighing a row up by a little moves the posterior mean by its influence: here a row is left out."""
    exponent = fit_one_sigma["posterior"]["exponent_parameters"]
    influences = influence(fit_one_sigma, exponent)
    weights = np.exp(-fit_one_sigma.draws.log_likelihood())
    for row in (int(np.abs(influences).argmax()), 50, 200):
        weight = weights.isel(run=row)
        without = float((exponent * weight).sum() / weight.sum())
        assert float(exponent.mean()) - without == pytest.approx(float(influences[row]), abs=0.0006), row


def test_where_the_law_holds_the_robust_sd_is_the_posterior_one(fitter_normal, simulated, runs, truth):
    law = fitter_normal.law
    values = {name: truth[name] for name in law.prior_of}
    ratios = []
    for seed in range(4):
        table = runs.assign(loss=law.simulate(values, runs, np.random.default_rng(seed)))
        fit = fitter_normal.fit(table, seed=1)
        ratios.append(fit.robust_sd(fit["posterior"]["exponent_parameters"]).loc["unit", "ratio"])
    assert np.mean(ratios) == pytest.approx(1, abs=0.15)


def test_rows_written_twice_are_found_out_by_cluster(fitter_normal, runs, truth):
    """Repeat each loss four times: by row there seem to be four times as many, by cluster there do not."""
    law = fitter_normal.law
    values = {name: truth[name] for name in law.prior_of}
    once = runs.iloc[::4].reset_index(drop=True)
    once = once.assign(loss=law.simulate(values, once, np.random.default_rng(3)), run=np.arange(len(once)))
    fourfold = once.loc[np.repeat(once.index, 4)].reset_index(drop=True)
    fit = bs.Fitter(law, fourfold).fit(seed=1)
    table = fit.robust_sd(fit["posterior"]["exponent_parameters"])
    assert table.loc["run", "clusters"] == len(once)
    assert table.loc["unit", "ratio"] == pytest.approx(1, abs=0.25)
    assert table.loc["run", "ratio"] == pytest.approx(2, rel=0.25)
    assert table.loc["run", "wider"]


def test_the_runs_of_chinchilla(fit_one_sigma):
    """An independent calculation: by row .0177, by size .0207, against a posterior sd of .0111."""
    exponent = fit_one_sigma["posterior"]["exponent_parameters"]
    table = fit_one_sigma.robust_sd(exponent)
    assert table.loc["unit", "robust_sd"] == pytest.approx(0.0177, rel=0.08)
    assert table.loc["parameters", "robust_sd"] == pytest.approx(0.0207, rel=0.08)
    assert table["wider"].all()
    wide = fit_one_sigma.robust(exponent)
    assert float(wide.median()) == pytest.approx(float(exponent.median()), abs=5e-4)
    assert float(wide.std()) == pytest.approx(table["robust_sd"].max(), rel=0.02)
    log_size = np.log(law_alone(fit_one_sigma, 1e24)["parameters"].isel(compute=0))
    assert (fit_one_sigma.robust(np.exp(log_size)) > 0).all()


@pytest.fixture(scope="module")
def halves(runs):
    return runs.assign(half=np.where(np.arange(len(runs)) % 2, "odd", "even"))


def test_the_robust_sd_of_a_group_alone_is_that_of_its_law_alone(halves):
    """Where nothing is pooled or shared, rows of other groups have no influence, and sums are over those of the group.

    The sum of squared influences of a heavy-tailed posterior varies by 15% with the draws, even of 4,000 a chain.
    """
    law, ratios = bs.laws.Chinchilla(noise="normal", scatter="one"), {}
    entries = robust_entries(bs.fit(bs.laws.Grouped(law, "half", pooled=()), halves, seed=1, draws=4000, check=False))
    for half, rows in halves.groupby("half"):
        alone = bs.fit(law, rows.reset_index(drop=True), seed=2, draws=4000, check=False)
        for name in ("exponent_parameters", "E", "sigma"):
            table = alone.robust_sd(alone["posterior"][name])
            ratios[half, name] = entries[f"{name}[{half}]"]["robust_sd"] / table["robust_sd"].max()
            assert entries[f"{name}[{half}]"]["posterior_sd"] == pytest.approx(table["posterior_sd"].iloc[0], rel=0.08)
    assert list(ratios.values()) == [pytest.approx(1, abs=0.2)] * len(ratios)


@pytest.mark.filterwarnings("ignore::bayescaling.DiagnosticWarning")
def test_rows_of_other_groups_have_influence_where_groups_are_pooled(halves, influence):
    """A row's influence on a group's exponent is what taking some of its weight does, whichever group it is of."""
    law = bs.laws.Grouped(bs.laws.Chinchilla(noise="normal", scatter="one"), "half")
    fit = bs.fit(law, halves, seed=1, draws=1500, check=False)
    exponent = fit["posterior"]["alpha"].sel(group="even", drop=True)
    influences = influence(fit, exponent)
    likelihood = fit.draws.log_likelihood()
    of_even = (halves["half"] == "even").to_numpy()
    assert np.abs(influences[of_even]).sum() > 1.5 * np.abs(influences[~of_even]).sum() > 0
    for members in (of_even, ~of_even):
        row = np.flatnonzero(members)[np.abs(influences[members]).argmax()]
        weights = np.exp(-LESS * likelihood.isel(run=row))
        with_less = float((exponent * weights).sum() / weights.sum())
        assert (float(exponent.mean()) - with_less) / LESS == pytest.approx(influences[row], rel=0.1, abs=1e-5), row


def test_few_clusters_and_draws_that_are_not_finite(fit_default):
    exponent = fit_default["posterior"]["exponent_parameters"]
    with pytest.raises(bs.InputError, match=r"has the dimension period; choose a place of it, \.isel\(period=0\)"):
        fit_default.robust_sd(exponent.expand_dims(period=[2026]))
    with pytest.raises(bs.InputError, match="of the draws are not finite"):
        fit_default.robust_sd(xr.where(exponent > exponent.median(), exponent, np.inf))
    assert "seed" not in fit_default.robust_sd(exponent).index


def test_papers_are_the_groups_under_paper_effects(progress_draws, evaluations):
    draws = progress_draws(bs.laws.Progress(18, paper_effects=True))
    joint = draws.of_groups()
    assert joint["paper_id"].values.tolist() == sorted(evaluations["paper_id"].unique())
    np.testing.assert_allclose(joint.sum("paper_id"), draws.total_log_likelihood())
    assert progress_draws(bs.laws.Progress(18)).of_groups() is None
