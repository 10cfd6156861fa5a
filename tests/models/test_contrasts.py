import numpy as np
import pandas as pd
from bayescaling.models.contrasts import groupings, means, slopes


def test_directions_are_orthonormal():
    codes, x = np.repeat([0, 1, 2], [4, 1, 5]), np.arange(10.0)
    for directions in (means(codes), slopes(codes, x)):
        np.testing.assert_allclose(directions @ directions.T, np.eye(len(directions)), atol=1e-12)
    assert len(slopes(codes, x)) == 2  # one row has no slope


def test_columns_that_may_name_groups():
    rows = pd.DataFrame(
        {
            "parameters": [1.0, 2.0] * 6,  # known by its name
            "lab": list("aabb") * 3,
            "same as lab": [0, 0, 1, 1] * 3,
            "whole": [1, 2] * 6,
            "share": [0.1, 0.2] * 6,  # a measurement
            "rare": ["x"] * 10 + ["y"] * 2,
            "gaps": [None, "a", "b"] * 4,
            "name": [f"run {i}" for i in range(12)],
            "paper": list("ccddee") * 2,
        }
    )
    assert list(groupings(rows, known=["paper"])) == ["lab", "whole"]
