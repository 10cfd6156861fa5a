"""Effects that rows of one model size share: by the machinery of run effects, grouped by size."""

import bayescaling as bs
import numpy as np
import pandas as pd
import pytest
from scipy import stats

SIZES, TOKENS = np.geomspace(3e7, 3e9, 8), np.geomspace(1e9, 1e11, 6)


@pytest.fixture(scope="module")
def grid():
    """Six runs of each of eight sizes, in no order; losses of no law."""
    parameters, tokens = (x.ravel() for x in np.meshgrid(SIZES, TOKENS, indexing="ij"))
    loss = 2 + np.random.default_rng(0).uniform(0, 1, parameters.size)
    table = pd.DataFrame({"parameters": parameters, "tokens": tokens, "loss": loss})
    return bs.read(table.sample(frac=1, random_state=1).reset_index(drop=True))


@pytest.fixture(scope="module")
def constants(truth):
    """Sampled quantities under which most of the scatter is that of sizes."""
    return truth | {"sigma": 0.002, "size_sd": 0.01, "nu_minus_one": 4.0}


def law_of(noise, **options):
    return bs.laws.Chinchilla(noise=noise, size_effects=True, **options)


@pytest.mark.parametrize("noise", ["normal", "student_t"])
@pytest.mark.parametrize("scatter", ["one", "by_size"])
def test_rows_of_a_size_together_are_multivariate(noise, scatter, grid, constants):
    law = law_of(noise, scatter=scatter)
    rows = law.rows(grid)
    draws = law.prior_draws(
        None, law.reference(rows), rows, truth=constants | {"sigma_parameters": -0.2, "sigma_tokens": 0.1}
    )
    residual = (np.log(rows["loss"].to_numpy()) - np.log(draws.mean().values)).ravel()
    sigma = np.broadcast_to(draws.noise_arguments(rows)[0].ravel(), residual.shape)
    total = 0.0
    for size in SIZES:
        members = (rows["parameters"] == size).to_numpy()
        assert members.sum() == 6
        scale = np.diag(sigma[members] ** 2) + constants["size_sd"] ** 2
        joint = stats.multivariate_normal(cov=scale) if noise == "normal" else stats.multivariate_t(shape=scale, df=5)
        expected = joint.logpdf(residual[members])
        total += expected
        assert float(draws.by_group("parameters").sel(group=size).item()) == pytest.approx(expected, rel=1e-9)
        assert float(draws.of_groups().sel(size_id=size).item()) == pytest.approx(expected, rel=1e-9)
    assert float(draws.total_log_likelihood().item()) == pytest.approx(total, rel=1e-9)
    np.testing.assert_array_equal(draws.by_group().values, draws.by_group("parameters").values)


