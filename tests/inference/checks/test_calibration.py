import json
from dataclasses import replace

import bayescaling as bs
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from bayescaling.inference.checks import calibration as calibration
from bayescaling.inference.checks import uniformity
from bayescaling.inference.checks.calibration import calibrate, not_uniform, sentences
from bayescaling.inference.checks.uniformity import RANKS, band, p_uniform, shares_below
from bayescaling.inference.fitter import Fitter
from scipy import stats

pytestmark = pytest.mark.usefixtures("quiet")
SHORT = {"draws": 150, "tune": 200, "chains": 2}
TRUTH = {
    "loss_centre": 2.4, "reducible_share": 0.25, "parameter_share": 0.45, "alpha": 0.35, "beta": 0.37,
    "sigma": 0.004, "nu_minus_one": 8.0, "sigma_parameters": 0.0, "sigma_tokens": 0.0,
}  # fmt: skip


@pytest.fixture(scope="module")
def runs():
    return bs.load("chinchilla_runs").iloc[::3].reset_index(drop=True)


@pytest.fixture(scope="module")
def fitter(runs):
    return Fitter(bs.laws.Chinchilla(), runs)


@pytest.mark.thorough
def test_known_constants_are_covered_and_the_median_is_near_them(runs):
    simulations = calibrate(bs.laws.Chinchilla(), runs.drop(columns="loss"), truth=TRUTH, simulations=24, seed=5)
    table = simulations.table()
    assert table.loc["alpha", "truth"] == TRUTH["alpha"] and {"E", "exponent_parameters"} <= set(table.index)
    core = table.loc[["E", "alpha", "beta", "loss_centre", "exponent_parameters"]]
    assert (core["bias"].abs() < 3.5 * core["bias_se"] + 0.1 * core["sd"]).all()
    # Quantities of one simulation are dependent: as many as 24 independent trials at least.
    assert core["coverage_90"].mean() >= 0.72 and 0.25 <= core["coverage_50"].mean() <= 0.75
    assert "p_uniform" not in table and "log_likelihood" not in table.index


def test_truths_of_the_posterior_lie_uniformly_in_fits_to_both_tables(fitter, runs):
    simulations = calibrate(bs.laws.Chinchilla(), runs, simulations=20, seed=2, fitter=fitter, **SHORT)
    table = simulations.table()
    assert {"alpha", "E", "log_likelihood"} <= set(table.index) and table["p_uniform"].min() > 1e-3
    assert (table["error"].abs() < 4 * table["error_se"]).all()
    # Twice the rows: narrower than a fit to one table by about the square root of two.
    once = fitter.fit(seed=3, draws=500)["posterior"]
    assert 1.1 < float(once["sigma"].std() / simulations["sd"].sel(quantity="sigma").median()) < 1.8


def test_a_fit_that_misstates_its_scatter_is_found_out(fitter, runs, monkeypatch):
    """A sampler of half the width: ranks pile up at both ends."""
    right = Fitter.sample

    def narrow(fitter, rows=None, **options):
        sampled = right(fitter, rows, **options)
        if rows is None:  # the posterior that truths are drawn from
            return sampled
        mean = sampled.posterior.mean()
        return replace(sampled, posterior=mean + 0.4 * (sampled.posterior - mean))

    monkeypatch.setattr(Fitter, "sample", narrow)
    table = calibrate(bs.laws.Chinchilla(), runs, simulations=20, seed=2, fitter=fitter, **SHORT).table()
    assert not_uniform(table) and "not uniform" in sentences(table)[0]
    assert table["coverage_90"].mean() < 0.7


@pytest.mark.thorough
@pytest.mark.parametrize(
    "law", [bs.laws.Progress(7), bs.laws.Lengths(noise="binomial", seeds=False)], ids=lambda law: law.name
)
def test_truths_of_the_prior_are_fitted_too(law):
    rows = law.usual_table()
    if law.name == "lengths":
        rows = rows[rows["run"].isin(rows["run"].unique()[:5]) & (rows["length_a"] == rows["length_b"])]
        rows = rows.reset_index(drop=True)
    simulations = calibrate(law, rows, truth="prior", simulations=2, seed=3, **SHORT)
    assert np.isfinite(simulations["truth"]).all() and (simulations["sd"] > 0).all()
    assert ((simulations["rank"] >= 0) & (simulations["rank"] < RANKS)).all()
    # Both truths and medians stand for the same quantities.
    scale = simulations["sd"].mean("simulation")
    assert float((abs(simulations["median"] - simulations["truth"]) / scale).median()) < 3


