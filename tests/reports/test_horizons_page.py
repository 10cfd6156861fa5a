"""The page on time horizons: one interval on card, chart and page, which is that of the study."""

import json

import pytest
from bayescaling.datasets.files import evidence
from bayescaling.inference.words import months
from bayescaling.reports.pages import PAGES
from bayescaling.reports.report import report

pytestmark = pytest.mark.filterwarnings("ignore::bayescaling.DiagnosticWarning")
SEED = 2  # not that of the study


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("horizons")
    report(folder, pages=("horizons",), seed=SEED)
    return folder


@pytest.fixture(scope="module")
def document(folder):
    return json.loads((folder / "results.json").read_text(encoding="utf-8"), parse_constant=pytest.fail)


def test_the_number_is_that_of_the_study_within_monte_carlo_error(document):
    days, study = document["time_horizons"]["doubling_days"]["all"], evidence("horizons_weirdml")["result"]
    of_study = study["fits"]["linear"]["doubling_days"]["all"]
    sd, draws = (of_study["q97.5"] - of_study["q2.5"]) / 4, study["fits"]["linear"]["diagnostics"]["ess_bulk_min"]
    # The standard errors of a median and of the ends of a normal distribution, and four of a difference.
    for level, error in (("q50", 1.25), ("q2.5", 2.7), ("q97.5", 2.7)):
        assert days[level] == pytest.approx(of_study[level], abs=4 * 2**0.5 * error * sd / draws**0.5)
    for name, of in document["time_horizons"]["trends"].items():
        assert of["doubling_months"]["q50"] < of["doubling_months"]["q97.5"]
        assert of["rival"] == (name in ("break", "acceleration", "logistic"))


def test_card_chart_and_page_have_one_interval(folder, document, card_counts, well_made, not_in_results):
    (answer,) = document["answers"]
    number = f"{months(document['time_horizons']['doubling_months'])} months"
    assert answer["number"] == number and number in answer["answer"] and number in document["findings"][0]
    assert answer["question"] == PAGES["horizons"].title
    words, numbers = card_counts(answer)
    assert words <= 35 and numbers <= 9
    for name, least in (("time-horizons", 4), ("appendix", 15)):
        text = (folder / f"{name}.html").read_text(encoding="utf-8")
        well_made(text)
        missing, count = not_in_results(text, document)
        assert not missing and count > least
        assert number.removesuffix(" months") in text.replace("\N{NO-BREAK SPACE}", " ").replace("</b>", "")


def test_the_answer_is_no_stronger_than_its_law_and_names_other_trends_and_tables(document):
    (answer,), entry = document["answers"], document["time_horizons"]
    text = " ".join(answer["depends"])
    assert entry["verdict"]["verdict"] == "off" and answer["grades"]["law"] == answer["strength"] == "fair"
    assert f"{entry['verdict']['size']:.1%} of the runs" in text and entry["longest"] in text
    assert all(name in text for name, of in entry["trends"].items() if of["rival"])
    assert f"METR publishes {months(entry['best_at_release']['published'])} months" in text
