import bayescaling as bs
import numpy as np
import pandas as pd
import pytest
import scipy.stats as st
import xarray as xr
from bayescaling.inference.engine import compile_density, flat
from bayescaling.models.scores.draws import ScoresDraws
from bayescaling.models.scores.noise import END
from scipy.special import expit, logit, logsumexp

LAWS = {
    "no pace": bs.laws.Scores(),
    "break, families": bs.laws.Scores(pace="break", family_effects=True),
    "logit": bs.laws.Scores(noise="logit_t4", pace="linear"),
    "sampled break": bs.laws.Scores(pace="sampled_break"),
    "acceleration": bs.laws.Scores(pace="acceleration", compute_prior="normal"),
    "random walk": bs.laws.Scores(pace="random_walk", version_effects=True),
    "slope by period": bs.laws.Scores(pace="break", slope_by_period=True),
    "t4, ceilings, versions": bs.laws.Scores(pace="linear", scatter="t4", ceilings=True, version_effects=True),
}


@pytest.fixture(params=LAWS)
def prior(request, scores_design):
    """Three draws of the prior of a law, of which the densities are worked out by hand."""
    law = LAWS[request.param]
    rows = law.rows(scores_design.table)
    return law.prior_draws(np.random.default_rng(5), law.reference(rows), rows, 3)


def test_slopes_and_difficulties_are_relative_to_their_means(prior):
    np.testing.assert_allclose(np.log(prior.items.slope).sum(-1), 0, atol=1e-9)
    np.testing.assert_allclose(prior.items.difficulty.sum(-1), 0, atol=1e-9)


def test_the_law_is_a_sigmoid_of_slope_times_capability_less_difficulty(prior):
    named, rows = prior.named(), prior.rows
    model, benchmark = (named[dim].to_index().get_indexer(rows[dim]) for dim in ("model", "benchmark"))
    capability = named["capability"].values[..., model]
    if prior.law.version_effects:
        version = named["version"].to_index().get_indexer(rows["model"] + ": " + rows["version"])
        assert 0 < (version >= 0).sum() < len(version)
        capability = capability + np.where(version >= 0, named["version_effect"].values[..., version], 0)
    eta = named["slope"].values[..., benchmark] * (capability - named["difficulty"].values[..., benchmark])
    ceiling = named["ceiling"].values[..., benchmark] if prior.law.ceilings else 1
    np.testing.assert_allclose(prior.mean().values, ceiling * expit(eta))
    if prior.law.ceilings:
        eta = logit(ceiling * expit(eta))
    if prior.law.noise == "beta":
        precision = 0.25 / named["noise"].values[..., benchmark] ** 2
        score = rows["score"].to_numpy()
        whole = st.beta(precision * expit(eta), precision * expit(-eta))
        with np.errstate(divide="ignore"):
            inner, low, high = whole.logpdf(score), whole.logcdf(END), whole.logsf(1 - END)
        expected = np.where(score <= END, low, np.where(score >= 1 - END, high, inner))
        finite = expected > -600
        np.testing.assert_allclose(prior.log_likelihood().values[finite], expected[finite], rtol=1e-6, atol=1e-6)


def stated_computes(law, models):
    """Mean and sd of the true log compute of each model given the stated one, whose error is a tenth of a decade."""
    stated = np.log(models["training_compute_flop"] / 1e24).to_numpy()
    error, has_compute = np.log(10) * 0.1, np.isfinite(stated)
    if law.compute_prior == "flat":
        return np.nan_to_num(stated), error
    year = models["year"].to_numpy()
    line = np.polynomial.Polynomial.fit(year[has_compute], stated[has_compute], 1)
    spread = np.sqrt(((stated - line(year))[has_compute] ** 2).sum() / (has_compute.sum() - 2) - error**2)
    grid = np.linspace(-12, 12, 20001)
    density = st.norm(line(year)[:, None], spread).pdf(grid) * st.norm(stated[:, None], error).pdf(grid)
    density = density / density.sum(1, keepdims=True)
    mean = (density * grid).sum(1)
    sd = np.sqrt((density * (grid - mean[:, None]) ** 2).sum(1))
    return np.where(has_compute, mean, 0.0), np.where(has_compute, sd, 0.0)


