import bayescaling as bs
import numpy as np
import pandas as pd
import pytest
from bayescaling.inference.fitting.corpora import SPREAD, Together, fit_corpora
from bayescaling.inference.fitting.traced import Traced
from bayescaling.inference.points.curves import curve_frontier
from bayescaling.inference.quantities.reconciliation import exponents_within, local_exponents
from bayescaling.models.loss import chinchilla, embeddings

CONSTANTS = {"E": 1.8, "A": 482.0, "B": 2085.0, "alpha": 0.35, "beta": 0.37}
EXPONENT = CONSTANTS["beta"] / (CONSTANTS["alpha"] + CONSTANTS["beta"])
GAMMA = 5000.0


def grid(sizes, tokens, **changes):
    """Runs without noise, of each size at each number of tokens, whose embeddings grow as the cube root of N_x."""
    nonembedding, tokens = (x.ravel() for x in np.meshgrid(sizes, tokens))
    parameters = embeddings.total(nonembedding, GAMMA, 1 / 3)
    loss = chinchilla.loss(parameters, tokens, **(CONSTANTS | changes))
    columns = {"parameters": parameters, "parameters_nonembedding": nonembedding, "tokens": tokens, "loss": loss}
    return pd.DataFrame(columns)


@pytest.fixture(scope="module")
def dense():
    runs = grid(np.logspace(1.5, 9, 400), np.logspace(4, 12, 220))
    compute = 6 * runs["parameters"] * runs["tokens"]
    return runs[(compute > 1e12) & (compute < 1e16)].reset_index(drop=True)


def test_the_envelope_of_many_curves_has_the_exponents_of_the_law(dense):
    found = curve_frontier(dense).dropna("level")
    assert found.sizes["level"] > 95
    assert float(found["size"]) == pytest.approx(EXPONENT, abs=0.004)
    assert float(found["tokens"]) == pytest.approx(1 - EXPONENT, abs=0.004)
    n, d = chinchilla.optimum(found["compute"].values, **{k: CONSTANTS[k] for k in ("A", "B", "alpha", "beta")})
    assert np.allclose(np.log(found["best"] / n), 0, atol=0.1)
    assert np.allclose(found["least"], chinchilla.loss(n, d, **CONSTANTS), rtol=1e-4)


def test_without_embeddings_the_envelope_has_the_local_exponents(dense):
    inside = dense[(6 * dense["parameters_nonembedding"] * dense["tokens"]).between(1e12, 1e14)]
    found = curve_frontier(inside, basis="nonembedding").dropna("level")
    at = local_exponents(pd.Series(CONSTANTS).to_xarray().to_dataset("index"), found["best"].values, gamma=GAMMA)
    assert float(found["size"]) == pytest.approx(float(at["exponent"].mean()), abs=0.02)
    assert float(found["size"]) > EXPONENT + 0.1


def test_a_range_of_sizes_has_the_mean_of_its_local_exponents():
    constants = pd.Series(CONSTANTS).to_xarray().to_dataset("index").expand_dims(chain=1, draw=2)
    slope = exponents_within(constants, 1e5, 1e6, gamma=GAMMA)["size"].values
    ends = local_exponents(constants, (1e5, 1e6), gamma=GAMMA).isel(chain=0, draw=0)
    exact = np.log(10) / np.log(ends["compute"][1] / ends["compute"][0])
    assert slope == pytest.approx(np.full(2, float(exact)), abs=0.01)


def test_seeds_are_averaged_and_losses_of_draws_replace_the_table(dense):
    few = grid(np.array([1e4, 1e5, 1e6]), np.logspace(6, 8, 12))
    rng = np.random.default_rng(1)
    noise = rng.normal(0, 0.01, len(few))
    twice = pd.concat([few.assign(loss=few["loss"] * np.exp(s * noise)) for s in (1, -1)])
    plain = curve_frontier(few)
    assert float(curve_frontier(twice)["size"]) == pytest.approx(float(plain["size"]), abs=1e-12)
    draws = np.stack([few["loss"], few["loss"] * np.exp(noise), few["loss"] ** 2])
    many = curve_frontier(few, draws)
    assert many["size"].dims == ("draw",)
    for k, losses in enumerate(draws):
        one = curve_frontier(few.assign(loss=losses))
        assert float(many["size"][k]) == float(one["size"]) and float(many["loss"][k]) == float(one["loss"])


def test_levels_with_one_curve_do_not_count():
    apart = grid(np.array([1e4, 1e7]), np.array([1e6, 2e6]))
    found = curve_frontier(apart)
    assert np.isnan(found["size"]) and np.isnan(found["best"]).all()


