import warnings

import bayescaling as bs
import numpy as np
import pandas as pd
import pytest
from bayescaling.inference.checks.sandwich import robust_sd


@pytest.fixture(scope="module")
def design(scores_design):
    return type(scores_design)(seed=20, models=48)


@pytest.fixture(scope="module")
def fits(design):
    """Return fits of one rate and of two, to scores simulated at a constant rate."""
    return {pace: fitted(bs.laws.Scores(pace=pace), design.table) for pace in ("linear", "break")}


def fitted(law, table, draws=400):
    """Fit with few draws, however few of them are effective."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bs.DiagnosticWarning)
        return bs.Fitter(law, table).fit(seed=1, draws=draws, tune=400, chains=2, least_ess=0)


def test_capabilities_on_a_scale_of_two_anchors_are_anchored_in_every_draw(fits):
    plain, anchored = (
        bs.scores.capabilities(fits["linear"]),
        bs.scores.capabilities(fits["linear"], {"model 01": 130, "model 02": 150}),
    )
    np.testing.assert_allclose(anchored.sel(model="model 01"), 130)
    np.testing.assert_allclose(anchored.sel(model="model 02"), 150)
    unit = 20 / (plain.sel(model="model 02") - plain.sel(model="model 01"))
    apart = plain.sel(model="model 09") - plain.sel(model="model 01")
    np.testing.assert_allclose(anchored.sel(model="model 09") - 130, unit * apart)


def test_anchors_must_be_models_that_were_fitted(fits):
    with pytest.raises(bs.InputError, match='no model called "model 1" was fitted; did you mean'):
        bs.scores.capabilities(fits["linear"], {"model 1": 130, "model 02": 150})


def test_the_rate_is_gain_over_slope_draw_by_draw(fits):
    posterior, progress = fits["linear"]["posterior"], bs.scores.progress_at_fixed_compute(fits["linear"])
    rate = posterior["yearly_gain"] / posterior["compute_slope"]
    np.testing.assert_allclose(progress["rate"].sel(period="all"), rate)
    np.testing.assert_allclose(progress["factor"].sel(period="all"), np.exp(rate))
    np.testing.assert_allclose(progress["slope"], posterior["compute_slope"])


def test_after_the_break_the_gain_has_changed(fits):
    posterior, progress = fits["break"]["posterior"], bs.scores.progress_at_fixed_compute(fits["break"])
    assert progress["period"].values.tolist() == ["before", "after"]
    change = progress["gain"].sel(period="after") - progress["gain"].sel(period="before")
    np.testing.assert_allclose(change, posterior["yearly_gain_change"], atol=1e-12)


def test_the_true_rate_is_recovered(fits, design):
    truth = design.truth["yearly_gain"] / design.truth["compute_slope"]
    rate = bs.scores.progress_at_fixed_compute(fits["linear"])["rate"]
    assert abs(float(rate.mean()) - truth) < 3 * float(rate.std())


def test_the_summary_is_of_the_draws_and_wider_where_families_are(fits):
    table, progress = bs.scores.summary(fits["break"]), bs.scores.progress_at_fixed_compute(fits["break"])
    for period in ("before", "after"):
        row = table.loc[(period, "model")]
        rate = progress["rate"].sel(period=period).values
        for q in (2.5, 5, 50, 95, 97.5):
            assert row[f"factor_q{q:g}"] == pytest.approx(np.exp(np.quantile(rate, q / 100)))
            assert row[f"gain_q{q:g}"] == pytest.approx(np.quantile(progress["gain"].sel(period=period), q / 100))
            assert row[f"halving_q{q:g}"] == pytest.approx(12 * np.log(2) / np.quantile(rate, 1 - q / 100))
        ratio = robust_sd(fits["break"], progress["rate"].sel(period=period, drop=True)).loc["family", "ratio"]
        ends = np.log(table.loc[period, ["factor_q5", "factor_q95"]].astype(float)).diff(axis=1)["factor_q95"]
        assert ends["family"] == pytest.approx(max(1, ratio) * ends["model"], rel=1e-6)
    change = progress["gain"].sel(period="after") - progress["gain"].sel(period="before")
    assert table.loc[("change", "model"), "p_progress"] == pytest.approx(float((change > 0).mean()))


def test_copies_of_a_model_say_nothing_new_where_families_are_the_unit(design):
    """Repeat each model four times: the error of the rate halves by model, and is unchanged by family."""
    table = design.table[design.table["model"] < "model 24"]
    copies = [table.assign(model=table["model"] + f", copy {i}", family=table["model"]) for i in range(4)]
    fit = fitted(bs.laws.Scores(pace="linear"), pd.concat(copies, ignore_index=True))
    ratios = robust_sd(fit, fit["posterior"]["yearly_gain"])["ratio"]
    assert list(ratios.index) == ["unit", "family"]
    assert ratios["family"] > 1.4 * ratios["unit"]
    assert ratios["family"] > 1.2


def test_scores_of_the_law_are_foretold_evenly_by_benchmark(fits):
    table = bs.scores.pit_by_benchmark(fits["linear"])
    assert table["rows"].sum() == 288
    assert table["p_uniform"].is_monotonic_increasing
    assert table["p_uniform"].min() > 1e-3
    assert table["covers_90"].between(0.75, 1).all()


@pytest.mark.filterwarnings("ignore::bayescaling.DiagnosticWarning")
def test_a_benchmark_of_another_law_is_found(design):
    """Scores of one benchmark are drawn at random from two values: the checks by benchmark name it first."""
    table = design.table.copy()
    of_law = table["benchmark"] == "test 2"
    table.loc[of_law, "score"] = np.where(np.arange(of_law.sum()) % 2, 0.2, 0.9)
    fit = fitted(bs.laws.Scores(), table)
    assert bs.scores.pit_by_benchmark(fit).index[0] == "test 2"


@pytest.mark.filterwarnings("ignore::bayescaling.DiagnosticWarning")
def test_a_fit_without_a_pace_has_no_rate(design):
    rows = design.table
    fit = fitted(bs.laws.Scores(), rows[rows["model"] < "model 08"].reset_index(drop=True), draws=20)
    with pytest.raises(bs.InputError, match="without progress; fit the law with pace='linear'"):
        bs.scores.progress_at_fixed_compute(fit)


def test_other_fits_have_no_capabilities(lengths_fit):
    with pytest.raises(bs.InputError, match="capabilities need a fit of the law 'scores'"):
        bs.scores.capabilities(lengths_fit)


@pytest.mark.filterwarnings("ignore::bayescaling.DiagnosticWarning")
def test_leaving_models_out_can_go_without_refits(fits):
    by_model = fits["linear"].loo("model", high_k="none")
    assert not by_model["refitted"].any()
    assert isinstance(by_model, pd.DataFrame)
    with pytest.raises(bs.InputError, match="choose one of refit, none"):
        fits["linear"].loo(by="model", high_k="moments")


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore::bayescaling.DiagnosticWarning")
def test_leaving_benchmarks_out_refits_without_them(design):
    table = design.table[design.table["model"] < "model 12"].reset_index(drop=True)
    fit = fitted(bs.laws.Scores(), table)
    by_benchmark = fit.loo("benchmark", draws=200, tune=300, chains=2)
    assert len(by_benchmark) == 6
    assert np.isfinite(by_benchmark["elpd"]).all()
    assert by_benchmark["refitted"].any()


TRUTHS = {
    "acceleration": {"acceleration": 1.2},
    "random_walk": {"gain_step_sd": 0.5},
    "sampled_break": {"yearly_gain_change": 2.0, "break_place": 0.5},
    "break": {"yearly_gain_change": 2.0, "log_slope_ratio": -0.7},
}


@pytest.mark.parametrize(
    "pace", [pytest.param(pace, marks=[] if pace == "acceleration" else pytest.mark.thorough) for pace in TRUTHS]
)
def test_gains_of_a_simulated_form_are_recovered_and_stored(pace, design, tmp_path):
    """Scores are drawn under a known trend; the posterior of both gains, and of their change, holds the truth."""
    law = bs.laws.Scores(pace=pace, slope_by_period=pace == "break")
    rows = law.rows(design.table)
    reference = law.reference(rows)
    values = {name: prior.median for name, prior in law.prior_of.items()} | {"capability_sd": 0.2}
    draws = law.prior_draws(np.random.default_rng(4), reference, rows, truth=values | TRUTHS[pace])
    scores = draws.replicate(np.random.default_rng(5)).values[0, 0]
    fit = fitted(law, rows.assign(score=scores))
    fit.save(tmp_path / "fit.nc")
    opened = bs.open(tmp_path / "fit.nc")
    years = (2023.5, 2025.5)
    progress, truth = bs.scores.progress_at_fixed_compute(opened, years=years), draws.gain(years).values[0, 0]
    np.testing.assert_array_equal(progress["gain"], bs.scores.progress_at_fixed_compute(fit, years=years)["gain"])
    assert progress["period"].values.tolist() == list(years)
    gains = progress["gain"].values.reshape(-1, 2)
    assert (abs(gains.mean(0) - truth) < 3.5 * gains.std(0)).all()
    change = gains[:, 1] - gains[:, 0]
    assert abs(change.mean() - (truth[1] - truth[0])) < 3.5 * change.std()
    if pace != "random_walk":
        assert (change > 0).mean() > 0.9
    if pace == "break":
        ratio = np.exp(opened["posterior"]["log_slope_ratio"].values)
        slopes = progress["slope"]
        np.testing.assert_allclose(slopes.sel(period=2025.5), ratio * slopes.sel(period=2023.5))
        np.testing.assert_allclose(progress["rate"], progress["gain"] / slopes)


@pytest.mark.parametrize("years", [(), (float("nan"),)])
def test_gains_are_asked_for_at_dates(years, fits):
    with pytest.raises(bs.InputError, match="years must be dates such as"):
        bs.scores.progress_at_fixed_compute(fits["linear"], years=years)
