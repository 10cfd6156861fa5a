"""Leaderboards: a model a row and a benchmark a column, or the reverse, are read as one row a score."""

import warnings

import bayescaling as bs
import numpy as np
import pandas as pd
import pytest

RNG = np.random.default_rng(3)
SHARES = pd.DataFrame(RNG.uniform(0.05, 0.95, (6, 4)).round(4), columns=["IFEval", "BBH", "MATH Lvl 5", "Arena Hard"])
MODELS = [f"lab/m{i}" for i in range(6)]
SIZES = {"#Params (B)": [0.5, 1, 3, 7, 40, 70], "Hub License": ["mit", "apache-2.0"] * 3, "MoE": [True, False] * 3}


def read(table, **options):
    with warnings.catch_warnings(record=True) as notes:
        warnings.simplefilter("always")
        return bs.read(table, "scores", **options), " ".join(str(note.message) for note in notes)


def scores(table):
    """Return scores by model and benchmark."""
    return table.pivot_table(index="model", columns="benchmark", values="score")


def leaderboard(scale=1, first="Model", **more):
    return pd.DataFrame({first: MODELS} | more | {x: scale * SHARES[x] for x in SHARES} | SIZES)


@pytest.mark.parametrize("scale", [1, 100])
@pytest.mark.parametrize("average", [{"Average": SHARES.mean(axis=1)}, {"Total score": SHARES.mean(axis=1).round(3)}])
def test_a_leaderboard_is_one_row_a_score(scale, average):
    more = {name: scale * cells for name, cells in average.items()}
    table, notes = read(leaderboard(scale, **more))
    np.testing.assert_allclose(scores(table).loc[MODELS, list(SHARES)], SHARES, rtol=1e-9)
    assert set(table) == {"model", "benchmark", "score", *SIZES} and len(table) == 24
    assert 'read as 24 scores of 4 benchmarks: "IFEval", "BBH", "MATH Lvl 5", "Arena Hard"' in notes
    assert f'averages are left out: "{next(iter(average))}"' in notes
    assert ("scores are read as percent" in notes) == (scale == 100)


def test_other_forms_of_a_leaderboard(tmp_path):
    table = leaderboard(100, first="Checkpoint", Elo=[1000.0, 1100, 1200, 1250, 1300, 1350], Rank=range(1, 7))
    table["IFEval"] = [f"{x:.2f}" for x in table["IFEval"]]
    table.loc[2, "IFEval"] = "-"
    read_, notes = read(table)
    assert "Elo" in read_ and "Rank" in read_ and len(read_) == 23 and "lab/m2" in set(read_["model"])
    percent, _ = read(leaderboard().assign(**{x: [f"{100 * y:.2f}%" for y in SHARES[x]] for x in SHARES}))
    np.testing.assert_allclose(scores(percent).loc[MODELS, list(SHARES)], SHARES, atol=1e-9)
    other, notes = read(leaderboard(100, judge=[0.2, 0.4, 0.5, 0.6, 0.7, 0.8]))
    assert '"judge" in another range' in notes and "judge" in other and len(other) == 24
    path = tmp_path / "board.md"
    path.write_text("| Model | A | B |\n|---|---|---|\n| **x** | 12.0 | 43.5 |\n| y | 20.1 | n/a |\n", encoding="utf-8")
    assert read(path)[0]["score"].tolist() == pytest.approx([0.12, 0.201, 0.435])


def test_a_benchmark_a_row_and_a_model_a_column():
    table = pd.DataFrame(100 * SHARES.T.to_numpy(), columns=MODELS)
    table.insert(0, "Benchmark", list(SHARES))
    table.loc[4] = ["Average", *(100 * SHARES.mean(axis=1))]
    frame, notes = read(table)
    np.testing.assert_allclose(scores(frame).loc[MODELS, list(SHARES)], SHARES, rtol=1e-9)
    assert "24 scores of 6 models" in notes


def test_a_cell_of_a_leaderboard_is_named_by_its_row_and_column():
    with pytest.raises(bs.InputError, match=r'row 1 .counting from 0., column "A".* has a score on "A" before'):
        read(pd.DataFrame({"model": ["x", "x"], "A": [0.1, 0.2], "B": [0.3, 0.4]}))
    with pytest.raises(bs.InputError, match='"benchmark", "score" are needed') as refused:
        read(pd.DataFrame({"model": ["x", "y"], "Elo": [1000, 1100], "A": [0.3, 0.4]}))
    assert "pandas" not in str(refused.value)


@pytest.mark.parametrize(
    ("values", "percent"),
    [([12.0, 55, 80], True), ([0.5, 55, 80], False), ([2.0, 8, 9], False), ([1.0, 0.5, 0], False)],
)
def test_scores_from_0_to_100_are_percent_where_no_benchmark_has_shares(values, percent):
    table = pd.DataFrame({"model": list("abc"), "benchmark": ["p", "q", "q"], "score": values})
    if percent or max(values) <= 1:
        assert read(table)[0]["score"].tolist() == [x / (100 if percent else 1) for x in values]
    else:
        with pytest.raises(bs.InputError, match="--unit score=percent"):
            read(table)
