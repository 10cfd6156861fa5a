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
