"""Rates and dates of trends of values, against closed forms, and what prints them."""

import json

import bayescaling as bs
import numpy as np
import pandas as pd
import pytest
from bayescaling.commands.cli import app
from bayescaling.inference.forecasts import PROBABILITIES, forecast, scored
from typer.testing import CliRunner

pytestmark = pytest.mark.slow
DAYS = 365.25


def falling(count=30, seed=0):
    """Prices that halve in half a year, with scatter."""
    rng = np.random.default_rng(seed)
    years = np.sort(rng.uniform(2022, 2026, count))
    value = 30 * 0.25 ** (years - 2022) * np.exp(0.3 * rng.standard_normal(count))
    return pd.DataFrame({"date": pd.to_datetime("2022-01-01") + pd.to_timedelta((years - 2022) * DAYS, "D"),
                         "price": value})  # fmt: skip


@pytest.fixture(scope="module")
def fit():
    table = bs.read(falling(), "values")
    return bs.fit("trend", table, seed=1, draws=500, tune=500)


@pytest.fixture(scope="module")
def path(fit, tmp_path_factory):
    path = tmp_path_factory.mktemp("fit") / "trend.nc"
    fit.save(path)
    return path


def run(*arguments):
    result = CliRunner().invoke(app, [str(x) for x in arguments])
    assert result.exit_code == 0, result.output
    return result.output


def test_days_factors_and_dates_are_those_of_a_line(fit):
    posterior = fit["posterior"]
    gain, centre = (posterior[name].values.ravel() for name in ("yearly_gain", "centre"))
    zero = fit.draws.reference["zero"]
    days = bs.progress.doubling_days(fit, halving=True).loc["all"]
    assert days["q50"] == pytest.approx(np.median(-DAYS * np.log(2) / gain), rel=1e-3)
    assert days["q2.5"] < DAYS / 2 < days["q97.5"]
    assert bs.progress.doubling_days(fit).loc["all", "q50"] == np.inf
    assert bs.progress.yearly_gain(fit).loc["all", "q50"] == pytest.approx(np.median(np.exp(gain)), rel=1e-3)
    reached = bs.progress.dates_reached(fit, {"a tenth": 0.1}).loc["a tenth"]
    assert reached["q50"] == pytest.approx(np.median(zero + (np.log(0.1) - centre) / gain), abs=0.01)
    passed, far = bs.progress.dates_reached(fit, {"more": 1e9, "nearly nothing": 1e-300}).T.to_dict().values()
    assert passed["q97.5"] == fit.rows["year"].min() and passed["p_not_until"] == 0
    assert far["q2.5"] == np.inf and far["p_not_until"] == 1


def test_dates_are_as_robust_as_rates_where_the_values_reject_the_line():
    rng = np.random.default_rng(0)
    years = np.sort(rng.uniform(2018, 2026, 60))
    log_value = 0.075 * (years - 2018) ** 2 + 0.1 * rng.standard_t(2, 60)
    date = pd.to_datetime("2018-01-01") + pd.to_timedelta((years - 2018) * DAYS, "D")
    table = bs.read(pd.DataFrame({"date": date, "price": np.exp(log_value)}), "values")
    fit = bs.fit("trend", table, seed=1, draws=500, tune=500)
    assert fit.check()["verdict"] == "does not fit"
    gain, centre = (fit["posterior"][name].values.ravel() for name in ("yearly_gain", "centre"))
    plain = fit.draws.reference["zero"] + (np.log(1e4) - centre) / gain
    gains = np.log(bs.progress.yearly_gain(fit).loc["all", ["q2.5", "q97.5"]].astype(float))
    dates = bs.progress.dates_reached(fit, {"far": 1e4}).loc["far"]
    wider = np.ptp(gains) / np.ptp(np.quantile(gain, [0.025, 0.975]))
    assert wider > 1.05
    assert dates["q97.5"] - dates["q2.5"] == pytest.approx(wider * np.ptp(np.quantile(plain, [0.025, 0.975])), rel=0.05)
    assert dates["q50"] == pytest.approx(np.median(plain), abs=0.05)


