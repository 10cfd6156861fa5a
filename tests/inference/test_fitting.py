import json

import arviz_stats as azs
import bayescaling as bs
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from bayescaling.datasets import sha256
from bayescaling.inference.checks import chains
from bayescaling.inference.samplers.choose import compiled
from bayescaling.inference.samplers.pymc import ModelProgram
from bayescaling.inference.settings import Settings
from bayescaling.models.backend import pymc
from bayescaling.models.loss import chinchilla
from scipy import stats

SAMPLED = (
    *("loss_centre", "reducible_share", "parameter_share", "alpha", "beta"),
    *("sigma", "nu_minus_one", "sigma_parameters", "sigma_tokens"),
)
SHORT = {"draws": 500, "tune": 500, "chains": 2}


def posterior(fit):
    return fit["posterior"].to_dataset()


def assert_same_posterior(one, other, names=SAMPLED):
    """Means agree within four Monte-Carlo standard errors, sds within eight: theirs are up to twice ArviZ's by NUTS."""
    for name in names:
        for method, statistic, most in (("mean", np.mean, 4), ("sd", np.std, 8)):
            errors = [float(azs.mcse(p[[name]], method=method)[name]) for p in (one, other)]
            difference = float(statistic(one[name].values) - statistic(other[name].values))
            assert abs(difference) < most * np.hypot(*errors), f"{method} of {name}"


def test_default_fit_of_the_chinchilla_runs(fit_default):
    diagnostics = fit_default.diagnostics
    assert diagnostics["ok"]
    assert diagnostics["warnings"] == []
    assert diagnostics["divergences"] == 0
    assert diagnostics["r_hat_max"] < 1.01
    assert diagnostics["ess_bulk_min"] > 1000
    draws = posterior(fit_default)
    assert dict(draws.sizes) == {"chain": 4, "draw": 1000}
    result = fit_default.loo()
    assert float(result.elpd) == pytest.approx(865.8, abs=1)
    assert float(result.pareto_k.max()) < 0.7


def test_one_scatter_gives_the_constants_of_the_literature(fit_one_sigma):
    draws = posterior(fit_one_sigma)
    for name, mean, sd in (("alpha", 0.342, 0.010), ("beta", 0.362, 0.010), ("E", 1.804, 0.016)):
        assert float(draws[name].mean()) == pytest.approx(mean, abs=0.0015), name
        assert float(draws[name].std()) == pytest.approx(sd, rel=0.12), name
    assert float(fit_one_sigma.loo().elpd) == pytest.approx(852, abs=1)


def test_stored_diagnostics_are_those_of_arviz(fit_default):
    diagnostics, draws = fit_default.diagnostics, posterior(fit_default)
    assert diagnostics["r_hat_max"] == pytest.approx(max(float(v) for v in azs.rhat(draws).values()))
    for kind, options in (("bulk", {}), ("tail", {"prob": (0.05, 0.95)})):
        least = min(float(v) for v in azs.ess(draws, method=kind, **options).values())
        assert diagnostics[f"ess_{kind}_min"] == pytest.approx(least)
    assert diagnostics["divergences"] == int(fit_default["sample_stats"]["diverging"].sum())


@pytest.mark.newer
@pytest.mark.parametrize("sampler", ["numpyro", pytest.param("pymc", marks=pytest.mark.thorough)])
def test_samplers_agree(fit_default, runs, sampler):
    if sampler == "numpyro":
        pytest.importorskip("numpyro", reason="NumPyro is not installed")
    fitter = bs.Fitter(bs.laws.Chinchilla(), runs, sampler=sampler)
    fit = fitter.fit(runs, seed=3, cores=1, tune=500, chains=2)
    assert fit.record["sampler"] == sampler
    assert fit.diagnostics["ok"]
    assert_same_posterior(posterior(fit), posterior(fit_default))
    for name in ("diverging", "acceptance_rate", "n_steps"):
        assert dict(fit["sample_stats"][name].sizes) == {"chain": 2, "draw": 1000}


def test_tables_of_one_law_share_a_compiled_program(fitter, runs):
    half = runs.iloc[::2].reset_index(drop=True)
    other = bs.Fitter(bs.laws.Chinchilla(), half)
    assert other.compiled() is bs.Fitter(fitter.law, runs).compiled()
    assert other.reference != fitter.reference
    assert bs.laws.Chinchilla(priors={"alpha": "LogNormal(-1, 0.5)"}) != other.law
    # What refers to a table is data of the program too: a program of this table's own finds the same.
    density = other.density()
    alone = compiled(other.law, half, other.reference, density, "nutpie").sample(density, Settings(), 6)[0]
    assert_same_posterior(posterior(other.fit(seed=6)), alone)
    with pytest.raises(bs.InputError, match="no finite loss"):
        bs.Fitter(bs.laws.Chinchilla(priors={"alpha": "LogNormal(8, 0.1)"}), half).compiled()


