import bayescaling as bs
import numpy as np
import pandas as pd
import pytest
from bayescaling.inference.estimands.study_exponents import exponents_within, local_exponents
from bayescaling.inference.points.curves import curve_frontier, exponents_by_curves
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
    envelope = curve_frontier(dense)
    levels = envelope.points[envelope.points["used"]]
    assert envelope.converged and len(levels) > 95
    assert envelope["exponent"] == pytest.approx(EXPONENT, abs=0.004)
    assert envelope["exponent_tokens"] == pytest.approx(1 - EXPONENT, abs=0.004)
    n, d = chinchilla.optimum(
        levels["training_flop"].to_numpy(), **{k: CONSTANTS[k] for k in ("A", "B", "alpha", "beta")}
    )
    assert np.allclose(np.log(levels["parameters"] / n), 0, atol=0.1)
    assert np.allclose(levels["loss"], chinchilla.loss(n, d, **CONSTANTS), rtol=1e-4)


def test_without_embeddings_the_envelope_has_the_local_exponents(dense):
    inside = dense[(6 * dense["parameters_nonembedding"] * dense["tokens"]).between(1e12, 1e14)]
    envelope = curve_frontier(inside, basis="nonembedding")
    best = envelope.points["parameters"].dropna().to_numpy()
    at = local_exponents(pd.Series(CONSTANTS).to_xarray().to_dataset("index"), best, gamma=GAMMA)
    assert envelope["exponent"] == pytest.approx(float(at["exponent"].mean()), abs=0.02)
    assert envelope["exponent"] > EXPONENT + 0.1


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
    assert curve_frontier(twice)["exponent"] == pytest.approx(plain["exponent"], abs=1e-12)
    tables = np.stack([few["loss"], few["loss"] * np.exp(noise), few["loss"] ** 2], axis=1)
    exponents = exponents_by_curves(few, tables)
    assert exponents.tolist() == [curve_frontier(few.assign(loss=losses))["exponent"] for losses in tables.T]
    assert len(set(exponents)) > 1


def test_levels_with_one_curve_do_not_count():
    apart = grid(np.array([1e4, 1e7]), np.array([1e6, 2e6]))
    envelope = curve_frontier(apart)
    assert np.isnan(envelope["exponent"]) and not envelope.converged and not envelope.points["used"].any()


def test_a_frontier_needs_several_sizes_and_a_known_basis(dense):
    one = dense[dense["parameters"] == dense["parameters"].iloc[0]]
    with pytest.raises(bs.InputError, match=r"in every row; a frontier needs several sizes"):
        curve_frontier(one)
    with pytest.raises(bs.InputError, match="basis"):
        curve_frontier(dense, basis="embedding")
    with pytest.raises(bs.InputError, match="parameters_nonembedding"):
        curve_frontier(dense.drop(columns="parameters_nonembedding"))
