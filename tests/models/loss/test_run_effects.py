import bayescaling as bs
import numpy as np
import pandas as pd
import pytest
from bayescaling.inference.engine import compile_density
from bayescaling.models import effects
from bayescaling.models.effects import Groups
from scipy import stats
from scipy.special import ndtri

RUNS = np.array(["b", "a", "c", "b", "c", "d", "c", "b", "c", "c"])  # four runs of 1 to 5 rows, not in order
CURVES = {"parameters": np.geomspace(3e6, 3e9, 12), "tokens": np.geomspace(2e8, 5e10, 8)}


@pytest.fixture(scope="module")
def curves(truth):
    """Two runs of each of 12 sizes, each read at 8 numbers of tokens, their losses those of no law."""
    table = bs.load("chinchilla_runs").iloc[:192][["parameters", "tokens", "loss"]].reset_index(drop=True)
    size, reading = np.divmod(np.arange(192) % 96, 8)
    run = [f"run {i // 8}" for i in range(192)]
    return table.assign(parameters=CURVES["parameters"][size], tokens=CURVES["tokens"][reading], run=run)


@pytest.fixture(scope="module")
def constants(curves, truth):
    """Sampled quantities of which the rows of a run have most of their scatter in common."""
    return truth | {"sigma": 0.003, "run_sd": 0.01, "nu_minus_one": 4.0}


def law_of(noise, **options):
    return bs.laws.Chinchilla(noise=noise, run_effects=True, **options)


def residuals_and_scales(seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=RUNS.size), rng.uniform(0.3, 2, RUNS.size)


def multivariate(residual, sigma, tau, nu):
    """Log density of rows together by SciPy; that of no rows is 0."""
    if not len(residual):
        return 0.0
    scale = np.diag(sigma**2) + tau**2
    if nu is None:
        return float(stats.multivariate_normal(cov=scale).logpdf(residual))
    return float(stats.multivariate_t(shape=scale, df=nu).logpdf(residual))


@pytest.mark.parametrize("nu", [None, 1.4, 30.0])
@pytest.mark.parametrize("tau", [1e-3, 0.7, 50.0])
def test_rows_of_a_run_together_are_multivariate(tau, nu):
    residual, sigma = residuals_and_scales()
    arguments = (sigma,) if nu is None else (sigma, nu)
    densities = effects.joint_logp(residual, tau, Groups.of(RUNS), *arguments)
    expected = [multivariate(residual[run == RUNS], sigma[run == RUNS], tau, nu) for run in ("b", "a", "c", "d")]
    np.testing.assert_allclose(densities, expected, rtol=1e-9)
    alone = np.sqrt(sigma[1] ** 2 + tau**2)
    noise = stats.norm(scale=alone) if nu is None else stats.t(nu, scale=alone)
    assert densities[1] == pytest.approx(noise.logpdf(residual[1]))


@pytest.mark.parametrize("nu", [None, 1.4, 30.0])
@pytest.mark.parametrize("condition", ["others", "earlier"])
def test_a_row_given_others_is_the_quotient_of_joint_densities(condition, nu):
    residual, sigma = residuals_and_scales(1)
    tau, arguments = 0.7, ((sigma,) if nu is None else (sigma, nu))
    for i, run in enumerate(RUNS):
        rows = np.flatnonzero(run == RUNS)
        rest = rows[rows != i] if condition == "others" else rows[rows < i]
        for value in (-3.0, 0.2, 8.0):
            moved = residual.copy()
            moved[i] = value
            centred, *noise = effects.conditional(moved, tau, Groups.of(RUNS), condition, *arguments)
            scale = [np.broadcast_to(x, RUNS.shape)[i] for x in noise]
            density = stats.norm(scale=scale[0]) if nu is None else stats.t(scale[1], scale=scale[0])
            both = np.append(rest, i)
            expected = multivariate(moved[both], sigma[both], tau, nu) - multivariate(moved[rest], sigma[rest], tau, nu)
            assert density.logpdf(centred[i]) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("noise", ["normal", "student_t"])
@pytest.mark.parametrize("scatter", ["one", "by_size"])
def test_what_is_sampled_is_what_is_scored(noise, scatter, curves):
    law, few = law_of(noise, scatter=scatter), curves.sample(40, random_state=1).reset_index(drop=True)
    assert few["run"].value_counts().min() == 1
    reference = law.reference(few)
    density, draws = law.density(few, reference), law.prior_draws(np.random.default_rng(2), reference, few, 3)
    evaluate = compile_density(density)
    groups, total = draws.of_groups(), draws.total_log_likelihood()
    assert groups.dims == ("chain", "draw", "run_id")
    assert set(groups["run_id"].values) == set(few["run"])
    np.testing.assert_allclose(groups.sum("run_id"), total)
    assert not np.allclose(draws.log_likelihood().sum("run"), total, rtol=1e-3)
    for k, z in enumerate(draws.real_line().values[0]):
        assert evaluate(z, density)[0] == pytest.approx(float(draws.log_density()[0, k]), rel=1e-10)
    together = draws.log_density() - total
    log_prior = [
        law.prior_of[name].from_unconstrained(draws.real_line().sel(coordinate=name))[1] for name in law.prior_of
    ]
    np.testing.assert_allclose(together, draws.log_prior().to_dataarray().sum("variable") + sum(log_prior))


