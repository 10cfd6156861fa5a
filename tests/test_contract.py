"""Every law through every technique: what holds for one law holds for all.

``python tests/test_contract.py`` writes `golden.json`, the hashes of each law's density, after an intended change.
"""

import functools
import hashlib
import json
import re
import struct
import warnings
from pathlib import Path

import arviz_plots as azp
import arviz_stats as azs
import bayescaling as bs
import numpy as np
import pytest
import xarray as xr
from bayescaling.datasets import KINDS
from bayescaling.datasets.printed import as_sentence
from bayescaling.inference import densities
from bayescaling.inference.checks.sensitivity import power_scaling, prior_driven
from bayescaling.inference.comparison.importance import importance_sampling
from bayescaling.inference.comparison.refits import exact_loo
from bayescaling.inference.engine import compile_density, compiled, flat
from bayescaling.models.draws import flatten
from bayescaling.models.laws import LAWS
from bayescaling.reports.pages.small_lm.page import of_scheme
from bayescaling.reports.results import fit_entry, to_json

SHORT = {"draws": 150, "tune": 300, "chains": 2}
SIMULATED = {"draws": 60, "tune": 150, "chains": 2}  # of each simulated table, whose truth is placed roughly
# Laws whose short chains disagree, so that Monte-Carlo error hides what the units inform.
LONGER = {"horizons, break, estimates, families": {"draws": 600, "tune": 600}}
STUDIED = {
    "chinchilla": bs.laws.Chinchilla(),
    "chinchilla, reading error": bs.laws.Chinchilla(noise="normal", scatter="one", measurement_error=True),
    "chinchilla, run effects": bs.laws.Chinchilla(scatter="one", run_effects=True),
    "chinchilla, size effects": bs.laws.Chinchilla(size_effects=True),
    "kaplan": bs.laws.Kaplan(scatter="one"),
    "coupled, skew": bs.laws.Coupled(skew=True),
    "offsets": bs.laws.Offsets(),
    "data-constrained": bs.laws.DataConstrained(),
    "learning-rate": bs.laws.LearningRate(scatter="one"),
    "rate-and-batch": bs.laws.RateAndBatch(),
    "formula": bs.laws.Formula("loss ~ E + A * parameters**-alpha"),
    "formula, groups": bs.laws.Formula("loss ~ E + A[half] * (6 * parameters * tokens)**-alpha[half]"),
    "grouped": bs.laws.Grouped(bs.laws.Chinchilla(), "half"),
    "grouped, run effects": bs.laws.Grouped(
        bs.laws.Chinchilla(scatter="one", run_effects=True), "half", shared=("loss_centre",)
    ),
    "grouped, size effects": bs.laws.Grouped(bs.laws.Chinchilla(scatter="one", size_effects=True), "half"),
    "embedding-weighted": bs.laws.EmbeddingWeighted(),
    "embedding-corrected": bs.laws.EmbeddingCorrected(),
    "embedding-corrected, joint": bs.laws.EmbeddingCorrected(joint=True),
    "configurations": bs.laws.Configurations(),
    "task-error": bs.laws.TaskError(),
    "curve": bs.laws.Curve(),
    "progress-7": bs.laws.Progress(7),
    "progress-18, paper effects": bs.laws.Progress(18, paper_effects=True),
    "scores": bs.laws.Scores(),
    "scores, break": bs.laws.Scores(pace="break"),
    "scores, ceilings, versions": bs.laws.Scores(ceilings=True, version_effects=True),
    "horizons": bs.laws.Horizons(),
    "horizons, break, estimates, families": bs.laws.Horizons(trend="break", estimates=True, family_effects=True),
    "trend": bs.laws.Trend(),
    "trend, break, groups": bs.laws.Trend(trend="break", groups="organization"),
    "lengths": bs.laws.Lengths(),
    "lengths, no seeds": bs.laws.Lengths(seeds=False),
}
STUDIED |= {name: bs.law(name) for name in LAWS if name not in {law.name for law in STUDIED.values()}}
TABLES = {
    "data-constrained": "data_constrained_runs",
    "learning-rate": "small_lm_rates",
    "rate-and-batch": "small_lm_rates",
}
# One law of each kind, one without an optimum and one whose quantities have levels.
OPTIMISED = ("centre", "information")  # arrays of point estimates
SUMMED = ("chinchilla", "configurations", "grouped", "progress-7", "scores, break", "lengths, no seeds", "horizons",
          "trend")  # fmt: skip
