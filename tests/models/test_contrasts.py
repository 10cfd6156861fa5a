import numpy as np
import pandas as pd
from bayescaling.models.contrasts import Contrast, groupings, joined, means, ordinals, slopes


def test_directions_are_orthonormal():
    codes, x = np.repeat([0, 1, 2], [4, 1, 5]), np.arange(10.0)
    for directions in (means(codes), slopes(codes, x)):
        np.testing.assert_allclose(directions @ directions.T, np.eye(len(directions)), atol=1e-12)
    assert len(slopes(codes, x)) == 2  # one row has no slope


def test_directions_are_called_as_their_rows_are():
    codes = np.array([2, 0, 1, 1, 0, 2])
    named = ordinals(codes, "compute")
    assert named[1] == "the bin of smallest compute" and named[0] == "the bin of largest compute"
    assert named[2] == "bin 2 of 3 by compute"
    contrast = Contrast.of_means(codes, "bins", named)
    for direction, name in zip(contrast.directions, contrast.names, strict=True):
        assert set(named[direction != 0]) == {name}
    # A bin in which nothing varies has no slope, and the names of the others stay theirs.
    within = Contrast("", slopes(codes, [1.0, 5.0, 3.0, 3.0, 6.0, 2.0])).named(named)
    assert within.names == ("the bin of smallest compute", "the bin of largest compute")


def test_names_of_joined_contrasts_say_of_which_rows_they_are():
    first = np.array([True, False, True, False])
    parts = [
        Contrast.of_means(["a", "b"], "groups").among(rows, f" of lab {lab}") for rows, lab in ((first, 1), (~first, 2))
    ]
    both = joined("of each lab", parts)
    assert both.names == ("a of lab 1", "b of lab 1", "a of lab 2", "b of lab 2")
    assert both.directions.argmax(1).tolist() == [0, 2, 1, 3]


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
    assert list(groupings(rows, used=["paper"])) == ["lab", "whole"]
