import html
import json
import re
from html.parser import HTMLParser

import bayescaling as bs
import numpy as np
import pytest
from bayescaling.inference.checks.verdict import verdict_sentence
from bayescaling.inference.quoted import quote_draws
from bayescaling.inference.words import sizes
from bayescaling.reports.pages.chinchilla.page import LABELS

SUMMARY = ["mean", "sd", "q2.5", "q50", "q97.5"]
SIZES = ("parameters", "tokens", "tokens_per_parameter", "loss")
FILES = ("index.html", "how-big.html", "appendix.html")
TITLES = (
    "How big should the next model be?",
    "The optimum by law",
    "The optimum by budget",
    "The runs",
    "Constants compared with published ones",
    "The usual point estimators",
    "Which law and which noise?",
    "Checks",
    "Published estimates and ours",
    "What the terms mean",
    "Diagnostics",
    "Data, versions and time",
    "How to cite",
)

HEADINGS = ("h1", "h2", "h3", "h4")


class Page(HTMLParser):
    """What a browser would fetch and show: addresses, headings, anchors, links and the text of each table's cells."""

    def __init__(self, text):
        super().__init__()
        self.addresses, self.ids, self.links, self.headings, self.tables, self.scripts = [], [], [], [], [], 0
        self._open = None
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.ids += [attributes["id"]] if "id" in attributes else []
        self.scripts += tag == "script"
        if tag == "a":
            self.links.append(attributes["href"])
        elif tag in ("script", "link", "img", "iframe", "source"):
            self.addresses += [attributes[name] for name in ("src", "href") if name in attributes]
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")
            self._open = "cell"
        elif tag in HEADINGS:
            self.headings.append("")
            self._open = "heading"

    def handle_endtag(self, tag):
        if tag in ("td", "th", *HEADINGS):
            self._open = None

    def handle_data(self, data):
        if self._open == "cell":
            self.tables[-1][-1][-1] += data
        elif self._open == "heading":
            self.headings[-1] += data

    def table_with(self, column):
        """Rows, by the text of their first cell, of the only table that has `column`."""
        ((header, *rows),) = [table for table in self.tables if column in table[0]]
        return {
            row[0].rstrip("●▲○ \N{NO-BREAK SPACE}\n"): dict(zip(header[1:], row[1:], strict=True))
            for row in rows
            if len(row) == len(header)
        }


@pytest.fixture(scope="module")
def document(report):
    return json.loads((report[0] / "results.json").read_text(encoding="utf-8"), parse_constant=pytest.fail)


@pytest.fixture(scope="module")
def texts(report):
    """Text of every page, by the name of its file."""
    return {name: (report[0] / name).read_text(encoding="utf-8") for name in FILES}


@pytest.fixture(scope="module")
def text(texts):
    """Text of the appendix."""
    return texts["appendix.html"]


@pytest.fixture(scope="module")
def page(text):
    return Page(text)


@pytest.fixture(scope="module")
def posteriors(report):
    return {path.stem: bs.open(path) for path in (report[0] / "posteriors").iterdir()}


def file_of(law):
    return law.replace(", ", "-").replace(" ", "-")


def is_summary(q, *, ratio=False):
    assert list(q) == SUMMARY
    assert all(q[name] is None for name in ("mean", "sd")) if ratio else all(np.isfinite(x) for x in q.values())
    assert q["q2.5"] <= q["q50"] <= q["q97.5"]


def test_it_writes_its_files_and_nothing_else(report, document):
    folder, printed = report
    assert {path.name for path in folder.iterdir()} == {*FILES, "results.json", "posteriors"}
    assert {path.stem for path in (folder / "posteriors").iterdir()} == {file_of(law) for law in document["laws"]}
    assert printed == (folder / "results.json").read_text(encoding="utf-8")


# results.json ---------------------------------------------------------------------------------------------------------


def test_provenance(document):
    record = document["provenance"]
    assert set(record) == {"versions", "seed", "draws", "chains", "sampler", "data", "priors"}
    assert (record["seed"], record["draws"], record["chains"], record["sampler"]) == (3, 200, 2, "nutpie")
    assert record["versions"]["bayescaling"] == bs.__version__
    assert {"python", "pymc", "nutpie", "arviz-stats"} <= set(record["versions"])
    assert all(re.fullmatch("[0-9a-f]{64}", sha) for sha in record["data"].values())
    assert set(record["priors"]) == set(document["laws"])
    assert document["schema"] == 1
    assert all(seconds >= 0 for seconds in document["seconds"].values())