def test_noise_free_runs_give_the_truth_back(fitter, simulated, truth, reference):
    draws = posterior(fitter.fit(simulated(1, sigma=1e-5, nu_minus_one=30.0), seed=1))
    for name in ("loss_centre", "reducible_share", "parameter_share", "alpha", "beta"):
        assert float(draws[name].mean()) == pytest.approx(truth[name], rel=1e-3), name
        assert float(draws[name].std()) < 1e-3 * truth[name], name
    constants = fitter.law.constants(truth, reference)
    for name, rel in (("E", 1e-4), ("A", 1e-2), ("B", 1e-2), ("exponent_parameters", 1e-3)):
        assert float(draws[name].mean()) == pytest.approx(float(constants[name]), rel=rel), name
    assert float(draws["sigma"].mean()) == pytest.approx(1e-5, rel=0.2)


@pytest.mark.thorough
def test_intervals_cover_the_truth_as_often_as_they_say(fitter, simulated, truth, quiet):
    fits = [posterior(fitter.fit(simulated(100 + i), seed=i, **SHORT)) for i in range(24)]
    for name in SAMPLED:
        ranks = np.array([float((draws[name] < truth[name]).mean()) for draws in fits])
        covered = int(((ranks > 0.05) & (ranks < 0.95)).sum())
        assert covered >= stats.binom.ppf(1e-3, len(fits), 0.9), name
        assert stats.kstest(ranks, "uniform").pvalue > 1e-3, name


@pytest.mark.thorough
def test_scatter_is_told_from_reading_error(fitter_reading_error, truth, runs, quiet):
    coarse = runs.assign(loss_halfwidth=0.03)
    law = fitter_reading_error.law
    at = {name: truth[name] for name in law.prior_of} | {"sigma": 0.01}
    read = coarse.assign(loss=law.simulate(at, coarse, np.random.default_rng(2)))
    draws = posterior(fitter_reading_error.fit(read, seed=2, **SHORT))
    for name, x in at.items():
        place = float((draws[name] < x).mean())
        assert 0.001 < place < 0.999, name
    # If the reading error were not separate, the scatter would be about 0.02.
    assert float(draws["sigma"].quantile(0.999)) < 0.016


def test_simulated_losses_scatter_as_the_noise_says(fitter, runs, truth, reference):
    values = {name: np.full(200, x) for name, x in truth.items()}
    losses = fitter.law.simulate(values, runs, np.random.default_rng(0))
    assert losses.shape == (200, 245)
    constants = {k: v for k, v in fitter.law.constants(truth, reference).items() if k != "exponent_parameters"}
    residual = np.log(losses) - np.log(chinchilla.loss(runs["parameters"].values, runs["tokens"].values, **constants))
    assert stats.kstest(residual.ravel() / truth["sigma"], stats.t(1 + truth["nu_minus_one"]).cdf).pvalue > 0.01


@pytest.mark.newer
def test_refit_on_fewer_rows_is_the_fit_of_a_model_built_for_them(fitter, runs, reference):
    half = runs.iloc[::2]
    refit = posterior(fitter.fit(half, seed=5))
    model = ModelProgram(fitter.law.model(half, reference), "nutpie")
    built = model.sample(fitter.density(rows=half), Settings(), 6)[0]
    assert_same_posterior(refit, built)


def test_the_same_seed_gives_the_same_draws(fitter, fit_default, runs, quiet):
    fitter.fit(runs.iloc[:100], seed=9, **SHORT)
    again = posterior(fitter.fit(runs, seed=1))
    assert again.equals(posterior(fit_default))
    other = posterior(fitter.fit(runs, seed=2, **SHORT))
    assert not other["alpha"].equals(again["alpha"])


@pytest.mark.thorough
def test_pymc_sampler_refits_and_returns_to_its_first_rows(runs, quiet):
    few, rows = {"draws": 50, "tune": 50, "chains": 1, "cores": 1, "seed": 4}, runs.iloc[:40]
    fitter = bs.Fitter(bs.laws.Chinchilla(), rows, sampler="pymc")
    first = fitter.fit(rows, **few)
    second = fitter.fit(runs.iloc[40:100], **few)
    assert second["log_likelihood"].sizes["run"] == 60
    assert posterior(fitter.fit(rows, **few)).equals(posterior(first))
    assert not posterior(second).equals(posterior(first))


