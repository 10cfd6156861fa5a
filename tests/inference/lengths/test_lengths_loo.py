import warnings

import bayescaling as bs
import numpy as np
import pytest
from bayescaling.inference.comparison.refits import exact_loo


def test_importance_sampling_agrees_with_refits_without_the_run(lengths_fitter, lengths_fit):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bs.DiagnosticWarning)
        result = lengths_fit.loo(high_k="none")
        trusted = np.flatnonzero(result.pareto_k <= 0.7)[[0, -1]]
        exact = exact_loo(lengths_fit, trusted)
    assert np.flatnonzero(exact["refitted"]).tolist() == trusted.tolist()
    error = exact["elpd"].values[trusted] - result.elpd_i.values[trusted]
    assert (np.abs(error) < 0.5).all()
    assert (exact["elpd_se"].values[trusted] < 0.3).all()


@pytest.mark.thorough
def test_without_seeds_runs_of_a_condition_share_their_curve(lengths_counts, lengths_fit, quiet):
    fitter = bs.Fitter(bs.laws.Lengths(seeds=False), lengths_counts)
    fit = fitter.fit(seed=1, draws=300, tune=500, chains=2)
    lengths = bs.lengths.length_at_accuracy(fit, 0.5, seeds="runs")
    assert (lengths.sel(run="abacus-0") == lengths.sel(run="abacus-2")).all()
    typical = bs.lengths.length_at_accuracy(fit, 0.5)
    assert (typical == bs.lengths.length_at_accuracy(fit, 0.5, seeds="new")).all()
    np.testing.assert_allclose(typical.sel(condition="abacus"), lengths.sel(run="abacus-1"))
    fit.loo(draws=200, tune=300, chains=2)
    table = bs.compare({"seeds": lengths_fit, "one": fit})
    assert table.index[0] == "seeds"
    assert (table["k_above_0.7"] == 0).all()