def test_what_it_says_of_each_law(document):
    assert {"chinchilla"} < set(document["laws"])
    for law in document["laws"].values():
        assert (law["data"], law["rows"]) == ("chinchilla_runs", 245)
        assert law["scale"] in ("log_loss", "loss")
        for q in law["parameters"].values():
            is_summary(q)
        assert {"E", "A", "B", "alpha", "beta", "sigma", "exponent_parameters"} <= set(law["parameters"])
        assert all(np.isfinite(law[name]) for name in ("elpd_loo", "elpd_se", "p_loo", "pareto_k_max", "r_hat_max"))
        assert law["ess_bulk_min"] > 0
        assert law["divergences"] >= 0
        assert law["k_above_0.7"] >= 0
    ranks = sorted(document["laws"].values(), key=lambda law: -law["elpd_loo"])
    assert [law["rank"] for law in ranks] == list(range(1, len(ranks) + 1))
    for constants in document["laws"]["chinchilla"]["point_estimates"].values():
        assert all(np.isfinite(x) for x in constants.values())


def test_what_it_says_of_allocation_and_of_published_numbers(document):
    for entry in document["allocation"]:
        assert set(entry) >= {"law", "compute", *SIZES, "extrapolation"}
        for name in SIZES:
            is_summary(entry[name], ratio=name == "tokens_per_parameter")
    for entry in document["published"]:
        assert set(entry) >= {"quantity", "published", "ours", "p_at_least"}
        assert 0 <= entry["p_at_least"] <= 1
    assert {"chinchilla.E", "chinchilla.alpha"} <= {entry["quantity"] for entry in document["published"]}


def test_each_number_is_that_of_the_saved_posterior(document, posteriors, text):
    for name, law in document["laws"].items():
        fit = posteriors[file_of(name)]
        quoted = quote_draws(fit, {quantity: fit["posterior"][quantity] for quantity in law["parameters"]})
        for quantity, q in law["parameters"].items():
            draws = quoted[quantity].values.ravel()
            again = [draws.mean(), draws.std(ddof=1), *np.quantile(draws, [0.025, 0.5, 0.975])]
            np.testing.assert_allclose(list(q.values()), again, rtol=1e-12)
    main = posteriors["chinchilla"]
    entry, tests = document["laws"]["chinchilla"], main.law_tests()
    assert {test: entry["misfit"][test]["p"] for test in tests.index} == pytest.approx(tests["p"].to_dict())
    judged = {name: x for name, x in main.check().items() if name != "tests"}
    assert entry["verdict"] == judged | {"sentence": verdict_sentence(main.check())}
    assert document["laws"][document["optimum"]["law"]]["verdict"]["sentence"] in text
    table = main.robust_sd(main["posterior"]["alpha"])
    assert entry["robust"]["alpha"]["robust_sd"] == pytest.approx(table["robust_sd"].max())
    entries = [entry for entry in document["allocation"] if entry["law"] == "chinchilla"]
    again = main.allocate([entry["compute"] for entry in entries])
    for i, entry in enumerate(entries):
        for name in SIZES:
            draws = again[name].isel(compute=i).values
            assert entry[name]["q97.5"] == pytest.approx(np.quantile(draws, 0.975), rel=1e-12)
    for entry in document["published"]:
        name = entry["quantity"].removeprefix("chinchilla.")
        draws = quote_draws(main, main["posterior"][name]).values
        assert entry["p_at_least"] == (draws >= entry["published"]).mean()
    assert main.loo().elpd == pytest.approx(document["laws"]["chinchilla"]["elpd_loo"], rel=1e-9)


# The page -------------------------------------------------------------------------------------------------------------


def test_the_page_needs_nothing_else(page, text):
    assert page.scripts
    assert [address for address in page.addresses if not address.startswith("data:")] == []
    assert not re.search(r"@import|url\(\s*['\"]?https?:", text)


def test_the_page_can_be_read_by_everybody(text, well_made, said_again):
    well_made(text)
    assert said_again(text) == []


def test_every_interval_of_the_page_is_in_the_document(text, document, not_in_results):
    missing, printed = not_in_results(text, document)
    assert missing == [] and printed > 50


