"""The answers of the first screen: their words follow the numbers."""

import base64
import copy
import html
import json
import re
from xml.etree import ElementTree

import bayescaling as bs
import pytest
from bayescaling.commands.report import lines
from bayescaling.inference.words import size, sizes
from bayescaling.reports.html.glossary import TERMS, linked
from bayescaling.reports.html.render import render
from bayescaling.reports.optimum import largest_run, preferred, rivals
from bayescaling.reports.pages import PAGES
from bayescaling.reports.pages.front.answers import answers
from bayescaling.reports.pages.front.page import front, not_quotable, quotable
from bayescaling.reports.pages.front.published import claims, verdict

FITS = (
    "chinchilla", "coupled", "offsets", "lengths", "progress-7, paper effects", "since, linear, ceilings",
    "since, break, ceilings", *(f"small models, scheme-{i}" for i in (1, 2, 3)),
)  # fmt: skip


def q(low, middle, high):
    return {"mean": None, "sd": None, "q2.5": low, "q50": middle, "q97.5": high}


OFF = {
    "verdict": "off",
    "sentence": "the law is off by 0.3% of the loss",
    "p": 1e-5,
    "size": 0.003,
    "share_of": "the loss",
}


def law(elpd, exponent):
    a = q(exponent - 0.02, exponent, exponent + 0.02)
    parameters = {"exponent_parameters": a, "E": q(1.7, 1.8, 1.9), "alpha": q(0.3, 0.35, 0.4), "beta": q(0.3, 0.4, 0.5)}
    return {
        "elpd_loo": elpd, "parameters": parameters, "rows": 245, "robust": {"exponent_parameters": {"ratio": 2.0}},
        "verdict": OFF,
    }  # fmt: skip


def optima(name, exponent):
    return [
        {
            "law": name, "compute": c, "extrapolation": max(0.0, decade - 22.0),
            "parameters": q(0.8 * n, n, 1.2 * n), "tokens": q(c / 8 / n, c / 6 / n, c / 5 / n),
            "tokens_per_parameter": q(0.5 * c / n**2 / 6, c / n**2 / 6, 2 * c / n**2 / 6),
            "loss": q(2.0, 2.1, 2.2), "near_optimal": 0.001, "near_low": 0.7 * n, "near_high": 1.4 * n,
        }
        for decade in (19, 21, 24, 26, 27)
        for c, n in [(10.0**decade, 2e8 * 10 ** (exponent * (decade - 19)))]
    ]  # fmt: skip


