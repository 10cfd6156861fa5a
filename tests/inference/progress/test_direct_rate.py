import json

import bayescaling as bs
import numpy as np
import pytest
from bayescaling.errors import InputError
from bayescaling.inference.progress.direct_rate import LinePrior, direct_doubling, rate_posterior
from scipy import stats

MEGATRON, GPT2, GOPHER = "Megatron-LM (355M)", "GPT-2 (1542M)", "Gopher (280B)"


@pytest.fixture(scope="module")
def table():
    return bs.load("lm_progress")


@pytest.fixture(scope="module")
def line():
    rng = np.random.default_rng(3)
    years = rng.uniform(0, 4, 8)
    return years, 0.4 - 0.9 * years + rng.normal(0, 1.2, 8)


def test_it_is_the_posterior_of_brute_force(line):
    years, observed = line
    prior = LinePrior(intercept=1.5, slope=0.7, scatter=0.8, degrees=4)
    a = np.linspace(-9, 9, 181)[:, None, None]
    s = np.linspace(-6, 6, 361)[None, :, None]
    sigma = np.exp(np.linspace(np.log(0.2), np.log(8), 121))[None, None, :]
    shape, rate = prior.degrees / 2, prior.degrees * prior.scatter**2 / 2
    # Density by log sigma: that of sigma^2 times 2 sigma^2.
    log_density = stats.invgamma.logpdf(sigma**2, shape, scale=rate) + 2 * np.log(sigma)
    log_density = log_density + stats.norm.logpdf(a, 0, prior.intercept * sigma)
    log_density = log_density + stats.norm.logpdf(s, 0, prior.slope * sigma)
    for year, value in zip(years, observed, strict=True):
        log_density = log_density + stats.norm.logpdf(value, a + s * year, sigma)
    weights = np.exp(log_density - log_density.max()).sum(axis=(0, 2))
    weights /= weights.sum()
    rates = -s.ravel()
    estimate = rate_posterior(years, observed, prior)
    assert estimate.mean() == pytest.approx(weights @ rates, abs=2e-3)
    sd = np.sqrt(weights @ rates**2 - (weights @ rates) ** 2)
    assert estimate.std() == pytest.approx(sd, rel=0.01)
    grid_step = rates[0] - rates[1]
    below_zero = weights[rates < -grid_step / 2].sum() + weights[np.abs(rates) <= grid_step / 2].sum() / 2
    assert estimate.sf(0) == pytest.approx(1 - below_zero, abs=2e-3)


def test_the_rows_are_those_of_the_rule(table):
    estimate = direct_doubling(table)[MEGATRON]
    rows, reference = estimate.rows, table[(table["system"] == MEGATRON)].iloc[0]
    assert len(rows) == 9
    assert rows["paper_id"].is_unique
    assert (rows["year"] > reference["year"]).all()
    assert (np.abs(np.log(rows["perplexity"] / 19.31)) <= np.log(1.1)).all()
    np.testing.assert_allclose(rows["years_after"], rows["year"] - reference["year"])
    np.testing.assert_allclose(np.exp(rows["log_relative_compute"]), rows["training_compute_flop"] / 4.35e20)
    on_benchmark = table[(table["benchmark"] == "wt103") & table["training_compute_flop"].notna()]
    sru = on_benchmark[on_benchmark["system"].str.startswith("SRU++")]
    assert len(sru) == 3
    by_paper = direct_doubling(table)[GPT2].rows
    largest = by_paper.loc[by_paper["system"].str.startswith("SRU++"), "training_compute_flop"]
    assert largest.tolist() == [sru["training_compute_flop"].max()]


def test_perplexity_ranges_are_those_of_the_paper(table):
    # Ranges of cross-entropies in its figure 7.
    printed = {MEGATRON: (2.87, 3.06), GPT2: (2.79, 2.93), GOPHER: (1.87, 2.32)}
    for system, estimate in direct_doubling(table).items():
        at = np.log(table.loc[table["system"] == system, "perplexity"].iloc[0])
        ends = at - np.log(estimate.factor), at + np.log(estimate.factor)
        assert ends == pytest.approx(printed[system], abs=0.006)


def test_too_few_rows_have_no_line(table):
    estimate = direct_doubling(table)[GOPHER]
    assert estimate.posterior is None
    assert estimate.p_progress is None
    assert estimate.message == "no line is fitted: 1 of at least 6 rows"
    with pytest.raises(InputError, match="1 of at least 6"):
        estimate.doubling_quantiles()
    assert json.loads(json.dumps(estimate.to_dict()))["doubling_months"] == {}


def test_the_references_own_row_decides_much(table):
    after, among = (direct_doubling(table, include_reference=include)[MEGATRON] for include in (False, True))
    assert len(among.rows) == len(after.rows) + 1
    assert among.rows.iloc[0]["log_relative_compute"] == 0
    assert after.p_progress == pytest.approx(0.79, abs=0.01)
    assert among.p_progress == pytest.approx(0.95, abs=0.01)
    assert len(direct_doubling(table, include_reference=True)[GPT2].rows) == 6


def test_doubling_times_go_through_the_rate(table):
    estimate = direct_doubling(table)[MEGATRON]
    rate = estimate.posterior.rvs(20000, random_state=1)
    low, middle, high = estimate.doubling_quantiles()
    assert high == np.inf
    assert low == pytest.approx(12 * np.log(2) / estimate.posterior.ppf(0.975))
    assert middle == pytest.approx(12 * np.log(2) / np.median(rate), rel=0.05)
    assert estimate.p_progress == pytest.approx((rate > 0).mean(), abs=0.01)
    document = json.loads(json.dumps(estimate.to_dict()))
    assert document["doubling_months"]["q97.5"] is None
    assert len(document["systems"]) == 9


def test_rising_compute_is_never(table):
    stated = table["training_compute_flop"].notna()
    rising = table.assign(training_compute_flop=np.where(stated, 1e20 * np.exp(3 * (table["year"] - 2019)), np.nan))
    estimate = direct_doubling(rising)[MEGATRON]
    assert estimate.p_progress < 0.01
    assert (estimate.doubling_quantiles() == np.inf).all()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda t: direct_doubling(t.drop(columns="paper_id")), 'needs "paper_id"'),
        (lambda t: direct_doubling(t[t["system"] != GPT2]), 'system "GPT-2 (1542M)" is unknown'),
        (lambda t: direct_doubling(t.assign(perplexity=-1.0)), "column 'perplexity' is -1.0"),
    ],
)
def test_unusable_input_is_refused_in_one_line(table, call, words):
    with pytest.raises(InputError) as refused:
        call(table)
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)