def plain_text(text):
    return html.unescape(re.sub("<[^>]*>", "", text)).replace("\xa0", " ")


def test_the_only_page_made_is_the_only_question_answered(texts, document):
    (answer,) = document["answers"]
    assert answer["page"] == "chinchilla"
    for name in ("index.html", "how-big.html"):
        assert answer["answer"] in plain_text(texts[name]) and answer["doubt"] in plain_text(texts[name])
    best = next(a for a in document["allocation"] if a["law"] == document["optimum"]["law"] and a["compute"] == 1e24)
    assert sizes(best["tokens"]).partition(" ")[0] in answer["doubt"]
    assert f"{best['tokens_per_parameter']['q50']:.2g} [" in answer["frame"]  # a ratio that carries its interval
    # The chart of the claim states the number of the card, which is that of the budget field.
    (finding,) = [finding for finding in document["findings"] if finding.startswith("At 1e24 FLOP")]
    assert answer["number"] in finding
    grid = document["optimum"]
    at = 10 ** np.array(grid["parameters"][grid["log10_compute"].index(24.0)])
    assert answer["number"] == f"{sizes(dict(zip(('q2.5', 'q50', 'q97.5'), at, strict=True)))} parameters"
    assert {claim["page"] for claim in document["claims"]} == {"chinchilla"}


def test_the_recommended_optimum_is_one_row_and_its_grid_that_of_allocate(page, document, posteriors):
    optimum = document["optimum"]
    assert optimum["law"] == "coupled"
    rows = page.table_with("N* at 1e24 FLOP")
    assert [name for name in rows if "recommended" in name] == ["coupled (recommended)"]
    places = [20, 70]
    at = posteriors["coupled"].allocate(10.0 ** np.array([optimum["log10_compute"][i] for i in places]))
    for name in ("parameters", "tokens", "tokens_per_parameter"):
        q = at[name].quantile([0.025, 0.5, 0.975], ("chain", "draw")).transpose("compute", "quantile").values
        np.testing.assert_allclose([optimum[name][i] for i in places], np.log10(q), atol=2e-3)


def test_the_page_has_its_sections_and_leads_to_them(page):
    assert set(TITLES) <= set(page.headings)
    assert page.links
    assert all(page.ids.count(link.removeprefix("#")) == 1 for link in page.links if link.startswith("#"))
    assert sum(name.startswith("figure-") for name in page.ids) == 3


def test_the_page_shows_the_numbers_of_the_document(page, document):
    ours = document["laws"]["chinchilla"]["parameters"]
    rows = page.table_with("median [95%]")
    assert set(LABELS.values()) <= set(rows)
    for name, label in LABELS.items():
        shown, q = rows[label], ours[name]
        rounded = 0.051 * q["sd"]  # two digits of it are shown
        robust = document["laws"]["chinchilla"]["robust"][name]["robust_sd"]
        assert float(shown["robust sd"]) == pytest.approx(robust, abs=rounded)
        median, low, high = map(float, re.fullmatch(r"(\S+) \[(\S+),\s(\S+)\]", shown["median [95%]"]).groups())
        assert [low, median, high] == pytest.approx([q["q2.5"], q["q50"], q["q97.5"]], abs=rounded)


def test_the_page_shows_the_comparison_of_the_document(page, document):
    rows = page.table_with("elpd")
    for name, law in document["laws"].items():
        shown = {column: cell.replace(",", "").replace("\N{MINUS SIGN}", "-") for column, cell in rows[name].items()}
        assert float(shown["elpd"]) == pytest.approx(law["elpd_loo"], abs=0.051)
        assert int(shown["k > 0.7"]) == law["k_above_0.7"]
        assert float(shown["stacking weight"]) == pytest.approx(document["stacking"][name], abs=0.0051)


def test_the_page_says_what_is_not_to_be_trusted(texts, posteriors):
    bad = sum(not fit.diagnostics["ok"] for fit in posteriors.values())
    assert f"{bad or len(posteriors)} of {len(posteriors)} fits" in plain_text(texts["index.html"])
    listed = texts["appendix.html"].partition('aria-labelledby="diagnostics"')[2].partition("<details")[0]
    assert listed.count("<li>") == bad


def test_the_page_gives_versions_and_fingerprints(text, document):
    for version in document["provenance"]["versions"].values():
        assert version in text
    for sha in document["provenance"]["data"].values():
        assert sha in text
