"""Forecasts: their quantiles, their files, and their scores."""

import json

import bayescaling as bs
import numpy as np
import pandas as pd
import pytest
import scipy.stats as st
from bayescaling.commands.cli import app
from bayescaling.inference.forecasts import COUNT, PROBABILITIES, forecast, read, scored, summary, write
from typer.testing import CliRunner

PLAN = {"parameters": 7e10, "tokens": 1.4e12}


@pytest.fixture(scope="module")
def document(fit_default):
    return forecast(fit_default, plan=PLAN, seed=3)


def test_a_loss_is_forecast_with_the_drift_of_its_law(fit_default, document):
    loss = fit_default.predict(pd.DataFrame([PLAN]), seed=3)["loss"].values.ravel()
    np.testing.assert_allclose(document["entries"][0]["quantiles"], np.quantile(loss, PROBABILITIES), rtol=1e-5)
    assert document["data"]["sha256"] == fit_default.record["data"]["sha256"] and document["converged"]


def test_the_straight_line_is_that_of_least_squares(fit_default, document):
    rows = fit_default.draws.rows
    x, y = np.log(rows["parameters"] * rows["tokens"]).to_numpy(), np.log(rows["loss"]).to_numpy()
    slope, intercept = np.polyfit(x, y, 1)
    middle = document["entries"][0]["straight_line"][COUNT // 2 - 1]
    assert np.log(middle) == pytest.approx(intercept + slope * np.log(PLAN["parameters"] * PLAN["tokens"]), rel=1e-5)


def test_a_file_is_read_as_it_was_written_and_not_if_it_was_changed(document, tmp_path):
    path = write(document, tmp_path / "ledger")
    assert {key: x for key, x in read(path).items() if key != "sha256"} == document
    with pytest.raises(bs.InputError, match="exists already"):
        write(document, path.parent)
    path.write_text(path.read_text().replace('"seed": 3', '"seed": 4'))
    with pytest.raises(bs.InputError, match="changed after it was written"):
        read(path)


def test_scores_of_a_normal_are_those_in_closed_form():
    normal, x = st.norm(2.0, 0.3), 2.4
    quantiles = normal.ppf(PROBABILITIES).tolist()
    document = {
        "kind": "runs",
        "plan": PLAN,
        "entries": [{"name": "loss", "quantiles": quantiles, "straight_line": None}],
    }
    came = pd.DataFrame([PLAN | {"loss": loss} for loss in (x, 2.1, 3.2)])
    scores = scored(document, came)
    z = (x - 2.0) / 0.3
    crps = 0.3 * (z * (2 * st.norm.cdf(z) - 1) + 2 * st.norm.pdf(z) - 1 / np.sqrt(np.pi))
    assert scores["crps"][0] == pytest.approx(crps, rel=0.03)
    np.testing.assert_allclose(scores["log_score"][:2], normal.logpdf([x, 2.1]), atol=0.05)
    assert scores["log_score"][2] < normal.logpdf(2.75)
    assert scores["covers_50"].tolist() == [0, 1, 0] and scores["covers_90"].tolist() == [1, 1, 0]
    means = summary(scores)
    assert means["forecast"]["covers_90"] == pytest.approx(2 / 3) and means["straight line"]["outcomes"] == 0


def test_forecasts_cover_runs_that_the_law_made(fit_default, document):
    """Of what is drawn from the forecast itself, intervals hold their share."""
    rng = np.random.default_rng(5)
    drawn = np.interp(rng.uniform(0.005, 0.995, 2000), PROBABILITIES, document["entries"][0]["quantiles"])
    means = summary(scored(document, pd.DataFrame(PLAN | {"loss": drawn})))["forecast"]
    assert means["covers_50"] == pytest.approx(0.5, abs=0.04) and means["covers_90"] == pytest.approx(0.9, abs=0.025)


@pytest.mark.filterwarnings("ignore::bayescaling.DiagnosticWarning")
def test_new_models_are_forecast_by_their_date(scores_design):
    law = bs.laws.Scores(pace="linear")
    fit = bs.fit(law, scores_design.table, seed=1, draws=250, tune=500)
    benchmark = fit.draws.reference["benchmarks"][0]
    early, late = (forecast(fit, at, benchmarks=[benchmark])["entries"][0] for at in ("2023-06", "2026-06"))
    assert np.mean(late["quantiles"]) > np.mean(early["quantiles"])
    document = forecast(fit, "2025-01-01")
    assert [entry["name"] for entry in document["entries"]] == fit.draws.reference["benchmarks"]
    scores = scored(document, fit.rows, within=200)
    near = abs(fit.rows["year"] - 2025.0) * 365.25 <= 200
    assert len(scores) == near.sum() and scores["covers_90"].mean() > 0.6


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "needs the sizes"),
        ({"at": "2027-01"}, "not a date"),
        ({"plan": {"parameters": 7e10}}, "--plan tokens=NUMBER"),
        ({"plan": PLAN | {"params": 1e9}}, "did you mean .parameters"),
        ({"plan": {"parameters": -1.0, "tokens": 1e12}}, "parameters"),
    ],
)
def test_what_is_lacking_is_named(fit_default, options, message):
    with pytest.raises(bs.InputError, match=message):
        forecast(fit_default, **options)


def test_the_commands_write_and_score(fit_default, tmp_path):
    fit_default.save(tmp_path / "fit.nc")
    pd.DataFrame([PLAN | {"mine": 1.95}]).to_csv(tmp_path / "later.csv", index=False)
    ledger = tmp_path / "ledger"

    def run(*arguments, code=0):
        result = CliRunner().invoke(app, [str(x) for x in arguments])
        assert result.exit_code == code, result.output
        return result.output

    planned = [part for name, x in PLAN.items() for part in ("--plan", f"{name}={x:g}")]
    written = json.loads(run("forecast", tmp_path / "fit.nc", *planned, "--out", ledger, "--json"))
    assert [str(path) for path in ledger.iterdir()] == [written["file"]]
    later = ("--later", tmp_path / "later.csv", "--column", "loss=mine")
    scores = json.loads(run("score-forecast", written["file"], *later, "--json"))
    assert scores["means"]["forecast"]["outcomes"] == 1 and scores["outcomes"][0]["observed"] == 1.95