ADDRESS = compiled.address
GOLDEN = Path(__file__).with_name("golden.json")
quiet = pytest.mark.filterwarnings("ignore::bayescaling.DiagnosticWarning")


def table_for(name):
    """Table that a law is studied on."""
    if name == "chinchilla, run effects":
        return of_scheme(bs.load("small_lm_runs"), "scheme-1")
    if name == "grouped, run effects":
        runs = of_scheme(bs.load("small_lm_runs"), "scheme-1")
        return runs.assign(half=runs["run"].rank(method="dense").mod(2).map({0.0: "even", 1.0: "odd"}))
    if name in ("grouped", "grouped, size effects", "formula, groups"):
        runs = bs.load("chinchilla_runs")
        return runs.assign(half=np.where(np.arange(len(runs)) % 2, "odd", "even"))
    if name == "curve":
        curves = bs.load("schedule_curves")
        return curves[curves["run"].isin(["100M cosine_24000", "100M wsdcon_9", "100M constant_24000"])]
    if name == "task-error":
        return bs.load("overtraining_runs").rename(columns={"error_46_tasks": "error"})
    if name.startswith("scores"):
        scores = bs.load("eci_scores").dropna(subset=["training_compute_flop"])
        scores = scores[scores["benchmark"].isin(scores["benchmark"].value_counts().index[:6])]
        return scores[scores["model"].isin(scores["model"].value_counts().index[:24])].reset_index(drop=True)
    if name == "formula":
        runs = bs.load("chinchilla_runs")
        return runs.loc[runs.groupby("parameters")["loss"].idxmin()].reset_index(drop=True)
    if name.startswith("horizons"):
        successes = bs.load("weirdml")
        models = successes["model"].unique()[::5]
        return successes[successes["model"].isin(models) & successes["threshold"].isin([50, 90])].reset_index(drop=True)
    if name.startswith("trend"):
        compute = bs.load("training_compute")
        return compute[compute["larger_before"] < 10].reset_index(drop=True)
    if name in TABLES:
        runs = bs.load(TABLES[name])
        return runs[runs["in_published_fit"] == 1].reset_index(drop=True) if "in_published_fit" in runs else runs
    return STUDIED[name].usual_table()


STUDIED |= {name: law.suited(table_for(name)) for name, law in STUDIED.items() if name.startswith("formula")}


@functools.cache
def prepared(name):
    """Return the density of a law, the text of its program and what it is compiled to, made once in a process."""
    law, emitted = STUDIED[name], []
    rows = law.rows(table_for(name))
    density = law.density(rows, law.reference(rows))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiled, "address", lambda text: emitted.append(text) or ADDRESS(text))
        return density, emitted, compile_density(density)


def golden(name):
    """SHA-256 of the emitted program, the data arrays and the start of a law: equal hashes mean equal draws.

    Numbers count to seven digits, since the last ones of a logarithm differ between processors. Of arrays that an
    optimiser makes, the mean size is written.
    """
    density, (text,), _ = prepared(name)
    program = re.sub(r"0x([0-9A-F]{16})", lambda match: f"{struct.unpack('>d', bytes.fromhex(match[1]))[0]:.6e}", text)
    listed = {
        "program": program,
        "arrays": {key: _digits(x) for key, x in density.arrays.items() if key not in OPTIMISED},
        "start": _digits(flat(density.start)),
    }
    hashes = {part: hashlib.sha256(json.dumps(x, sort_keys=True).encode()).hexdigest() for part, x in listed.items()}
    return hashes | {key: float(np.abs(density.arrays[key]).mean()) for key in OPTIMISED if key in density.arrays}


def _digits(array):
    return [np.shape(array), [f"{x + 0.0:.6e}" for x in np.ravel(np.asarray(array, float)).tolist()]]


@pytest.mark.parametrize("name", STUDIED)
def test_the_density_is_the_one_that_was_recorded(name):
    recorded = json.loads(GOLDEN.read_text())[name]
    sizes = {key: pytest.approx(recorded[key], rel=1e-3) for key in OPTIMISED if key in recorded}
    assert golden(name) == recorded | sizes


@pytest.fixture
def barely_optimised():
    """JAX, whose compiler leaves out most of its optimisations, for functions that are called once or twice."""
    jax = pytest.importorskip("jax", reason="JAX is not installed")
    jax.config.update("jax_disable_most_optimizations", True)
    yield jax
    jax.config.update("jax_disable_most_optimizations", False)


