import json

import bayescaling as bs
import pytest
from bayescaling.inference.formulas.ask import respond
from bayescaling.reports.pages.mixtures import page
from bayescaling.reports.report import report
from scipy.stats import spearmanr

pytestmark = pytest.mark.filterwarnings("ignore::bayescaling.DiagnosticWarning")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Folder of a report of the page on mixtures, with few draws."""
    folder = tmp_path_factory.mktemp("mixtures")
    report(folder, pages=("mixtures",), draws=300, tune=700, chains=2, seed=3)
    return folder


@pytest.fixture(scope="module")
def document(folder):
    return json.loads((folder / "results.json").read_text(encoding="utf-8"), parse_constant=pytest.fail)


def test_page_terminal_and_fit_have_one_number(folder, document):
    """P(best), losses and ranks are those of the fit and of the table."""
    fit, large, entry = bs.open(folder / "posteriors" / "mixtures.nc"), page.runs(1e9), document["mixtures"]
    asked = fit.ask("best share_*", among=large)
    assert entry["p_best"] == asked["p_best"].iloc[0] and asked.index[0] == f"row {entry['choice']}"
    assert sum(of["p_best"] for of in entry["candidates"].values()) == pytest.approx(1)
    median = respond(fit, large[[*fit.law.columns]].to_dict("records"))
    each = [spearmanr(x, large[page.LOSS])[0] for x in median[::50]]
    assert entry["correlation"]["q2.5"] < min(each) and max(each) < entry["correlation"]["q97.5"]
    chosen = large[page.LOSS][entry["choice"] - 1]
    assert entry["regret"] == pytest.approx(chosen - large[page.LOSS].min())
    assert entry["measured"] == (large[page.LOSS] < chosen).sum() + 1


def test_the_answer_and_the_page_say_what_the_models_show(folder, document):
    (answer,) = document["answers"]
    entry = document["mixtures"]
    assert answer["slug"] == "mixtures" and answer["answer"].startswith(
        "Yes" if entry["correlation"]["q2.5"] > 0.9 else "In"
    )
    assert f"mixture {entry['choice']}" in answer["frame"] and "least squares" in str(answer["depends"])
    text = (folder / "appendix.html").read_text(encoding="utf-8")
    for words in ("Liu et al. (2024)", "With fewer models", "python evidence/make.py", f"mixture {entry['choice']}"):
        assert words in text


def test_the_study_chose_the_form_by_small_models_and_tells_where_it_is_not_the_best(document):
    study = document["mixtures"]["study"]
    elpd = {name: of["elpd"] for name, of in study["forms"].items()}
    error = {name: of["1M"]["error"] for name, of in study["forms"].items()}
    chosen = max(elpd, key=elpd.get)
    assert chosen == min(error, key=error.get) and study["form"] == page.FORMULA
    assert {*study["sizes"]} == {"32", "64", "128", "512"}
    for of in study["sizes"].values():
        p, best, count = (sum(x) for x in zip(*of["1M"]["law"]["bins"], strict=True))
        assert p == pytest.approx(best) and count == pytest.approx(8 * best)
