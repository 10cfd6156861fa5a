"""Which run next: what is chosen, the gate, and what is refused."""

import warnings

import bayescaling as bs
import numpy as np
import pandas as pd
import pytest
from bayescaling.inference.decisions.candidates import candidate_means, misfit_variance, noise_variance
from bayescaling.inference.decisions.gate import LEAST, gate
from bayescaling.inference.decisions.targets import target_of
from bayescaling.models.loss import coupled
from bayescaling.models.loss.coupled import loss as coupled_loss

SHORT = {"draws": 400, "tune": 500, "chains": 2}
CONSTANTS = {"E": 1.8, "A": 480.0, "B": 2080.0, "alpha": 0.35, "beta": 0.37}
TARGET = 1e23


def simulated(kappa, seed=1, sigma=0.004):
    """Simulate runs of a ladder of sizes and tokens."""
    sizes = np.geomspace(2e7, 2e9, 7), np.geomspace(5e8, 5e10, 7)
    n, d = (x.ravel() for x in np.meshgrid(*sizes, indexing="ij"))
    rng = np.random.default_rng(seed)
    losses = coupled_loss(n, d, **CONSTANTS, kappa=kappa) * np.exp(sigma * rng.standard_normal(len(n)))
    return bs.read(pd.DataFrame({"parameters": n, "tokens": d, "loss": losses}))


def fitted(table, law="chinchilla"):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bs.DiagnosticWarning)
        return bs.fit(law, table, seed=1, **SHORT, check=False)


def named(laws):
    """Return the names of laws without their options."""
    return [law.partition(",")[0] for law in laws]


@pytest.fixture(scope="module")
def fit_right():
    return fitted(simulated(1.0))


@pytest.fixture(scope="module")
def fit_wrong():
    return fitted(simulated(0.5, sigma=0.001))


@pytest.fixture(scope="module")
def fit_bent():
    """Fit runs whose losses rise above every law from a compute on."""
    table = simulated(1.0, sigma=0.001)
    table["loss"] *= 1 + 0.08 * np.log10(table["training_flop"] / 3e19).clip(lower=0)
    return fitted(table)


@pytest.fixture(scope="module")
def schedule(fit_right):
    return bs.design(fit_right, budget=1e20, compute=TARGET, gate=False, gpu_hour=2.0)


def test_runs_are_in_order_of_purchase_within_the_budget(schedule):
    assert schedule["cumulative_cost"].iloc[-1] <= 1e20
    np.testing.assert_allclose(schedule["cumulative_cost"], schedule["cost"].cumsum())
    np.testing.assert_allclose(schedule["cost"], 6 * schedule["parameters"] * schedule["tokens"])
    left = [1.0, *schedule["variance_left"]]
    assert (np.diff(left) <= 0).all() and left[-1] < 0.95
    assert schedule["batch"].iloc[0] == 1 and schedule["batch"].is_monotonic_increasing
    assert schedule.loc[schedule["batch"] == 1, "cost"].sum() >= 1e19
    np.testing.assert_allclose(schedule["money"], 2 * schedule["hours"])


def test_the_excess_loss_is_that_of_the_draws_and_falls_with_the_variance(schedule, fit_right):
    at = fit_right.allocate(TARGET, beyond="none", robust=False)
    chosen = float(np.exp(np.log(at["parameters"]).mean()))
    constants = {name: fit_right["posterior"][name].values.ravel() for name in CONSTANTS}
    excess = coupled_loss(chosen, TARGET / 6 / chosen, **constants, kappa=1.0) - at["loss"].values.ravel()
    now = schedule.attrs["now"]
    assert now["excess_loss"] == pytest.approx(excess.mean(), rel=0.1)  # draws are clipped
    np.testing.assert_allclose(schedule["excess_loss"] / now["excess_loss"], schedule["variance_left"])
    assert now["drift_loss"] > 0