@pytest.mark.parametrize("name", STUDIED)
def test_the_compiled_density_and_gradient_are_those_of_jax(name, barely_optimised):
    from bayescaling.inference.samplers.numpyro import potential

    jax, rng = barely_optimised, np.random.default_rng(2)
    density, _, evaluate = prepared(name)
    centre = flat(density.start)
    with jax.enable_x64(True):
        of_jax = jax.jit(jax.value_and_grad(potential(density)))
        for _ in range(2):
            z = centre + rng.uniform(-0.3, 0.3, len(centre))
            value, slopes = of_jax(z)
            value_compiled, gradient = evaluate(z, density)
            assert value_compiled == pytest.approx(-float(value), rel=1e-10)
            np.testing.assert_allclose(gradient, -np.asarray(slopes), rtol=1e-8, atol=1e-9 * np.abs(gradient).max())


@quiet
@pytest.mark.thorough
@pytest.mark.parametrize("name", STUDIED)
def test_numpyro_samples_the_same_density(name):
    pytest.importorskip("numpyro", reason="NumPyro is not installed")
    law, table, options = STUDIED[name], table_for(name), {"draws": 300, "tune": 500, "chains": 2, "seed": 1}
    fitters = {sampler: bs.Fitter(law, table, sampler=sampler) for sampler in ("nutpie", "numpyro")}
    log_densities = {
        sampler: fitter.sample(least_ess=0, **options).sample_stats["lp"] for sampler, fitter in fitters.items()
    }
    ours, others = log_densities.values()
    error = np.sqrt(sum(float(x.std()) ** 2 / float(azs.ess(x.to_dataset(name="lp"))["lp"]) for x in (ours, others)))
    assert float(ours.mean()) == pytest.approx(float(others.mean()), abs=5 * error)
    assert float(ours.std()) == pytest.approx(float(others.std()), rel=0.5)


@pytest.fixture(scope="module", params=list(STUDIED))
def studied(request):
    """A law with its fitter and a short fit with every group, compiled once for all tests of this file."""
    law = STUDIED[request.param]
    predictive = {"prior_predictive": True, "posterior_predictive": True}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bs.DiagnosticWarning)
        fitter = bs.Fitter(law, table_for(request.param))
        if law.upstream:
            fit = bs.fit(law, fitter.table, seed=1, **predictive, **SHORT)
        else:
            settings = SHORT | LONGER.get(request.param, {})
            fit = fitter.fit(seed=1, least_ess=0, **predictive, **settings)
    return fitter, fit


def test_fit_has_the_groups_of_arviz(studied):
    fitter, fit = studied
    law, dimension = fitter.law, KINDS[fitter.law.kind].dimension
    assert set(fit.tree.children) == {
        *("posterior", "unconstrained_posterior", "sample_stats", "log_likelihood", "log_prior", "observed_data"),
        *("constant_data", "posterior_predictive", "prior", "prior_predictive"),
    }
    for group in ("posterior", "log_likelihood", "log_prior", "prior"):
        assert all(np.isfinite(x).all() for x in fit[group].data_vars.values()), group
    assert fit["log_likelihood"][law.scale].dims == ("chain", "draw", law.unit)
    for group in ("posterior_predictive", "prior_predictive"):
        assert fit[group][law.scale].dims == ("chain", "draw", dimension)
        assert fit[group].sizes[dimension] == fit["observed_data"].sizes[dimension] == len(fitter.rows)
    assert isinstance(fit.diagnostics["ok"], bool)


def test_posterior_predictive_is_near_what_was_observed(studied):
    fitter, fit = studied
    law = fitter.law
    predicted = fit["posterior_predictive"][law.scale].median(("chain", "draw")).values
    assert np.corrcoef(predicted, fit["observed_data"][law.scale].values)[0, 1] > 0.6


def test_the_table_and_the_draws_come_back_from_a_file(studied, tmp_path):
    fitter, fit = studied
    fit.save(tmp_path / "fit.nc")
    opened = bs.open(tmp_path / "fit.nc")
    assert opened.record == fit.record
    for group, node in fit.tree.children.items():
        xr.testing.assert_equal(opened[group].to_dataset(), node.to_dataset())
    assert opened.rows.equals(fitter.rows)
    assert opened.law.label == fitter.law.label
    named = opened.draws.named()
    for name, x in fit["posterior"].data_vars.items():
        np.testing.assert_array_equal(named[name].values, x.values)