@pytest.fixture
def document():
    """What a report finds, in numbers that are easily followed."""
    scores = {"chinchilla": 860.0, "coupled": 890.0, "offsets": 885.0}
    exponents = {"chinchilla": 0.55, "coupled": 0.53, "offsets": 0.5}
    models = {
        name: {"elpd": elpd, "elpd_diff": elpd - 890, "dse": 10.0 if elpd < 890 else 0.0, "rank": 1.0 + (elpd < 890)}
        for name, elpd in scores.items()
    }
    lengths = {"abacus": q(75.0, 99.0, 126.0), "nope": q(17.0, 23.0, 32.0), "rope": q(1.0, 1.0, 2.0)}
    shares = {"abacus": q(0.65, 0.8, 0.9), "nope": q(0.0, 0.015, 0.07), "rope": q(0.0, 0.0, 0.01)}
    pace = {
        "doubling_months": {"all": q(4.0, 9.0, 27.0)},
        "compute_equivalent_gain": {"all": {"doubling_months": q(8.0, 11.0, 17.0)}},
    }
    constants = {"E": 1.69, "A": 406.4, "B": 410.7, "alpha": 0.34, "beta": 0.28}
    results = {
        "progress": {"7": pace, "19": pace},
        "paper_effects": {"7": {"doubling_months": q(7.0, 9.0, 14.0)}, "19": {"doubling_months": q(8.0, 13.0, None)}},
        "pooled_doubling_months": {"by_paper_stacking": q(1.0, 8.0, None), "top10": q(2.0, 8.0, None)},
        "compute_equivalent_gain": {
            "rows": 231,
            "doubling_months": q(7.0, 10.0, 16.0),
            "quoted": {
                "specification": 7, "fit": "progress-7, paper effects", "doubling_months": q(7.5, 10.7, 16.0),
                "p_progress": 0.999, "verdict": OFF, "years": [2012, 2023],
                "rivals": {
                    k: {"doubling_months": q(7.0, x, 20.0), "p_progress": p}
                    for k, x, p in (("2", 15.0, 0.99), ("18", 9.0, 0.98))
                },
            },
            "noise": "paper effects",
            "by_noise": {"paper effects": q(7.0, 10.0, 16.0), "rows independent": q(8.0, 11.0, 18.0)},
        },
        "subsets": {
            "from 2019": {"doubling_months": q(8.0, 15.0, 68.0), "p_progress": 0.99, "chains": True},
            "transformers": {"doubling_months": q(10.0, 29.0, None), "p_progress": 0.95, "chains": True},
            "wt2 alone": {"doubling_months": q(1.0, 99.0, None), "p_progress": 0.6, "chains": False},
        },
        "laws": {name: law(elpd, exponents[name]) for name, elpd in scores.items()},
        "allocation": [entry for name, a in exponents.items() for entry in optima(name, a)],
        "comparison": {"models": models},
        "published": [
            {"quantity": f"chinchilla.{name}", "source": "Hoffmann et al. 2022", "published": x, "p_at_least": 0.5}
            for name, x in constants.items()
        ],
        "reconciliation": {
            "local_exponent": {
                "nonembedding": {"posterior": q(0.78, 0.81, 0.83)}, "total": {"posterior": q(0.5, 0.54, 0.57)},
            },
            "configurations": {"posterior": {"gamma": q(4e4, 4.8e4, 6e4), "aspect_ratio": q(50.0, 56.0, 64.0)}},
            "p_exponent_above_0.73": 1.0,
            "moved": {"small": q(0.9, 0.95, 0.98), "large": q(0.5, 0.55, 0.6)},
            "omega": {"omega": q(0.4, 1.0, 1.5), "p_above_half": 0.95},
            "by_law": {
                name: {"nonembedding": q(x - 0.03, x, x + 0.03), "total": q(0.5, 0.53, 0.56)}
                | {"p_rises": 0.999, "p_above_0.73": 0.98, "verdict": OFF}
                for name, x in (("coupled", 0.76), ("offsets", 1.01), ("chinchilla", 0.81))
            },
            "direction": {"laws": ["coupled", "offsets"], "rises": True},
            "decades_beyond": -5.0,
        },
        "earlier_runs": {
            "law": "coupled", "compute": 1e22, "all": {"parameters": q(10e9, 11e9, 12e9)},
            "earlier": [{"below": 1e20, "parameters": q(16e9, 19e9, 23e9)}],
        },
        "since": {
            "gains": {"before": q(0.1, 0.4, 0.8), "after": q(1.3, 1.7, 2.0)},
            "p_faster": {"break": 0.9999, "averaged": 0.93},
            "break_year": 2024.37,
            "laws": {"since, break, ceilings": {"verdict": OFF}},
            "fits": {pace: f"since, {pace}, ceilings" for pace in ("linear", "break")},
            "quoted": "ceilings",
            "rival": {"before": q(0.1, 0.3, 0.7), "after": q(1.2, 1.5, 1.8)},
            "periods": {"all": {"model": {"factor": q(8.0, 21.0, 84.0)}}},
        },
        "small_lm": {
            "truth": {
                f"scheme-{i}": {"holds": i > 1, "coupled": {"holds": i == 1}, "quoted": {"law": law, "holds": x == 0.0}
                | {"E_minus_entropy": q(x - 0.1, x, x + 0.1)}}
                for i, x, law in ((1, -0.5, "chinchilla"), (2, -0.15, "coupled"), (3, 0.0, "chinchilla"))
            },
            "why_missed": "Scheme 1 trains every size at one rate.",
        },
        "lengths": {
            "train_digits": 20,
            "longest": 119,
            "rivals": {"nope": {"p_first": 0.999}},
            "other_laws": {"abacus": {"linear": {"beyond": q(0.6, 0.82, 0.9)}}},
            "accuracy": {name: {"ood": interval} for name, interval in shares.items()},
            "lengths": {"typical": {name: {"0.5": interval} for name, interval in lengths.items()}},
            "verdict": OFF,
        },
        "diagnostics": {name: {"ok": True, "sentence": "converged", "data": "some_runs"} for name in FITS},
    }  # fmt: skip
    results["answers"] = answers(results)
    results["claims"] = claims(results, bs.load("published"))
    results |= {"provenance": {"versions": {"bayescaling": "1"}, "data": {}, "seed": 1, "draws": 9, "chains": 2,
                             "sampler": "nutpie"}, "seconds": {}}  # fmt: skip
    return results


