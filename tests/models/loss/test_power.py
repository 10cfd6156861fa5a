import bayescaling as bs
import numpy as np
import pandas as pd
import pytest
from bayescaling.inference.checks.trade_off import trade_off, trade_off_sentence
from bayescaling.models.loss import chinchilla, power

TRUTH = {"loss_centre": 3.0, "reducible_share": 0.4, "alpha": 0.3, "sigma": 0.004}
RANGES = {"parameters": (1e6, 3e9), "tokens": (1e8, 1e11), "compute": (1e16, 1e22)}
SHORT = {"draws": 500, "tune": 500, "chains": 2, "cores": 1}


def simulated(variable, rows, seed=1, **truth):
    """Return a law and a table that it simulates."""
    law = bs.law(f"power-{variable}")
    table = pd.DataFrame({law.columns[0]: np.geomspace(*RANGES[variable], rows)})
    table = table.assign(loss=law.simulate(TRUTH | truth, table, np.random.default_rng(seed)))
    return law, table


@pytest.mark.parametrize(
    ("variable", "column"), [("parameters", "parameters"), ("tokens", "tokens"), ("compute", "training_flop")]
)
def test_the_variable_has_a_column_and_four_quantities(variable, column):
    law = bs.law(f"power-{variable}")
    assert law == bs.laws.PowerLaw(variable=variable)
    assert law.columns == (column,) and law.label == f"power-{variable}"
    assert list(law.prior_of) == ["loss_centre", "reducible_share", "alpha", "sigma"]
    medians = {"compute": np.exp(-2)}
    assert law.prior_of["alpha"].median == pytest.approx(medians.get(variable, np.exp(-1.2)))


def test_constants_are_those_of_a_power_law_with_a_floor():
    law, table = simulated("tokens", 5)
    constants = law.constants(TRUTH, law.reference(table))
    tokens = np.array([1e8, 1e10])
    expected = constants["E"] + constants["A"] / tokens**0.3
    np.testing.assert_allclose(law.mean(constants, {"tokens": tokens}), expected, rtol=1e-12)
    assert constants["E"] == pytest.approx(1.8)
    centre = {"tokens": np.sqrt(1e8 * 1e11)}
    assert law.mean(constants, centre) == pytest.approx(3.0)


def test_the_best_runs_of_a_chinchilla_law_follow_this_law_in_compute():
    alpha, beta = 0.3478, 0.3658
    constants, compute = {"A": 482.01, "B": 2085.43, "alpha": alpha, "beta": beta}, np.geomspace(1e15, 1e27, 25)
    sizes = chinchilla.optimum(compute, E=1.8172, **constants)
    _, intercept = np.polyfit(np.log(compute), np.log(chinchilla.loss(*sizes, E=0.0, **constants)), 1)
    losses = power.loss(compute, E=1.8172, A=np.exp(intercept), alpha=alpha * beta / (alpha + beta))
    np.testing.assert_allclose(losses, chinchilla.loss(*sizes, E=1.8172, **constants), rtol=1e-9)


@pytest.mark.parametrize("variable", RANGES)
def test_a_fit_recovers_the_truth_and_is_saved(variable, tmp_path):
    law, table = simulated(variable, 10)
    fit = bs.fit(law, table, seed=1, **SHORT)
    assert fit.diagnostics["ok"], fit.diagnostics["warnings"]
    truth = TRUTH | dict(law.constants(TRUTH, law.reference(table)))
    for name, true in truth.items():
        low, high = np.quantile(fit["posterior"][name], [0.005, 0.995])
        assert low < true < high, name
    fit.save(tmp_path / "fit.nc")
    assert bs.open(tmp_path / "fit.nc").law == law


@pytest.mark.thorough
@pytest.mark.parametrize("rows", [4, 6, 10])
def test_intervals_hold_the_truth_of_simulated_tables(rows):
    law, table = simulated("parameters", rows)
    fitter, held, count = bs.Fitter(law, table), {"E": 0, "alpha": 0}, 60
    truth = TRUTH | dict(law.constants(TRUTH, law.reference(table)))
    for seed in range(count):
        losses = law.simulate(TRUTH, table, np.random.default_rng(100 + seed))
        posterior = fitter.fit(table.assign(loss=losses), seed=seed, **SHORT)["posterior"]
        for name in held:
            low, high = np.quantile(posterior[name], [0.025, 0.975])
            held[name] += low < truth[name] < high
    # At a coverage of 95% fewer have a probability of 3e-4.
    assert min(held.values()) >= 51, held