def test_a_size_is_the_first_column_of_parameters_that_the_law_has(grid):
    split = grid.assign(parameters_nonembedding=grid["parameters"] // 1e9 * 1e7 + 1e7)
    weighted = bs.laws.EmbeddingWeighted(size_effects=True)
    assert len(weighted.groups(split).counts) == len(SIZES)
    corrected = bs.laws.EmbeddingCorrected(size_effects=True)
    assert len(corrected.groups(split).counts) == split["parameters_nonembedding"].nunique() < len(SIZES)
    named = law_of("normal").rows(grid.assign(size_group=np.where(grid["parameters"] < 1e8, "small", "large")))
    assert law_of("normal").groups(named).counts.tolist() == [36.0, 12.0]


def test_equal_sizes_of_two_groups_share_no_effect(grid, constants):
    law = bs.laws.Grouped(law_of("normal", scatter="one"), "corpus", pooled=())
    rows = law.rows(grid.assign(corpus=np.where(grid["tokens"] < 2e10, "a", "b")))
    assert law.groups(rows).counts.tolist() == [float(x) for x in (4, 2)] * 8 or len(law.groups(rows).counts) == 16
    draws = law.prior_draws(np.random.default_rng(3), law.reference(rows), rows, 2)
    apart = sum(draws.of(name).total_log_likelihood() for name in "ab")
    np.testing.assert_allclose(draws.total_log_likelihood(), apart)
    planned = rows.drop(columns="size_group")
    np.testing.assert_array_equal(law.groups(planned).codes, law.groups(rows).codes)
    assert draws.replicate(np.random.default_rng(0), planned).sizes["run"] == len(rows)


def test_a_row_with_a_size_of_its_own_has_the_density_of_a_row_alone(grid, constants):
    law = law_of("normal", scatter="one")
    rows = law.rows(grid)
    alone = rows.assign(size_group=np.arange(len(rows)))
    draws = law.prior_draws(None, law.reference(rows), rows, truth=constants)
    residual = np.log(rows["loss"].to_numpy()) - np.log(draws.mean().values[0, 0])
    expected = stats.norm.logpdf(residual, scale=np.hypot(0.002, 0.01))
    np.testing.assert_allclose(draws.log_likelihood(alone).values[0, 0], expected)


def test_size_effects_are_refused_where_they_cannot_be_had(grid):
    for law, options, text in (
        (
            bs.laws.Chinchilla,
            {"skew": True},
            "size_effects cannot be used with skew; set skew=False, or size_effects=False",
        ),
        (bs.laws.Chinchilla, {"run_effects": True}, "run_effects and size_effects cannot be used together"),
        (bs.laws.Configurations, {}, "size_effects is for losses; .* set size_effects=False"),
    ):
        with pytest.raises(bs.InputError, match=text):
            law(size_effects=True, **options)
    with pytest.raises(bs.InputError, match="size_effects must be true or false, not 'yes'"):
        bs.laws.Chinchilla(size_effects="yes")
    different = grid.assign(parameters=np.geomspace(1e7, 1e9, len(grid)))
    with pytest.raises(bs.InputError, match=r"every size has one row; .* set size_effects=False"):
        law_of("normal").rows(different)


def test_the_scatter_of_sizes_comes_back_and_the_next_size_is_predicted_with_it(grid, constants):
    law = law_of("normal", scatter="one")
    table = grid.assign(loss=law.simulate(constants, grid, np.random.default_rng(7)))
    fit = bs.fit(law, table, seed=1, draws=500, tune=500, check=False)
    assert fit.diagnostics["ok"]
    for name in ("size_sd", "sigma", "alpha", "beta"):
        low, high = fit["posterior"][name].quantile([0.005, 0.995]).values
        assert low < constants[name] < high, name
    alone = bs.laws.Chinchilla(noise="normal", scatter="one", size_effects=False)
    plain = bs.fit(alone, table, seed=1, draws=500, tune=500, check=False)
    ahead = bs.read(pd.DataFrame({"parameters": 6e9, "tokens": TOKENS, "loss": 2.0}))
    spread, apart = {}, {}
    for name, one in (("shared", fit), ("independent", plain)):
        noise = np.log(one.predict(ahead, beyond="none")["loss"].values) - np.log(
            one.predict(ahead, noise=False, beyond="none")["loss"].values
        )
        apart[name] = np.corrcoef(noise.reshape(-1, len(ahead)).T)[0, 1:].mean()
        spread[name] = np.log(one.predict(ahead, beyond="none")["loss"]).std(("chain", "draw")).mean()
    assert apart["shared"] == pytest.approx(float(fit["posterior"]["rho"].mean()), abs=0.05)
    assert abs(apart["independent"]) < 0.05
    assert float(spread["shared"]) > float(spread["independent"])
    assert fit.loo(by=fit.law.left_out_by)["elpd"].sum() > plain.loo(by="parameters")["elpd"].sum() + 10


def simulated(grid, truth, seed, shift=0.0, sigma=0.003):
    """Losses of independent runs of Chinchilla's law, those of the largest size higher by a share."""
    law = bs.laws.Chinchilla(noise="normal", scatter="one")
    loss = law.simulate(truth | {"sigma": sigma}, grid, np.random.default_rng(seed))
    return grid.assign(loss=loss * np.where(grid["parameters"] == SIZES[-1], 1 + shift, 1.0))


def test_sizes_have_effects_unless_rows_show_that_these_do_not_matter_whatever_the_law(grid, truth):
    laws = bs.laws.Chinchilla(), bs.laws.Coupled(), bs.laws.Offsets()
    values = {name: np.full(20, x) for name, x in (truth | {"sigma": 0.003, "size_sd": 0.008}).items()}
    losses = law_of("normal", scatter="one").simulate(values, grid, np.random.default_rng(2))
    deviating = [grid.assign(loss=loss) for loss in losses]
    decided = np.array([[bool(law.suited(table).size_effects) for law in laws] for table in deviating])
    assert decided.all()
    many, d = (x.ravel() for x in np.meshgrid(np.geomspace(3e7, 3e9, 40), TOKENS, indexing="ij"))
    many = bs.read(pd.DataFrame({"parameters": many, "tokens": d, "loss": 2.0}))
    decided = np.array([[bool(law.suited(simulated(many, truth, k)).size_effects) for law in laws] for k in range(20)])
    assert (decided == decided[:, :1]).all() and decided[:, 0].sum() < 10
    assert not any(law.suited(grid.drop_duplicates("parameters")).size_effects for law in laws)
    table = deviating[0]
    for options in ({"size_effects": False}, {"skew": True}, {"noise": "huber"}):
        assert bs.laws.Chinchilla(**options).suited(table) == bs.laws.Chinchilla(**options)
    assert bs.laws.Chinchilla().suited(table.drop(columns="parameters")).size_effects is None


def test_effects_of_a_law_are_those_of_its_groups_within_each_and_of_one_scale(grid):
    law = bs.laws.Grouped(bs.laws.Chinchilla(), "corpus", shared=("sigma",))
    rows = grid.assign(corpus=np.where(grid["tokens"] < 2e10, "a", "b"))
    suited = law.suited(rows)
    assert suited.size_effects and suited.shared == ("sigma", "size_sd") and suited.suited(rows) == suited
    assert len(suited.groups(suited.rows(rows)).counts) == 2 * len(SIZES)
    plain = bs.laws.Grouped(bs.laws.Chinchilla(size_effects=False), "corpus")
    assert plain.suited(rows) == plain
    once = rows.sort_values("tokens").drop_duplicates(["parameters", "corpus"])
    assert once["parameters"].value_counts().eq(2).all() and law.suited(once) == law


@pytest.mark.parametrize("groups", [False, True])
def test_a_size_off_the_law_of_the_others_is_named_and_one_on_it_is_not(groups, grid, truth):
    law = bs.laws.Chinchilla()
    law = bs.laws.Grouped(law, "recipe") if groups else law

    def apart(seed, shift):
        parts = [simulated(grid, truth, [seed, k], shift * k) for k in range(2)]
        table = pd.concat([part.assign(recipe=name) for part, name in zip(parts, ("old", "new"), strict=True)])
        return law.size_apart(table if groups else parts[1])

    alarms = [apart(seed, 0.0)["p"] < 0.05 for seed in range(80)]
    assert sum(alarms) <= stats.binom.ppf(0.9999, 80, 0.05)
    for seed in range(5):
        found = apart(seed, 0.03)
        assert found["p"] < 1e-4 and found["shift"] == pytest.approx(0.03, abs=0.012)
        assert found["name"] == "3e9 parameters" + (" of recipe new" if groups else "")
        assert found["share"] == pytest.approx(1 / 16 if groups else 1 / 8)
    assert law.size_apart((grid.assign(recipe="old") if groups else grid).drop_duplicates("parameters")) is None


@pytest.mark.filterwarnings("ignore::bayescaling.DiagnosticWarning")
def test_a_size_that_was_mistuned_rejects_the_law_or_widens_its_intervals(grid, truth):
    table, short = simulated(grid, truth, 4, 0.03), {"seed": 1, "draws": 400, "tune": 500, "chains": 2}
    plain = bs.fit(bs.laws.Chinchilla(size_effects=False), table, check=False, **short)
    wide = bs.fit(bs.laws.Chinchilla(), table, check=False, **short)
    rejected, fits = plain.check(), wide.check()
    assert "one size" in rejected["rejected_by"] and fits["verdict"] == "fits" and "one size" not in fits["tests"]
    assert rejected["apart"].startswith("the runs of 3e9 parameters lie ")
    assert "above the law of the other sizes" in rejected["apart"]
    assert rejected["apart"] == fits["apart"] and fits["apart"] in str(fits).replace("\n", " ")
    optimum = [np.log(fit.allocate(1e24, beyond="none", robust=False)["parameters"]).std() for fit in (plain, wide)]
    assert optimum[1] > 1.5 * optimum[0]