def test_derived_quantities_follow_draw_by_draw(fit_default, reference):
    draws = posterior(fit_default)
    reducible = draws["loss_centre"] * draws["reducible_share"]
    at_parameters = reducible * draws["parameter_share"]
    expected = {
        "E": draws["loss_centre"] - reducible,
        "A": at_parameters * reference["reference_parameters"] ** draws["alpha"],
        "B": (reducible - at_parameters) * reference["reference_tokens"] ** draws["beta"],
        "exponent_parameters": draws["beta"] / (draws["alpha"] + draws["beta"]),
        "nu": 1 + draws["nu_minus_one"],
    }
    assert set(draws.data_vars) == {*SAMPLED, *expected, "sigma_smallest_run", "sigma_largest_run"}
    for name, values in expected.items():
        np.testing.assert_allclose(draws[name], values, rtol=1e-11, err_msg=name)


def test_groups_hold_the_data_and_predictions(fit_default, runs):
    np.testing.assert_array_equal(fit_default["observed_data"]["log_loss"], np.log(runs["loss"]))
    numbers = runs.select_dtypes("number").columns
    assert set(fit_default["constant_data"].data_vars) == {*numbers} and len(numbers) > 4
    for column in numbers:
        np.testing.assert_array_equal(fit_default["constant_data"][column], runs[column])
    replicated = fit_default["posterior_predictive"]["log_loss"]
    assert dict(replicated.sizes) == {"chain": 4, "draw": 1000, "run": 245}
    below = (replicated < fit_default["observed_data"]["log_loss"]).mean(("chain", "draw")).values
    assert 0.8 < ((below > 0.05) & (below < 0.95)).mean() <= 1
    prior = fit_default["prior"].to_dataset()
    shares = (np.arange(100_000) + 0.5) / 100_000
    for name, belief in bs.laws.Chinchilla().prior_of.items():
        assert stats.kstest(prior[name].values.ravel(), belief.quantile(shares)).pvalue > 1e-3, name
    assert dict(fit_default["prior_predictive"]["log_loss"].sizes) == {"chain": 1, "draw": 1000, "run": 245}


@pytest.mark.parametrize("noise", ["student_t", "normal"])
def test_groups_hold_the_density_that_was_sampled(noise, request):
    fit = request.getfixturevalue({"student_t": "fit_default", "normal": "fit_normal"}[noise])
    draws, priors = posterior(fit), fit.law.prior_of
    assert set(fit["log_prior"].data_vars) == set(priors)
    for name, prior in priors.items():
        np.testing.assert_allclose(fit["log_prior"][name], prior.log_density(draws[name]), err_msg=name)
    z = fit["unconstrained_posterior"]["z"]
    assert z.sizes == {"chain": 4, "draw": draws.sizes["draw"], "coordinate": len(priors)}
    density = fit["log_likelihood"]["log_loss"].sum("run") + sum(fit["log_prior"].data_vars.values())
    for name, prior in priors.items():
        at, slope = prior.from_unconstrained(z.sel(coordinate=name).values)
        np.testing.assert_allclose(at, draws[name], rtol=1e-10, err_msg=name)
        density = density + slope
    np.testing.assert_allclose(density, fit["sample_stats"]["lp"], rtol=1e-9)


@pytest.mark.thorough
def test_a_law_of_progress_predicts_on_request(progress_fitter, evaluations, quiet):
    law = bs.laws.Progress(7)
    fit = progress_fitter.fit(law=law, seed=1, prior_predictive=True, posterior_predictive=True, least_ess=0, **SHORT)
    replicated, observed = (fit[group][law.scale] for group in ("posterior_predictive", "observed_data"))
    assert replicated.sizes == {"chain": 2, "draw": 500, "evaluation": 231}
    np.testing.assert_allclose(observed, law.on_scale(evaluations["perplexity"].to_numpy()))
    below = (replicated < observed).mean(("chain", "draw")).values
    assert 0.8 < ((below > 0.05) & (below < 0.95)).mean() <= 1
    named = fit["posterior"].to_dataset()
    centre = law.on_scale(np.exp(fit.draws.mean()))
    assert float(((replicated - centre) ** 2 / named["sigma"] ** 2).mean()) == pytest.approx(1, abs=0.02)
    assert fit["prior_predictive"][law.scale].sizes == {"chain": 1, "draw": 500, "evaluation": 231}
    assert set(fit["prior"].data_vars) == set(named.data_vars)


