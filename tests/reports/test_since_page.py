import json
import re

import bayescaling as bs
import numpy as np
import pytest
from bayescaling.datasets.files import evidence
from bayescaling.reports.pages.since import page
from bayescaling.reports.pages.since.forms import best_form
from bayescaling.reports.report import report

pytestmark = pytest.mark.filterwarnings("ignore::bayescaling.DiagnosticWarning")
SETTINGS = {"draws": 200, "tune": 400, "chains": 2, "target_accept": 0.9, "seed": 3}
BENCHMARKS = 5


@pytest.fixture(scope="module")
def scores():
    """Scores of the models whose compute is known, on the benchmarks that most of them have."""
    table = bs.load("eci_scores")
    trusted = table[table["compute_confidence"].isin(["Confident", "Likely"])]
    rows = trusted[trusted["benchmark"].isin(trusted["benchmark"].value_counts().index[:BENCHMARKS])].reset_index(
        drop=True
    )
    rows.attrs = dict(table.attrs)
    return rows


@pytest.fixture(scope="module")
def folder(scores, tmp_path_factory):
    """Folder of a report of the page, of few scores and with few draws."""
    folder, load = tmp_path_factory.mktemp("since"), page.load
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(page, "load", lambda name: scores if name == "eci_scores" else load(name))
        report(folder, pages=("since",), all=True, **SETTINGS)
    return folder


@pytest.fixture(scope="module")
def entry(folder):
    return json.loads((folder / "results.json").read_text(encoding="utf-8"), parse_constant=pytest.fail)["since"]


@pytest.fixture(scope="module")
def two(folder):
    return bs.open(folder / "posteriors" / "since-break.nc")


def test_rates_are_those_of_the_posterior(two):
    progress, entries = bs.scores.progress_at_fixed_compute(two), page.gain_entries("break", two)
    for period in ("before", "after"):
        interval = entries["periods"][period]["model"]
        draws = progress["factor"].sel(period=period).values.ravel()
        assert interval["factor"]["q50"] == pytest.approx(np.median(draws), rel=1e-4)
        assert interval["p_progress"] == pytest.approx(float((progress["gain"].sel(period=period) > 0).mean()))
    change = progress["gain"].sel(period="after") - progress["gain"].sel(period="before")
    assert entries["periods"]["change"]["model"]["p_progress"] == pytest.approx(float((change > 0).mean()))
    decade = np.log(10) * progress["slope"].values.ravel()
    assert entries["slope_a_decade"]["break"]["q50"] == pytest.approx(np.median(decade))


def of_forms(by_form):
    """Result of a study from each form's elpd by models and by families left out, and whether its chains converged."""
    left_out = {
        by: {"forms": {name: {"elpd": of[i], "elpd_diff": of[i], "dse": 5.0} for name, of in by_form.items()}}
        for i, by in enumerate(("model", "family"))
    }
    answers = {name: {"break": {"diagnostics": {"ok": of[-1]}}} for name, of in by_form.items()}
    return {"answers": answers, "left_out": {"break": left_out}}


@pytest.mark.parametrize(
    ("forms", "expected"),
    [
        ({"plain": (-80, -70, True), "ceilings": (-8, -7, True), "both": (0, 0, True)}, "ceilings"),
        ({"plain": (-80, -9, True), "ceilings": (0, 0, True)}, "plain"),
        ({"plain": (-80, -70, True), "ceilings": (-8, -7, False), "both": (0, 0, True)}, "both"),
        ({"plain": (-80, -70, True), "ceilings": (0, 0, False)}, "plain"),
    ],
)
def test_the_form_quoted_is_the_simplest_that_no_other_beats(forms, expected):
    assert best_form(of_forms(forms)) == expected


def test_the_form_that_predicts_best_is_quoted_and_the_other_is_its_rival(entry, two):
    study = evidence("since_scores")["result"]
    assert entry["quoted"] == best_form(study) == "ceilings"
    for name in ("periods", "pairs", "least_squares"):
        assert entry[name] == study["numbers"][name]
    gain = bs.scores.progress_at_fixed_compute(two, years=(2023.5, 2025.5))["gain"]
    for period, year in (("before", 2023.5), ("after", 2025.5)):
        quantiles = np.quantile(gain.sel(period=year), [0.025, 0.5, 0.975])
        rival = entry["rival"][period]
        assert [rival[level] for level in ("q2.5", "q50", "q97.5")] == pytest.approx(quantiles, rel=1e-4)
        quoted = study["answers"]["ceilings"]["break"]["gains"][period]
        assert [entry["gains"][period][level] for level in quoted] == pytest.approx(list(quoted.values()), rel=1e-3)


def test_probabilities_of_all_analyses_are_in_the_results(entry, two):
    gain = bs.scores.progress_at_fixed_compute(two, years=(2023.5, 2025.5))["gain"]
    probabilities, forms, scores = entry["p_faster"], entry["forms"], entry["scores"]
    faster = float((gain.sel(period=2025.5) > gain.sel(period=2023.5)).mean())
    assert probabilities["break in May 2024"] == pytest.approx(faster)
    quoted = scores["answers"][entry["quoted"]]["break"]["p_faster"]
    assert probabilities["break, models as the unit"] == pytest.approx(quoted)
    changed = {name for name, of in entry["rests"].items() if "change" in of}
    assert {f"break, {name}" for name in changed} < set(probabilities) and len(changed) > 5
    assert probabilities["random walk by half-year"] == forms["answers"]["default"]["random_walk"]["p_faster"]
    averaged = [
        of["averaged"]["p_faster"]
        for left_out in (forms["left_out"]["default"], scores["trends"]["left_out"])
        for of in left_out.values()
    ]
    assert sorted(p for name, p in probabilities.items() if "averaged" in name) == sorted(averaged)


