import bayescaling as bs
import numpy as np
import pytest
from bayescaling.inference.progress.rate_at_optimum import growth_rates, rate_summary
from bayescaling.inference.progress.rate_at_rows import compute_equivalent_gain, gain_times, row_slopes
from bayescaling.inference.quoted import quote_draws
from bayescaling.models.progress import density
from bayescaling.models.progress.draws import ProgressDraws
from bayescaling.models.progress.specifications import SPECIFICATIONS

STEP = 1e-5


def log_reducible(draws, rows):
    """Logarithm of the mean loss above what never falls, by the law's own mean at other rows."""
    at = ProgressDraws(draws.law, draws.reference, rows, draws.z)
    floor = at.c["vocabulary"] * at.design["log_vocabulary"] if at.law.spec.vocabulary else 0.0
    if at.law.irreducible:
        floor = floor + at.c["irreducible"] @ at.design["level"].T
    return np.log(density.mean(at.law, at.c, at.design) - floor)


@pytest.mark.parametrize("k", SPECIFICATIONS)
def test_slopes_of_rows_are_those_of_the_fitted_loss(k, progress_draws):
    draws = progress_draws(bs.laws.Progress(k), spread=0.4)
    rows = draws.rows
    fall, slope = row_slopes(draws)
    later, earlier = (rows.assign(year=rows["year"] + sign * STEP) for sign in (1, -1))
    by_year = (log_reducible(draws, earlier) - log_reducible(draws, later)) / (2 * STEP)
    np.testing.assert_allclose(fall, by_year, rtol=1e-4, atol=1e-6)
    both = ["parameters", "dataset_tokens"]
    larger, smaller = (rows.assign(**{c: rows[c] * np.exp(sign * STEP / 2) for c in both}) for sign in (1, -1))
    by_compute = (log_reducible(draws, smaller) - log_reducible(draws, larger)) / (2 * STEP)
    np.testing.assert_allclose(slope, by_compute, rtol=1e-4, atol=1e-6)


def test_where_only_compute_counts_the_rate_is_the_same_everywhere(fit_of):
    _, fit = fit_of(bs.laws.Progress(18), draws=50)
    np.testing.assert_allclose(compute_equivalent_gain(fit), growth_rates(fit)["all"], rtol=1e-8)
    table = gain_times(fit)
    assert table["q50"].to_numpy() == pytest.approx(table.loc["all", "q50"])


def test_one_known_law_gains_what_it_says(progress_draws):
    """Both terms with the same exponent and the same yearly fall: their mix does not matter."""
    draws = progress_draws(bs.laws.Progress(7), draws=20)
    for pair, value in ((("alpha", "beta"), 0.2), (("drift_parameters", "drift_data"), 0.06)):
        for name in pair:
            draws.c[name] = np.where(draws.c[name] != 0, value, 0.0)
    fall, slope = row_slopes(draws)
    np.testing.assert_allclose(fall, 0.06, rtol=1e-9)
    # Half of a unit of compute goes to either size.
    np.testing.assert_allclose(slope, 0.1, rtol=1e-9)


def test_simulated_evaluations_give_the_gain_back(progress_fitter, progress_draws, quiet):
    law, rng = bs.laws.Progress(7), np.random.default_rng(5)
    truth = progress_draws(law, seed=11, draws=1, spread=0.3)
    simulated = truth.rows.assign(perplexity=np.exp(truth.replicate(rng).values[0, 0]))
    fall, slope = row_slopes(truth)
    true = float(fall.mean() / slope.mean())
    fit = progress_fitter.fit(simulated, law=law, seed=1)
    gain = compute_equivalent_gain(fit)
    low, high = np.quantile(gain, [0.005, 0.995])
    assert low < true < high
    assert high - low < 2 * abs(true) + 1
    assert gain.attrs["rows"] == 231


def test_intervals_are_robust_where_the_rows_reject_the_law(progress_fitter, quiet):
    fit = progress_fitter.fit(law=bs.laws.Progress(2), seed=1, draws=250, tune=300)
    gain = compute_equivalent_gain(fit)
    quoted = quote_draws(fit, gain)
    assert quoted.std() > 1.1 * gain.std()
    assert gain_times(fit).loc["all", "q97.5"] == pytest.approx(rate_summary(quoted)["q97.5"])
    assert rate_summary(quoted)["q97.5"] > rate_summary(gain)["q97.5"]


def test_rows_that_more_compute_does_not_help_are_counted(fit_of, fit_default):
    _, fit = fit_of(bs.laws.Progress(14), draws=200, spread=1.5)
    table = gain_times(fit)
    assert 0 < table.loc["all", "not_positive"] < 0.5
    weights = table.loc[["wt103", "ptb", "wt2"], "count"]
    assert weights.sum() == table.loc["all", "count"] == 231
    assert (table.loc[["wt103", "ptb", "wt2"], "not_positive"] * weights).sum() == pytest.approx(
        231 * table.loc["all", "not_positive"]
    )
    with pytest.raises(bs.InputError, match="no row is chosen"):
        compute_equivalent_gain(fit, rows=np.zeros(231, bool))
    with pytest.raises(bs.InputError, match="growth rates need one of progress-1"):
        compute_equivalent_gain(fit_default)
