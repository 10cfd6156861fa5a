import bayescaling as bs
import numpy as np
import pytest
import scipy.stats as st
from bayescaling.inference.checks.chains import LEAST_EFFICIENCY, with_figures
from bayescaling.models.lengths import modes
from bayescaling.models.lengths.draws import LengthsDraws
from bayescaling.models.lengths.integrals import Points, of_draws
from scipy.special import expit


def test_integrated_density_is_that_of_quadrature(lengths_design):
    """Compare the density of a run's counts with quadrature on a fine grid, in a law of two parameters a run."""
    law = bs.laws.Lengths(noise="binomial", operands="longest", lapse=False)
    two = [("a", "abacus", "standard", 1), ("n", "nope", "standard", 1)]
    table = lengths_design.cells(two, grid=(5, 10, 20), total=5)
    truth = {part: lengths_design.curves_of(["abacus", "nope"])[part] for part in law.parts}
    table = table.assign(correct=law.simulate(truth, table, np.random.default_rng(3)))
    reference = law.reference(table)
    rng, draws = np.random.default_rng(0), 200
    around = {part: x + 0.4 * rng.standard_normal((1, draws, 2)) for part, x in truth.items()}
    values = around | {f"{part}_sd": 0.1 + rng.random((1, draws)) for part in law.parts}
    curve = np.stack([around[part] for part in law.parts], -1)
    density = LengthsDraws.of(law, reference, table, values, [curve]).log_likelihood()
    assert density.attrs["integration_efficiency_min"] > 50
    for run, draw in ((0, 0), (1, 7)):
        means = [around[part][0, draw, run] for part in law.parts]
        spreads = [values[f"{part}_sd"][0, draw] for part in law.parts]
        reach, steepness = (m + s * np.linspace(-7, 7, 801) for m, s in zip(means, spreads, strict=True))
        log_joint = st.norm.logpdf(reach, means[0], spreads[0])[:, None] + st.norm.logpdf(
            steepness, means[1], spreads[1]
        )
        for cell in table[table["run"] == reference["runs"][run]].itertuples():
            beyond = np.log(max(cell.length_a, cell.length_b) / lengths_design.train) - reach[:, None]
            log_joint = log_joint + st.binom.logpmf(cell.correct, cell.total, expit(-np.exp(steepness) * beyond))
        expected = np.log(np.trapezoid(np.trapezoid(np.exp(log_joint), steepness), reach))
        assert float(density[0, draw, run]) == pytest.approx(expected, abs=0.05)


def test_a_part_on_which_no_count_depends_takes_no_points(lengths_design):
    """If operands are equally long, no count depends on the weight of the shorter, however wide its posterior."""
    two = [("a", "abacus", "standard", 1), ("n", "nope", "standard", 1)]
    table = lengths_design.cells(two, grid=(5, 10, 20), total=20)
    table = table[table["length_a"] == table["length_b"]].reset_index(drop=True)
    weighted, longest = (bs.laws.Lengths(noise="binomial", operands=o, lapse=False) for o in ("weighted", "longest"))
    truth = {part: lengths_design.curves_of(["abacus", "nope"])[part] for part in longest.parts}
    table = table.assign(correct=longest.simulate(truth, table, np.random.default_rng(3)))
    rng, draws = np.random.default_rng(0), 200
    around = {part: x + 0.4 * rng.standard_normal((1, draws, 2)) for part, x in truth.items()}
    around["logit_shorter"] = 10 * rng.standard_normal((1, draws, 2))

    def of(law):
        values = around | {f"{part}_sd": np.full((1, draws), 0.2) for part in law.parts}
        curve = np.stack([around[part] for part in law.parts], -1)
        return LengthsDraws.of(law, law.reference(table), table, values, [curve])

    felt = Points(of(weighted)).felt[0]
    assert [part for part, depends in zip(weighted.parts, felt, strict=True) if not depends] == ["logit_shorter"]
    log_likelihood, expected = (of(law).log_likelihood() for law in (weighted, longest))
    np.testing.assert_allclose(log_likelihood, expected, atol=1e-8)
    assert log_likelihood.attrs["integration_efficiency_min"] > 50


def test_points_of_importance_sampling_agree_between_seeds(lengths_fit):
    draws = lengths_fit.draws
    once, again = (draws.log_likelihood(seed=seed) for seed in (1, 2))
    assert float(np.abs(once - again).mean()) < 0.05
    assert lengths_fit.diagnostics["integration_efficiency_min"] > LEAST_EFFICIENCY


def test_an_integral_of_few_points_is_a_fault():
    well = {"ok": True, "warnings": []}
    assert with_figures(well, {"integration_efficiency_min": 60.0})["ok"]
    assert with_figures(well, {"integration_efficiency_min": None})["ok"]
    diagnostics = with_figures(well, {"integration_efficiency_min": 12.3})
    assert not diagnostics["ok"] and "12 importance points (below 50)" in diagnostics["warnings"][0]


def test_a_run_left_out_is_foretold_from_its_condition(lengths_fit, lengths_design):
    """Density of a run left out, by integrating over new runs drawn by plain Monte Carlo."""
    draws = lengths_fit.draws
    density, _ = of_draws(draws, Points(draws), 1)
    rng = np.random.default_rng(0)
    curve = draws.typical(draws.runs)
    groups = modes.of_run(draws.law.groups(draws.rows, draws.reference), 1)

    def by_monte_carlo(chain, draw, n=40_000):
        u = np.stack(
            [
                curve[p][chain, draw, 1] + draws.values[f"{p}_sd"][chain, draw] * rng.standard_normal(n)
                for p in draws.law.parts
            ],
            axis=-1,
        )
        logs = modes.run_log_likelihood(u, draws.law.parts, np.log(lengths_design.train), groups, "log")
        logs = logs + draws.log_choose()[1]
        return np.log(np.exp(logs - logs.max()).mean()) + logs.max()

    # One draw may lie where few points of either integral do; the middle of several does not.
    chosen = [(0, draw) for draw in range(0, 30, 2)]
    errors = [float(density[place]) - by_monte_carlo(*place) for place in chosen]
    assert abs(np.median(errors)) < 0.3