def test_forms_are_compared_with_the_best_of_them():
    for by in evidence("since_forms")["result"]["left_out"].values():
        for of in by.values():
            best = max(form["elpd"] for form in of["forms"].values())
            for form in of["forms"].values():
                assert form["elpd_diff"] == pytest.approx(form["elpd"] - best)
            assert sum(form["stacking"] for form in of["forms"].values()) == pytest.approx(1)
            assert of["averaged"]["gains"]["before"]["q50"] < of["averaged"]["gains"]["after"]["q50"]


def test_every_fit_that_a_number_depends_on_is_checked(folder):
    document = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    fits = {"since, linear", "since, break", *document["since"]["fits"].values()}
    assert set(document["diagnostics"]) == fits and len(fits) == 4
    assert f"of {len(fits)} fits" in (folder / "index.html").read_text(encoding="utf-8")
    assert {path.stem for path in (folder / "posteriors").iterdir()} == {"since-linear", "since-break"}


def test_drawn_pairs_are_draws_of_one_posterior(two):
    progress = bs.scores.progress_at_fixed_compute(two)
    slope, gain = np.log(10) * progress["slope"].values.ravel(), progress["gain"].sel(period="after").values.ravel()
    pairs = page.gain_entries("break", two)["pairs"]["after"]
    assert len(pairs["slope"]) == page.PAIRS
    for one in zip(pairs["slope"], pairs["gain"], strict=True):
        assert np.isclose(np.column_stack([slope, gain]), one).all(1).any()


def test_published_estimators_are_those_of_the_paper_whatever_the_unit(entry):
    estimates = entry["least_squares"]
    assert estimates["two stages"]["factor"] == pytest.approx(5.95, abs=0.01)
    for estimate in (estimates["two stages"], estimates["one regression"]):
        assert 10 ** (estimate["gain"] / estimate["slope"]) == pytest.approx(estimate["factor"])
    assert estimates["one regression"]["factor"] > 2 * estimates["two stages"]["factor"]


def test_studies_stand_in_the_appendix_with_their_date(folder):
    text = (folder / "appendix.html").read_text(encoding="utf-8")
    document = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    # This report made one study; another has the years to 2023, which the page on progress would fit.
    assert set(document["studies"]) == {*page.STUDIES, page.STUDY} - {page.CONSTANT}
    for name, study in document["studies"].items():
        assert f"{name} ({study['made']})" in text
        assert study == {key: evidence(name)[key] for key in study}


def test_every_interval_of_the_pages_is_in_the_results(folder, well_made, not_in_results, two_intervals):
    document = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    for name, least in (("appendix", 25), ("since-2023", 4)):
        text = (folder / f"{name}.html").read_text(encoding="utf-8")
        well_made(text)
        assert two_intervals(text)[0] == []
        missing, count = not_in_results(text, document)
        assert not missing and count > least


def test_the_chart_has_the_interval_of_the_card(folder, entry):
    document = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    (answer,) = document["answers"]
    assert answer["number"] in document["findings"][0]
    chart = (folder / "since-2023.html").read_text(encoding="utf-8").split("<figure")[1]
    header, *rows = json.loads(re.search(r'<script type="application/json">(.*?)</script>', chart, re.DOTALL)[1])
    medians = [row[header.index("x")] for row in rows if row[0].startswith("Since")]
    assert medians[0] == f"{entry['gains']['after']['q50']:.5g}"


def test_analyses_that_are_not_sure_are_in_a_table_and_the_others_are_counted(folder, entry):
    text = (folder / "appendix.html").read_text(encoding="utf-8")
    unsure = {name: p for name, p in entry["p_faster"].items() if p < 0.975}
    assert all(f">{name}<" in text and f">{p:.3f}<" in text for name, p in unsure.items())
    assert f"the other {len(entry['p_faster']) - len(unsure)}" in text


def test_the_frontier_is_predicted_beside_the_published_line(entry):
    frontier = entry["frontier"]
    assert (frontier["before"], frontier["after"]) == (6, 6)
    assert sum(frontier["models"].values()) == bs.load("rosetta_scores")["model"].nunique()
    line, two = frontier["forecasts"]["line"], frontier["forecasts"]["break"]
    assert line["mae"] == pytest.approx(0.379, abs=0.001) == -line["bias"]
    assert 0.1 < two["crps"] < two["mae"] < 0.5 and two["coverage_90"] > 0.5


def test_halving_times_to_2023_stand_beside_those_since(entry):
    for unit in entry["earlier"]["units"].values():
        assert 12 * np.log(2) / np.log(unit["factor"]["q50"]) == pytest.approx(unit["halving"]["q50"], rel=0.01)
        assert 6 < unit["halving"]["q50"] < 20


def test_the_answer_states_what_the_numbers_are(folder):
    document = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    (answer,) = document["answers"]
    since, text = document["since"], " ".join([answer["answer"], answer["doubt"], *answer["depends"]])
    for gain in since["gains"].values():
        assert f"{gain['q50']:.1f} [{gain['q2.5']:.1f}, {gain['q97.5']:.1f}]" in text
    least, most = (f"{x:.3f}" if x <= 0.999 else "> 0.999" for x in (f(since["p_faster"].values()) for f in (min, max)))
    assert f"; {since['rival']['after']['q50']:.1f} without ceilings." in answer["answer"]
    assert answer["page"] == "since" and f"{least} to {most}." in text
    assert f"over {len(since['p_faster'])} analyses" in text
