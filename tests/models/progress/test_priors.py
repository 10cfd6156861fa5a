import bayescaling as bs
import numpy as np
import pytest


def yearly_falls(law, evaluations):
    """Prior draws of the yearly fall of log loss through both terms, at the centre of each benchmark: (draw, 3)."""
    rows = law.rows(evaluations)
    c = law.prior_draws(np.random.default_rng(0), law.reference(rows), rows, 20_000).c
    return (c["share"] * c["drift_parameters"][..., :3] + c["rest"] * c["drift_data"][..., :3])[0]


@pytest.mark.parametrize(("options", "sd", "shared"), [({}, 0.05, 0.75), ({"pooling": True}, 0.068, 0.5)])
def test_yearly_falls_of_benchmarks_are_partly_one(options, sd, shared, evaluations):
    falls = yearly_falls(bs.laws.Progress(10, **options), evaluations)
    np.testing.assert_allclose(falls.std(0), sd, rtol=0.05)
    correlation = np.corrcoef(falls.T)
    np.testing.assert_allclose(correlation[np.triu_indices(3, 1)], shared, atol=0.06)


def test_changes_at_a_cutoff_are_their_own(evaluations):
    law = bs.laws.Progress(10, cutoff=2018.0)
    assert [drift.of_benchmarks for drift in law.drifts] == [True] * 3 + [False] * 3
    rows = law.rows(evaluations)
    c = law.prior_draws(np.random.default_rng(0), law.reference(rows), rows, 20_000).c
    falls = c["drift_parameters"][0, :, 3:6] + c["drift_data"][0, :, 3:6]
    np.testing.assert_allclose(np.corrcoef(falls.T)[np.triu_indices(3, 1)], 0, atol=0.05)


def test_the_scale_of_each_sort_of_scatter_has_a_prior_that_can_be_replaced():
    law = bs.laws.Progress(10, pooling=True, priors={"pooled_yearly": "LogNormal(-4, 0.5)"})
    assert law.described_priors()["pooled_yearly"] == "LogNormal(-4, 0.5)"
    assert law.described_priors()["pooled_share"] == "LogNormal(-0.7, 0.8)"
    assert "pooled_yearly" not in bs.laws.Progress(7, pooling=True).described_priors()
