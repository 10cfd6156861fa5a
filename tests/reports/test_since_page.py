import json

import bayescaling as bs
import numpy as np
import pytest
from bayescaling.reports.build import report
from bayescaling.reports.since import analysis

pytestmark = pytest.mark.filterwarnings("ignore::bayescaling.DiagnosticWarning")
SETTINGS = {"draws": 200, "tune": 400, "chains": 2, "target_accept": 0.9, "seed": 3}
BENCHMARKS = 5


@pytest.fixture(scope="module")
def scores():
    """Scores of the models whose compute is known, on the benchmarks that most of them have."""
    table = bs.load("eci_scores")
    known = table[table["compute_confidence"].isin(["Confident", "Likely"])]
    kept = known[known["benchmark"].isin(known["benchmark"].value_counts().index[:BENCHMARKS])].reset_index(drop=True)
    kept.attrs = dict(table.attrs)
    return kept


@pytest.fixture(scope="module")
def folder(scores, tmp_path_factory):
    """Folder of a full report of the page, of few scores and with few draws."""
    folder, load = tmp_path_factory.mktemp("since"), analysis.load
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(analysis, "load", lambda name: scores if name == "eci_scores" else load(name))
        patch.setattr(analysis, "CHANGES", {"families with effects of their own": {"family_effects": True}})
        report(folder, pages=("since",), full=True, **SETTINGS)
    return folder


@pytest.fixture(scope="module")
def entry(folder):
    return json.loads((folder / "results.json").read_text(encoding="utf-8"), parse_constant=pytest.fail)["since"]


@pytest.fixture(scope="module")
def two(folder):
    return bs.open_fit(folder / "posteriors" / "since-break.nc")


def test_rates_are_those_of_the_posterior(entry, two):
    found = bs.progress_at_fixed_compute(two)
    for period in ("before", "after"):
        said = entry["periods"][period]["model"]
        draws = found["factor"].sel(period=period).values.ravel()
        assert said["factor"]["q50"] == pytest.approx(np.median(draws), rel=1e-4)
        assert said["p_progress"] == pytest.approx(float((found["gain"].sel(period=period) > 0).mean()))
    change = found["gain"].sel(period="after") - found["gain"].sel(period="before")
    assert entry["periods"]["change"]["model"]["p_progress"] == pytest.approx(float((change > 0).mean()))
    decade = np.log(10) * found["slope"].values.ravel()
    assert entry["slope_a_decade"]["break"]["q50"] == pytest.approx(np.median(decade))


def test_drawn_pairs_are_draws_of_one_posterior(entry, two):
    found = bs.progress_at_fixed_compute(two)
    slope, gain = np.log(10) * found["slope"].values.ravel(), found["gain"].sel(period="after").values.ravel()
    pairs = entry["pairs"]["after"]
    assert len(pairs["slope"]) == analysis.PAIRS
    for one in zip(pairs["slope"], pairs["gain"], strict=True):
        assert np.isclose(np.column_stack([slope, gain]), one).all(1).any()


def test_published_estimators_are_those_of_the_paper_whatever_the_unit(entry):
    found = entry["least_squares"]
    assert found["two stages"]["factor"] == pytest.approx(5.95, abs=0.01)
    for each in (found["two stages"], found["one regression"]):
        assert 10 ** (each["gain"] / each["slope"]) == pytest.approx(each["factor"])
    assert found["one regression"]["factor"] > 2 * found["two stages"]["factor"]


def test_models_left_out_and_changes_stand_in_a_full_report(entry, folder, scores):
    assert entry["left_out"]["break"]["models"] == scores["model"].nunique()
    assert max(found["elpd_diff"] for found in entry["left_out"].values()) == 0
    assert set(entry["rests"]) == {"families with effects of their own", analysis.FIRST}
    assert set(entry["rests"][analysis.FIRST]) == {"all", "ok"}
    page = (folder / "index.html").read_text(encoding="utf-8")
    for title in ("One thing changed at a time", "One pace or two?", "A pace that changes"):
        assert title in page


def test_the_answer_says_what_the_numbers_say(folder):
    document = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    (answer,) = document["answers"]
    after = document["since"]["periods"]["after"]["model"]["factor"]
    assert answer["page"] == "since" and f"{after['q50']:,.0f}" in answer["number"].replace("×", "")
    sure = document["since"]["periods"]["change"]["model"]["p_progress"] > 0.975
    assert ("may or may not" in answer["answer"]) is not sure
