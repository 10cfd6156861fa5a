"""How a page is put together, whatever its text."""

import re

import pandas as pd
import pytest
from bayescaling.reports.drawing import tables
from bayescaling.reports.drawing.captions import alternative, caption
from bayescaling.reports.drawing.sources import SOURCES
from bayescaling.reports.drawing.style import figure, line
from bayescaling.reports.html.anchors import Anchors
from bayescaling.reports.html.render import render

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


def drawn():
    return figure(line([1, 2], [3, 4], "#1f5f99", "median"), x={"title": "Compute (FLOP)"}, y={"title": "Loss"})


def table():
    frame = pd.DataFrame({"law": ["a <b>", "GPT-2"], "n": [-1.5, None], "q": ["-0.2 [-1, 3]", "1e-05"]})
    return tables.html(frame, decimals={"n": 1}, note="E<sub>1</sub>")


def page(**front):
    sections = [
        {"title": "Which law? And, of all, which noise?", "text": ["Words."], "blocks": [drawn(), table()]},
        {"title": "Which law and of all which noise", "points": ["One."], "blocks": [table()]},
        {"title": "α", "blocks": [drawn()]},
    ]
    parts = [{"name": "law", "title": "How big?", "sections": sections}]
    return render("A page", parts, DOCUMENT, ["said twice", "said twice"], **front)


def test_a_page_is_well_made(well_made):
    document = well_made(page())
    assert [e["text"] for e in document.of("h1")] == ["A page"]
    assert [e["text"] for e in document.of("h3")][:2] == [
        "Which law? And, of all, which noise?",
        "Which law and of all which noise",
    ]
    captions = [e["text"] for e in document.of("caption", "figcaption")]
    numbers = [match.group() for text in captions if (match := re.match(r"(Figure|Table) \d\.", text))]
    assert numbers == ["Figure 1.", "Table 1.", "Table 2.", "Figure 2."]
    assert [e["text"] for e in document.of("li") if "said twice" in e["text"]] == ["said twice"]


def test_a_page_whose_parts_are_still_made_says_which_and_is_read_again(well_made):
    assert "refresh" not in page()
    document = well_made(page(coming=["How fast?"]))
    assert [e["content"] for e in document.of("meta") if e.get("http-equiv") == "refresh"] == ["10"]
    assert ["How fast?" in e["text"] for e in document.of("p") if e.get("class") == "coming"] == [True]


def test_details_are_folded_below_what_is_open_and_are_in_the_contents(well_made):
    sections = [
        {"role": "answer", "title": "Answer", "text": ["Ten, -0.5 of it."], "blocks": [drawn()]},
        {"role": "checks", "title": "Checks", "points": ["Fine."], "blocks": []},
        {"role": "details", "title": "Which law?", "text": ["Many words."], "blocks": [table()]},
    ]
    answer = {"answer": "Ten.", "number": "10 [9, 11].", "doubt": "Few runs.", "moves": "A law."}
    answer |= {"strength": "fair", "because": "few runs", "raises": "more runs"}
    part = {"name": "law", "title": "How big?", "sections": sections, "answer": answer, "fits": ["one", "one, <other>"]}
    document = well_made(render("A page", [part, part | {"name": "other"}], DOCUMENT, []))
    folded = [e for e in document.of("details") if "Many words." in e["text"]]
    assert [e["id"] for e in folded] == ["which-law", "which-law-2"] and not any("open" in e for e in folded)
    assert not any("Ten." in e["text"] for e in document.of("details"))
    contents = [e["href"] for e in document.of("a") if "nav" in e["inside"]]
    assert {"#which-law", "#law-answer", "#other-answer"} <= set(contents)
    (sentence, _) = [e["text"] for e in document.of("p") if "Ten, " in e["text"]]
    places = [e["id"] for e in document.of("figure") if "table-" in e["id"]]
    assert places == ["table-s1", "table-s2", "table-diagnostics"]
    assert sentence == "Ten, \N{MINUS SIGN}0.5 of it."
    assert sum("1 of 2 fits of this page did not converge: one, <other>." in e["text"] for e in document.of("p")) == 2