def test_a_frontier_needs_several_sizes_and_a_known_basis(dense):
    one = dense[dense["parameters"] == dense["parameters"].iloc[0]]
    with pytest.raises(bs.InputError, match=r"in every row; a frontier needs several sizes"):
        curve_frontier(one)
    with pytest.raises(bs.InputError, match="basis"):
        curve_frontier(dense, basis="embedding")
    with pytest.raises(bs.InputError, match="parameters_nonembedding"):
        curve_frontier(dense.drop(columns="parameters_nonembedding"))


LAW = bs.EmbeddingWeighted(scatter="one")
VALUES = {"loss_centre": 2.6, "reducible_share": 0.3, "parameter_share": 0.5, "sigma": 0.004, "nu_minus_one": 8.0}


def two_corpora(omega):
    runs = bs.load("chinchilla_runs")
    small = runs.iloc[::2].assign(parameters=lambda t: t["parameters"] / 1e3)
    small["parameters_nonembedding"] = small["parameters"] * np.random.default_rng(2).uniform(0.1, 0.9, len(small))
    small["training_flop"] = 6 * small["parameters"] * small["tokens"]
    tables = {"large": runs, "small": small}
    exponents = {"large": {"alpha": 0.34, "beta": 0.36}, "small": {"alpha": 0.42, "beta": 0.40}}
    return {
        corpus: table.assign(
            loss=LAW.simulate(VALUES | exponents[corpus] | {"omega": omega}, table, np.random.default_rng(3))
        )
        for corpus, table in tables.items()
    }


@pytest.fixture(scope="module")
def joint():
    return fit_corpora(LAW, two_corpora(0.6), seed=1)


def test_corpora_share_omega_and_keep_their_own_exponents(joint):
    posterior, likelihood, found = joint
    assert found["ok"] and set(likelihood) == {"large", "small"}
    low, high = posterior["omega"].quantile([0.005, 0.995]).values
    assert low < 0.6 < high and high - low < 0.6
    for name, true in (("alpha", [0.34, 0.42]), ("beta", [0.36, 0.40])):
        low, high = posterior[name].quantile([0.005, 0.995], ("chain", "draw")).values
        assert ((low < true) & (true < high)).all()
    assert posterior["omega"].dims == ("chain", "draw") and posterior["sigma"].dims == ("chain", "draw", "corpus")


def test_the_likelihood_of_a_corpus_is_that_of_the_law_alone(joint):
    posterior, likelihood, _ = joint
    tables, law = two_corpora(0.6), LAW
    table = tables["small"]
    values = {name: float(posterior[name].sel(corpus="small")[0, 0]) for name in law.prior_of if name != "omega"}
    values["omega"] = float(posterior["omega"][0, 0])
    columns = {name: table[name].to_numpy() for name in law.columns}
    mean = law.mean(law.constants(values, law.reference(table)), columns)
    residual = np.log(table["loss"].to_numpy()) - np.log(mean)
    expected = law.residuals.logp(residual, *law.residuals.arguments(values))
    assert np.allclose(likelihood["small"][0, 0], expected)


def test_corpora_are_traced_as_their_model_says():
    tables = {name: LAW.rows(table) for name, table in two_corpora(0.6).items()}
    references = {name: LAW.reference(rows) for name, rows in tables.items()}
    law = Together(LAW, list(tables), ("omega",), ("alpha", "beta"))
    arrays = law.model_data(tables, references)
    density, model = Traced(law, references, arrays), law.model(tables, references)
    value = model.compile_logp(mode="FAST_COMPILE")
    priors = LAW.prior_of | {f"typical_{name}": LAW.prior_of[name] for name in law.pooled} | {"spread": SPREAD}
    for seed in range(3):
        z = density.start + np.random.default_rng(seed).normal(0, 0.3, len(density.start))
        named, point = law.at_coordinates(z[None, None], references), {}
        for variable, at in zip(model.free_RVs, model.value_vars, strict=True):
            x = named[variable.name].values[0, 0]
            own = variable.name in law.pooled
            point[at.name] = np.log(x) if own else priors[variable.name].to_unconstrained(x)
        assert density(z, arrays)[0] == pytest.approx(float(value(point)), rel=1e-9)


def test_corpora_are_refused_in_a_line():
    runs = bs.load("chinchilla_runs")
    with pytest.raises(bs.InputError, match="at least two"):
        fit_corpora(LAW, {"one": runs})
    with pytest.raises(bs.InputError, match="'gamma' is no sampled quantity"):
        fit_corpora(LAW, {"one": runs, "two": runs}, shared=("gamma",))


def test_a_quantity_is_shared_or_pooled():
    runs = bs.load("chinchilla_runs")
    with pytest.raises(bs.InputError, match="alpha: a quantity is shared or pooled, not both"):
        fit_corpora(LAW, {"one": runs, "two": runs}, shared=("alpha",), pooled=("alpha",))