def gained(prior, draw, models):
    """Capability gained at fixed compute from mid-2024 to each model's date, in one draw: the integral of the gain."""
    law, v, year = prior.law, {name: x[0, draw] for name, x in prior.values.items()}, models["year"].to_numpy()
    if law.pace in ("break", "sampled_break"):
        # Counted from the break, wherever it lies.
        date = 2024.37 if law.pace == "break" else float(prior.named()["break_date"].values[0, draw])
        return v["yearly_gain"] * (year - 2024.5) + v["yearly_gain_change"] * np.maximum(year - date, 0)
    step = 1e-4
    grid = np.arange(2021, 2028, step) + step / 2
    gains = prior.gain(grid).values[0, draw]
    integral = np.concatenate([[0], np.cumsum(gains * step)])
    edges = np.append(grid - step / 2, grid[-1] + step / 2)
    return np.interp(year, edges, integral) - np.interp(2024.5, edges, integral)


def test_the_yearly_gain_by_date_is_that_of_the_form(scores_design):
    rows = scores_design.table
    for pace, by_hand in {
        "linear": lambda v, _: [v["yearly_gain"]] * 2,
        "break": lambda v, _: [v["yearly_gain"], v["yearly_gain"] + v["yearly_gain_change"]],
        "acceleration": lambda v, _: [v["yearly_gain"] + v["acceleration"] * x for x in (-1, 1)],
        "random_walk": lambda v, d: [d["yearly_gains"].sel(half_year=x).values for x in (2023.5, 2025.5)],
    }.items():
        law = bs.laws.Scores(pace=pace)
        prior = law.prior_draws(np.random.default_rng(1), law.reference(rows), rows, 4)
        gain = prior.gain([2023.5, 2025.5])
        np.testing.assert_allclose(gain.values, np.stack(by_hand(prior.values, prior.named()), -1))
        assert gain["period"].values.tolist() == [2023.5, 2025.5]
        if pace != "linear":
            np.testing.assert_allclose(prior.gain().values, gain.values)


def test_a_sampled_break_lies_in_the_middle_of_the_dates(scores_design):
    law, rows = bs.laws.Scores(pace="sampled_break"), scores_design.table
    prior = law.prior_draws(np.random.default_rng(1), law.reference(rows), rows, 4000)
    models = rows.drop_duplicates("model")
    low, high = np.quantile(models["year"][models["training_compute_flop"].notna()], [0.1, 0.9])
    dates = prior.named()["break_date"].values.ravel()
    assert st.kstest(dates, st.uniform(low, high - low).cdf).pvalue > 1e-3
    gains = prior.gain([low - 1e-9, high]).values
    np.testing.assert_allclose(gains, prior.gain().values)


def test_the_density_is_that_of_the_priors_the_units_and_the_scores(prior):
    """The normals of benchmarks, models and families written out, with the logs of the slopes of the real line."""
    law, v = prior.law, {name: x[0] for name, x in prior.values.items()}
    expected = prior.log_likelihood().values[0].sum(-1)
    for i, (name, law_prior) in enumerate(law.prior_of.items()):
        expected = expected + law_prior.log_density(v[name]) + law_prior.from_unconstrained(prior.z[0, :, i])[1]
    raw, capability = prior.units[0][0], prior.capability[0]
    sds = [v["log_slope_sd"], v["difficulty_sd"], v["log_noise_sd"]]
    centres = [np.zeros(3), np.zeros(3), v["log_noise_centre"]]
    if law.ceilings:
        sds, centres = [*sds, v["logit_ceiling_sd"]], [*centres, v["logit_ceiling_centre"]]
    sds, centres = (np.stack(x, -1)[:, None, :] for x in (sds, centres))
    expected = expected + st.norm(centres, sds).logpdf(raw).sum((1, 2))
    models = prior.rows.drop_duplicates("model").sort_values("model")
    mean, sd = v["capability_centre"][:, None] + np.zeros(len(models)), v["capability_sd"][:, None]
    if law.pace is not None:
        t = models["year"].to_numpy() - 2024.5
        has_compute = models["training_compute_flop"].notna().to_numpy()
        log_compute, error = stated_computes(law, models)
        slope = v["compute_slope"][:, None]
        if law.slope_by_period:
            slope = np.where(models["year"].to_numpy() >= 2024.37, slope * np.exp(v["log_slope_ratio"])[:, None], slope)
        mean = mean + slope * log_compute + np.stack([gained(prior, i, models) for i in range(3)])
        other = v["unknown_centre"][:, None] + v["unknown_yearly_gain"][:, None] * t
        mean = np.where(has_compute, mean, other)
        sd = np.where(has_compute, np.hypot(sd, slope * error), v["unknown_sd"][:, None])
    if law.family_effects:
        expected = expected + st.norm.logpdf(prior.families[0]).sum(-1)
        mean = mean + prior.named()["family_effect"].sel(family=models["family"].to_list()).values[0]
    if law.pace == "random_walk":
        gains = prior.named()["yearly_gains"].values[0]
        expected = expected + st.norm.logpdf(np.diff(gains) / v["gain_step_sd"][:, None]).sum(-1)
    if law.version_effects:
        units = prior.named()["version_effect"].values[0] / v["version_sd"][:, None]
        expected = expected + st.norm.logpdf(units).sum(-1)
        one = (prior.rows.groupby("model")["version"].nunique() == 1)[models["model"]].to_numpy()
        sd = np.hypot(sd, one * v["version_sd"][:, None])
    scatter = st.t(4, mean, sd) if law.scatter == "t4" else st.norm(mean, sd)
    expected = expected + scatter.logpdf(capability).sum(-1)
    np.testing.assert_allclose(prior.log_density().values[0], expected, rtol=1e-9)


