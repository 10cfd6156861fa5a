"""How the pages of a report are put together, whatever their text."""

import re

import bayescaling as bs
import pandas as pd
import pytest
from bayescaling.reports.html import tables
from bayescaling.reports.html.illustrations import in_light, pictured
from bayescaling.reports.html.render import Anchors, render
from bayescaling.reports.html.sources import SOURCES
from bayescaling.reports.pages.front.page import Front

DOCUMENT = {
    "diagnostics": {
        "one": {"ok": True, "sentence": "converged"},
        "one, <other>": {"ok": False, "sentence": "did not converge: r_hat"},
    },
    "provenance": {
        "versions": {"bayescaling": "1.0"}, "data": {"t": "f"}, "seed": 1, "draws": 9, "chains": 2, "sampler": "nutpie"
    },
    "seconds": {"one": 1.0},
}  # fmt: skip
TESTED = DOCUMENT | {"laws": {"one": {"verdict": {"verdict": "off"}}}}


ANSWER = {
    "page": "law", "slug": "how-big", "question": "How big?", "answer": "Ten [9, 11].", "number": "10", "doubt": "Few.",
    "frame": "A day has 24.", "depends": ["The law."], "strength": "fair", "because": "few runs", "raises": "more runs",
    "rests_on": ["one"], "data": ["t"],
}  # fmt: skip


def drawn():
    return pictured(bs.plot_intervals, {"ours": (1, 2, 3)}, "Exponent", title="It is 2", code="bs.plot_intervals()")


def table():
    frame = pd.DataFrame({"law": ["a <b>", "GPT-2"], "n": [-1.5, None], "q": ["-0.2 [-1, 3]", "1e-05"]})
    return tables.html(frame, decimals={"n": 1}, note="E<sub>1</sub>")


def whole(sections, document=DOCUMENT, **more):
    parts = [{"name": "law", "title": "How big?", "sections": sections}]
    return render("A page", parts, document, ["twice", "twice"], claims=False, **more)["index.html"]


def page(**more):
    sections = [
        {"title": "Which law? And, of all, which noise?", "text": ["Words, -0.5 of it."], "blocks": [drawn(), table()]},
        {"title": "Which law and of all which noise", "points": ["One."], "blocks": [table()]},
        {"title": "α", "blocks": [drawn()]},
    ]
    return whole(sections, **more)


def test_a_page_is_well_made(well_made):
    document = well_made(page())
    assert [e["text"] for e in document.of("h1")] == ["A page"]
    titles = ["Which law? And, of all, which noise?", "Which law and of all which noise"]
    assert [e["text"] for e in document.of("h3")][:2] == titles
    captions = [e["text"] for e in document.of("caption", "figcaption")]
    numbers = [match.group() for text in captions if (match := re.match(r"(Figure|Table) \d\.", text))]
    assert numbers == ["Figure 1.", "Table 1.", "Table 2.", "Figure 2."]
    assert [e["text"] for e in document.of("li") if "twice" in e["text"]] == ["twice"]
    assert any("Words, \N{MINUS SIGN}0.5 of it." in e["text"] for e in document.of("p"))


def test_each_answer_has_a_page_that_stands_alone_and_the_tables_an_appendix(well_made):
    sections = [
        {"role": "chart", "title": "Chart", "blocks": [drawn()]},
        {"title": "Which law?", "text": ["Many words."], "blocks": [table()]},
    ]
    part = {"name": "law", "title": "How big?", "sections": sections, "answer": ANSWER}
    front = Front([ANSWER], shown=("law",))
    pages = render("A report", [part], DOCUMENT, [], front)
    assert set(pages) == {"index.html", "how-big.html", "appendix.html"}
    claim, index, appendix = (pages[name] for name in ("how-big.html", "index.html", "appendix.html"))
    for text in (ANSWER["because"], "The law.", "A day has 24.", "more runs", "bs.plot_intervals()", "It is 2"):
        assert text in claim
    assert claim.count("<svg") == index.count("<svg") == 2 and "<svg" not in appendix
    assert "Many words." in appendix and "Many words." not in claim + index
    ids = set(re.findall(r'id="([^"]+)"', appendix))
    for text in (claim, index):
        leads = re.findall(r'href="([\w-]+\.html)?(?:#([\w-]+))?"', text)
        assert {file for file, _ in leads} - {""} <= set(pages)
        assert {place for file, place in leads if file == "appendix.html" and place} <= ids
    for text in pages.values():
        well_made(text)


