import json
from types import SimpleNamespace

import bayescaling as bs
import numpy as np
import pytest
from bayescaling.errors import InputError
from bayescaling.inference.points.penalised import _descend, _problem, penalised_fit
from bayescaling.models.progress.law import Progress
from bayescaling.models.progress.specifications import SPECIFICATIONS, Specification

# Where SLSQP stops for specification 7 at delta = .0025, as the authors' notebook prints it.
STOP = {
    "alpha_const": 0.912701,
    "alpha_const_ptb": 0.000379,
    "alpha_const_wt2": 0.055412,
    "alpha_year": 0.003938,
    "alpha_param": 0.067982,
    "beta_const": 0.771409,
    "beta_const_ptb": 0.176415,
    "beta_const_wt2": 0.095418,
    "beta_year": 0.035620,
    "beta_data": 0.039587,
}
COUNTS = (6, 5, 5, 8, 8, 10, 10, 9, 9, 14, 18, 9, 12, 10, 12, 8, 10, 5, 11, 10)


@pytest.fixture(scope="module")
def table():
    return bs.load("lm_progress")


@pytest.fixture(scope="module")
def stopped(table):
    return penalised_fit(7, table, delta=0.0025)


@pytest.fixture(scope="module")
def optima(table):
    return {number: penalised_fit(number, table, delta=0.0025, converged=True) for number in (7, 12, 14, 18)}


def written_out(table, c):
    """Specification 7 as equation 3 of the paper has it, from the table and the coefficients alone."""
    n = np.log(table["parameters"] / table["parameters"].min())
    d = np.log(table["dataset_tokens"] / table["dataset_tokens"].min())
    y = table["year"] - table["year"].min()
    ptb, wt2 = table["benchmark"] == "ptb", table["benchmark"] == "wt2"
    first = c["alpha_const"] + c["alpha_const_ptb"] * ptb + c["alpha_const_wt2"] * wt2
    second = c["beta_const"] + c["beta_const_ptb"] * ptb + c["beta_const_wt2"] * wt2
    first, second = first - c["alpha_year"] * y - c["alpha_param"] * n, second - c["beta_year"] * y - c["beta_data"] * d
    return np.exp(first) + np.exp(second)


def test_the_papers_fit_of_its_main_specification_is_met(stopped):
    assert stopped.search["objective"] == pytest.approx(0.0518129, abs=1e-7)
    assert stopped.search["iterations"] == 18
    assert stopped["coefficients"] == pytest.approx(STOP, abs=1e-4)
    assert stopped["doubling_months"] == pytest.approx(8.685, abs=0.01)
    assert stopped.rows == 231


def test_the_objective_is_mean_squared_error_plus_penalty(table, stopped):
    residual = np.log(table["perplexity"]) - written_out(table, stopped["coefficients"])
    assert stopped.search["mse"] == pytest.approx((residual**2).mean(), rel=1e-12)
    penalty = 0.0025 * sum(map(abs, stopped["coefficients"].values()))
    assert stopped.search["objective"] == pytest.approx(stopped.search["mse"] + penalty, rel=1e-12)


def test_where_the_paper_stops_is_said_to_be_no_optimum(stopped):
    assert not stopped.converged
    assert stopped.message.startswith("no optimum")
    assert stopped.search["subgradient"] > 1e-3


def test_the_optimum_is_lower_and_its_subgradient_vanishes(table, stopped, optima):
    best = optima[7]
    assert best.search["objective"] == pytest.approx(0.05072, abs=1e-5)
    assert best.search["objective"] < stopped.search["objective"] - 1e-3
    assert best.converged
    # From the table alone: the slope of the objective to either side of each coefficient must not lead down.
    loss = np.log(table["perplexity"])

    def objective(c):
        return ((loss - written_out(table, c)) ** 2).mean() + 0.0025 * sum(map(abs, c.values()))

    for name, value in best["coefficients"].items():
        for step in (1e-5, -1e-5):
            rise = objective(best["coefficients"] | {name: value + step}) - objective(best["coefficients"])
            assert rise > -1e-12, (name, step)
    assert best["doubling_months"] == pytest.approx(6.075, abs=0.01)


@pytest.mark.parametrize("number", [12, 14, 18])
def test_other_optima_are_verified_too(optima, table, number):
    assert optima[number].converged
    assert optima[number].search["subgradient"] < 1e-8
    assert optima[number].search["objective"] <= penalised_fit(number, table).search["objective"] + 1e-12


