import bayescaling as bs
import numpy as np
import pandas as pd
import pytest
from bayescaling.inference.estimands.predict import task_errors
from bayescaling.models.loss.tasks import TaskError, error
from scipy.optimize import least_squares

SHORT = {"seed": 1, "draws": 500, "tune": 700, "chains": 2, "cores": 1}
TRUTH = {"chance": 0.75, "floor_share": 0.08, "solved": 0.4, "shape": 0.6, "sigma": 0.006}
SLOPES = {"a": 1.0, "b": 1.3, "c": 0.8}
PLANNED = pd.DataFrame({"parameters": [1e9, 1e12], "tokens": [1e11, 2e13]})
# Of table 2 of Gadre et al. (2024): the runs that their curve of errors is fitted to, and the two that it predicts.
FITTED = ("d=96_l=8_h=4-1.0", "d=512_l=8_h=4-1.0", "d=576_l=24_h=8-1.0", "d=1024_l=24_h=8-1.0", "d=96_l=8_h=4-16.0",
          "open_lm_1b-1.0")  # fmt: skip
PREDICTED = {"open_lm_1b-32.0": 0.036365, "open_lm_7b-1.0": 0.000465}


def models(seed=1, rows=40):
    """Simulate the errors of models on three tasks."""
    rng, loss, parts = np.random.default_rng(seed), np.linspace(2.0, 5.0, rows), []
    for task, slope in SLOPES.items():
        table = pd.DataFrame({"loss": loss, "task": task})
        parts.append(table.assign(error=TaskError().simulate(TRUTH | {"slope": slope}, table, rng)))
    return pd.concat(parts, ignore_index=True)


@pytest.fixture(scope="module")
def fit_tasks():
    return bs.fit(bs.laws.Grouped(TaskError(), "task", shared=("chance",)), models(), **SHORT, check=False)


@pytest.fixture(scope="module")
def fit_task():
    table = models()
    return bs.fit("task-error", table[table["task"] == "a"].reset_index(drop=True), **SHORT, check=False)


def test_the_curve_is_logistic_at_one_end_and_exponential_at_the_other():
    loss, constants = np.linspace(1.0, 6.0, 20), {"chance": 0.8, "floor": 0.1, "midpoint": 2.0, "slope": 1.2}
    logistic = 0.1 + 0.7 / (1 + np.exp(-1.2 * (loss - 2.0)))
    np.testing.assert_allclose(error(loss, **constants, shape=1.0), logistic, rtol=1e-12)
    exponential = 0.8 - 0.7 * np.exp(-1.2 * np.maximum(loss - 2.0, 0.0))
    np.testing.assert_allclose(error(loss, **constants, shape=1e-9), exponential, atol=1e-8)


@pytest.mark.parametrize("shape", [1e-4, 0.3, 1.0])
def test_the_typical_loss_has_gone_the_stated_share_of_the_way(shape):
    table = models()
    values = TRUTH | {"slope": 1.1, "shape": shape}
    constants = TaskError().constants(values, TaskError().reference(table))
    typical = np.exp(np.log(table["loss"]).mean())
    expected = 0.75 - 0.4 * 0.75 * (1 - 0.08)
    assert TaskError().mean(constants, {"loss": typical}) == pytest.approx(expected, rel=1e-6)


def test_the_published_errors_follow_from_the_exponential_curve():
    runs = bs.load("overtraining_runs")
    runs = runs[runs["corpus"] == "RedPajama"].assign(run=lambda x: x["run"].str.removeprefix("rpj-")).set_index("run")
    small, large = (runs.loc[list(names)] for names in (FITTED, PREDICTED))

    def of_loss(p, table):
        parameters, tokens = (table[name].to_numpy() for name in ("parameters", "tokens"))
        return p[3] + 100 * (p[0] * parameters ** -p[2] + p[1] * 6 ** (-p[2] / 2) * tokens ** -p[2])

    def of_error(p, loss):
        return error(loss, chance=p[0], floor=0.0, midpoint=p[1], slope=p[2], shape=1e-6)

    exact = {"xtol": 1e-15, "ftol": 1e-15, "gtol": 1e-15, "max_nfev": 10_000}
    five = small.iloc[:5]
    loss = least_squares(lambda p: of_loss(p, five) - five["loss"], [2.0, 4.0, 0.3, 1.8], **exact).x
    tasks = least_squares(lambda p: of_error(p, small["loss"]) - small["error_17_tasks"], [0.85, 1.3, 0.7], **exact).x
    relative = of_error(tasks, of_loss(loss, large)) / large["error_17_tasks"].to_numpy() - 1
    np.testing.assert_allclose(np.abs(relative), list(PREDICTED.values()), atol=2e-5)