@pytest.mark.parametrize("noise", ["normal", "student_t"])
def test_a_row_left_out_is_given_the_other_rows_of_its_run(noise, curves):
    law, few = law_of(noise), curves.sample(40, random_state=1).reset_index(drop=True)
    draws = law.prior_draws(np.random.default_rng(2), law.reference(few), few, 3)
    rowwise, total = draws.log_likelihood(), draws.total_log_likelihood()
    for i in (0, 7, 39):
        without = law.draws(draws.sampled, draws.without(i), draws.reference)
        expected = total - without.total_log_likelihood()
        for density in (rowwise.isel(run=i), draws.unit_log_likelihood(i), draws.left_out_density(without, i)):
            np.testing.assert_allclose(density, expected, rtol=1e-7)


def standard_scores(law, rows, constants, condition, tables=1000):
    """z of every row of tables simulated from known values, (table, row)."""
    simulated = law.simulate(
        {name: np.full(tables, x) for name, x in constants.items()}, rows, np.random.default_rng(3)
    )
    copies = pd.concat([rows.assign(run=rows["run"] + f" of table {k}") for k in range(tables)], ignore_index=True)
    draws = law.prior_draws(None, law.reference(rows), copies.assign(loss=simulated.ravel()), truth=constants)
    return ndtri(draws.cdf(conditioning=condition).values.reshape(simulated.shape))


@pytest.mark.parametrize("noise", ["normal", "student_t"])
def test_z_given_the_earlier_rows_are_independent_and_standard(noise, curves, constants):
    law, few = law_of(noise), curves.iloc[:24].sample(frac=1, random_state=4).reset_index(drop=True)
    z = standard_scores(law, few, constants, "earlier")
    assert stats.kstest(z.ravel(), "norm").pvalue > 0.01
    same = np.triu((few["run"].to_numpy() == few["run"].to_numpy()[:, None]), 1)
    for x in (z, z**2):  # a run that is far out as a whole would show in the squares
        correlations = np.corrcoef(x.T)[same]
        assert np.mean(correlations) == pytest.approx(0, abs=4 / np.sqrt(len(z) * same.sum()))
        assert abs(correlations).max() < 5 / np.sqrt(len(z))
    # Given all others each is standard normal too, but they depend on each other.
    z = standard_scores(law, few, constants, "others")
    assert stats.kstest(z[:, 0], "norm").pvalue > 0.01
    assert np.corrcoef(z.T)[same].mean() < -0.1


def test_normal_residuals_are_made_independent(curves, constants):
    law = law_of("normal")
    rows = curves.assign(loss=law.simulate(constants, curves, np.random.default_rng(7)))
    draws = law.prior_draws(None, law.reference(rows), rows, truth=constants)
    residual = np.log(rows["loss"].to_numpy()) - np.log(draws.mean().values)
    np.testing.assert_allclose(draws.standardised(residual), ndtri(draws.cdf().values), rtol=1e-6)


@pytest.mark.parametrize("noise", ["normal", "student_t"])
def test_one_effect_is_drawn_for_each_run(noise, curves, constants):
    law, few = law_of(noise, scatter="one"), curves.iloc[[0, 1, 2, 8, 9]]
    tables = 20_000
    values = {name: np.full(tables, x) for name, x in (constants | {"nu_minus_one": 9.0}).items()}
    reference = law.reference(curves)
    drawn = np.log(law.simulate(values, few, np.random.default_rng(5), reference))
    variance = 1.0 if noise == "normal" else 10 / 8
    expected = variance * (np.diag([0.003**2] * 5) + 0.01**2 * np.kron(np.eye(2), np.ones((3, 3)))[:5, :5])
    np.testing.assert_allclose(np.cov(drawn.T), expected, atol=5e-6 if noise == "normal" else 1e-5)
    size = np.log(abs(drawn - drawn.mean(0)))
    across = np.corrcoef(size.T)[0]
    assert across[1:3].min() > 0.4 and abs(across[3:]).max() < 0.03


