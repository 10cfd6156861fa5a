import json

import bayescaling as bs
import pytest
from bayescaling.reports.pages.experts import page
from bayescaling.reports.report import report

pytestmark = pytest.mark.filterwarnings("ignore::bayescaling.DiagnosticWarning")
SETTINGS = {"draws": 300, "tune": 800, "chains": 2, "seed": 3}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Folder of a report of the page on experts, with few draws."""
    folder = tmp_path_factory.mktemp("experts")
    report(folder, pages=("experts",), **SETTINGS)
    return folder


@pytest.fixture(scope="module")
def document(folder):
    return json.loads((folder / "results.json").read_text(encoding="utf-8"), parse_constant=pytest.fail)


def test_the_worth_of_experts_is_the_size_of_the_dense_model_of_the_same_loss(folder, document):
    """The answer is that of the fit, and its median has the loss of the routed model under the law's own medians."""
    fit = bs.open(folder / "posteriors" / "experts-a-floor.nc")
    worth = document["experts"]["laws"]["a floor"]["answers"]["worth"]
    (row,) = fit.ask(page.WORTH).to_dict("records")
    assert [worth[name] for name in ("q2.5", "q50", "q97.5")] == [row[name] for name in ("q2.5", "q50", "q97.5")]
    dense, routed = (
        fit.ask(f"loss at parameters = {n:g}, experts = {e}") for n, e in ((worth["q50"], 1), (page.SIZE, 64))
    )
    assert dense["q50"].iloc[0] == pytest.approx(routed["q50"].iloc[0], rel=2e-3)
    near = fit.rows[(fit.rows["experts"] == 64) & (abs(fit.rows["parameters"] / page.SIZE - 1) < 1e-3)]["loss"]
    assert routed["q50"].iloc[0] == pytest.approx(float(near.iloc[0]), rel=0.01)


def test_the_answer_names_the_routing_the_rivals_and_the_data(document):
    (answer,) = document["answers"]
    entry = document["experts"]
    assert answer["slug"] == "experts" and "S-Base" in answer["answer"] and "130B tokens" in answer["doubt"]
    assert "no floor" not in entry["rivals"] and set(entry["rivals"]) < set(page.LAWS)
    assert len(answer["depends"]) <= 4 and "RL-R" in str(answer["depends"])
    shrinks = entry["laws"]["a floor"]["answers"]["shrinks"]
    assert ("do not show that the gain shrinks" in str(answer["depends"])) == (shrinks["q2.5"] < 0)


def test_the_page_has_every_law_and_what_it_rests_on(folder, document):
    text = (folder / "appendix.html").read_text(encoding="utf-8")
    for words in (
        "Clark et al. (2022)",
        "Laws of experts",
        "Until which size do experts pay?",
        "python evidence/make.py",
    ):
        assert words in text
    left_out = document["experts"]["left_out"]
    assert {*page.LAWS} < {*left_out} and left_out["no floor"]["elpd"] < left_out["a floor"]["elpd"] - 20