def check_sampled(law, rows, sampled_density):
    """Compare the compiled density with that of the draws, and what is drawn with what is sampled of it."""
    reference = law.reference(rows)
    density, rng = law.density(rows, reference), np.random.default_rng(3)
    z = flat(density.start) + 0.3 * rng.standard_normal(flat(density.start).size)
    assert compile_density(density)(z, density)[0] == pytest.approx(sampled_density(law, rows, z)[0], rel=1e-6)
    prior = law.prior_draws(np.random.default_rng(5), reference, rows, 3)
    units = law._draw_units(prior.values, rows, reference, np.random.default_rng(6))
    of_priors = [law.prior_of[name].to_unconstrained(x)[..., None] for name, x in prior.values.items()]
    sampled = np.concatenate([*of_priors, *(x.reshape(1, 3, -1) for x in units)], axis=-1)
    drawn = ScoresDraws.at_random(law, reference, rows, prior.values, np.random.default_rng(6))
    np.testing.assert_allclose(law.draws(density.named(sampled), rows, reference).z, drawn.z, atol=1e-8)


def test_the_density_of_what_is_sampled_is_that_of_the_draws(prior, sampled_density):
    check_sampled(prior.law, prior.rows, sampled_density)


@pytest.mark.parametrize("seed", [0, 1, 3])
def test_the_density_of_what_is_sampled_of_small_tables_is_that_of_the_draws(seed, small_tables, sampled_density):
    law = bs.laws.Scores()
    check_sampled(law, law.rows(small_tables.scores(seed)[0]), sampled_density)


@pytest.mark.parametrize("options", [{}, {"scatter": "t4", "ceilings": True}])
def test_leaving_a_model_out_integrates_over_its_capability(options, scores_design):
    law = bs.laws.Scores(pace="linear", **options)
    rows = law.rows(scores_design.table)
    reference = law.reference(rows)
    draws = bs.Fitter(law, scores_design.table).sample(seed=1, draws=60, tune=300, chains=2, least_ess=0).draws
    name = "model 05"
    densities = draws.by_group("model").sel(group=name).values
    of_model = rows[rows["model"] == name].reset_index(drop=True)
    place = reference["models"].index(name)
    mean, sd = draws.expected()
    labels = draws.real_line()["coordinate"].values
    grid = draws.capability[..., place].mean() + np.linspace(-4, 4, 4001)
    for draw in (0, 30):
        z = np.where(labels == f"capability[{name}]", grid[:, None], draws.z[0, draw])
        at = law.draws(xr.Dataset({"z": (("chain", "draw", "x"), z[None])}), of_model, reference)
        at_mean = mean[0, draw, place], sd[0, draw, place]
        prior = (st.t(4, *at_mean) if law.scatter == "t4" else st.norm(*at_mean)).logpdf(grid)
        exact = logsumexp(at.log_likelihood().values[0].sum(-1) + prior) + np.log(grid[1] - grid[0])
        assert densities[0, draw] == pytest.approx(exact, abs=1e-3 if law.scatter == "t4" else 1e-5)


