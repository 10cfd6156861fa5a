"""Every law through every technique: what holds for one law holds for all."""

import warnings

import bayescaling as bs
import numpy as np
import pytest
import xarray as xr
from bayescaling.inference import diagnostics
from bayescaling.models.loss.embedding.configurations import chinchilla_configurations

SHORT = {"draws": 100, "tune": 200, "chains": 2}
LAWS = {
    "chinchilla": lambda: (bs.Chinchilla(), "chinchilla_runs"),
    "reading error": lambda: (bs.Chinchilla(noise="normal", measurement_error=True), "chinchilla_runs"),
    "kaplan": lambda: (bs.Kaplan(), "chinchilla_runs"),
    "embedding-weighted": lambda: (bs.EmbeddingWeighted(), "chinchilla_runs"),
    "embedding-corrected": lambda: (bs.EmbeddingCorrected(), "chinchilla_runs"),
    "embedding-corrected, joint": lambda: (bs.EmbeddingCorrected(joint=True), "chinchilla_runs"),
    "configurations": lambda: (bs.Configurations(), chinchilla_configurations()),
    "progress-7": lambda: (bs.models.Progress(7), "lm_progress"),
    "progress-14": lambda: (bs.models.Progress(14), "lm_progress"),
    "progress-18, paper effects": lambda: (bs.models.Progress(18, paper_effects=True), "lm_progress"),
    "lengths": lambda: (bs.Lengths(), "arithmetic_runs"),
    "lengths, no seeds": lambda: (bs.Lengths(seeds=False), "arithmetic_runs"),
}
OTHERS = [name for name in LAWS if name.startswith(("progress", "lengths"))]


def except_for(*names, why):
    """Laws, those named marked as refused today."""
    return [pytest.param(n, marks=pytest.mark.xfail(reason=why, strict=True)) if n in names else n for n in LAWS]


@pytest.fixture(scope="module")
def fits():
    """Short fits by name, each made once."""
    made = {}

    def fit(name):
        if name not in made:
            law, table = LAWS[name]()
            table = bs.load(table) if isinstance(table, str) else table
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", bs.DiagnosticWarning)
                made[name] = law, table, bs.fit(law, table, seed=1, **SHORT)
        return made[name]

    return fit


@pytest.mark.parametrize("name", LAWS)
def test_fit_has_the_groups_of_arviz_and_diagnostics(fits, name):
    law, _, fit = fits(name)
    assert {"posterior", "sample_stats", "log_likelihood", "observed_data", "constant_data"} <= set(fit.children)
    assert all(np.isfinite(x).all() for x in fit["posterior"].data_vars.values())
    assert fit["posterior"].sizes["chain"] == 2
    assert np.isfinite(fit["log_likelihood"][law.scale]).all()
    assert isinstance(bs.diagnose(fit)["ok"], bool)
    assert diagnostics.ess_bulk(fit["posterior"].to_dataset())


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.filterwarnings("ignore::bayescaling.DiagnosticWarning")
def test_leave_one_out_sums_its_observations(fits, name):
    _, _, fit = fits(name)
    result = bs.loo(fit)
    assert np.isfinite(result.elpd)
    np.testing.assert_allclose(result.elpd, result.elpd_i.sum())


@pytest.mark.parametrize("name", LAWS)
def test_a_fit_opens_as_it_was_saved(fits, name, tmp_path):
    _, _, fit = fits(name)
    bs.save_fit(fit, tmp_path / "fit.nc")
    opened = bs.open_fit(tmp_path / "fit.nc")
    assert opened.attrs == fit.attrs
    for group, node in fit.children.items():
        xr.testing.assert_equal(opened[group].to_dataset(), node.to_dataset())


@pytest.mark.parametrize("name", except_for(*OTHERS, why="predictive groups are refused for this kind of law"))
@pytest.mark.filterwarnings("ignore::bayescaling.DiagnosticWarning")
def test_predictive_groups_are_of_the_observations(fits, name):
    law, table, _ = fits(name)
    fit = bs.fit(law, table, seed=2, prior_predictive=True, posterior_predictive=True, **SHORT)
    for group in ("posterior_predictive", "prior_predictive"):
        assert fit[group][law.scale].dims[2:] == fit["observed_data"][law.scale].dims


@pytest.mark.parametrize("name", except_for("embedding-corrected", why="has no one posterior to calibrate"))
@pytest.mark.filterwarnings("ignore::bayescaling.DiagnosticWarning")
def test_calibration_of_two_simulations(fits, name):
    law, table, _ = fits(name)
    found = bs.calibrate(law, table, simulations=2, seed=3, **SHORT)
    assert found.sizes["simulation"] == 2
    assert {"median", "rank", "sd", "truth"} <= set(found.data_vars)