@pytest.mark.parametrize("number", SPECIFICATIONS)
def test_every_specification_has_its_coefficients_and_derivatives(table, number):
    problem = _problem(Progress(number), table)
    assert len(problem.names) == COUNTS[number - 1]
    rng = np.random.default_rng(number)
    theta = rng.normal(0, 0.02, len(problem.names))
    if number in (14, 15):
        theta[[i for i, name in enumerate(problem.names) if "log_year" in name]] *= 0.1
    value, gradient, hessian = problem.expand(theta)
    assert value == pytest.approx(problem.mse(theta), rel=1e-12)
    steps = 1e-5 * np.eye(len(theta))
    slopes = [(problem.expand(theta + s)[0] - problem.expand(theta - s)[0]) / 2e-5 for s in steps]
    np.testing.assert_allclose(gradient, slopes, rtol=1e-5, atol=1e-6 * np.abs(gradient).max())
    bends = [(problem.expand(theta + s)[1] - problem.expand(theta - s)[1]) / 2e-5 for s in steps]
    np.testing.assert_allclose(hessian, bends, rtol=1e-4, atol=1e-6 * np.abs(hessian).max())


def test_slopes_by_benchmark_are_offsets_and_by_architecture_are_not(table):
    names = _problem(Progress(10), table).names
    assert {"alpha_year", "alpha_year_ptb", "alpha_year_wt2"} <= set(names)
    problem = _problem(Progress(13), table)
    of = {name: problem.parameters[:, problem.names.index(name)] for name in problem.names}
    transformer = table["transformer"].to_numpy() == 1
    n = np.log(table["parameters"] / table["parameters"].min())
    np.testing.assert_allclose(of["alpha_param[transformer]"], np.where(transformer, -n, 0))
    np.testing.assert_allclose(of["alpha_param[other]"], np.where(transformer, 0, -n))


def test_doubling_times_are_those_of_the_coefficients(table):
    def months(number):
        fit = penalised_fit(number, table)
        return fit["doubling_months"], fit["coefficients"]

    doubling, c = months(12)
    rate = c["alpha_year"] * (1 / c["alpha_param"] + 1 / c["beta_data"])
    assert doubling == pytest.approx(12 * np.log(2) / rate)
    doubling, c = months(18)
    assert doubling == pytest.approx(12 * np.log(2) * c["alpha_compute"] / c["alpha_year"])
    doubling, c = months(8)
    assert doubling == pytest.approx(12 * np.log(2) * c["beta_data"] / c["beta_year"])
    doubling, c = months(13)
    rate = c["alpha_year"] / c["alpha_param[transformer]"] + c["beta_year"] / c["beta_data[transformer]"]
    assert doubling == pytest.approx(12 * np.log(2) / rate)
    assert months(14)[0] is None
    assert months(16)[0] is None


def test_a_table_without_progress_has_no_doubling_time(table):
    backwards = table.assign(year=2035 - table["year"])
    assert penalised_fit(18, backwards)["doubling_months"] is None


def test_the_descent_finds_a_minimum_known_in_closed_form():
    rng = np.random.default_rng(2)
    centre, curvature, delta = rng.normal(0, 1, 40), rng.uniform(0.1, 9, 40), 1.0

    def expand(theta):
        return curvature @ (theta - centre) ** 2 / 2, curvature * (theta - centre), np.diag(curvature)

    soft = np.sign(centre) * np.maximum(np.abs(centre) - delta / curvature, 0)
    assert (soft == 0).any()
    for start in (np.zeros(40), rng.normal(0, 3, 40), -centre):
        end = _descend(SimpleNamespace(expand=expand), start, delta)
        np.testing.assert_allclose(end, soft, atol=1e-9)
        np.testing.assert_array_equal(end == 0, soft == 0)


def test_a_specification_of_ones_own_is_fitted(table):
    custom = penalised_fit(Specification("b + y + n", "b + d"), table)
    nine = penalised_fit(9, table)
    assert custom.search["specification"] == "b + y + n | b + d"
    assert custom.search["objective"] == nine.search["objective"]
    assert json.loads(json.dumps(nine.to_dict()))["coefficients"] == nine["coefficients"]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda t: penalised_fit(21, t), "specification 21 is unknown"),
        (lambda t: penalised_fit(7, t, delta=-1), "delta must be a number of at least 0, not -1"),
        (lambda t: penalised_fit(7, t, delta="much"), "delta must be a number"),
        (lambda t: penalised_fit(7, t.drop(columns="year")), 'needs "year"'),
        (lambda t: penalised_fit(7, t.assign(parameters=0.0)), "column 'parameters' is 0.0 in row 0"),
        (lambda t: penalised_fit(7, t.head(9)), "9 rows are fewer than the 10 coefficients"),
    ],
)
def test_unusable_input_is_refused_in_one_line(table, call, words):
    with pytest.raises(InputError) as refused:
        call(table)
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)
