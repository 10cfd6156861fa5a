import bayescaling as bs
import numpy as np
import pandas as pd
import pytest
from bayescaling.inference.comparison.refits import exact_loo
from bayescaling.inference.settings import Settings
from bayescaling.models.lengths import curve as lengths
from bayescaling.models.lengths import design as designs


def test_fit_is_a_tree_as_of_other_laws(lengths_fit, lengths_counts, lengths_design):
    groups = {"posterior", "unconstrained_posterior", "sample_stats", "log_likelihood", "log_prior", "observed_data"}
    assert groups | {"constant_data"} <= set(lengths_fit.tree.children)
    assert lengths_fit["log_likelihood"]["correct"].dims == ("chain", "draw", "run")
    assert lengths_fit["posterior"]["log_reach"].sel(embedding="abacus").dims == ("chain", "draw")
    assert list(lengths_fit["posterior"]["log_reach_run"]["run"].values) == [name for name, *_ in lengths_design.runs]
    assert lengths_fit.diagnostics["ok"], lengths_fit.diagnostics["warnings"]
    draws = lengths_fit.draws
    moved = draws.from_real_line(draws.real_line())
    np.testing.assert_allclose(moved.named()["log_reach_run"], draws.named()["log_reach_run"], rtol=1e-8)
    np.testing.assert_allclose(draws.log_density(), moved.log_density(), rtol=1e-10)
    pd.testing.assert_frame_equal(lengths_fit.rows[list(lengths_counts)], lengths_counts, check_dtype=False)


def test_a_saved_fit_opens_into_a_working_one(lengths_fit, tmp_path):
    lengths_fit.save(tmp_path / "fit.nc")
    opened = bs.open(tmp_path / "fit.nc")
    for seeds in ("typical", "new", "runs"):
        expected = bs.lengths.summary(lengths_fit, seeds=seeds)
        pd.testing.assert_frame_equal(bs.lengths.summary(opened, seeds=seeds), expected)
    pd.testing.assert_frame_equal(bs.lengths.embedding_contrasts(opened), bs.lengths.embedding_contrasts(lengths_fit))
    assert float(opened.loo().elpd) == pytest.approx(float(lengths_fit.loo().elpd))


@pytest.mark.thorough
def test_intervals_cover_the_lengths_that_counts_were_simulated_at(lengths_fitter, lengths_design, quiet):
    """Runs' own 50% lengths, and the median run's, in repeated simulations with one compiled model."""
    law, design, settings = (
        lengths_fitter.law,
        lengths_design.table,
        Settings(draws=250, tune=300, chains=2, target_accept=0.95),
    )
    of_runs, of_conditions = [], []
    for simulation in range(16):
        rng = np.random.default_rng([7, simulation])
        curve = lengths_design.curves_of(lengths_design.embeddings, rng)
        table = design.assign(correct=law.simulate(curve, design, rng))
        drawn, _, _ = lengths_fitter.draws(table, settings=settings, seed=simulation)
        typical = drawn.typical(designs.conditions(table, law.effects))
        median = lengths_design.curves_of(lengths_design.curves)
        for covered, curves, true in ((of_runs, drawn.curve, curve), (of_conditions, typical, median)):
            draws, truth = (lengths.length_at(x, np.log(lengths_design.train), 0.5, "log") for x in (curves, true))
            low, high = np.quantile(draws, [0.1, 0.9], axis=(0, 1))
            covered.append((low <= truth) & (truth <= high))
    # If coverage is 0.8, chance passes each bound about once in 500 times, with many lengths and with few.
    assert 0.68 < np.mean(of_runs) < 0.91
    assert np.mean(of_conditions) > 0.59


def test_a_fitter_refuses_other_runs(lengths_fitter, lengths_counts, lengths_design):
    renamed = lengths_counts.assign(run=lengths_counts["run"].replace("nope-2", "nope-3"))
    with pytest.raises(bs.InputError, match="not among the runs of the table"):
        lengths_fitter.fit(renamed)
    with pytest.raises(bs.InputError, match="of another condition"):
        lengths_fitter.fit(lengths_counts.assign(train_digits=lengths_design.train + 1))


def test_fewer_runs_are_fitted_and_left_out_one_by_one(lengths_fitter, lengths_counts, lengths_fit, quiet):
    counts = lengths_counts[lengths_counts["run"] != "nope-1"].reset_index(drop=True)
    fit = lengths_fitter.fit(counts, seed=1, draws=300, tune=400, chains=2)
    names = ["abacus-0", "abacus-1", "abacus-2", "nope-0", "nope-2"]
    assert fit["log_likelihood"]["run"].values.tolist() == names
    assert fit.rows["run"].unique().tolist() == names
    densities = [
        fit["log_likelihood"]["correct"].sel(run="nope-2"),
        lengths_fit["log_likelihood"]["correct"].sel(run="nope-2"),
    ]
    assert float(densities[0].mean()) == pytest.approx(float(densities[1].mean()), abs=8)
    exact = exact_loo(fit, [4], draws=200, tune=300, chains=2)
    assert exact["run"].values[exact["refitted"]].tolist() == ["nope-2"]
    smoothed = fit.loo(high_k="none")
    assert float(exact["elpd"][4]) == pytest.approx(float(smoothed.elpd_i[4]), abs=5)


def test_predictive_counts_are_of_the_cells(lengths_fitter, lengths_counts, quiet):
    fit = lengths_fitter.fit(seed=2, draws=200, tune=300, chains=2, posterior_predictive=True, prior_predictive=True)
    for group in ("posterior_predictive", "prior_predictive"):
        drawn = fit[group]["correct"]
        assert drawn.dims == ("chain", "draw", "cell")
        assert drawn.dtype.kind == "i"
        assert ((drawn >= 0) & (drawn <= lengths_counts["total"].to_numpy())).all()
    mean = fit["posterior_predictive"]["correct"].mean(("chain", "draw"))
    assert float(abs(mean - lengths_counts["correct"].to_numpy()).mean()) < 3
    assert fit["prior"]["log_reach_run"].sizes["run"] == 6