def test_the_real_line_and_back(studied):
    _, fit = studied
    draws = fit.draws
    again = draws.from_real_line(draws.real_line())
    assert draws.real_line().sizes["coordinate"] == len(np.unique(draws.real_line()["coordinate"]))
    named = flatten(again.named())
    for name, x in flatten(draws.named()).items():
        np.testing.assert_allclose(named[name], x, rtol=1e-7, atol=1e-9)
    assert np.isfinite(again.log_density()).all()


@quiet
def test_leave_one_out(studied):
    fitter, fit = studied
    result = importance_sampling(fit)
    assert np.isfinite(result.elpd)
    np.testing.assert_allclose(result.elpd, result.elpd_i.sum())
    assert result.n_data_points == fit["log_likelihood"].sizes[fitter.law.unit]


@quiet
def test_entry_of_results_json(studied):
    fitter, fit = studied
    entry = json.loads(to_json(fit_entry(fit, high_k="none")))
    assert entry["rows"] == len(fitter.rows)
    assert set(flatten(fit["posterior"].to_dataset())) == set(entry["parameters"])
    assert all(q["q2.5"] <= q["q50"] <= q["q97.5"] for q in entry["parameters"].values())
    assert all(e["robust_sd"] >= 0 for e in entry["robust"].values())
    assert entry["verdict"]["verdict"] in ("fits", "off", "does not fit")


@quiet
def test_a_summary_says_what_can_be_quoted(studied, request):
    fitter, fit = studied
    if request.node.callspec.params["studied"] not in SUMMED:
        pytest.skip("a summary is the same for all laws of a kind")
    summary = fit.summary()
    assert summary.ok == fit.diagnostics["ok"] and bool(summary.quote) <= summary.ok
    assert set(summary.table.index) == set(flatten(fit["posterior"].to_dataset()))
    assert (summary.table["q2.5"] <= summary.table["q97.5"]).all()
    text = " ".join(str(summary).split())
    assert text.startswith(f"{fitter.law.label} on {len(fitter.rows):,} rows of ")
    assert as_sentence(summary.verdict) in text
    assert len(summary.text().table) <= len(summary.table)


