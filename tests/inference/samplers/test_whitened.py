import bayescaling as bs
import numpy as np
import pytest
from bayescaling.inference.engine import compile_density
from bayescaling.inference.fitter import Fitter
from bayescaling.inference.samplers import whitened
from bayescaling.models.density import Coordinates, Density
from bayescaling.models.priors import Prior


def density_of(shape):
    """A density of one coordinate over as many rows as make a table large."""
    rows = np.full(whitened.LEAST_ROWS, 1.0 / whitened.LEAST_ROWS)
    prior = Coordinates({"x": Prior.parse("Normal(0, 50)")})
    return Density((prior,), lambda values, data: {"rows": shape(values["x"]) * data["row_weight"]},
                   {"row_weight": rows}, {"row_weight": "row"}, shape)  # fmt: skip


def test_a_posterior_of_two_modes_is_left_to_the_usual_warm_up():
    def wells(x):
        return -((x**2 - 0.25) ** 2) * 1e4

    def one(x):
        return -((x - 0.7) ** 2) * 5e3

    several, single = density_of(wells), density_of(one)
    assert whitened.whitened(compile_density(several), several, 1) is None
    other = whitened.whitened(compile_density(single), single, 1)
    assert float(other.blocks[0].factor[0, 0]) == pytest.approx(0.01, rel=1e-3)
    assert float(other.blocks[0].centre[0]) == pytest.approx(0.7, abs=1e-3)


def test_a_small_table_keeps_its_coordinates():
    fitter = Fitter(bs.laws.Chinchilla(), bs.load("chinchilla_runs"))
    assert fitter.compiled().whitened(fitter.density(), 1) is None


def test_draws_in_other_coordinates_are_of_the_same_posterior(monkeypatch):
    runs = bs.load("chinchilla_runs")
    settings = {"seed": 1, "draws": 1000, "cores": 1}
    usual = bs.fit(bs.laws.Chinchilla(), runs, **settings)
    monkeypatch.setattr(whitened, "LEAST_ROWS", 100)
    fitter = Fitter(bs.laws.Chinchilla(), runs)
    program, density = fitter.compiled().whitened(fitter.density(), 1)
    u = np.random.default_rng(2).standard_normal(density.start[0].size)
    block = density.blocks[0]
    value, slope = program._compiled(u, density)
    expected, of_z = fitter.compiled()._compiled(block.centre + block.factor @ u, fitter.density())
    assert value == pytest.approx(expected, rel=1e-10)
    np.testing.assert_allclose(slope, block.factor.T @ of_z, atol=1e-6)
    large = bs.fit(bs.laws.Chinchilla(), runs, **settings)
    assert large.record["settings"]["tune"] < usual.record["settings"]["tune"] and large.diagnostics["ok"]
    for name in ("alpha", "beta", "E"):
        one, other = (fit["posterior"][name].values for fit in (usual, large))
        assert abs(one.mean() - other.mean()) < 0.12 * one.std()
        assert other.std() == pytest.approx(one.std(), rel=0.12)