def test_a_fit_of_tasks_recovers_the_truth_and_is_saved(fit_tasks, tmp_path):
    posterior = fit_tasks["posterior"]
    assert fit_tasks.diagnostics["ok"], fit_tasks.diagnostics["warnings"]
    for task, slope in SLOPES.items():
        for name, true in (TRUTH | {"slope": slope}).items():
            low, high = np.quantile(
                posterior[name].sel(group=task) if name != "chance" else posterior[name], [0.005, 0.995]
            )
            assert low <= true <= high, (task, name)
    fit_tasks.save(tmp_path / "tasks.nc")
    assert bs.open(tmp_path / "tasks.nc").law == fit_tasks.law


def test_the_chain_is_that_of_the_draws(fit_default, fit_task):
    options = {"noise": False, "beyond": "none", "robust": False, "seed": 3}
    predicted = fit_default.predict(PLANNED, task=fit_task, above=0.4, **options)
    loss = fit_default.predict(PLANNED, **options)["loss"]
    constants = fit_task["posterior"].to_dataset()
    picks = np.random.default_rng(3).integers(constants.sizes["chain"] * constants.sizes["draw"], size=loss.shape[:2])
    of_draw = {
        name: constants[name].values.ravel()[picks][..., None]
        for name in ("chance", "floor", "midpoint", "slope", "shape")
    }
    expected = error(loss.values, **of_draw)
    np.testing.assert_allclose(predicted["error"].sel(task="error"), expected, rtol=1e-9)
    table = predicted.tasks()
    assert table["q50"].tolist() == pytest.approx(np.median(expected, (0, 1)).tolist())
    assert table["p_above"].tolist() == pytest.approx((1 - expected > 0.4).mean((0, 1)).tolist())


def test_the_uncertainty_of_the_loss_is_carried(fit_default, fit_tasks):
    predicted = fit_default.predict(PLANNED, task=fit_tasks)
    assert predicted["error"].dims == ("chain", "draw", "run", "task")
    assert predicted["error"]["task"].values.tolist() == list(SLOPES)
    exact = predicted["loss"] * 0 + predicted["loss"].median(("chain", "draw"))
    alone = task_errors(fit_tasks, fit_default, exact, np.random.default_rng(1))
    assert (predicted["error"].std(("chain", "draw")) > alone.std(("chain", "draw"))).all()
    text = str(predicted)
    assert "error, b" in text and "extrapolated" in text


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"above": 0.5}, r"above is an accuracy on tasks; give their fit as task \(--task TASKS.nc\)"),
        ({"task": "loss"}, "is a fit of .*; errors of tasks need a fit of task-error"),
        ({"task": "tasks", "above": 60}, "above must be an accuracy between 0 and 1 such as 0.6, not 60"),
    ],
)
def test_options_that_cannot_be_used_are_refused(options, message, fit_default, fit_task):
    options = options | {"task": {"loss": fit_default, "tasks": fit_task}.get(options.get("task"))}
    with pytest.raises(bs.InputError, match=message):
        fit_default.predict(PLANNED, **options)


def test_percents_and_options_of_other_laws_are_refused():
    table = models()
    with pytest.raises(bs.InputError, match=r"column 'error' is \d+.* in row 0; errors are from 0 to 1: divide"):
        TaskError().rows(table.assign(error=100 * table["error"]))
    for option in ({"scatter": "by_size"}, {"measurement_error": True}, {"run_effects": True}, {"scale": "log_loss"}):
        with pytest.raises(bs.InputError, match=next(iter(option))):
            TaskError(**option)


def test_errors_are_read_by_their_usual_names(tmp_path):
    table = models().assign(parameters=lambda x: np.geomspace(1e7, 1e9, len(x)), tokens=1e10)
    table.rename(columns={"error": "error_rate"}).to_csv(tmp_path / "tasks.csv", index=False)
    read = bs.read(tmp_path / "tasks.csv", needed=["loss", "error"])
    np.testing.assert_allclose(read["error"], table["error"])
    with pytest.raises(bs.InputError, match="which is not a number from 0 to 1"):
        bs.read(table.assign(error=100 * table["error"]), needed=["loss", "error"])


def test_losses_and_errors_alone_are_a_table_of_tasks(tmp_path):
    models()[["task", "loss", "error"]].to_csv(tmp_path / "tasks.csv", index=False)
    table = bs.read(tmp_path / "tasks.csv", needed=["loss", "error", "task"])
    assert table.columns.tolist() == ["loss", "error", "task"] and len(TaskError().rows(table)) == len(table)
    with pytest.raises(bs.InputError, match=r"two of .* are needed and none found"):
        bs.read(tmp_path / "tasks.csv")
