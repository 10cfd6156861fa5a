"""What a sentence counts is a column or a level of the data that it is about, and there are as many."""

import json
import re
from pathlib import Path

import bayescaling as bs
import pytest
from bayescaling.datasets.files import evidence
from bayescaling.inference.estimands.strength import Facts, grades
from bayescaling.models.laws import LossLaw, kind_of, names
from bayescaling.models.progress.specifications import SPECIFICATIONS
from bayescaling.reports.pages.front.answers import TEMPLATE
from bayescaling.reports.pages.since.forms import best_form, probabilities

ROOT = Path(__file__).resolve().parents[1]
HEADLINE = json.loads((ROOT / "docs" / "headline.json").read_text(encoding="utf-8"))
PAGES = [ROOT / "README.md", ROOT / "docs" / "README.md", *sorted((ROOT / "docs" / "claims").glob("*.md"))]
WORDS = ["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
NUMBER = rf"\d{{1,3}}(?:,\d{{3}})*|{'|'.join(WORDS)}"
NO_NOUN = "less|is|was|has|this|its|as|predicts"
NO_ADJECTIVE = (
    "a|after|alone|and|are|at|by|for|from|gain|have|in|is|lie|of|on|or|than|that|the|to|was|with|without|which"
)
# A count, its adjectives and its noun, such as "3 of 4 ways": no part of an interval, and no number of a scheme.
COUNT = re.compile(
    rf"(?<![\w.,\[-])(?<![Ss]cheme )(?<!pecification )(?:({NUMBER}) of )?({NUMBER})"
    rf"((?: (?!(?:{NO_ADJECTIVE})\b)[a-z][a-z-]*){{0,3}}?) (?!(?:{NO_NOUN})\b)([a-z]+s)\b( [a-z]+ [a-z]+)?",
    re.IGNORECASE,
)
MEASURES = {
    "months",
    "times",
    "digits",
    "nats",
    "logits",
    "decades",
    "tokens",
    "parameters",
    "minutes",
    "hours",
    "cores",
}


def _gallery(part):
    """Return the pictures or the whole analyses of the gallery."""
    *pictures, analyses = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8").split("\n## ")[1:]
    return pictures if part == "pictures" else re.findall(r"(?m)^\| .*\]\(.*$", analyses)


def _analyses():
    rate = {"p_progress": 0.5}
    study, forms, scores = (evidence(f"since_{name}")["result"] for name in ("changes", "forms", "scores"))
    entry = {"rests": study, "forms": forms, "scores": scores, "quoted": best_form(scores)}
    return probabilities(entry | {"periods": {"change": {"model": rate, "family": rate}}})


SMALL, ARITHMETIC = bs.load("small_lm_runs"), bs.load("arithmetic_gpu")
# What a noun counts, by a pattern of its adjectives, itself and two words after it: the first that matches.
COUNTED = {
    "ways of training": {name for names in SMALL["scheme"] for name in names.split()},
    "languages": set(SMALL["irreducible_loss"]),
    "evaluations": bs.load("lm_progress"),
    "specifications?": SPECIFICATIONS,
    "whole analyses": _gallery("analyses"),
    "analyses": _analyses(),
    "pictures": _gallery("pictures"),
    "studies": PAGES[3:],
    "tasks": set(bs.load("weirdml")["task"]),
    "public tables": evidence("beyond")["result"]["tables"],
    "facts": grades(Facts(True, "fits", 1.0, None, 1.0, 1.0, 0.0, (1.0, 1.0), (1, 1, 1.0))),
    "laws of the": [
        n for n in names() if issubclass(kind_of(n), LossLaw) and n not in ("configurations", "task-error")
    ],
    "laws (?:used for|parameters and)": HEADLINE["laws"],
    "chains": range(HEADLINE["made"]["chains"]),
    "draws": range(HEADLINE["made"]["draws"]),
    "seeds": set(ARITHMETIC["seed"]),
}
# What reports on users' tables count: rows and levels of these tables.
OF_USERS = ("larger runs", "runs", "models", "dated values", "days")


def counts(text):
    """Return what a text counts: the share, the count, its adjectives and its noun with two words after it."""
    text = re.sub(r"```.*?```|<!-- speed:.*?<!-- end -->|<!--.*?-->", " ", text, flags=re.DOTALL)
    return [
        (share, number, f"{adjectives} {noun}".strip(), f"{adjectives} {noun}{rest or ''}".strip())
        for share, number, adjectives, noun, rest in COUNT.findall(" ".join(re.sub(r"[*`]", "", text).split()))
        if noun not in MEASURES
    ]


def value(number):
    return WORDS.index(number.lower()) + 2 if number.lower() in WORDS else int(number.replace(",", ""))


def wrong(text):
    """Return the counts of a text whose noun is of no data, or of which there are more or fewer."""
    faults = []
    for share, number, noun, phrase in counts(text):
        data = next((data for pattern, data in COUNTED.items() if re.search(rf"\b{pattern}\b", phrase)), ())
        some = re.search(r"\b(other|best)\b", noun)  # of all that there are
        right = 0 < value(number) < len(data) if some else value(number) == len(data)
        if not right or (share and value(share) > len(data)):
            faults.append(f"{share} of {number} {phrase}" if share else f"{number} {phrase}")
    return faults


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_page_counts_what_exists(path):
    assert not wrong(path.read_text(encoding="utf-8"))


def test_answers_count_what_exists():
    texts = [
        f"{answer['answer']} {answer['doubt']} {' '.join([*answer['depends'], answer['frame']])}"
        for answer in HEADLINE["answers"]
    ]
    assert not wrong(" ".join(texts)) and sum(len(counts(text)) for text in texts) >= 4


def test_whatever_the_template_of_answers_counts_is_of_data():
    text = (ROOT / "reports" / "pages" / "front" / TEMPLATE).read_text(encoding="utf-8")
    text = re.sub(r"\{%.*?%\}", "", text, flags=re.DOTALL)
    text = re.sub(r'\{\{[^}]*\| plural\("([^"]*)"\)[^}]*\}\}', r"}} \1s", text)
    noun = rf"(?!(?:{NO_NOUN})\b)[a-z]+s\b(?: of training)?"
    nouns = re.findall(rf"\}}\}} ((?:(?!(?:{NO_ADJECTIVE})\b)[a-z]+ ){{0,2}}?{noun})", text)
    pattern = re.compile(rf"(?:{'|'.join([*COUNTED, *OF_USERS, *MEASURES])})\b")
    assert len(nouns) > 15 and not [noun for noun in nouns if not pattern.search(noun)]


def test_a_count_of_what_does_not_exist_is_a_fault():
    assert wrong("In 3 of 4 trained toy languages, the law recovers the loss.") == ["3 of 4 trained toy languages"]
    assert not wrong("It contains it under 3 of 4 ways of training.") and wrong("under 3 of 5 ways of training")
    assert wrong("seven unheard instruments") and wrong("22 evaluations") and not wrong("231 evaluations")