def test_the_interval_after_all_runs_is_that_of_the_variance_and_drift_that_are_left(schedule, fit_right):
    after, at = schedule.attrs["after"], fit_right.allocate(TARGET, robust=False)["parameters"]
    assert np.log(after["width"][0]) == pytest.approx(float(np.log(at.quantile(0.975) / at.quantile(0.025))), rel=0.1)
    assert after["width"][1] < 1.02 * after["width"][0]  # nearly all of it is drift
    assert after["decades"] == pytest.approx(np.log10(TARGET / max(1e20, schedule["cost"].max())), abs=1)
    assert f"{after['width'][1]:.2g} ({after['width'][0]:.2g} now)" in " ".join(schedule.sentences())


def test_the_excess_in_flop_buys_back_the_excess_loss(schedule, fit_right):
    now = schedule.attrs["now"]
    losses = [
        float(fit_right.allocate(c, beyond="none", robust=False)["loss"].mean())
        for c in (TARGET, TARGET + now["excess_flop"])
    ]
    assert losses[0] - losses[1] == pytest.approx(now["excess_loss"], rel=0.1)


def test_runs_pay_while_they_save_more_than_they_cost(schedule):
    count = int(schedule["pays"].sum())
    assert schedule["pays"].iloc[:count].all()
    total = np.append(schedule.attrs["now"]["excess_flop"], schedule["excess_flop"] + schedule["cumulative_cost"])
    assert total.argmin() == count


def test_gains_are_those_that_new_losses_bring(fit_right):
    """The variance that is expected to be left is that of the target weighted by simulated losses, on average."""
    draws, run = fit_right.draws, pd.DataFrame({"parameters": [1e8], "tokens": [2e10]})
    target = target_of(draws, "allocation", TARGET, {}).draws
    mean, noise = candidate_means(draws, run)[:, 0], noise_variance(draws, run)[0]
    rng, left = np.random.default_rng(1), []
    for _ in range(400):
        observed = rng.choice(mean) + np.sqrt(noise) * rng.standard_normal()
        weights = np.exp(-((observed - mean) ** 2) / (2 * noise))
        weights /= weights.sum()
        left.append(weights @ (target - weights @ target) ** 2)
    table = run.assign(cost=1e18)
    schedule = bs.design(fit_right, table, 1e18, compute=TARGET, gate=False, beyond="none")
    assert schedule["variance_left"].iloc[0] == pytest.approx(np.mean(left) / target.var(), abs=0.05)


def test_runs_off_the_ratio_of_the_target_or_outside_the_runs_count_less(fit_right):
    ratio = 20.0
    near = pd.DataFrame({"parameters": [1e8], "tokens": [2e9]})
    off, above = near.assign(tokens=2e11, parameters=1e6), near * 1e3
    below = near / 1e2
    variances = [misfit_variance(fit_right.draws, ratio, run)[0] for run in (near, off, above, below)]
    assert variances[0] == pytest.approx(0) and min(variances[1:]) > 1e-5


@pytest.mark.parametrize("target", ["loss", "exponent"])
def test_other_targets(fit_right, target):
    table = bs.design(fit_right, budget=1e19, compute=TARGET, target=target, gate=False)
    assert table["variance_left"].iloc[-1] < 1 and "excess_loss" not in table


def test_copies_of_a_candidate_teach_less_each_time(fit_right):
    run = pd.DataFrame({"params": [1e8] * 3, "tokens": [2e10] * 3})
    left = np.array([1.0, *bs.design(fit_right, run, 1e20, compute=TARGET, gate=False)["variance_left"]])
    gains = -np.diff(left)
    assert (np.diff(gains) < 0).all()


def test_the_gate_passes_the_right_law_and_stops_a_wrong_one(fit_right, fit_wrong):
    right, wrong = gate(fit_right, seed=1), gate(fit_wrong, seed=1)
    assert right.passed and right.coverage >= LEAST
    assert not wrong.passed and wrong.predicted == right.predicted


