"""The posterior after further runs: the same by importance weights and by NUTS, and honest about its draws."""

import bayescaling as bs
import numpy as np
import pytest
from bayescaling.inference.fitter import Fitter, fitter_of

SHORT = {"draws": 1000, "tune": 700}


@pytest.fixture(scope="module")
def runs():
    """Return runs in random order: the last of the table are the strangest."""
    table = bs.load("chinchilla_runs")
    shuffled = table.sample(frac=1, random_state=1).reset_index(drop=True)
    shuffled.attrs = dict(table.attrs)
    return shuffled


@pytest.fixture(scope="module")
def fit_before(runs):
    return bs.fit(bs.laws.Chinchilla(), _first(runs, 240), seed=1, **SHORT, check=False)


def _first(runs, count):
    rows = runs.iloc[:count].reset_index(drop=True)
    rows.attrs = dict(runs.attrs)
    return rows


def test_weights_give_the_posterior_that_nuts_gives(fit_before, runs):
    later = bs.update(fit_before, runs.iloc[240:])
    assert later.record["update"]["method"] == "weights" and len(later.rows) == len(runs)
    again = Fitter(fit_before.law, later.rows, reference=later.draws.reference).fit(seed=2, **SHORT)
    effective = later.diagnostics["effective_draws"]
    assert effective >= 400 and later.diagnostics["ess_bulk_min"] <= effective
    assert later.diagnostics["distinct_draws"] < later.diagnostics["draws"]
    for name in fit_before.law.prior_of:
        one, two = (fit["posterior"][name].values.ravel() for fit in (later, again))
        error = two.std() * np.sqrt(1 / effective + 1 / again.diagnostics["ess_bulk_min"])
        assert abs(one.mean() - two.mean()) < 4.5 * error, name
        assert one.std() / two.std() == pytest.approx(1, abs=4.5 / np.sqrt(2 * effective) + 0.05), name


def test_many_runs_are_sampled_again(runs):
    fit = bs.fit(
        bs.laws.Chinchilla(noise="normal", scatter="one"), _first(runs, 40), seed=1, draws=500, tune=500, check=False
    )
    later = bs.update(fit, runs.iloc[40:])
    assert later.record["update"]["method"] == "nuts" and len(later.rows) == len(runs)
    assert later.draws.reference["reference_parameters"] == fit.draws.reference["reference_parameters"]
    assert "effective_draws" not in later.diagnostics


def test_an_updated_fit_is_saved_and_opened_and_refers_to_the_first_runs(fit_before, runs, tmp_path):
    later = bs.update(fit_before, runs.iloc[240:])
    later.save(tmp_path / "later.nc")
    opened = bs.open(tmp_path / "later.nc")
    assert opened.record["update"] == later.record["update"]
    assert fitter_of(opened).reference == later.draws.reference != bs.Fitter(opened.law, opened.rows).reference
    np.testing.assert_allclose(opened["posterior"]["alpha"], later["posterior"]["alpha"])
    assert later.loo().elpd == pytest.approx(opened.loo().elpd)
    assert fit_before.record.get("update") is None and len(fit_before.rows) == 240


def test_runs_of_a_size_share_its_effect(runs):
    law = bs.laws.Chinchilla(noise="normal", scatter="one", size_effects=True)
    fit = bs.fit(law, _first(runs, 100), seed=1, draws=500, tune=500, check=False)
    later = bs.update(fit, runs.iloc[100:101])
    both = later.draws.total_log_likelihood() - later.draws.total_log_likelihood(later.rows.iloc[:100])
    assert later.rows["size_group"].notna().all() and len(later.rows) == 101
    conditional = later.draws.log_likelihood(later.rows)  # each row given the others of its size
    np.testing.assert_allclose(both, conditional.isel(run=100), atol=1e-8)


def test_the_range_of_the_scatter_is_that_of_all_runs(fit_before, runs):
    far = runs.iloc[[0]].assign(parameters=1e12, tokens=1e13, training_flop=6e25, loss=1.9)
    later = bs.update(fit_before, far)
    assert later.draws.reference["log_parameters_max"] == pytest.approx(np.log(1e12))
    assert later.draws.reference["log_parameters_mean"] == fit_before.draws.reference["log_parameters_mean"]


def test_runs_without_a_loss_are_refused(fit_before, runs):
    with pytest.raises(bs.InputError, match="loss"):
        bs.update(fit_before, runs.iloc[:2].drop(columns="loss"))


def test_fits_of_other_kinds_are_refused(runs):
    with pytest.raises(bs.InputError, match="no fit of bayescaling"):
        bs.update("a fit", runs)