def rendered(document):
    """The pages of a report without tables and figures."""
    answered = {answer["page"]: answer for answer in document["answers"]}
    parts = [
        {"name": name, "title": page.title, "sections": [], "answer": answered.get(name)}
        for name, page in PAGES.items()
    ]
    return render("Title", parts, document, [], front(document))


def first_screen(document):
    """The HTML of the first screen alone."""
    text = rendered(document)["index.html"]
    return text[text.index('<div class="front">') : text.index('<p class="back">')]


def test_the_page_of_a_claim_has_what_its_reader_needs(document):
    pages = rendered(document)
    for answer in document["answers"]:
        text = html.unescape(re.sub("<[^>]*>", "", pages[f"{answer['slug']}.html"])).replace("\xa0", " ")
        needed = (answer["answer"], answer["doubt"], answer["because"], *answer["depends"], answer["frame"])
        assert [words for words in needed if words not in text] == []
        assert 1 <= len(answer["depends"]) <= 4 and answer["frame"] and answer["raises"] in text


def test_each_question_has_one_short_answer_and_is_the_title_of_its_page(document):
    pages = ["progress", "since", "chinchilla", "embeddings", "arithmetic", "small-models"]
    assert [answer["page"] for answer in document["answers"]] == pages
    for answer in document["answers"]:
        assert answer["number"] in answer["answer"] and answer["strength"] in ("strong", "fair", "weak")
        assert PAGES[answer["page"]].title == answer["question"]
        assert all(answer["grades"].values()) and answer["because"]


def test_fits_of_some_rows_are_alternatives_of_the_rate(document):
    answer = document["answers"][0]
    assert answer["facts"]["sensitivity"] == pytest.approx(29 / 9)  # the subset of 99 months did not converge
    assert answer["facts"]["direction"] == (0.95, 0.999) and answer["strength"] == "weak"
    assert "rows of transformers: 29.0 [10.0, never]" in answer["doubt"] and "99" not in str(answer["depends"])
    assert answer["answer"].startswith("From 2012 to 2023 ")


def test_the_floor_is_that_of_the_law_that_predicts_best(document):
    answer = next(answer for answer in document["answers"] if answer["slug"] == "known-floor")
    assert answer["number"] == "1 of 3" and answer["facts"]["share"] == (1, 3, 0.95)
    assert answer["doubt"] == "Chinchilla's law: 2; the coupled: 1; nearest end: 0.05 nats."


def test_a_card_has_at_most_35_words_and_9_numbers(document, card_counts):
    changed = copy.deepcopy(document)
    changed["since"]["p_faster"]["averaged"] = 0.6
    changed["reconciliation"]["direction"]["rises"] = False
    changed["lengths"]["rivals"]["nope"]["p_first"] = 0.93
    for answer in (*document["answers"], *answers(changed)):
        words, numbers = card_counts(answer)
        assert words <= 35 and numbers <= 9, answer["answer"]


def test_every_card_has_one_form_a_link_and_its_terms_in_the_glossary(document, well_made):
    pages = rendered(document)
    screen = well_made(pages["index.html"])
    cards = screen.of("li", class_="card")
    assert len(cards) == len(document["answers"]) == len({card["id"] for card in cards})
    for role in ("question", "answer", "doubt", "strength"):
        assert len(screen.of("p", class_=role)) == len(cards)
    terms = screen.of("a", class_="term")
    explained = {e["id"] for e in well_made(pages["appendix.html"]).of("dt")}
    assert {e["href"].removeprefix("appendix.html#") for e in terms} <= explained and all(e["title"] for e in terms)
    text = " ".join(e["text"] for e in terms)
    assert all(word in text for word in ("loss", "FLOP", "largest run", "logits", "exponent", "predicts about as well"))
    assert explained == {term.anchor for term in TERMS}


def test_every_card_has_an_image_with_its_number_its_doubt_and_its_source(document, well_made):
    changed = copy.deepcopy(document)
    changed["answers"][0]["doubt"] = "Under <mine> & yours. " * 40
    screen = well_made(rendered(changed)["index.html"])
    links = screen.of("a", class_="shared")
    assert [link["download"] for link in links] == [f"{card['id']}.svg" for card in screen.of("li", class_="card")]
    for link, answer in zip(links, changed["answers"], strict=True):
        image = ElementTree.fromstring(base64.b64decode(link["href"].partition("base64,")[2]))
        assert image.attrib["viewBox"] == "0 0 1200 630"
        first, number, *others = [text.text for text in image.iter("{http://www.w3.org/2000/svg}text")]
        assert (first, number) == (answer["question"], answer["number"])
        text = " ".join(others)
        assert answer["answer"] in text and f"Strength: {answer['strength']}" in text
        assert answer["doubt"] in text or (answer["doubt"][:60] in text and "…" in text)
        assert "bayescaling 1, " in text and ", seed 1. Brackets are 95% intervals. Data: some_runs." in text


