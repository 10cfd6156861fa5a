import bayescaling as bs
import numpy as np
import pytest
from bayescaling.models.lengths.counts import between, cumulative, spread
from scipy import stats


@pytest.mark.parametrize("counted", ["some", "none", "all"])
def test_the_distribution_of_counts_is_scipys(counted):
    rng = np.random.default_rng(1)
    right, precision, total = (
        rng.uniform(0.001, 0.999, (7, 40)),
        rng.uniform(0.5, 60, (7, 40)),
        rng.integers(1, 120, 40),
    )
    correct = {"some": rng.integers(0, total + 1), "none": 0 * total, "all": total}[counted]
    below, at = cumulative(right, 1 - right, precision, correct, total)
    law = stats.betabinom(total, right * precision, (1 - right) * precision)
    np.testing.assert_allclose(below, law.cdf(correct - 1), atol=1e-11)
    np.testing.assert_allclose(at, law.pmf(correct), atol=1e-11)
    np.testing.assert_allclose(spread(right, 1 - right, precision, total), law.std() / total)
    below, at = cumulative(right, 1 - right, None, correct, total)
    np.testing.assert_allclose(below + at, stats.binom.cdf(correct, total, right), atol=1e-11)
    np.testing.assert_allclose(spread(right, 1 - right, None, total), stats.binom.std(total, right) / total)


def test_counts_of_a_true_law_are_placed_uniformly():
    rng = np.random.default_rng(3)
    right = np.full((1, 4000), 0.9)
    counts = stats.betabinom.rvs(30, 9.0, 1.0, size=4000, random_state=rng)
    places = between(*cumulative(right, 1 - right, 10.0 + 0 * right, counts, np.full(4000, 30)))
    assert stats.kstest(places[0], "uniform").pvalue > 1e-3


def test_cells_that_a_law_of_counts_misses_are_found_out():
    counts = bs.load("arithmetic_runs")
    law, rng = bs.laws.Lengths(), np.random.default_rng(5)
    rows = law.rows(counts)
    reference = law.reference(rows)
    one = law.prior_draws(rng, reference, rows)
    one = type(one).of(law, reference, rows, one.values, [np.clip(one.units[0], -3, 3)])
    simulated = one.replicate(rng).values[0, 0].astype(int)

    def sums(correct):
        seen = type(one)(law, reference, rows.assign(correct=correct), one.z)
        z = stats.norm.ppf(np.clip(seen.cdf().values[0, 0], 1e-12, 1 - 1e-12))
        directions = {name: contrast.directions for name, contrast in law.contrasts(rows).items()}
        return {name: stats.chi2.sf(((u @ z) ** 2).sum(), len(u)) for name, u in directions.items()}

    true = sums(simulated)
    assert set(true) == {"means by length", "means by embedding", "slopes by shorter operand"}
    assert min(true.values()) > 1e-3
    long = rows[["length_a", "length_b"]].max(axis=1) == 9
    assert sums(np.where(long, np.minimum(simulated + 20, rows["total"]), simulated))["means by length"] < 1e-6