def test_metadata_says_what_the_fit_was(fit_default, runs, reference):
    record = fit_default.record
    assert json.loads(json.dumps(record, allow_nan=False)) == record
    assert record["law"] == {"name": "chinchilla", "options": bs.laws.Chinchilla().options, "reference": reference}
    assert fit_default.law == bs.laws.Chinchilla()
    assert record["priors"]["alpha"] == "LogNormal(-1.2, 0.7)"
    assert set(record["priors"]) == set(SAMPLED)
    assert record["data"] == {"sha256": sha256(runs), "rows": 245, "source": "chinchilla_runs"}
    assert sha256(fit_default.rows) == sha256(runs)
    assert (record["seed"], record["sampler"]) == (1, "nutpie")
    assert record["settings"] == {"draws": 1000, "tune": 1000, "chains": 4, "target_accept": 0.9}
    assert {"bayescaling", "python", "pymc", "nutpie", "numpy"} <= set(record["versions"])
    assert record["seconds"]["sample"] > 0
    assert record["diagnostics"] == fit_default.diagnostics


def test_options_and_priors_reach_the_posterior(runs, quiet):
    law = bs.laws.Chinchilla(noise="normal", scale="loss", scatter="one", priors={"alpha": "Uniform(0.5, 0.6)"})
    fit = bs.fit(law, runs, draws=200, tune=300, chains=2)
    assert fit.law == law
    assert float(posterior(fit)["alpha"].min()) > 0.5
    assert float(posterior(fit)["alpha"].max()) < 0.6
    np.testing.assert_array_equal(fit["observed_data"]["loss"], runs["loss"])
    assert 0 <= fit.record["seed"] < 2**31


def test_priors_of_a_call_replace_those_of_the_law(runs, quiet):
    options, short = {"noise": "normal", "scatter": "one"}, {"seed": 1, "draws": 200, "tune": 300, "chains": 2}
    priors = {"alpha": "Uniform(0.5, 0.6)", "beta": "LogNormal(-1, 0.5)"}
    expected = bs.fit(bs.laws.Chinchilla(**options, priors=priors), runs, **short)
    law = bs.laws.Chinchilla(**options, priors={"alpha": "HalfNormal(1)", "beta": "LogNormal(-1, 0.5)"})
    fit = bs.fit(law, runs, priors={"alpha": pymc().Uniform.dist(0.5, 0.6)}, **short)
    assert fit.law == expected.law
    assert posterior(fit).equals(posterior(expected))


@pytest.mark.newer
def test_a_fit_that_did_not_converge_says_so(fitter, runs):
    with pytest.warns(bs.DiagnosticWarning, match="^chinchilla: did not converge: .*bulk ESS falls to"):
        fit = fitter.fit(runs, seed=1, draws=20, tune=5)
    diagnostics = fit.diagnostics
    assert not diagnostics["ok"]
    assert any("draw more" in sentence for sentence in diagnostics["warnings"])
    with pytest.warns(bs.DiagnosticWarning, match="^chinchilla: .*one chain: r_hat cannot be computed"):
        alone = fitter.fit(runs, seed=1, chains=1)
    assert alone.diagnostics["r_hat_max"] is None


@pytest.mark.parametrize(
    ("law", "name"),
    [
        (bs.laws.Chinchilla(), "chinchilla"),
        (bs.laws.Chinchilla(noise="normal", measurement_error=True), "chinchilla, noise=normal, measurement_error"),
        (bs.laws.Chinchilla(priors={"alpha": "LogNormal(-1, 0.5)"}), "chinchilla, prior alpha LogNormal(-1, 0.5)"),
        (bs.laws.Progress(16), "progress-16"),
        (bs.laws.Progress(7, cutoff=2018.0, priors={"share": (0, 1)}), "progress-7, cutoff=2018, prior share (0, 1)"),
        (bs.laws.Progress(bs.laws.Specification("1 + y + n", "1 + y + d")), "progress, 1 + y + n | 1 + y + d"),
    ],
)
def test_a_warning_names_its_fit_in_one_line(law, name):
    draws = xr.Dataset({"alpha": (("chain", "draw"), np.arange(40.0).reshape(2, 20))})
    diagnostics = chains.diagnose_chains(draws, xr.Dataset({"diverging": xr.zeros_like(draws["alpha"])}))
    with pytest.warns(bs.DiagnosticWarning) as warned:
        chains.warn(law, diagnostics)
    assert [str(warning.message) for warning in warned] == [f"{name}: {chains.sentence(diagnostics)}"]
    assert "\n" not in str(warned[0].message)


