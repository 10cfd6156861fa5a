import json
import re
from dataclasses import replace

import bayescaling as bs
import numpy as np
import pytest
from bayescaling.datasets.files import evidence
from bayescaling.reports.findings import Findings
from bayescaling.reports.html import tables
from bayescaling.reports.html.prose import FILTERS
from bayescaling.reports.pages.corpora import page
from bayescaling.reports.report import report

pytestmark = pytest.mark.filterwarnings("ignore::bayescaling.DiagnosticWarning")
QUICK = {"target_accept": 0.95, "chains": 2}
SETTINGS = {"draws": 300, "tune": 400, "seed": 3} | QUICK
PLAIN = {"noise": "normal", "scatter": "one"}


def quick(law):
    """The same pooling of a law whose scatter is one number, which samples faster."""
    base, names = replace(law.law, **PLAIN), {"kappa", *law.law.exponents}
    every = set(law.shared) == set(law.law.prior_of)
    return bs.laws.Grouped(base, law.by, law.pooled, tuple(base.prior_of) if every else tuple(names & set(law.shared)))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Folder of a report of the page on corpora, with few draws."""
    folder = tmp_path_factory.mktemp("corpora")
    with pytest.MonkeyPatch.context() as patch:
        for name in ("LAWS", "BESIDE"):
            patch.setattr(page, name, {law: quick(x) for law, x in getattr(page, name).items()})
        report(folder, pages=("corpora",), all=True, **SETTINGS)
    return folder


@pytest.fixture(scope="module")
def document(folder):
    return json.loads((folder / "results.json").read_text(encoding="utf-8"), parse_constant=pytest.fail)["corpora"]


@pytest.fixture(scope="module")
def pooled(folder):
    return bs.open(folder / "posteriors" / "corpora-exponents-pooled.nc")


def agrees(interval, draws):
    quantiles = np.quantile(np.ravel(draws), [0.025, 0.5, 0.975])
    return [interval[name] for name in ("q2.5", "q50", "q97.5")] == pytest.approx(list(quantiles), rel=1e-9)


def test_exponents_are_those_of_the_posterior(document, pooled):
    posterior, exponents = pooled["posterior"], document["exponent"]
    exponent = posterior["exponent_parameters"]
    assert document["rows"] == {"C4": 34, "RedPajama": 35, "RefinedWeb": 35}
    for name in document["rows"]:
        assert agrees(exponents["by_corpus"]["exponents pooled"][name], exponent.sel(group=name))
    typical = posterior["typical_beta"] / (posterior["typical_alpha"] + posterior["typical_beta"])
    assert agrees(exponents["typical"], typical)
    new = pooled.predict_group(seed=3)["posterior"]["exponent_parameters"]
    assert agrees(exponents["new"], new.sel(group="new"))
    wide = {name: exponents[name]["q97.5"] - exponents[name]["q2.5"] for name in ("typical", "new")}
    assert wide["new"] > wide["typical"]
    spread = exponent.max("group") - exponent.min("group")
    assert document["differences"]["p_close"] == float((spread < 0.05).mean())
    difference = document["differences"]["pairs"]["C4 less RefinedWeb"]
    assert agrees(difference, exponent.sel(group="C4") - exponent.sel(group="RefinedWeb"))


def test_a_corpus_left_out_is_foretold_best_by_the_exponents_of_the_others(document):
    scores = {name: score["elpd"] for name, score in document["left_out"].items()}
    assert scores["exponents shared"] > scores["exponents pooled"] > scores["nothing pooled"]
    for score in document["left_out"].values():
        assert score["elpd"] == pytest.approx(sum(score["corpora"].values()))
        assert score["difference"] == pytest.approx(score["elpd"] - max(scores.values()))
        assert score["monte_carlo_se"] < 0.5
    shared, apart = (document["left_out"][name]["corpora"] for name in ("exponents shared", "nothing pooled"))
    assert all(shared[name] > apart[name] for name in shared)


def test_robust_sds_and_verdicts_are_by_corpus_and_by_law(document, pooled):
    for name in document["rows"]:
        exponent = pooled["posterior"]["exponent_parameters"].sel(group=name, drop=True)
        row = pooled.robust_sd(exponent).loc["unit"]
        entry = document["robust"][f"exponent_parameters[{name}]"]
        assert (entry["robust_sd"], entry["posterior_sd"]) == pytest.approx((row["robust_sd"], row["posterior_sd"]))
    judged = pooled.check()
    assert document["laws"]["exponents pooled"]["verdict"]["verdict"] == judged["verdict"]
    assert document["laws"]["exponents pooled"]["misfit"] == judged["tests"]
    assert document["laws"]["Chinchilla law, exponents pooled"]["verdict"]["verdict"] != "fits"


def test_the_page_says_what_the_document_says(folder, document, well_made, not_in_results, two_intervals):
    text = (folder / "appendix.html").read_text(encoding="utf-8")
    well_made(text)
    assert not_in_results(text, document)[0] == []
    assert two_intervals(text)[0] == []
    assert "Not that these runs show." in text and text.count('<figure class="drawn"') == 1
    for q in document["exponent"]["by_corpus"]["exponents pooled"].values():
        assert tables.interval(q, "{:.3f}") in text.replace("\N{NO-BREAK SPACE}", " ")
    for score in document["left_out"].values():
        assert f">{score['elpd']:.1f}<" in text
    sentence = FILTERS["in_words"](document["laws"]["exponents pooled"]["verdict"]["sentence"])
    assert sentence.partition("the law ")[2] in text
    body = re.sub(r"<script.*?</script>", "", text, flags=re.DOTALL)
    assert "nan" not in re.sub(r"<[^>]*>", " ", body).lower().split() and "&amp;#x27;" not in body


@pytest.mark.parametrize(
    "best, answer",
    [("nothing pooled", "Yes."), ("exponents pooled", "A little."), ("exponents shared", "Not that these runs show.")],
)
def test_the_answer_is_that_of_the_scores(document, best, answer):
    scores = {law: score | {"elpd": 20.0 if law == best else 10.0} for law, score in document["left_out"].items()}
    entry = document | {"left_out": scores}
    findings = Findings(document={"corpora": entry})
    text = page.sections(findings, None)[0]["text"][0]
    assert f"<b>{answer}</b>" in text and page.WORDS[best] in text
    assert tables.interval(entry["differences"]["range"], "{:.3f}") in text


def test_without_new_fits_the_page_is_that_of_the_study(tmp_path, well_made, not_in_results):
    document = report(tmp_path, pages=("corpora",))
    study = evidence(page.STUDY)
    assert {name: document["corpora"][name] for name in ("exponent", "laws")} == {
        name: study["result"][name] for name in ("exponent", "laws")
    }
    assert set(document["diagnostics"]) == set(study["result"]["records"]) == set(document["provenance"]["priors"])
    text = (tmp_path / "appendix.html").read_text(encoding="utf-8")
    assert f"The study was made on {study['made']}" in text and f"<code>{study['command']}</code>" in text
    assert not list((tmp_path / "posteriors").iterdir())
    well_made(text)
    assert not_in_results(text, document)[0] == []