def test_a_wider_law_that_passes_takes_the_place_of_one_that_fails(fit_wrong):
    with warnings.catch_warnings(record=True) as notes:  # chains of the other fit are short
        warnings.simplefilter("always")
        table = bs.design(fit_wrong, budget=1e20, compute=TARGET)
    assert any("chooses none of the runs; coupled" in str(note.message) for note in notes)
    assert named(table.attrs["laws"]) == ["coupled"] and table.attrs["rule"] == "draws"
    passed = [result.passed for result in table.attrs["gates"].values()]
    assert dict(zip(named(table.attrs["gates"]), passed, strict=True)) == {"chinchilla": False, "coupled": True}


def test_laws_that_all_fail_choose_nothing(fit_bent):
    with warnings.catch_warnings(record=True) as notes:
        warnings.simplefilter("always")
        table = bs.design(fit_bent, budget=1e20, compute=TARGET)
    assert any("spread by cost" in str(note.message) for note in notes)
    assert table.attrs["rule"] == "spread" and table["variance_left"].isna().all()
    gates = table.attrs["gates"]
    assert not gates[next(name for name in gates if name.startswith("chinchilla"))].passed
    assert "No law predicts" in str(table)
    ratio = target_of(fit_bent.draws, "allocation", TARGET, {}).ratio
    assert np.abs(np.log10(table["tokens"] / table["parameters"] / ratio)).max() <= 1.0


@pytest.mark.filterwarnings("ignore::bayescaling.errors.TableNote")
def test_too_few_runs_are_not_rolled_out():
    result = gate(fitted(simulated(1.0).iloc[:8].reset_index(drop=True)), seed=1)
    assert result.passed and np.isnan(result.coverage) and "Too few runs" in result.sentence("chinchilla")


def test_several_laws_count_what_they_disagree_about(fit_right):
    other = fitted(simulated(1.0), "coupled")
    table = bs.design([fit_right, other], budget=1e19, compute=TARGET, gate=False)
    assert named(table.attrs["laws"]) == ["chinchilla", "coupled"]
    assert table["variance_left"].iloc[-1] < 1


REFUSED = {
    "no budget": ({"compute": TARGET}, "budget must be positive"),
    "negative budget": ({"budget": -1e20, "compute": TARGET}, "budget must be positive"),
    "small budget": ({"budget": 1e10, "compute": TARGET}, "below the cheapest fitted run"),
    "no compute": ({"budget": 1e20}, "needs compute"),
    "unknown target": ({"budget": 1e20, "compute": TARGET, "target": "size"}, "target .*size"),
    "unknown plan": ({"budget": 1e20, "compute": TARGET, "depth": 3}, "depth"),
    "price": ({"budget": 1e20, "compute": TARGET, "gpu_hour": -1.0}, "gpu_hour must be"),
}
TABLES = {
    "no tokens": ({"parameters": [1e8]}, "tokens is missing"),
    "negative": ({"parameters": [-1e8], "tokens": [1e9]}, "not a positive number"),
    "dear": ({"parameters": [1e12], "tokens": [1e13]}, "buys none of the 1 candidates"),
    "text": ({"parameters": ["many"], "tokens": [1e9]}, "column 'parameters' is many"),
    "two of one": ({"parameters": [1e8], "params": [1e8], "tokens": [1e9]}, "two columns have one meaning"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_requests_that_are_refused(fit_right, case):
    options, message = REFUSED[case]
    with pytest.raises(bs.InputError, match=message):
        bs.design(fit_right, gate=False, **options)


@pytest.mark.parametrize("case", TABLES)
def test_candidates_that_are_refused(fit_right, case):
    columns, message = TABLES[case]
    with pytest.raises(bs.InputError, match=message):
        bs.design(fit_right, pd.DataFrame(columns), 1e20, compute=TARGET, gate=False)


def test_the_optimum_at_the_target_is_that_of_the_law(fit_right):
    target = target_of(fit_right.draws, "allocation", TARGET, {})
    constants = {name: fit_right["posterior"][name].values.ravel() for name in CONSTANTS}
    size, _ = coupled.optimum(TARGET, **constants, kappa=1.0)
    np.testing.assert_allclose(target.draws, np.log(size))