def test_a_table_that_cannot_tell_floor_from_exponent_is_reported():
    law, table = simulated("parameters", 8)
    fit = bs.fit(law, table, seed=1, **SHORT)
    assert trade_off(fit) > 0.9
    sentence = trade_off_sentence(fit)
    assert sentence.startswith("these rows can barely tell E and alpha apart (rank correlation 0.9")
    assert sentence[1:] in " ".join(str(fit).split())
    quoted = fit.summary().quote
    assert quoted[0].startswith("The loss above E falls as parameters to the power -0.3")
    assert quoted[1].startswith("These rows can barely tell E and alpha apart")


def test_a_table_that_reaches_the_floor_has_no_such_sentence():
    law, table = simulated("compute", 200)
    table = pd.DataFrame({"training_flop": np.geomspace(1e12, 1e30, 200)})
    table = table.assign(loss=law.simulate(TRUTH, table, np.random.default_rng(1)))
    fit = bs.fit(law, table, seed=1, **SHORT)
    assert 0 < trade_off(fit) < 0.9
    assert trade_off_sentence(fit) == ""
    assert trade_off(bs.fit("chinchilla", bs.load("chinchilla_runs"), seed=1, **SHORT)) is None


def test_a_weak_table_leaves_the_exponent_to_the_prior():
    law = bs.law("power-parameters")
    table = pd.DataFrame({"parameters": np.geomspace(1e8, 2e8, 4)})
    table = table.assign(loss=law.simulate(TRUTH | {"sigma": 0.1}, table, np.random.default_rng(1)))
    fit = bs.fit(law, table, seed=1, **SHORT)
    assert {"alpha", "reducible_share"} <= set(fit.check()["prior_driven"])


def test_budgets_are_planned_where_the_variable_is_compute():
    law, table = simulated("compute", 8)
    fit = bs.fit(law, table, seed=1, **SHORT)
    assert set(fit.allocate(1e22, beyond="none", robust=False).data_vars) == {"loss", "extrapolation", "outside"}
    law, table = simulated("parameters", 8)
    with pytest.raises(bs.InputError, match="a fit of power-parameters has no compute-optimal size"):
        bs.fit(law, table, seed=1, **SHORT).allocate(1e22)


def test_what_cannot_inform_the_law_is_refused():
    with pytest.raises(
        bs.InputError, match=r'variable "flops" is unknown; .*choose one of parameters, tokens, compute'
    ):
        bs.laws.PowerLaw(variable="flops")
    law, table = simulated("tokens", 4)
    with pytest.raises(bs.InputError, match="3 rows are fewer than the 4 sampled quantities"):
        law.rows(table.head(3))
    named = 'add runs, or fit power-tokens, which these rows carry: bayescaling fit power-tokens --data "chinchilla_'
    with pytest.raises(bs.InputError, match=named):
        bs.laws.Chinchilla().rows(bs.load("chinchilla_runs").head(5))


@pytest.mark.parametrize("exponent", [0.33, -0.12])
def test_any_positive_quantity_has_a_power_law_without_a_floor(exponent):
    compute = np.geomspace(1e17, 1e20, 12)
    batch = 0.02 * compute**exponent * np.exp(0.08 * np.random.default_rng(4).standard_normal(12))
    table = pd.DataFrame({"training_flop": compute, "batch": batch})
    needed = ("training_flop", "loss")
    with pytest.warns(bs.errors.TableNote, match="in units of its median"):
        read = bs.read(table, columns={"loss": "batch"}, unit={"loss": "other"}, needed=needed)
    with pytest.warns(bs.errors.TableNote, match="power-compute, floor=False, because what it is of is no cross"):
        fit = bs.fit("power-compute", read, seed=1, **SHORT)
    low, high = np.quantile(fit["posterior"]["exponent"], [0.005, 0.995])
    assert low < exponent < high and fit.check()["verdict"] == "fits"
    assert "batch at 1e21 FLOP, 10 times the largest run" in str(fit)
    assert fit.summary().quote[0].startswith("batch moves as training compute to the power ")
    falling = bs.law("power-compute", floor=True)
    if exponent > 0:
        with pytest.raises(bs.InputError, match=r"loss rises with training_flop .*fit power-compute .*floor=false"):
            bs.fit(falling, read)
    else:
        assert bs.fit(falling, read, seed=1, **SHORT).law == falling


def test_the_note_gives_the_reason_that_holds():
    table = simulated("parameters", 6)[1]
    with pytest.warns(bs.errors.TableNote, match="the law fitted is power-parameters, because 6 rows tell little"):
        bs.fit(bs.laws.PowerLaw(noise="student_t"), table, seed=1, **SHORT)
