import json
import re

import bayescaling as bs
import numpy as np
import pytest
from bayescaling.datasets.files import evidence
from bayescaling.inference.progress.rate_at_rows import compute_equivalent_gain, gain_times
from bayescaling.models.progress.specifications import NO_PROGRESS
from bayescaling.reports.laws import SPECIFICATIONS_STUDY as STUDY
from bayescaling.reports.pages.progress import specifications
from bayescaling.reports.report import report

pytestmark = [pytest.mark.thorough, pytest.mark.filterwarnings("ignore::bayescaling.DiagnosticWarning")]
TITLES = ("Doubling times", "What changes the number", "Specifications", "Variants")
SPECIFICATIONS = (7, 14, 16, 17, 18, 19)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Folder of a report of the page, with some of its specifications and few draws."""
    folder = tmp_path_factory.mktemp("progress")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(specifications, "SPECIFICATIONS", {k: specifications.SPECIFICATIONS[k] for k in SPECIFICATIONS})
        report(folder, pages=("progress",), all=True, draws=300, tune=300, seed=2)
    return folder


@pytest.fixture(scope="module")
def document(folder):
    return json.loads((folder / "results.json").read_text(encoding="utf-8"), parse_constant=pytest.fail)


def test_every_section_is_there_and_no_figure_is_missing(folder):
    text = (folder / "appendix.html").read_text(encoding="utf-8")
    assert all(f">{title}<a" in text for title in TITLES) and text.count('<figure class="drawn') == 1
    assert "<svg" in (folder / "how-fast.html").read_text(encoding="utf-8")
    shown = re.sub(r"<[^>]*>", " ", re.sub(r"<script.*?</script>", "", text, flags=re.DOTALL)).lower().split()
    assert not {"nan", "inf"} & set(shown)


def test_the_page_is_well_made_and_prints_what_the_document_has(
    folder, document, pages_of, well_made, not_in_results, two_intervals, said_again
):
    pages = pages_of(folder)
    for text in pages.values():
        well_made(text)
        assert said_again(text) == []
    text = " ".join(pages.values())
    assert two_intervals(text)[0] == []
    missing, printed = not_in_results(text, document)
    assert missing == [] and printed > 30


def test_fits_with_effects_of_papers_are_judged_too(document):
    of_papers = {f"progress-{k}, paper effects" for k in SPECIFICATIONS}
    assert set(document["diagnostics"]) == {f"progress-{k}" for k in SPECIFICATIONS} | of_papers


def test_gains_are_those_of_the_posteriors(folder, document):
    for k in ("7", "14", "18"):
        fit = bs.open(folder / "posteriors" / f"progress-{k}.nc")
        table, gains = gain_times(fit), document["progress"][k]["compute_equivalent_gain"]
        assert set(gains) == set(table.index)
        for name, row in table.iterrows():
            assert gains[name]["doubling_months"]["q50"] == pytest.approx(row["q50"])
        assert gains["all"]["p_progress"] == float((compute_equivalent_gain(fit) > 0).mean())


def test_the_headline_is_of_the_noise_that_predicts_papers_left_out_better(document):
    gain = document["compute_equivalent_gain"]
    papers = {name: entry["elpd_papers"] for name, entry in document["noises"].items()}
    assert gain["noise"] == max(papers, key=papers.get)
    assert gain["doubling_months"] == gain["by_noise"][gain["noise"]]
    resampled = gain["papers_resampled"]["median_doubling_months"]
    assert resampled["q5"] <= resampled["q95"]
    weights = [entry["q50"] for entry in gain["papers_resampled"]["weights"].values()]
    assert min(weights) >= 0 and max(weights) <= 1


def test_specifications_without_progress_predict_the_future_worse(document):
    futures = document["leave_future_out_by_specification"]
    assert {str(k) for k in specifications.SPECIFICATIONS} < set(futures)
    for k, entry in futures.items():
        by_year = sum(x for name, x in entry.items() if re.fullmatch(r"elpd_\d{4}", name))
        assert entry["elpd"] == pytest.approx(by_year), k
    still = max(futures[str(k)]["elpd"] for k in NO_PROGRESS)
    assert still < futures["7"]["elpd"]
    of_main = {row["cutoff"]: row["elpd"] for row in document["leave_future_out"]}
    assert all(futures["7"][f"elpd_{cutoff:g}"] == pytest.approx(elpd) for cutoff, elpd in of_main.items())


def test_probabilities_of_a_change_of_pace_add_up(document):
    pace = document["pace"]
    shares = {name: entry["probability"] for name, entry in pace["cutoffs"].items()}
    assert sum(shares.values()) == pytest.approx(1)
    assert pace["p_change"] == pytest.approx(1 - shares["none"])
    walk = pace["random_walk"]
    assert 0 < walk["p_faster"] < 1
    assert "pace_sd" in walk["law"]["parameters"]
    assert walk["doubling_months"]["2013"] != walk["doubling_months"]["2023"]
    faster = {name: entry["p_faster"] for name, entry in pace["cutoffs"].items() if name != "none"}
    mixed = sum(shares[name] * p for name, p in faster.items()) / pace["p_change"]
    assert pace["p_faster"] == pytest.approx(mixed)
    assert all(q["q2.5"] <= q["q50"] for q in pace["doubling_months"].values() if q["q2.5"] is not None)


def test_tests_of_misfit_stand_with_each_specification(folder, document):
    misfit = document["progress"]["7"]["misfit"]["rows independent"]
    table = bs.open(folder / "posteriors" / "progress-7.nc").law_tests()
    assert {name: entry["p"] for name, entry in misfit.items()} == pytest.approx(table["p"].to_dict())
    assert np.isfinite([entry["statistic"] for entry in misfit.values()]).all()


def test_without_all_the_quoted_specification_is_fitted_and_the_others_are_of_the_study(
    tmp_path, pages_of, well_made, not_in_results, two_intervals
):
    document = report(tmp_path, pages=("progress",), draws=200, tune=300, seed=2)
    study = evidence(STUDY)
    for k, entry in study["result"]["document"]["progress"].items():
        assert (document["progress"][k] == entry) is (k != "7")
    assert {path.stem for path in (tmp_path / "posteriors").iterdir()} == {"progress-7", "progress-7-paper-effects"}
    fit = bs.open(tmp_path / "posteriors" / "progress-7-paper-effects.nc")
    quoted = document["compute_equivalent_gain"]["quoted"]
    assert quoted["p_progress"] == float((compute_equivalent_gain(fit) > 0).mean())
    assert document["progress"]["7"]["elpd_loo"] == study["result"]["document"]["progress"]["7"]["elpd_loo"]
    pages = pages_of(tmp_path)
    text = " ".join(pages.values())
    assert text.count(f"The study was made on {study['made']} (seed 1) by <code>{study['command']}</code>") == 1
    assert all(well_made(page) for page in pages.values())
    assert two_intervals(text)[0] == [] and not_in_results(text, document)[0] == []
