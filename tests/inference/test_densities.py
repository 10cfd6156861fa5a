import warnings

import arviz_stats as azs
import bayescaling as bs
import numpy as np
import pandas as pd
import pytest
from bayescaling.inference import densities
from bayescaling.inference.checks import law_tests, sandwich
from bayescaling.inference.comparison import importance, weights
from bayescaling.inference.comparison.importance import importance_sampling
from bayescaling.inference.fitted import changed_fit
from bayescaling.models.loss import draws as loss_draws
from bayescaling.reports.results import fit_entry

SHORT = {"seed": 3, "draws": 250, "tune": 300, "least_ess": 0}


def pair(fitter):
    """One fit with its log densities and one without, the draws the same."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bs.DiagnosticWarning)
        return tuple(fitter.fit(**SHORT, log_likelihood=stored) for stored in (True, False))


@pytest.fixture(scope="module")
def fits(fitter):
    return pair(fitter)


@pytest.fixture
def small_blocks(monkeypatch):
    """Set small blocks: 37 rows of 1,000 draws, and of a fit's rows 9 draws."""
    monkeypatch.setattr(loss_draws, "BLOCK", 37_000)
    monkeypatch.setattr(loss_draws, "PARTS", 1)
    monkeypatch.setattr(sandwich, "BLOCK", 37_000)
    monkeypatch.setattr(law_tests, "BLOCK", 8 * 245 * 4 * 9)


def close(one, other):
    """Whether two entries are the same but for rounding."""
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(close(one[key], other[key]) for key in one)
    return one == pytest.approx(other, rel=1e-9, abs=1e-12) if isinstance(one, float) else one == other


def test_a_fit_without_its_densities_is_judged_alike(fits, small_blocks, quiet, influence):
    having, lacking = fits
    assert "log_likelihood" in having and "log_likelihood" not in lacking
    assert len(lacking.draws.blocks()) == 7
    assert close(fit_entry(having), fit_entry(lacking))
    exponent = having["posterior"]["exponent_parameters"]
    np.testing.assert_allclose(influence(lacking, exponent), influence(having, exponent), rtol=1e-9)
    by_size = [fit.loo(by="parameters")["elpd"].sum() for fit in fits]
    assert by_size[0] == pytest.approx(by_size[1])


def test_what_was_found_by_blocks_is_kept_and_saved(fits, small_blocks, tmp_path, quiet):
    having, lacking = fits
    elpd = lacking.loo().elpd
    lacking.save(tmp_path / "f.nc")
    having.save(tmp_path / "whole.nc")
    assert (tmp_path / "f.nc").stat().st_size < 0.3 * (tmp_path / "whole.nc").stat().st_size
    opened = bs.open(tmp_path / "f.nc")
    assert opened.record["log_likelihood"].startswith("left out")
    assert having.record["log_likelihood"] == "kept"
    assert opened["importance_sampling"].sizes == {"run": 245}
    table = bs.compare({"having": having, "lacking": opened})
    assert opened.loo().elpd == elpd
    assert table["elpd_diff"].abs().max() < 1e-8


def test_arviz_takes_an_ordinary_fit(fits):
    having, _ = fits
    assert azs.loo(having.tree, var_name="log_loss").elpd == pytest.approx(having.loo().elpd, abs=0.1)


def test_rows_are_refitted_alike_without_densities(fitter_normal, quiet):
    having, lacking = pair(fitter_normal)
    resolved = [fit.loo(draws=200, tune=200) for fit in (having, lacking)]
    assert resolved[0].resolved.any()
    np.testing.assert_allclose(resolved[0].elpd_i, resolved[1].elpd_i)
    assert resolved[0].p == pytest.approx(resolved[1].p)


def test_densities_are_left_out_for_their_size_with_a_note(fitter, monkeypatch, quiet):
    monkeypatch.setattr(densities, "MOST", 245 * 1000 - 1)
    with pytest.warns(
        bs.errors.SizeNote, match="the log likelihood of 245 runs under 1,000 draws .* is not saved in the fit"
    ):
        fit = fitter.fit(**SHORT)
    assert not densities.is_held(fit)
    monkeypatch.setattr(densities, "MOST", 245 * 1000)
    assert densities.is_held(fitter.fit(**SHORT))


def curves(rows_of_each):
    """Readings of runs, those of each run spread over the table."""
    random = np.random.default_rng(2)
    names = random.permutation(np.repeat(np.arange(len(rows_of_each)), rows_of_each))
    table = pd.DataFrame({"run": [f"run-{name}" for name in names], "parameters": 10.0 ** (7 + names % 3)})
    table["tokens"] = 10 ** random.uniform(9, 11, len(table))
    loss = 1.8 + 480 * table["parameters"] ** -0.35 + 2000 * table["tokens"] ** -0.37
    return bs.read(table.assign(loss=loss * np.exp(0.01 * random.standard_normal(len(table)))))