def test_a_term_is_linked_once_and_text_of_a_user_is_not_markup():
    text = linked("a <b>loss</b> of 2.1 [2.0, 2.2] and another loss")
    assert text.count('class="term"') == 1 and "<b>loss" not in text
    assert '<b class="number">2.1</b> <span class="interval">[2.0,' in text
    assert "irreducible loss</a>" in linked("the irreducible loss")


def test_the_budget_field_has_the_grades_that_do_not_depend_on_the_budget(document):
    assert "data-grading" not in first_screen(document)
    text = first_screen(document | {"optimum": {"law": "coupled"}})
    grading = json.loads(re.search("data-grading='([^']*)'", text)[1])
    assert grading["fixed"] == {"chains": "strong", "law": "fair"}
    assert grading["limits"] == {"width": [1.5, 3.0], "sensitivity": [1.25, 2.0], "extrapolation": [0.0, 1.0]}


def test_questions_whose_pages_were_not_made_are_not_answered(document):
    for key in ("compute_equivalent_gain", "since", "allocation", "reconciliation", "lengths", "small_lm"):
        some = {name: x for name, x in document.items() if name != key}
        some["answers"] = answers(some)
        some["claims"] = claims(some, bs.load("published"))
        assert len(some["answers"]) == 5
        assert front(some) and quotable(some) and not_quotable(some) is not None
    assert front({"answers": []}) is None


def test_the_optimum_is_of_the_coupled_law_unless_another_is_better_by_two_errors(document):
    assert preferred(document) == "coupled" and largest_run(document) == pytest.approx(1e22)
    assert rivals(document) == ["offsets"]
    answer = next(entry for entry in document["answers"] if entry["page"] == "chinchilla")
    best, other = (
        next(a for a in document["allocation"] if a["law"] == name and a["compute"] == 1e24)
        for name in ("coupled", "offsets")
    )
    assert size(best["parameters"]["q50"]) in answer["answer"]
    assert sizes(best["parameters"]) in answer["number"] and sizes(other["parameters"]) in " ".join(answer["depends"])
    assert f"or {sizes(other['parameters'])} under the offsets law" in answer["answer"]
    assert answer["doubt"] == f"{size(best['tokens']['q50'])} tokens; 100 times the largest run."
    assert answer["strength"] == "weak" and answer["grades"]["extrapolation"] == "weak"
    document["laws"]["chinchilla"]["elpd_loo"] = 900.0
    document["comparison"]["models"]["coupled"] |= {"elpd_diff": -10.0, "dse": 6.0}
    assert preferred(document) == "coupled"
    document["comparison"]["models"]["coupled"]["dse"] = 4.0
    assert preferred(document) == "chinchilla"


@pytest.mark.parametrize(
    ("fit", "page"),
    [
        ("lengths", "arithmetic"),
        ("progress-7, paper effects", "progress"),
        ("since, break, ceilings", "since"),
    ],
)
def test_an_answer_is_weak_where_a_fit_that_it_depends_on_did_not_converge(document, fit, page):
    before = {answer["page"]: answer for answer in document["answers"]}
    document["diagnostics"][fit]["ok"] = False
    after = {answer["page"]: answer for answer in answers(document)}
    assert {name for name, answer in after.items() if answer != before[name]} == {page}
    assert after[page]["strength"] == "weak" and "not every chain converged" in after[page]["because"]


def test_a_direction_is_claimed_only_if_every_alternative_agrees(document):
    changed = copy.deepcopy(document)
    changed["reconciliation"]["direction"]["rises"] = False
    changed["since"]["p_faster"]["averaged"] = 0.6
    changed["lengths"]["rivals"]["nope"]["p_first"] = 0.93
    texts = {answer["page"]: answer["answer"] for answer in answers(changed)}
    assert all(texts[page].startswith("Not settled") for page in ("embeddings", "since", "arithmetic"))
    changed["lengths"]["rivals"]["nope"]["p_first"] = 0.99
    answer = answers(changed)[4]
    assert answer["answer"].startswith("Yes") and answer["facts"]["sensitivity"] == pytest.approx(0.82 / 0.8)


def test_an_answer_that_the_numbers_do_not_bear_is_not_given(document):
    document["compute_equivalent_gain"]["quoted"]["doubling_months"] = q(9.0, None, None)
    changed_answers = answers(document)
    assert changed_answers[0]["answer"].startswith("The evaluations do not show that algorithms improve: ")
    assert changed_answers[0]["strength"] == "weak" and changed_answers[0]["facts"]["width"] is None