@pytest.mark.parametrize("spread", [None, 0.01])
def test_leaving_a_model_out_integrates_over_each_of_its_versions(spread, scores_design):
    """Against fine grids of the capability and of the version's given it, of a spread between versions small too."""
    law = bs.laws.Scores(version_effects=True)
    rows = law.rows(scores_design.table)
    reference = law.reference(rows)
    draws = bs.Fitter(law, rows).sample(seed=1, draws=60, tune=300, chains=2, least_ess=0).draws
    name = "model 04"
    labels = draws.real_line()["coordinate"].values
    if spread is not None:
        draws.z[..., labels == "version_sd"] = np.log(spread)
        draws = law.draws(xr.Dataset({"z": (("chain", "draw", "x"), draws.z)}), rows, reference)
    densities = draws.by_group("model").sel(group=name).values
    of_model = rows[rows["model"] == name].reset_index(drop=True)
    place = reference["models"].index(name)
    grid = draws.capability[..., place].mean() + np.linspace(-5, 5, 2001)
    step = np.log(grid[1] - grid[0])
    mean, sd = draws.expected()
    resolved = np.flatnonzero(draws.values["version_sd"][0] > np.exp(step))  # by the grid
    for draw in resolved[[0, len(resolved) // 2]]:
        density = st.norm(mean[0, draw, place], sd[0, draw, place]).logpdf(grid)
        for version in ("a", "b"):
            z = np.where(labels == f"capability[{name}]", grid[:, None], draws.z[0, draw])
            z[:, labels == f"version[{name}: {version}]"] = 0
            of_version = of_model[of_model["version"] == version].reset_index(drop=True)
            at = law.draws(xr.Dataset({"z": (("chain", "draw", "x"), z[None])}), of_version, reference)
            likelihood = at.log_likelihood().values[0].sum(-1)
            spread = st.norm(0, draws.values["version_sd"][0, draw]).logpdf(grid - grid[:, None])
            density = density + logsumexp(likelihood + spread, axis=1) + step
        assert densities[0, draw] == pytest.approx(logsumexp(density) + step, abs=3e-3)


def test_groups_of_models_are_the_sum_of_theirs(scores_design):
    law = bs.laws.Scores(pace="linear")
    rows = law.rows(scores_design.table)
    prior = law.prior_draws(np.random.default_rng(2), law.reference(rows), rows, 5)
    by_model, by_family = prior.by_group("model"), prior.by_group("family")
    of = rows.drop_duplicates("model").set_index("model")["family"][by_model["group"].values]
    summed = by_model.assign_coords(group=of.to_numpy()).groupby("group").sum()
    np.testing.assert_allclose(by_family.sel(group=summed["group"]).values, summed.values)


def test_models_that_were_not_fitted_meet_the_benchmarks_as_they_were(scores_design):
    law, rows = bs.laws.Scores(pace="linear"), scores_design.table
    prior = law.prior_draws(np.random.default_rng(2), law.reference(rows), rows, 5)
    later = rows[rows["benchmark"] == "test 1"].assign(model=lambda t: t["model"] + ", later", year=2027.0)
    unseen = prior.of_unseen(later.reset_index(drop=True), np.random.default_rng(3)).named()
    for name in ("slope", "difficulty", "noise"):
        xr.testing.assert_equal(unseen[name], prior.named()[name])


def test_a_score_at_an_end_says_only_that_it_is_there(scores_design):
    law, rows = bs.laws.Scores(), scores_design.table
    prior = law.prior_draws(np.random.default_rng(2), law.reference(rows), rows, 5)
    low, same = (rows.assign(score=np.where(rows["score"] <= END, x, rows["score"])) for x in (0.0, 0.004))
    np.testing.assert_array_equal(prior.log_likelihood(low), prior.log_likelihood(same))


def test_a_compute_counts_as_sure_as_it_is_stated(scores_design):
    law, table = bs.laws.Scores(pace="linear", compute_errors=(0.1, 0.3, 0.7)), scores_design.table
    stated = table.assign(
        compute_confidence=table["compute_confidence"].where(table["model"] != "model 00", "Speculative")
    )
    stated.loc[stated["model"] == "model 01", "compute_confidence"] = None
    reference = law.reference(stated)
    assert reference["compute_error"][0] is None and reference["log_compute"][0] is None
    np.testing.assert_allclose(reference["compute_error"][1:3], np.log(10) * np.array([0.3, 0.1]))
    assert bs.laws.Scores(pace="linear", speculative=True).reference(stated)["compute_error"][0] == np.log(10) * 0.7


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"noise": "normal"}, "choose one of beta, logit_t4"),
        ({"scatter": "cauchy"}, "choose one of normal, t4"),
        ({"ceilings": 1}, "ceilings must be true or false"),
        ({"version_effects": None}, "version_effects must be true or false"),
        ({"pace": "quadratic"}, "choose one of None, linear, break, sampled_break, acceleration, random_walk"),
        ({"slope_by_period": True, "pace": "linear"}, "needs pace='break', whose periods it is by, not pace='linear'"),
        ({"slope_by_period": 1}, "slope_by_period must be true or false"),
        ({"compute_prior": "normal"}, "needs capability by compute and date; set pace='linear' or 'break'"),
        ({"compute_prior": "sharp", "pace": "linear"}, "choose one of flat, normal"),
        ({"compute_errors": (0.1, 0.3)}, "three positive numbers"),
        ({"compute_errors": (0.1, 0.3, 0)}, "three positive numbers"),
        ({"break_year": "2024"}, "must be a year such as 2024.37"),
        ({"family_effects": True}, "set pace='linear' or 'break'"),
        ({"speculative": 1}, "must be true or false"),
        ({"priors": {"compute_slope": "Normal(0, 1)"}}, "compute_slope lies in"),
        ({"priors": {"yearly_gain": "Normal(0, 1)"}}, "not known to this law"),
    ],
)
def test_options_that_make_no_law_are_refused(options, message):
    if "compute_slope" in options.get("priors", {}):
        options = options | {"pace": "linear"}
    with pytest.raises(bs.InputError, match=message):
        bs.laws.Scores(**options)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t.drop(columns="year"), '"year"'),
        (lambda t: t.assign(year=t["year"].where(t["model"] != "model 03")), "column 'year' is empty in row"),
        (lambda t: t.assign(training_compute_flop=np.nan), "is known of 0 models; pace='linear' needs at least 5"),
        (lambda t: t[t["benchmark"] == "test 0"], "1 benchmarks; the scores law needs at least 2"),
        (lambda t: t[t["model"] < "model 02"], "2 models; the scores law needs at least 3"),
        (lambda t: t.assign(version="a"), "no model has several versions; leave version_effects out"),
        (lambda t: t.drop(columns="version"), 'needs "version"'),
    ],
)
def test_tables_that_cannot_inform_the_law_are_refused(change, message, scores_design):
    with pytest.raises(bs.InputError, match=message):
        bs.laws.Scores(pace="linear", version_effects=True).rows(change(scores_design.table))


