import json

import bayescaling as bs
import numpy as np
import pandas as pd
import pytest
from bayescaling.inference.points.result import PointEstimate


@pytest.fixture
def estimate():
    return PointEstimate(
        estimator="Mean and slopes",
        estimates={
            "constants": {"E": 1.25, "alpha": np.float64(0.5)},
            "exponent": np.nan,
            "slopes": pd.Series([2.0, 3.0], ["a", "b"]),
        },
        source="runs.csv",
        rows=7,
        converged=True,
        message="all 3 levels were used",
        errors={"E": 0.125},
        search={"starts": np.int64(3), "optima": [{"objective": np.nan}]},
        points=pd.DataFrame({"loss": [2.0, np.nan], "used": [True, False]}),
    )


def test_estimates_are_found_by_their_names(estimate):
    assert estimate["E"] == 1.25 and estimate["constants"] == {"E": 1.25, "alpha": 0.5}
    assert estimate["slopes"]["b"] == 3
    with pytest.raises(bs.InputError, match='estimate "exponnt" is unknown; did you mean "exponent"'):
        estimate["exponnt"]


def test_the_table_has_a_row_a_number_with_the_error_that_belongs_to_it(estimate):
    table = estimate.table()
    assert table["estimate"].dropna().to_dict() == {"E": 1.25, "alpha": 0.5, "slopes[a]": 2.0, "slopes[b]": 3.0}
    assert np.isnan(table.at["exponent", "estimate"])
    assert table["standard_error"].dropna().to_dict() == {"E": 0.125}


def test_it_prints_what_the_numbers_are_of(estimate):
    lines = repr(estimate).splitlines()
    assert lines[0] == "Mean and slopes, 7 rows of runs.csv"
    assert lines[-1] == "All 3 levels were used."
    assert [line.split() for line in lines if line.startswith(("E", "exponent"))] == [
        ["E", "1.25", "0.125"],
        ["exponent", "–", "–"],
    ]
    assert "<table" in estimate._repr_html_()
    many = PointEstimate("Means", {"mean": pd.Series(np.arange(50.0))}, "scores.csv", 50, True, "done")
    assert "mean[11]" in repr(many) and "mean[12]" not in repr(many) and "The first 12 of 50 estimates." in repr(many)


def test_it_is_json(estimate):
    document = json.loads(json.dumps(estimate.to_dict(), allow_nan=False))
    assert document["constants"] == {"E": 1.25, "alpha": 0.5} and document["slopes"] == {"a": 2.0, "b": 3.0}
    assert document["exponent"] is None and document["E_se"] == 0.125
    assert document["optima"] == [{"objective": None}] and document["starts"] == 3
    assert document["points"] == [{"loss": 2.0, "used": True}, {"loss": None, "used": False}]


def test_a_loss_that_depends_on_no_size_has_no_exponent_but_constants():
    runs = bs.load("chinchilla_runs").assign(loss=2.0)
    with pytest.warns(bs.DiagnosticWarning):
        estimate = bs.points.fit_huber(runs, starts=[[-100.0, -100.0, np.log(2.0), 0.0, 0.0]])
    assert np.isnan(estimate["exponent"]) and estimate.to_dict()["exponent"] is None