# Ranks ---------------------------------------------------------------------------------------------------------------


def test_the_probability_of_uniform_ranks_is_uniform():
    rng = np.random.default_rng(1)
    p = np.array([p_uniform(rng.integers(0, RANKS, 50)) for _ in range(300)])
    assert stats.kstest(p, "uniform").pvalue > 1e-3


@pytest.mark.parametrize(
    "ranks",
    [np.repeat([0, 99], 15), np.full(30, 50), np.arange(30) * 2],
    ids=["too narrow", "too wide", "biased"],
)
def test_ranks_that_are_not_uniform_are_improbable(ranks):
    assert p_uniform(ranks) < 0.01


def test_of_very_many_ranks_the_distribution_of_fewer_is_as_good(monkeypatch):
    exact = uniformity._p_of_tail(4000, 0.02)
    monkeypatch.setattr(uniformity, "MOST_RANKS", 2000)
    uniformity._p_of_tail.cache_clear()
    assert exact != uniformity._p_of_tail(4000, 0.02) == pytest.approx(exact, rel=0.06)
    uniformity._p_of_tail.cache_clear()


@pytest.mark.parametrize("quantities", [1, 200, 5000])
def test_a_flaw_is_flagged_among_however_many_quantities(quantities):
    others = (np.arange(quantities - 1) + 0.5) / quantities
    table = pd.DataFrame({"p_uniform": [p_uniform(np.arange(50)), *others]}, ["off", *map(str, range(len(others)))])
    assert not_uniform(table) == ["off"]


def test_the_band_holds_uniform_ranks_as_often_as_it_says():
    rng = np.random.default_rng(2)
    low, high = band(80)
    inside = [
        ((low <= share) & (share <= high)).all()
        for share in (shares_below(rng.integers(0, RANKS, 80)) for _ in range(1000))
    ]
    assert 0.93 < np.mean(inside) < 0.98


# Files and options ---------------------------------------------------------------------------------------------------


def test_an_interrupted_calibration_goes_on_and_ends_as_an_unbroken_one(fitter, runs, tmp_path, monkeypatch):
    options = {"simulations": 3, "seed": 4, "fitter": fitter, **SHORT}
    whole = calibrate(bs.laws.Chinchilla(), runs, out=tmp_path / "whole.nc", **options)
    sample, calls = Fitter.sample, []

    def broken(*arguments, **options):
        calls.append(1)
        if len(calls) > 3:  # the truths and two simulations
            raise KeyboardInterrupt
        return sample(*arguments, **options)

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(Fitter, "sample", broken)
        calibrate(bs.laws.Chinchilla(), runs, out=tmp_path / "part.nc", **options)
    assert xr.open_dataset(tmp_path / "part.nc", engine="h5netcdf").sizes["simulation"] == 2
    again = calibrate(bs.laws.Chinchilla(), runs, out=tmp_path / "part.nc", **options)
    xr.testing.assert_equal(again, whole)
    # A file that holds all is read, not made again.
    monkeypatch.setattr(Fitter, "sample", None)
    xr.testing.assert_equal(calibrate(bs.laws.Chinchilla(), runs, out=tmp_path / "part.nc", **options), whole)
    with pytest.raises(bs.InputError, match="another seed"):
        calibrate(bs.laws.Chinchilla(), runs, out=tmp_path / "part.nc", **options | {"seed": 5})
    with pytest.raises(bs.InputError, match="another law"):
        calibrate(bs.laws.Chinchilla(noise="normal"), runs, out=tmp_path / "part.nc", **options)


@pytest.mark.thorough
def test_a_calibration_with_more_simulations_begins_with_the_same(runs, tmp_path):
    """Of a law with a constant among its results, which has no rank."""
    law = bs.laws.EmbeddingWeighted(omega=1.0)
    fitter = Fitter(law, runs)
    for truth in ("posterior", "prior"):
        options = {"truth": truth, "seed": 4, "fitter": fitter, **SHORT}
        calibrate(law, runs, simulations=2, out=tmp_path / f"{truth}.nc", **options)
        longer = calibrate(law, runs, simulations=3, out=tmp_path / f"{truth}.nc", **options)
        xr.testing.assert_equal(longer, calibrate(law, runs, simulations=3, **options))
        assert "omega" not in longer["quantity"].values