def test_a_figure_is_in_light_and_dark_and_no_part_of_it_is_named_twice():
    text = page()
    names = re.findall(r'id="([^"]+)"', text)
    assert len(names) == len(set(names)) and "light-dark(#ffffff, #111827)" in text
    assert set(re.findall(r"url\(#([^)]+)\)|xlink:href=\"#([^\"]+)\"", text)) <= {(n, "") for n in names} | {
        ("", n) for n in names
    }
    assert "light-dark" not in in_light(drawn().wide) and "#111827" not in in_light(drawn().wide)


def test_rows_of_fits_lead_to_their_diagnostics(well_made):
    frame = pd.DataFrame({"fit": ["one", "another"], "n": [1, 2]})
    other = tables.html(frame, fits=["one, <other>", "none of these"], recommended=1)
    sections = [{"title": "Fits", "blocks": [tables.html(frame), other]}]
    document = well_made(whole(sections, TESTED))
    dots = [e for e in document.of("a") if "dot" in e.get("class", "")]
    marks = [
        ("dot fine", "one, sampling: converged"), ("dot bad", "one, fit of the law: rejected by the rows"),
        ("dot bad", "one, <other>, sampling: did not converge"),
        ("dot none", "one, <other>, fit of the law: not tested"),
    ]  # fmt: skip
    assert [(e["class"], e["aria-label"]) for e in dots] == marks
    assert {e["href"] for e in dots} == {"#diagnostics"}
    (row,) = document.of("tr", class_="recommended")
    assert row["text"].startswith("another")


def test_a_table_of_one_fit_has_its_marks_in_the_caption(well_made):
    frame = pd.DataFrame({"quantity": ["one", "two"], "n": [1, 2]})
    sections = [{"title": "Fits", "blocks": [tables.html(frame, fits="one", title="Constants")]}]
    document = well_made(whole(sections, TESTED))
    marked = [e for e in document.of("a") if "dot" in e.get("class", "") and "figcaption" in e["inside"]]
    assert [e["class"] for e in marked] == ["dot fine", "dot bad"]


def test_a_page_is_the_same_each_time():
    assert page() == page()


def test_the_verdict_names_and_leads_to_what_did_not_converge(well_made):
    document = well_made(page())
    (verdict,) = [e for e in document.of("p") if "verdict" in e.get("class", "")]
    assert "1 of 2 fits did not converge: one, <other>." in " ".join(verdict["text"].split())
    assert any("one, <other>: did not converge: r_hat" in e["text"] for e in document.of("li"))


def test_cells_are_text_with_a_minus_sign_and_a_dash_for_nothing():
    rendered = table()
    assert rendered.header == ("law", "n", "q")
    assert rendered.rows[0] == (
        "a &lt;b&gt;",
        "\N{MINUS SIGN}1.5",
        "\N{MINUS SIGN}0.2 [\N{MINUS SIGN}1,\N{NO-BREAK SPACE}3]",
    )
    assert rendered.rows[1] == ("GPT-2", "–", "1e-05")
    assert rendered.numeric == {1}


def test_names_of_places_are_plain_and_each_is_given_once():
    name = Anchors()
    names = [name(text) for text in ("Kaplan, Chinchilla?", "Kaplan Chinchilla", "É α", "β", "part", "don't")]
    assert names == ["kaplan-chinchilla", "kaplan-chinchilla-2", "e", "part", "part-2", "dont"]


def test_symbols_keep_their_subscripts_and_nothing_else_is_markup():
    symbols = tables.html(pd.DataFrame({"law": ["one"], "N_T*": ["2e-09 (N_x), <b>"], "p": ["4e-08"]}))
    assert symbols.header[1] == "N<sub>T</sub>*" and symbols.numeric == {2}
    assert symbols.rows[0][1] == "2e<span class='whole'>-09</span> (N<sub>x</sub>), &lt;b&gt;"


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.key)
def test_sources_can_be_followed_and_cited(source):
    assert re.fullmatch(r"https://(arxiv\.org/abs/\d{4}\.\d{5}|doi\.org/10\.\S+)", source.address)
    assert f"@article{{{source.key}," in source.bibtex and str(source.year) in source.bibtex
    assert source.bibtex.count("{") == source.bibtex.count("}")