def test_the_same_interval_is_printed_wherever_a_quantity_is(document):
    text = " ".join([first_screen(document), *lines(document), *quotable(document), *not_quotable(document)])
    at = next(a for a in document["allocation"] if a["law"] == "coupled" and a["compute"] == 1e24)
    middle = re.escape(size(at["parameters"]["q50"]))
    assert set(re.findall(rf"{middle} \[\S+ \S+\]", text)) == {sizes(at["parameters"])}


def test_a_share_of_runs_is_not_quoted_without_why_no_size_is(document):
    size = next(answer for answer in document["answers"] if answer["page"] == "chinchilla")
    share = size | {"facts": size["facts"] | {"share": (7, 9, 0.9)}, "strength": "fair", "answer": "Mostly: 7 of 9."}
    assert size["strength"] == "weak"
    alone, reason = quotable({"answers": [size, share]})
    assert alone.startswith(share["answer"]) and size["because"] in reason
    assert len(quotable({"answers": [size | {"strength": "fair"}, share]})) == 2


def test_page_and_terminal_say_the_same(document):
    text = html.unescape(re.sub("<[^>]*>", "", first_screen(document))).replace("\xa0", " ")
    printed = " ".join(" ".join(lines(document)).split())
    for answer in document["answers"]:
        assert answer["answer"] in text and answer["doubt"] in text
        assert answer["answer"] in printed and answer["doubt"] in printed
    assert all(len(line) <= 80 for line in lines(document))


def test_published_estimates_stand_next_to_ours(document):
    rows = {(claim["claim"], claim["source"]): claim for claim in document["claims"]}
    doubling = rows["Doubling time, specification 7 (months)", "Ho et al. 2024"]
    assert doubling["published"] == {"estimate": 8.4, "low": 4.5, "high": 14.3}
    assert doubling["verdict"] == "inside, ours is wider" and doubling["p_at_least"] is None
    kaplan = rows["Exponent of N* without embeddings", "Kaplan et al. 2020"]
    assert kaplan["verdict"] == "inside" and kaplan["p_at_least"] == 0.98
    assert not any("transformer" in claim["claim"] for claim in document["claims"])  # not in the document
    gain = {"compute": 1.5e21, "gain": q(1.1, 1.2, 1.3)}
    shares = {"from": "RNN (2012)", "to": "Gopher (2021)", "progress": q(0.1, 0.25, 0.4)}
    more = {"chinchilla_over_kaplan": [gain], "attribution": [shares]}
    more["effective_compute_since_2014"] = q(20.0, 4000.0, 7e6)
    rows = {claim["claim"].partition(" (")[0]: claim for claim in claims(document | more, bs.load("published"))}
    assert rows["Gain of Chinchilla's rule over Kaplan's"]["published"]["estimate"] == 1.75
    share = rows["Share of progress in the fall of loss, RNN"]
    assert share["published"]["estimate"] == pytest.approx(2.5 + 19.3) and share["ours"]["q50"] == 25.0
    assert share["verdict"] == "inside" and share["published"]["low"] is None
    accuracy = rows["Sums right beyond the training lengths, Abacus"]
    assert accuracy["published"]["estimate"] == 97.9 and accuracy["verdict"] == "outside"
    assert rows["Effective compute from 2014 to 2023"]["verdict"] == "inside"


@pytest.mark.parametrize(
    "published, ours, expected",
    [
        ((5.0, None, None), (4.0, 5.0, 6.0), "inside"),
        ((7.0, 6.0, 8.0), (4.0, 5.0, 6.0), "outside"),
        ((5.0, 1.0, 9.0), (4.0, 5.0, 6.0), "inside, ours is narrower"),
        ((5.0, 1.0, 9.0), (4.0, 5.0, None), "inside, ours is wider"),
    ],
)
def test_a_verdict_compares_intervals(published, ours, expected):
    assert verdict(dict(zip(("estimate", "low", "high"), published, strict=True)), q(*ours)) == expected


def test_short_numbers_have_no_more_digits_than_they_bear():
    assert [size(x) for x in (93.8e9, 113.8e9, 1.464e12, 81e9, 9.87e9)] == ["94B", "114B", "1.46T", "81B", "9.87B"]
    assert [size(x) for x in (83.46e9, 999.96e6, 12.4)] == ["83B", "1B", "12"]  # rounded once; with no letter too