@pytest.mark.parametrize(
    ("law", "options", "message"),
    [
        (bs.laws.Chinchilla(), {"truth": "posterio"}, "posterior, prior"),
        (bs.laws.Chinchilla(), {"simulations": 1}, "at least 2"),
        (bs.laws.Chinchilla(), {"draws": 20, "chains": 2}, "at least 100"),
        (bs.laws.Chinchilla(), {"simulations": 400, "draws": 99, "chains": 4}, "at least 400"),
        (bs.laws.Chinchilla(), {"truth": {"alpha": 0.3}}, "truth lacks loss_centre"),
        (bs.laws.EmbeddingCorrected(), {}, "joint=true"),
        (bs.laws.EmbeddingCorrected(joint=True), {"truth": "prior"}, "other data"),
    ],
)
def test_what_cannot_be_calibrated_is_refused(law, options, message, runs):
    with pytest.raises(bs.InputError, match=message):
        calibrate(law, runs, **options)


def test_prior_truths_have_losses_that_a_perplexity_holds():
    fitter, rng = Fitter(bs.laws.Progress(7), bs.load("lm_progress")), np.random.default_rng(0)
    truths = [calibration._prior_truth(fitter, rng) for _ in range(200)]
    assert {truth.z.shape for truth in truths} == {(1, 1, fitter.law.dimension)}
    assert max(truth.mean().values.max() for truth in truths) < 600


def test_a_penalty_is_refused():
    with pytest.raises(bs.InputError, match="calibrate it without"):
        calibrate(bs.laws.Progress(7, penalty=0.01), bs.load("lm_progress"))


def test_a_file_that_is_no_calibration_is_refused(runs, tmp_path):
    (tmp_path / "text.nc").write_text("no netCDF")
    with pytest.raises(bs.InputError, match="not a netCDF file that can be read"):
        calibrate(bs.laws.Chinchilla(), runs, out=tmp_path / "text.nc")
    xr.Dataset({"x": 1}).to_netcdf(tmp_path / "other.nc", engine="h5netcdf")
    with pytest.raises(bs.InputError, match="is no calibration"):
        calibrate(bs.laws.Chinchilla(), runs, out=tmp_path / "other.nc")


def test_the_command_line_calibrates(tmp_path, command_line_here):
    short = ("--simulations", "2", "--draws", "150", "--tune", "200", "--out", tmp_path / "c.nc")
    shown = command_line_here("calibrate", "chinchilla", *short).stdout
    assert "truths from the posterior" in shown and "log_likelihood" in shown and "tested together" in shown
    document = json.loads(command_line_here("calibrate", "chinchilla", *short, "--json").stdout)
    assert document["law"] == "chinchilla" and document["simulations"] == 2 and document["truth"] == "posterior"
    assert 0 < document["quantities"]["alpha"]["p_uniform"] <= 1
    refused = command_line_here("calibrate", "embedding-corrected")
    assert refused.returncode == 2 and "joint=true" in refused.stderr


def test_models_and_benchmarks_of_known_parameters_are_drawn_anew_each_time(scores_design):
    law, table = bs.laws.Scores(pace="linear"), type(scores_design)(seed=20, models=24).table
    truth = scores_design.truth | {"difficulty_sd": 2.0, "log_slope_sd": 0.4, "log_noise_sd": 0.3}
    with pytest.raises(bs.InputError, match="truth lacks log_noise_centre"):
        calibrate(law, table, truth=truth, simulations=2)
    truth["log_noise_centre"] = -2.7
    simulations = calibrate(law, table.drop(columns="score"), truth=truth, simulations=6, seed=5, **SHORT)
    truths = simulations["truth"].to_pandas()
    np.testing.assert_allclose(truths["compute_slope"], truth["compute_slope"])
    np.testing.assert_allclose(truths["rate[all]"], truth["yearly_gain"] / truth["compute_slope"])
    assert truths["capability[model 03]"].nunique() == truths["difficulty[test 2]"].nunique() == 6
    sampled = simulations.sel(quantity=[*truth, "rate[all]"])
    assert float((abs(sampled["median"] - sampled["truth"]) / sampled["sd"]).mean()) < 1.6