def test_simulated_runs_are_other_runs_than_those_fitted(curves):
    law, numbered = law_of("normal"), curves.assign(run=np.repeat(np.arange(24.0), 8))
    for rows in (curves, numbered):
        both = law.join_simulated(rows, rows)
        assert both["run"].nunique() == 48
        halves = [both["run"].iloc[half].to_numpy() for half in (slice(192), slice(192, None))]
        assert not set(halves[0]) & set(halves[1])
        for half in halves:
            assert len(set(zip(half, rows["run"], strict=True))) == 24


def test_run_effects_are_refused_where_they_cannot_be_had(curves):
    for options, text in (
        ({"noise": "huber"}, "out of huber noise; set noise='student_t' or noise='normal'"),
        ({"skew": True}, "with skew; set skew=False"),
        ({"measurement_error": True}, "with measurement_error; set measurement_error=False"),
    ):
        with pytest.raises(bs.InputError, match=text):
            bs.laws.Chinchilla(run_effects=True, **options)
    with pytest.raises(bs.InputError, match="run_effects must be true or false, not 'yes'"):
        bs.laws.Chinchilla(run_effects="yes")
    with pytest.raises(bs.InputError, match="set run_effects=False"):
        bs.laws.Configurations(run_effects=True)
    with pytest.raises(bs.InputError, match="'rho': it is derived"):
        bs.laws.Chinchilla(run_effects=True, priors={"rho": "Beta(2, 2)"})
    law = bs.laws.Chinchilla(run_effects=True)
    for table, text in (
        (curves.drop(columns="run"), 'law needs "run"; the columns are'),
        (curves.iloc[::9], "every run has one row; .* set run_effects=False"),
        (curves.assign(run=curves["run"].where(curves.index != 5)), "column 'run' is empty in row 5"),
    ):
        with pytest.raises(bs.InputError, match=text):
            law.rows(table)


@pytest.fixture(scope="module")
def fitter_effects(curves):
    return bs.Fitter(law_of("normal", scatter="one"), curves)


@pytest.fixture(scope="module")
def simulated_curves(fitter_effects, curves, constants):
    return curves.assign(loss=fitter_effects.law.simulate(constants, curves, np.random.default_rng(6)))


@pytest.fixture(scope="module")
def fit_effects(fitter_effects, simulated_curves):
    return fitter_effects.fit(simulated_curves, seed=1, draws=500, tune=500)


def test_the_effect_of_runs_comes_back_and_widens_what_runs_say(fit_effects, simulated_curves, constants):
    posterior = fit_effects["posterior"]
    assert fit_effects.diagnostics["ok"]
    for name in fit_effects["log_prior"].data_vars:
        low, high = posterior[name].quantile([0.025, 0.975]).values
        assert low < constants[name] < high, name
    rho = constants["run_sd"] ** 2 / (constants["run_sd"] ** 2 + constants["sigma"] ** 2)
    assert float(posterior["rho"].mean()) == pytest.approx(rho, abs=0.06)
    plain = bs.laws.Chinchilla(noise="normal", scatter="one", size_effects=False)
    alone = bs.fit(plain, simulated_curves, seed=1, draws=500, tune=500, check=False)
    assert float(posterior["alpha"].std()) > 1.3 * float(alone["posterior"]["alpha"].std())
    assert fit_effects.loo(by="run")["elpd"].sum() > alone.loo(by="run")["elpd"].sum() + 20


def test_a_run_left_out_is_what_a_refit_without_it_says(fit_effects, fitter_effects, simulated_curves):
    table = fit_effects.loo(by="run")
    assert list(table.index) == sorted(simulated_curves["run"].unique())
    name = table["pareto_k"].idxmax()
    left = simulated_curves["run"] == name
    refit = fitter_effects.sample(simulated_curves[~left].reset_index(drop=True), seed=2, draws=1000, tune=500).draws
    lacking = refit.total_log_likelihood(simulated_curves[left].reset_index(drop=True)).values
    exact = np.log(np.exp(lacking - lacking.max()).mean()) + lacking.max()
    assert table.loc[name, "elpd"] == pytest.approx(exact, abs=0.15)
    rowwise = fit_effects["log_likelihood"]["log_loss"].values[..., left.to_numpy()]
    assert exact != pytest.approx(np.log(np.exp(rowwise).mean((0, 1))).sum(), abs=0.5)


def test_predictions_of_runs_not_made_draw_their_effects(fit_effects, curves):
    one_run, no_runs = curves.iloc[:8], curves.iloc[:8].drop(columns="run")
    spread = {}
    for name, rows in (("one", one_run), ("none", no_runs)):
        loss = np.log(fit_effects.predict(rows)["loss"].values) - np.log(
            fit_effects.predict(rows, noise=False)["loss"].values
        )
        spread[name] = np.corrcoef(loss.reshape(-1, 8).T)[0, 1:].mean()
    assert spread["one"] == pytest.approx(float(fit_effects["posterior"]["rho"].mean()), abs=0.05)
    assert abs(spread["none"]) < 0.05