def test_the_command_prints_what_the_functions_return(fit, path):
    document = json.loads(run("show", path, "--table", "all", "--reach", "a tenth=0.1", "--json"))
    halving = bs.progress.doubling_days(fit, halving=True)
    assert document["days"]["all"]["q50"] == pytest.approx(halving.loc["all", "q50"])
    assert document["dates_reached"]["a tenth"]["level"] == 0.1
    assert "Days in which values halve" in run("show", path, "--table", "days")
    result = CliRunner().invoke(app, ["show", str(path), "--reach", "low=much"])
    assert "'much' is no number" in str(result.exception)


def test_a_linear_scale_has_a_gain_and_no_doubling_time():
    table = bs.read(falling().assign(price=lambda t: 1000 + 100 * np.arange(len(t))), "values")
    fit = bs.fit(bs.laws.Trend(value_unit=100), table, seed=1, draws=300, tune=500)
    slope = np.polyfit(table["year"], table["value"], 1)[0]
    gain = bs.progress.yearly_gain(fit).loc["all"]
    assert gain["q2.5"] < slope < gain["q97.5"]
    with pytest.raises(bs.InputError, match="linear scale"):
        bs.progress.doubling_days(fit)
    assert f"Values grow by {gain['q50']:.3g}" in " ".join(fit.summary().quote)


def test_the_summary_quotes_the_halving_time(fit):
    assert fit.diagnostics["ok"] and "Values halve in" in " ".join(fit.summary().quote)


def test_what_comes_is_forecast_with_its_scatter(fit):
    document = forecast(fit, "2026-06")
    new, line = (np.array(document["entries"][0][name]) for name in ("quantiles", "straight_line"))
    np.testing.assert_allclose(np.log(new[[19, 99, 179]]), np.log(line[[19, 99, 179]]), atol=0.15)
    later = falling(seed=5).assign(date=pd.Timestamp("2026-06-10"), price=np.interp(0.5, PROBABILITIES, new))
    came = bs.read(later.head(1), "values")
    assert scored(document, came)["covers_50"].tolist() == [1.0]


def test_a_fit_without_a_trend_is_refused(fit_default):
    with pytest.raises(bs.InputError, match=r"'horizons', .* 'trend'"):
        bs.progress.yearly_gain(fit_default)


@pytest.mark.filterwarnings("ignore::bayescaling.DiagnosticWarning")
@pytest.mark.parametrize(("trend", "unit"), [("linear", 5.0), ("break", None)])
def test_a_report_answers_for_every_scale_and_form(trend, unit, tmp_path):
    law = bs.laws.Trend(trend=trend, value_unit=unit)
    fit = bs.fit(law, bs.read(falling(), "values"), seed=1, draws=300, tune=500)
    *_, answer = bs.report(tmp_path, {"prices": fit})["answers"]
    assert "30 rows" in answer["doubt"] and ("(after)" in answer["answer"]) == (trend == "break")
    assert "halve in " in answer["answer"] if unit is None else "grow by -" in answer["answer"]


@pytest.mark.filterwarnings("ignore::bayescaling.DiagnosticWarning")
def test_an_answer_is_weak_where_another_form_predicts_better(tmp_path):
    compute = bs.load("training_compute")
    largest = compute[(compute["larger_before"] < 10) & (compute["year"] >= 2018)]
    (line,) = bs.report(tmp_path, {"compute": bs.fit("trend", largest, seed=1)})["answers"]
    assert line["strength"] == "weak" and "predict better" in line["doubt"] and "break 4.6" in line["doubt"]
    changed = bs.fit(bs.laws.Trend(trend="break"), largest, seed=1)
    *_, answer = bs.report(tmp_path, {"compute": changed})["answers"]
    assert answer["strength"] == "strong" and "predict" not in answer["doubt"]


def test_a_report_answers_with_the_rate(fit, tmp_path):
    document = bs.report(tmp_path, {"prices": fit})
    (answer,) = document["answers"]
    entry = document["laws"]["prices"]
    assert "halve in" in answer["answer"] and f"{entry['tables']['days']['all']['q50']:,.0f}" in answer["number"]
    assert "Days in which values halve" in (tmp_path / "index.html").read_text(encoding="utf-8")