def test_the_law_comes_back_from_its_options():
    law = bs.laws.Scores(pace="break", compute_errors=(0.29, 0.61, 0.9), priors={"capability_sd": "HalfNormal(1)"})
    assert bs.models.law("scores", **law.options) == law
    assert pd.Series(law.label).str.contains("compute_errors").all()


# Recovery ------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def fit_linear(scores_design):
    """Fit on three times as many models, whose truth is known."""
    large = type(scores_design)(seed=20, models=48)
    return large, bs.fit(bs.laws.Scores(pace="linear"), large.table, seed=1, draws=600, tune=500, chains=2, check=False)


def test_what_was_simulated_is_recovered(fit_linear):
    design, fit = fit_linear
    posterior = fit["posterior"]
    for name, truth in {
        "capability": design.capability,
        "difficulty": design.difficulty,
        "slope": design.slope,
        "noise": design.noise,
    }.items():
        z = (posterior[name].mean(("chain", "draw")) - truth) / posterior[name].std(("chain", "draw"))
        assert (abs(z) < 4.5).all(), name
        assert float((z**2).mean()) < 3, name
    for name, truth in design.truth.items():
        assert abs(float(posterior[name].mean()) - truth) < 3.5 * float(posterior[name].std()), name
    assert fit.diagnostics["divergences"] == 0


