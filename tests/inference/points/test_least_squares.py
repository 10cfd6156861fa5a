import bayescaling as bs
import numpy as np
import pandas as pd
import pytest

X = np.geomspace(1e6, 1e9, 12)
# Misra1a of NIST's nonlinear regressions: rows, and certified estimates and standard deviations
Y1A = (10.07, 14.73, 17.94, 23.93, 29.61, 35.18, 40.02, 44.82, 50.76, 55.05, 61.01, 66.4, 75.47, 81.78)
X1A = (77.6, 114.9, 141.1, 190.8, 239.9, 289.0, 332.8, 378.4, 434.8, 477.3, 536.8, 593.1, 689.1, 760.0)
MISRA = {"b1": (238.94212918, 2.7070075241), "b2": (5.5015643181e-4, 7.2668688436e-6)}


def test_estimates_and_errors_are_those_that_nist_certifies():
    law = bs.laws.Formula("y ~ b1 * (1 - exp(-b2 * x))", noise="additive")
    found = bs.points.fit_formula(law, pd.DataFrame({"y": Y1A, "x": X1A}))
    assert found.converged
    for name, (value, error) in MISRA.items():
        assert found[name] == pytest.approx(value, rel=1e-7)
        assert found.errors[name] == pytest.approx(error, rel=1e-6)


def test_a_power_is_a_line_of_logarithms_of_each_group():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"x": np.tile(X, 2), "g": np.repeat(["one", "two"], 12)})
    table["y"] = np.where(table["g"] == "one", 50 * table["x"] ** -0.2, 80 * table["x"] ** -0.3)
    table["y"] *= np.exp(0.05 * rng.standard_normal(24))
    found = bs.points.fit_formula("y ~ A[g] * x**-a[g]", table)
    for name, rows in table.groupby("g"):
        slope, height = np.polyfit(np.log(rows["x"]), np.log(rows["y"]), 1)
        assert found[f"a[{name}]"] == pytest.approx(-slope, rel=1e-7)
        assert found[f"A[{name}]"] == pytest.approx(np.exp(height), rel=1e-6)


def test_a_sign_that_the_formula_does_not_state_is_found():
    table = pd.DataFrame({"x": X, "y": 5 - 60 * X**-0.25})
    found = bs.points.fit_formula("y ~ T + A * x**-a", table)
    assert found["A"] == pytest.approx(-60, rel=1e-5) and found["T"] == pytest.approx(5, rel=1e-6)


def test_constants_that_the_rows_do_not_decide_are_told():
    table = pd.DataFrame({"x": X, "y": 2 + 60 * X**-0.25, "same": 3.0})
    with pytest.warns(bs.DiagnosticWarning, match="do not decide"):
        assert not bs.points.fit_formula("y ~ E + A * x**-a + B * same**-b", table).converged


def test_counts_are_refused():
    table = pd.DataFrame({"x": X, "k": 3.0, "n": 5.0})
    with pytest.raises(bs.InputError, match="k is a count; least squares need noise='additive'"):
        bs.points.fit_formula("k / n ~ A * x**-a", table)
