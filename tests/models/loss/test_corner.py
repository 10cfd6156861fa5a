"""Coordinates at the corner of a table of two sizes or two token counts: the same density, and chains that converge."""

import bayescaling as bs
import numpy as np
import pandas as pd
import pytest
from bayescaling.models.density import Coordinates
from bayescaling.models.loss.corner import QUANTITIES, Corner

LAWS = {"chinchilla": bs.laws.Chinchilla(), "coupled": bs.laws.Coupled()}
TRUTH = {"E": 1.7, "A": 406.0, "B": 411.0, "alpha": 0.34, "beta": 0.28}


def table_of(sizes, counts, noise=0.003, seed=0):
    n, d = np.meshgrid(np.geomspace(1e7, 1e9, sizes), np.geomspace(2e8, 2e10, counts), indexing="ij")
    loss = bs.laws.Chinchilla.loss(n, d, **TRUTH) * np.exp(noise * np.random.default_rng(seed).normal(size=n.shape))
    return bs.read(pd.DataFrame({"parameters": n.ravel(), "tokens": d.ravel(), "loss": loss.ravel()}))


def block_of(law, rows):
    density = law.density(rows, law.reference(rows))
    return density.blocks[0], density


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("shape", [(2, 4), (4, 2)])
def test_the_density_is_that_of_the_sampled_quantities(name, shape):
    """With the Jacobian by differences, the priors and the rows give the density of the other coordinates."""
    law, rows = LAWS[name], table_of(*shape)
    block, density = block_of(law, rows)
    assert isinstance(block, Corner)
    plain = Coordinates(law.prior_of)
    for seed in range(3):
        z = block.start + 0.5 * np.random.default_rng(seed).normal(size=len(block))
        ends = [
            [np.array(block.unconstrained(list(z + h * e))[0], float) for h in (1e-5, -1e-5)] for e in np.eye(len(z))
        ]
        jacobian = np.array([(after - before) / 2e-5 for after, before in ends])
        quantities = np.array(block.unconstrained(list(z))[0], float)
        here, there = block.values(z), plain.values(quantities)
        for quantity, value in there[0].items():
            assert here[0][quantity] == pytest.approx(value)
        expected = sum(there[1].values()) + np.linalg.slogdet(jacobian)[1]
        assert sum(here[1].values()) == pytest.approx(expected, abs=1e-6)
        named = density.named(z[None, None])
        for quantity in QUANTITIES:
            assert named[quantity].item() == pytest.approx(there[0][quantity])


@pytest.mark.parametrize("name", LAWS)
def test_a_coordinate_is_the_fall_of_the_loss_that_two_sizes_inform(name):
    law, rows = LAWS[name], table_of(2, 4)
    block, _ = block_of(law, rows)
    z = block.start + 0.3
    constants = law.constants(block.values(z)[0], law.reference(rows))

    def mean(n, d):
        return law.mean(constants, {"parameters": n, "tokens": d})

    (small, large), (few, many) = ((x.min(), x.max()) for x in (rows["parameters"], rows["tokens"]))
    corner = mean(large, many)
    falls = [mean(small, many) / corner - 1, mean(large, few) / corner - 1]
    np.testing.assert_allclose([np.log(corner), *np.log(falls)], [z[0], *z[3:5]])


@pytest.mark.parametrize("shape", [(2, 3), (6, 2)])
@pytest.mark.parametrize("noise", [0.0005, 0.01])
def test_fits_of_two_sizes_converge_and_hold_the_truth_within_the_runs(shape, noise):
    fit = bs.Fitter(bs.laws.Chinchilla(noise="normal", scatter="one"), table_of(*shape, noise=noise)).fit(seed=1)
    assert fit.diagnostics["ok"]
    new = pd.DataFrame({"parameters": [1e9], "tokens": [5e9]})
    low, high = np.quantile(fit.predict(new, seed=1)["loss"], [0.005, 0.995])
    assert low < bs.laws.Chinchilla.loss(1e9, 5e9, **TRUTH) < high


def test_columns_of_three_values_and_other_priors_have_the_usual_coordinates():
    assert not isinstance(block_of(LAWS["chinchilla"], table_of(3, 3))[0], Corner)
    bounded = bs.laws.Chinchilla(priors={"alpha": "Uniform(0.1, 1)"})
    assert not isinstance(block_of(bounded, table_of(2, 4))[0], Corner)
    assert not isinstance(block_of(bs.laws.Offsets(), table_of(2, 6))[0], Corner)