def test_rows_of_fits_lead_to_their_diagnostics(well_made):
    frame = pd.DataFrame({"fit": ["one", "another"], "n": [1, 2]})
    other = tables.html(frame, fits=["one, <other>", "none of these"], recommended=1)
    sections = [{"title": "Fits", "blocks": [tables.html(frame), other]}]
    document = well_made(render("A page", [{"name": "law", "title": "How big?", "sections": sections}], TESTED, []))
    dots = [e for e in document.of("a") if "dot" in e.get("class", "")]
    marks = [
        ("dot fine", "one, sampling: converged"), ("dot bad", "one, fit of the law: rejected by the rows"),
        ("dot bad", "one, <other>, sampling: did not converge"),
        ("dot none", "one, <other>, fit of the law: not tested"),
    ]  # fmt: skip
    assert [(e["class"], e["aria-label"]) for e in dots] == marks
    assert {e["href"][1:] for e in dots} == {row["id"] for row in document.of("tr") if "id" in row}
    (row,) = document.of("tr", class_="recommended")
    assert row["text"].startswith("another")


def test_a_table_of_one_fit_has_its_marks_in_the_caption(well_made):
    frame = pd.DataFrame({"quantity": ["one", "two"], "n": [1, 2]})
    sections = [{"title": "Fits", "blocks": [tables.html(frame, fits="one", title="Constants")]}]
    document = well_made(render("A page", [{"name": "law", "title": "How big?", "sections": sections}], TESTED, []))
    marked = [e for e in document.of("a") if "dot" in e.get("class", "") and "figcaption" in e["inside"]]
    assert [e["class"] for e in marked] == ["dot fine", "dot bad"]


def test_a_page_is_the_same_each_time():
    assert page() == page()


def test_a_page_without_figures_carries_no_script_of_them():
    parts = [{"name": "law", "title": "How big?", "sections": [{"title": "Words", "blocks": []}]}]
    assert len(render("A page", parts, DOCUMENT, [])) < 60_000


def test_the_verdict_names_and_leads_to_what_is_not_to_be_trusted(well_made):
    document = well_made(page())
    (verdict,) = [e for e in document.of("p") if "verdict" in e.get("class", "")]
    assert "1 of 2 fits did not converge: one, <other>." in " ".join(verdict["text"].split())
    (row,) = document.of("tr", class_="bad")
    assert any(e["href"] == f"#{row['id']}" for e in document.of("a"))


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


def test_a_figure_says_what_it_shows():
    drawing = drawn()
    assert caption(drawing) == "Loss against compute (FLOP)"
    assert alternative(drawing) == "Graph: Loss against compute (FLOP). Shown: median."
    drawing.update_layout(meta={"caption": "Own words"})
    assert caption(drawing) == "Own words"


def test_symbols_keep_their_subscripts_and_nothing_else_is_markup():
    drawing = figure(line([1, 2], [3, 4], "#1f5f99", "ours"), x={"title": "N<sub>x</sub> <b>"}, y={"title": "Loss"})
    part = {"name": "law", "title": "How big?", "sections": [{"title": "One", "blocks": [drawing]}]}
    assert "</b> Loss against N<sub>x</sub>." in render("A page", [part], DOCUMENT, [])
    assert alternative(drawing) == "Graph: Loss against Nx. Shown: ours."
    symbols = tables.html(pd.DataFrame({"law": ["one"], "N_T*": ["2e-09 (N_x), <b>"], "p": ["4e-08"]}))
    assert symbols.header[1] == "N<sub>T</sub>*" and symbols.numeric == {2}
    assert symbols.rows[0][1] == "2e<span class='whole'>-09</span> (N<sub>x</sub>), &lt;b&gt;"


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.key)
def test_sources_can_be_followed_and_cited(source):
    assert re.fullmatch(r"https://(arxiv\.org/abs/\d{4}\.\d{5}|doi\.org/10\.\S+)", source.address)
    assert f"@article{{{source.key}," in source.bibtex and str(source.year) in source.bibtex
    assert source.bibtex.count("{") == source.bibtex.count("}")