@pytest.mark.filterwarnings("ignore::bayescaling.errors.TableWarning")
def test_blocks_hold_whole_runs_in_their_order(monkeypatch):
    law, table = bs.laws.Chinchilla(run_effects=True), curves([3, 1, 40, 7, 2, 9, 5])
    rows = law.rows(table)
    drawn = law.prior_draws(np.random.default_rng(1), law.reference(rows), rows, 50)
    whole = drawn.total_log_likelihood(), drawn.of_groups(), drawn.log_likelihood(), drawn.by_group("parameters")
    monkeypatch.setattr(loss_draws, "BLOCK", 50 * 10)
    blocks = drawn.blocks()
    assert len(blocks) > 3 and sorted(np.concatenate(blocks)) == list(range(len(rows)))
    runs = [set(rows["run"].iloc[block]) for block in blocks]
    assert sum(map(len, runs)) == len(set().union(*runs)) == 7
    for block in blocks:
        for name in set(rows["run"].iloc[block]):
            places = block[(rows["run"].iloc[block] == name).to_numpy()]
            assert (np.diff(places) > 0).all()
    np.testing.assert_allclose(drawn.total_log_likelihood(), whole[0])
    np.testing.assert_allclose(drawn.of_groups(), whole[1])
    np.testing.assert_array_equal(drawn.of_groups()["run_id"], whole[1]["run_id"])
    np.testing.assert_allclose(drawn.by_group("parameters"), whole[3])
    for block, density in zip(blocks, drawn.log_likelihood_blocks(), strict=True):
        np.testing.assert_allclose(density, whole[2].isel(run=block))


def test_weights_of_a_large_table_are_those_made_at_once(monkeypatch):
    elpd_i = np.random.default_rng(0).normal(-1, 1, (60, 3))
    whole = weights.pseudo_bma(elpd_i)
    monkeypatch.setattr(weights, "BLOCK", 60 * 7)
    np.testing.assert_allclose(weights.pseudo_bma(elpd_i), whole, rtol=1e-12)


def test_counts_without_their_densities_are_left_out_alike(lengths_fitter, quiet):
    having, lacking = lengths_fitter.fit(**SHORT), lengths_fitter.fit(**SHORT, log_likelihood=False)
    one, other = importance_sampling(having), importance_sampling(lacking)
    np.testing.assert_allclose(one.elpd_i.values, other.elpd_i.values, atol=1e-6)
    assert lacking.law_tests()["p"].between(0, 1).all()


def test_some_draws_sum_up_a_large_table_and_all_draws_the_rows_that_need_a_tail(fits, monkeypatch, quiet, influence):
    having, lacking = fits
    monkeypatch.setattr(densities, "MOST", 245 * 1000 - 1)
    monkeypatch.setattr(densities, "ENOUGH", 250)
    monkeypatch.setattr(importance, "MANY", 0)
    whole, lacking = changed_fit(having, {}, having.record), changed_fit(lacking, {}, lacking.record)
    assert densities.selection(whole) == slice(None, None, 1)  # its densities are at hand
    assert densities.selection(lacking) == slice(None, None, 4)
    one, other = importance_sampling(lacking), importance_sampling(whole)
    tails = one.pareto_k.values > 0
    assert 0 < tails.sum() < 245
    np.testing.assert_allclose(one.elpd_i[tails], other.elpd_i[tails])
    np.testing.assert_allclose(one.pareto_k[tails], other.pareto_k[tails])
    np.testing.assert_allclose(one.elpd_i, other.elpd_i, atol=0.1)
    assert one.elpd == pytest.approx(other.elpd, abs=1)
    some = having["log_likelihood"]["log_loss"].isel(draw=slice(None, None, 4)).transpose("chain", "draw", "run")
    np.testing.assert_allclose(densities.total(lacking), some.sum("run"))
    exponent = having["posterior"]["exponent_parameters"]
    direct = np.cov(exponent[:, ::4].values.ravel(), some.values.reshape(-1, 245), rowvar=False)[0, 1:]
    np.testing.assert_allclose(influence(lacking, exponent), direct, rtol=1e-6, atol=1e-12)
    ratios = [fit.robust_sd(exponent)["ratio"] for fit in (lacking, whole)]
    np.testing.assert_allclose(*ratios, rtol=0.15)


def test_tests_of_a_law_see_some_draws_of_a_large_table_and_one_chain_at_a_time(fits, monkeypatch):
    _, lacking = fits
    monkeypatch.setattr(law_tests, "FEW_DRAWS", 20)
    monkeypatch.setattr(law_tests, "LARGE", 0)
    whole = lacking.law_tests()
    monkeypatch.setattr(law_tests, "BLOCK", 1)
    pd.testing.assert_frame_equal(lacking.law_tests(), whole)
    assert whole.loc["score", "p"] < 1e-3
