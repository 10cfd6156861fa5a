import numpy as np
import pandas as pd
import pytest
from bayescaling.inference.comparison.weights import bootstrapped, stacking, sum_error
from bayescaling.inference.progress.compare import ProgressScores, against, mixed_scores

ROWS, PAPERS = 60, 25


def scores_of(seed, shift):
    """Scores of three laws, the second better than the first and the third worse."""
    rng = np.random.default_rng(seed)
    better = {"first": 0.0, "second": 0.5, "third": -2.0}
    rows, papers = (
        pd.DataFrame({name: rng.normal(shift + x, 0.6, count) for name, x in better.items()})
        for count in (ROWS, PAPERS)
    )
    return ProgressScores(pd.DataFrame(index=list(better)), rows, papers)


def test_sets_of_laws_are_compared_by_their_mixtures():
    sets = {"plain": scores_of(1, 0.0), "wider": scores_of(2, 0.3)}
    table = mixed_scores(sets)
    assert table.index.tolist() == ["wider", "plain"]
    mixed = {}
    for name, mixture in sets.items():
        for column, x in (("elpd", mixture.rowwise), ("elpd_papers", mixture.paperwise)):
            weights = stacking(x)
            assert table.loc[name, column] == pytest.approx(np.log(np.exp(x) @ weights).sum())
            mixed[name, column] = np.log(np.exp(x.to_numpy()) @ weights)
    for column, difference, error in (("elpd", "elpd_diff", "dse"), ("elpd_papers", "papers_diff", "papers_dse")):
        apart = mixed["plain", column] - mixed["wider", column]
        assert table.loc["plain", difference] == pytest.approx(apart.sum())
        assert table.loc["plain", error] == pytest.approx(np.sqrt(len(apart)) * apart.std(ddof=1))
        assert table.loc["wider", difference] == table.loc["wider", error] == 0


def test_differences_from_one_fit_by_row_and_by_paper():
    scores = scores_of(3, 0.0)
    table = against(scores, "first")
    assert (table.loc["first"] == 0).all()
    rows = (scores.rowwise["second"] - scores.rowwise["first"]).to_numpy()
    papers = (scores.paperwise["second"] - scores.paperwise["first"]).to_numpy()
    expected = [rows.sum(), np.sqrt(ROWS) * rows.std(ddof=1), papers.sum(), np.sqrt(PAPERS) * papers.std(ddof=1)]
    np.testing.assert_allclose(table.loc["second"], expected)


def test_the_error_of_a_sum_is_that_of_many_sums():
    rng = np.random.default_rng(4)
    sums = rng.normal(0, 2, (4000, 30)).sum(1)
    assert np.mean([sum_error(rng.normal(0, 2, 30)) for _ in range(400)]) == pytest.approx(sums.std(), rel=0.05)
    np.testing.assert_allclose(sum_error(np.array([[1.0, 2.0], [3.0, 2.0]])), [2.0, 0.0])


def test_weights_of_resampled_papers_scatter_about_those_of_the_papers():
    scores = scores_of(5, 0.0)
    weights = bootstrapped(scores.paperwise, replicates=200, seed=1)
    assert weights.shape == (200, 3)
    np.testing.assert_allclose(weights.sum(1), 1)
    np.testing.assert_array_equal(weights, bootstrapped(scores.paperwise, replicates=200, seed=1))
    elpd, rng = np.asarray(scores.paperwise), np.random.default_rng(1)
    again = stacking(elpd[rng.integers(0, len(elpd), len(elpd))])
    np.testing.assert_allclose(weights[0], again, atol=1e-9)
    of_papers = stacking(scores.paperwise)
    assert (np.quantile(weights, 0.02, axis=0) <= of_papers + 1e-6).all()
    assert (np.quantile(weights, 0.98, axis=0) >= of_papers - 1e-6).all()
    assert weights.std(0)[:2].min() > 0.02
    # A law that is better at every paper has all the weight however they are drawn.
    best = scores.paperwise.assign(second=scores.paperwise.max(axis=1) + 1)
    np.testing.assert_allclose(bootstrapped(best, replicates=20), [[0, 1, 0]] * 20, atol=1e-6)