def test_functions_of_arviz_take_a_fit_as_it_is(studied):
    fitter, fit = studied
    name, scale = next(iter(fit["posterior"].data_vars)), fitter.law.scale
    assert len(azs.summary(fit.tree, var_names=[name]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that Pareto k is high, or that chains of 150 draws are short
        assert np.isfinite(azs.loo(fit.tree, var_name=scale).elpd)
        assert float(azs.rhat(fit.tree, var_names=[name])[name].min()) > 0.9
        assert float(azs.eti(fit.tree, var_names=[name])[name].isnull().sum()) == 0


@pytest.mark.filterwarnings("ignore:In a future version of xarray:FutureWarning")  # of how arviz_plots calls it
@pytest.mark.parametrize("plot", ["plot_forest", "plot_dist", "plot_trace", "plot_prior_posterior"])
def test_plots_of_arviz_take_a_fit_as_it_is(studied, plot):
    fit = studied[1].tree
    if plot == "plot_prior_posterior":  # which has a dimension "group" itself
        fit = fit.map_over_datasets(lambda part: part.rename(group="level") if "group" in part.dims else part)
    name = next(iter(fit["posterior"].data_vars))
    drawn = getattr(azp, plot)(fit, var_names=[name], backend="none")
    assert "plot" in drawn.viz.children or len(drawn.viz.data_vars)


def test_predictive_plots_of_arviz_take_a_fit_as_it_is(studied):
    _, fit = studied
    assert azp.plot_ppc_dist(fit.tree, kind="ecdf", num_samples=20, backend="none").viz.children


@quiet
def test_a_refit_without_a_unit_agrees_with_importance_sampling(studied):
    fitter, fit = studied
    if fitter.law.upstream:
        pytest.skip("a cut has no refit of its own")
    result = importance_sampling(fit)
    safest = int(result.pareto_k.values.argmin())
    exact = exact_loo(fit, [safest], seed=2, **SHORT)
    assert exact["refitted"].values.tolist() == [i == safest for i in range(exact["refitted"].size)]
    error = 5 * float(exact["elpd_se"][safest]) + 0.05 * abs(float(exact["elpd"][safest])) + 0.1
    assert float(exact["elpd"][safest]) == pytest.approx(float(result.elpd_i[safest]), abs=error)


@quiet
def test_sensitivity_of_anything_to_the_prior(studied):
    _, fit = studied
    name, draws = next(iter(flatten(fit["posterior"].to_dataset()).items()))
    sensitivity = power_scaling(fit, {name: xr.DataArray(draws, dims=("chain", "draw"))})[name]
    assert np.isfinite([sensitivity["prior"], sensitivity["likelihood"]]).all()
    table = prior_driven(fit, draws=500)
    assert (table["prior"] > 0).all()
    assert name in set(table["coefficient"])


@quiet
def test_standard_errors_that_do_not_trust_the_law(studied):
    fitter, fit = studied
    scalars = flatten(fit["posterior"].to_dataset())
    # Tasks and priors decide where horizons lie; what the models inform is how fast these grow.
    name = "yearly_gain" if fitter.law.name == "horizons" else next(iter(scalars))
    quantity = xr.DataArray(scalars[name], dims=("chain", "draw"))
    shared = {"paper_effects": "paper_id", "run_effects": "run_id", "size_effects": "size_id"}
    dims = [name for option, name in shared.items() if getattr(fitter.law, option, False)]
    dims += ["model"] if fitter.law.integrates else []
    dims += [fitter.law.groups] if fitter.law.name == "trend" and fitter.law.groups else []
    grouped = densities.selected(fit).exchangeable()
    assert (fitter.law.unit if grouped is None else grouped.dims[-1]) == (*dims, fitter.law.unit)[0]
    table = fit.robust_sd(quantity)
    units = len(densities.units(fit)) if grouped is None else grouped.shape[-1]
    assert table.loc["unit", "clusters"] == units
    np.testing.assert_allclose(table["posterior_sd"], quantity.std(ddof=1))
    assert ((table["ratio"] > 0.1) & (table["ratio"] < 10)).all(), name


@quiet
def test_calibration_simulates_and_fits_again(studied):
    fitter, _ = studied
    if fitter.law.upstream:
        with pytest.raises(bs.InputError, match="no one posterior"):
            bs.calibrate(fitter.law, fitter.table, simulations=2)
        return
    table = bs.calibrate(fitter.law, fitter.table, simulations=2, seed=3, fitter=fitter, **SIMULATED)
    assert table.sizes["simulation"] == 2
    assert np.isfinite(table["truth"]).all() and (table["sd"] > 0).all()
    # Both truths and medians stand for the same quantities.
    assert float((abs(table["median"] - table["truth"]) / table["sd"].mean("simulation")).median()) < 3
    assert "log_likelihood" in table["quantity"].values


def test_a_law_with_an_optimum_gives_it_and_others_refuse(studied):
    fitter, fit = studied
    law = fitter.law
    if law.kind != "runs" or law.name in ("configurations", "task-error"):
        with pytest.raises(bs.InputError, match="no compute-optimal size"):
            fit.allocate(1e21)
        return
    planned = {"group": "odd"} if "group" in law.planned else {}
    quoted, alone = (
        fit.allocate([1e21, 1e22], **planned, **what) for what in ({}, {"beyond": "none", "robust": False})
    )
    assert np.isfinite(quoted["loss"]).all() and np.isfinite(alone["loss"]).all()
    # Of each draw the law's loss falls; the drift of a draw may outweigh that beyond the runs.
    assert (alone["loss"].diff("compute") < 0).all()


def test_laws_are_tested_against_their_rows(studied):
    fitter, fit = studied
    tests = fit.law_tests()
    assert tests["p"].between(0, 1).all() and tests["statistic"].notna().all()
    assert ("loo_pit" in tests.index) == fitter.law.unit_is_row
    assert (tests["size"].dropna() >= 0).all()
    assert ("score" in tests.index) == (fitter.law.wider is not None)


def test_laws_of_runs_predict_runs_not_made(studied):
    fitter, fit = studied
    if fitter.law.kind != "runs":
        with pytest.raises(bs.InputError, match="need a law such as"):
            fit.predict(fitter.rows)
        return
    losses = fit.predict(fitter.rows.head(4), noise=False)["loss"]
    assert losses.dims == ("chain", "draw", "run")
    assert np.isfinite(losses).all()


if __name__ == "__main__":
    GOLDEN.write_text(json.dumps({name: golden(name) for name in STUDIED}, indent=1) + "\n")