REFUSALS = [
    ({"drawz": 10}, 'option "drawz" is unknown; did you mean "draws"'),
    ({"draws": 3}, "draws must be a whole number of at least 4, not 3"),
    ({"draws": 10.5}, "draws must be a whole number"),
    ({"draws": 10**12}, "ask for more than 10,000,000 iterations in all; give fewer"),
    ({"tune": 2**63}, "more than 10,000,000 iterations"),
    ({"chains": 10**9}, "more than 10,000,000 iterations"),
    ({"chains": 0}, "chains must be a whole number of at least 1"),
    ({"tune": -1}, "tune must be"),
    ({"cores": 0}, "cores must be"),
    ({"target_accept": 1.0}, "target_accept must lie between 0 and 1"),
    ({"seed": -1}, r"seed must be a whole number from 0 to 2\*\*31 - 1, not -1"),
    ({"seed": 2**31}, "seed must be"),
    ({"seed": 1.5}, "seed must be"),
    ({"priors": {"alfa": "HalfNormal(1)"}}, "prior on 'alfa': it is not known to this law; priors can be set on loss_"),
    ({"priors": "HalfNormal(1)"}, 'priors must be a dict such as {"alpha": .*}, not "HalfNormal'),
    ({"sampler": "stan"}, 'sampler "stan" is unknown'),
    ({"sampler": "nutpy"}, 'did you mean "nutpie"'),
]


@pytest.mark.parametrize(("options", "words"), REFUSALS)
def test_settings_that_cannot_be_are_refused(runs, options, words):
    with pytest.raises(bs.InputError, match=words):
        bs.fit(bs.laws.Chinchilla(), runs, **options)


def test_tables_that_cannot_inform_the_law_are_refused(runs, tmp_path):
    path = tmp_path / "mine.csv"
    runs[["parameters", "tokens", "loss"]].iloc[:5].to_csv(path, index=False)
    with pytest.raises(bs.InputError, match=r"^mine.csv: 5 rows are fewer than the 6 sampled quantities .*; add runs"):
        bs.fit(bs.laws.Chinchilla(), bs.read(path))
    runs.assign(parameters=1e9)[["parameters", "tokens", "loss"]].to_csv(path, index=False)
    with pytest.raises(bs.InputError, match=r"^mine.csv: column 'parameters' is 1e\+09 in every row"):
        bs.fit(bs.laws.Chinchilla(), bs.read(path))
    with pytest.raises(bs.InputError, match='the chinchilla law needs "loss_halfwidth"'):
        bs.fit(bs.laws.Chinchilla(measurement_error=True), runs.drop(columns="loss_halfwidth"))


@pytest.mark.parametrize("law", ["chinchilla", "coupled"])
def test_losses_computed_from_the_law_are_refused_with_its_constants(law):
    random = np.random.default_rng(0)
    sizes = {"parameters": 10 ** random.uniform(7, 9.5, 30), "tokens": 10 ** random.uniform(8.5, 11, 30)}
    loss = 1.8 + 450 / sizes["parameters"] ** 0.35 + 2000 / sizes["tokens"] ** 0.37
    with pytest.raises(bs.InputError, match=r"computed, not measured") as caught:
        bs.fit(law, bs.read(pd.DataFrame(sizes | {"loss": loss})), seed=1)
    assert "alpha 0.35, beta 0.37" in str(caught.value) and "E 1.8, A 450, B 2000" in str(caught.value)
    noisy = bs.read(pd.DataFrame(sizes | {"loss": loss * np.exp(1e-4 * random.standard_normal(30))}))
    chosen = bs.laws.Coupled() if law == "coupled" else bs.laws.Chinchilla()
    assert chosen.exact_constants(noisy, chosen.reference(noisy)) is None


def test_one_measured_loss_of_many_shows_that_losses_were_not_computed():
    random, law = np.random.default_rng(0), bs.laws.Chinchilla()
    table = pd.DataFrame(
        {"parameters": 10 ** random.uniform(7, 9.5, 2500), "tokens": 10 ** random.uniform(8.5, 11, 2500)}
    )
    table["loss"] = 1.8 + 450 / table["parameters"] ** 0.35 + 2000 / table["tokens"] ** 0.37
    constants = law.exact_constants(table, law.reference(table))
    assert constants["alpha"] == pytest.approx(0.35) and constants["E"] == pytest.approx(1.8)
    table.loc[1, "loss"] *= 1.01
    assert law.exact_constants(table, law.reference(table)) is None
