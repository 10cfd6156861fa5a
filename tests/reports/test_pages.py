import html
import json
import re

import bayescaling as bs
import numpy as np
import pytest
from bayescaling.inference.estimands.study_exponents import SyntheticStudy, measure_distance
from bayescaling.inference.lengths.quantities import length_at_accuracy
from bayescaling.inference.lengths.quantities import summary as length_summary
from bayescaling.inference.points.curves import curve_frontier
from bayescaling.models.loss.embeddings import PROPORTIONAL
from bayescaling.models.loss.sizes import family_constant
from bayescaling.reports.pages.embeddings import page as embeddings
from bayescaling.reports.pages.small_lm import page as small_models
from bayescaling.reports.pages.small_lm.page import SCHEMES, of_scheme
from bayescaling.reports.report import report

# The fourth way of training has effects of sizes, which a note states.
pytestmark = [
    pytest.mark.filterwarnings(f"ignore::bayescaling.errors.{name}") for name in ("DiagnosticWarning", "TableNote")
]
SETTINGS = {"draws": 200, "tune": 300, "chains": 2, "seed": 3}
TITLES = {
    "embeddings": ("Exponents by law and noise", "How many parameters embeddings have", "Checks of the exponent"),
    "small-models": ("The floor by scheme of training", "Do the results transfer?", "Checks of the floor"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Folder of a report of the pages on embeddings, with half of their laws, and on small models, with few draws."""
    folder = tmp_path_factory.mktemp("pages")
    with pytest.MonkeyPatch.context() as patch:
        for name in ("LAWS", "FREE", "HELD"):
            laws = {
                law: x for law, x in getattr(embeddings, name).items() if "joint" not in law and "one sigma" not in law
            }
            patch.setattr(embeddings, name, laws)
        report(folder, pages=tuple(TITLES), **SETTINGS)
    return folder


@pytest.fixture(scope="module")
def document(folder):
    return json.loads((folder / "results.json").read_text(encoding="utf-8"), parse_constant=pytest.fail)


def of_draws(draws):
    values = np.ravel(draws)
    return {"mean": values.mean(), "q2.5": np.quantile(values, 0.025), "q97.5": np.quantile(values, 0.975)}


def agrees(interval, draws):
    return all(interval[name] == pytest.approx(x, rel=1e-6) for name, x in of_draws(draws).items())


@pytest.mark.thorough
def test_each_claim_has_one_chart_and_the_appendix_every_section(folder, document, pages_of):
    pages = pages_of(folder)
    assert set(pages) == {"index.html", "embeddings.html", "known-floor.html", "appendix.html"}
    for titles in TITLES.values():
        assert all(f">{title}<a" in pages["appendix.html"] for title in titles)
    for answer in document["answers"]:
        text = pages[f"{answer['slug']}.html"]
        (finding,) = re.findall(r'role="img" aria-label="([^"]*)', text)
        assert answer["number"] in html.unescape(finding)
    shown = " ".join(re.sub(r"(?s)<(script|style).*?</\1>|<[^>]*>", " ", text) for text in pages.values())
    assert not {"nan", "inf"} & set(shown.lower().split())


@pytest.mark.thorough
def test_the_pages_are_well_made_and_print_what_the_document_has(
    folder, document, pages_of, well_made, not_in_results, two_intervals, said_again
):
    pages = pages_of(folder)
    for text in pages.values():
        well_made(text)
        assert said_again(text) == []
    text = " ".join(pages.values())
    assert two_intervals(text)[0] == []
    missing, printed = not_in_results(text, document)
    assert missing == [] and printed > 40
    assert [answer["page"] for answer in document["answers"]] == ["embeddings", "small-models"]


@pytest.mark.thorough
def test_the_reconciliation_is_that_of_the_posterior(folder, document):
    result = document["reconciliation"]
    fit = bs.open(folder / "posteriors" / "embedding-corrected.nc")
    slopes = fit.study_exponents()["nonembedding"]["size"]
    assert agrees(result["local_exponent"]["nonembedding"]["posterior"], slopes)
    assert result["p_exponent_above_0.73"] == float((slopes >= 0.73).mean())
    assert set(result["by_law"]) == {"chinchilla", "coupled", "offsets"}
    best = max(result["by_law"].values(), key=lambda one: one["elpd_diff"])
    for name, one in result["by_law"].items():
        exponents = bs.open(folder / "posteriors" / f"{name}.nc").study_exponents()
        assert all(agrees(one[basis], exponents[basis]["size"]) for basis in ("nonembedding", "total"))
        assert one["rejected"] == (one["elpd_diff"] < -2 * one["dse"])
    assert best["elpd_diff"] == 0 and not best["rejected"]
    assert result["direction"]["laws"] == [name for name, one in result["by_law"].items() if not one["rejected"]]
    assert result["decades_beyond"] == min(result["decades_beyond_by_basis"].values())
    omega = bs.open(folder / "posteriors" / "embedding-weighted.nc")["posterior"]["omega"]
    assert agrees(result["omega"]["by_law"]["embedding-weighted"]["omega"], omega)
    elpd = {name: one["elpd_loo"] for name, one in result["omega"]["by_law"].items()}
    assert result["omega"]["law"] == max(elpd, key=elpd.get)
    for entry in result["planning"]:
        product = 6 * entry["parameters"]["q50"] * entry["tokens"]["q50"]
        assert product == pytest.approx(entry["compute"], rel=0.05)


@pytest.mark.thorough
def test_small_models_are_those_of_the_table(folder, document):
    small_lm = document["small_lm"]
    runs = bs.load("small_lm_runs")
    assert set(small_lm["schemes"]) == set(SCHEMES)
    for scheme, entry in small_lm["schemes"].items():
        fit = bs.open(folder / "posteriors" / f"small-models-{scheme}.nc")
        table = of_scheme(runs, scheme)
        assert fit["observed_data"].sizes["run"] == len(table) == entry["rows"]
        entropy, truth = runs["irreducible_loss"].iloc[0], small_lm["truth"][scheme]
        E, ends = entry["law"]["parameters"]["E"], ("q2.5", "q50", "q97.5")
        assert [truth["fitted"][end] for end in ends] == pytest.approx([E[end] for end in ends])
        assert [entry["E_minus_entropy"][end] + entropy for end in ends] == pytest.approx([E[end] for end in ends])
        assert truth["known"] == entropy and truth["holds"] == entry["law"]["known_floor"]["holds"]
        assert truth["holds"] == (truth["fitted"]["q2.5"] <= entropy <= truth["fitted"]["q97.5"])
        assert truth["coupled"]["fitted"] == small_lm["changed"][f"{scheme}, coupled"]["fitted"]
        assert agrees(entry["exponent"]["total"]["law"], fit["posterior"]["exponent_parameters"])
        envelope = curve_frontier(table, basis="total")["exponent"]
        assert entry["exponent"]["total"]["envelope"] == pytest.approx(envelope)
        assert fit.law.run_effects == table["run"].duplicated().any()
    assert small_lm["calibration"]["simulations"] == 100
    assert 0 <= small_lm["calibration"]["quantities"]["E"]["coverage_90"] <= 1


def test_a_study_within_the_runs_extrapolates_by_nothing():
    runs = bs.load("chinchilla_runs")
    for decades, beyond in (((19, 21), 0.0), ((19, 24), 24), ((13, 21), 13), ((13, 24), 13)):
        study = SyntheticStudy(budgets=(decades, decades))
        outside = measure_distance(runs, study, family_constant(), PROPORTIONAL)
        for basis, column in (("nonembedding", "parameters_nonembedding"), ("total", "parameters")):
            compute = np.log10(6 * runs[column] * runs["tokens"])
            ends = {0.0: 0.0, 24: 24 - compute.max(), 13: 13 - compute.min()}
            assert max(outside[basis][1], key=abs) == pytest.approx(ends[beyond], abs=1e-6)


def test_at_one_rate_all_sizes_but_the_largest_end_above_their_best():
    tables = {scheme: of_scheme(bs.load("small_lm_runs"), scheme) for scheme in SCHEMES}
    *smaller, largest = small_models.shortfalls(tables)
    assert largest == pytest.approx(0, abs=1e-12) and min(smaller) > 0.04


def test_a_scheme_has_whole_curves_or_ends():
    runs = bs.load("small_lm_runs")
    full = set(runs.loc[runs["budget_fraction"] == 1, "run"])
    for scheme in SCHEMES:
        table = of_scheme(runs, scheme)
        if scheme == "scheme-4":
            assert (table["annealed"] == 1).all() and table["run"].is_unique
            assert sorted(table["budget_fraction"].unique()) == [0.25, 0.5, 0.75, 1.0, 1.5, 2.0]
        else:
            assert set(table["run"]) <= full and (table.groupby("run").size() == 10).all()
        assert table.groupby(["parameters", "budget_fraction"])["seed"].nunique().eq(3).all()


@pytest.mark.thorough
def test_the_page_of_arithmetic_has_the_numbers_of_the_fit(tmp_path, pages_of, not_in_results):
    whole = report(tmp_path, pages=("arithmetic",), **SETTINGS)
    document = whole["lengths"]
    counts, fit = bs.load("arithmetic_gpu"), bs.open(tmp_path / "posteriors" / "lengths.nc")
    assert list(document["runs"]) == list(counts["run"].unique()) and document["rows"] < len(counts)
    table = length_summary(fit)
    for (label, share), row in table.iterrows():
        assert document["lengths"]["typical"][label][f"{share:g}"]["q50"] == pytest.approx(row["q50"])
    seen = {(c["first"], c["second"]): c["p_first"] for c in document["contrasts"] if c["of"] == "length"}
    for (first, second), probability in seen.items():
        halves = [length_at_accuracy(fit, 0.5).sel(condition=label).values for label in (first, second)]
        assert probability == pytest.approx(float((halves[0] > halves[1]).mean()))
    assert not_in_results(" ".join(pages_of(tmp_path).values()), whole)[0] == []


@pytest.mark.thorough
def test_pages_made_in_parallel_are_those_made_in_sequence(tmp_path):
    options = SETTINGS | {"draws": 100, "tune": 150, "fresh": True}
    here = report(tmp_path / "here", pages=("corpora", "arithmetic"), **options)
    with bs.parallel(2):
        there = report(tmp_path / "there", pages=("corpora", "arithmetic"), **options)
    assert here.pop("seconds").keys() == there.pop("seconds").keys()
    assert here == there