@pytest.mark.filterwarnings("ignore::bayescaling.DiagnosticWarning")  # r_hat near 1.01, which processors decide
@pytest.mark.parametrize(
    ("options", "added"),
    [
        ({"ceilings": True}, {"logit_ceiling_centre": 2.0, "logit_ceiling_sd": 0.7}),
        ({"version_effects": True}, {"version_sd": 0.6}),
        ({"scatter": "t4"}, {}),
    ],
)
def test_what_an_option_adds_is_recovered(options, added, scores_design):
    law, large = bs.laws.Scores(pace="linear", **options), type(scores_design)(seed=20, models=48)
    rows, rng = law.rows(large.table), np.random.default_rng(11)
    spreads = {"difficulty_sd": 2.0, "log_slope_sd": 0.4, "log_noise_centre": -2.7, "log_noise_sd": 0.3}
    truth = large.truth | spreads | added
    known_draws = law.prior_draws(rng, law.reference(rows), rows, truth=truth)
    table = rows.assign(score=known_draws.replicate(rng).values[0, 0])
    posterior = bs.Fitter(law, table).fit(seed=1, draws=300, tune=400, chains=2, least_ess=0)["posterior"]
    for name in (*added, "capability_sd", "compute_slope", "yearly_gain"):
        z = (float(posterior[name].mean()) - truth[name]) / float(posterior[name].std())
        assert abs(z) < 3.5, name
    simulated = known_draws.named().isel(chain=0, draw=0)
    for name in ["capability", *({"ceiling", "version_effect"} & set(simulated))]:
        middle, sd = posterior[name].mean(("chain", "draw")), posterior[name].std(("chain", "draw"))
        assert float((((middle - simulated[name]) / sd) ** 2).mean()) < 3, name
        if name == "version_effect":
            assert np.corrcoef(middle, simulated[name])[0, 1] > 0.4
        if name == "ceiling":
            assert float(sd[int(np.argmin(simulated["difficulty"].values))]) < 0.03


# Numbers of questions -------------------------------------------------------------------------------------------------


def scores_of_questions(noise=0.03, models=20, benchmarks=8, seed=3):
    """Shares of questions that models answer, whose own noise is the same on all benchmarks."""
    rng = np.random.default_rng(seed)
    capability, difficulty = rng.normal(0, 1.2, (models, 1)), rng.normal(0, 1, benchmarks)
    questions = np.resize([20, 60, 300, 2000], benchmarks)
    mean, precision = expit(capability - difficulty), 0.25 / noise**2
    score = rng.binomial(questions, rng.beta(precision * mean, precision * (1 - mean))) / questions
    model, benchmark = (x.ravel() for x in np.indices(score.shape))
    named = {"model": [f"m{i}" for i in model], "benchmark": [f"b{j}" for j in benchmark]}
    return pd.DataFrame(named).assign(score=score.ravel(), items=questions[benchmark])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::bayescaling.DiagnosticWarning")
def test_noise_is_that_besides_the_questions():
    table = scores_of_questions()
    few = table["items"] < 100
    by_items = {}
    for columns in (["items"], []):
        read = bs.read(table[["model", "benchmark", "score", *columns]], kind="scores")
        fit = bs.fit(bs.laws.Scores(), read, seed=1, draws=250, tune=500, chains=2, check=False)
        noise = fit["posterior"]["noise"].median(("chain", "draw")).to_series()
        by_items[bool(columns)] = noise[table[few]["benchmark"].unique()]
    assert by_items[True].between(0.015, 0.05).all() and (by_items[False] > 0.05).all()


def test_what_is_not_known_of_the_questions_changes_nothing():
    table, law = scores_of_questions(), bs.laws.Scores()
    rows = [law.rows(bs.read(x, kind="scores")) for x in (table.drop(columns="items"), table.assign(items=np.nan))]
    draws = law.prior_draws(np.random.default_rng(1), law.reference(rows[0]), rows[0], 5)
    np.testing.assert_allclose(draws.log_likelihood(rows[1]), draws.log_likelihood(rows[0]))
    np.testing.assert_allclose(draws.cdf(rows[1]), draws.cdf(rows[0]))


@pytest.mark.parametrize(("items", "shown"), [(1, "1"), (-5, "-5"), ("many", "many")])
def test_numbers_of_questions_below_two_are_refused(items, shown):
    table = scores_of_questions().astype({"items": object})
    table.loc[2, "items"] = items
    with pytest.raises(bs.InputError, match=f"items.*{shown}") as refused:
        bs.read(table, kind="scores")
    assert "row 2 (counting from 0)" in str(refused.value)


def test_the_header_of_questions_is_recognised():
    table = scores_of_questions().rename(columns={"items": "n_questions"})
    assert bs.read(table, kind="scores")["items"].tolist() == scores_of_questions()["items"].tolist()
