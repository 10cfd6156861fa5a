import warnings

import bayescaling as bs
import numpy as np
import pytest
from bayescaling.inference.words import plain
from bayescaling.reports.cache.stages import Stages
from bayescaling.reports.pages.arithmetic import page

SHORT = {"draws": 100, "tune": 200, "chains": 2}


@pytest.fixture(scope="module")
def findings():
    with Stages(page.STAGES, False, all=True) as stage, warnings.catch_warnings():
        warnings.simplefilter("ignore", bs.DiagnosticWarning)
        return page.analyse(stage, None, {}, seed=1, **SHORT)


@pytest.fixture(scope="module")
def sections(findings):
    """Sections of the page by title."""
    return {section["title"]: section for section in page.sections(findings, bs.load("published"))}


def contrast(second, p_first=0.99, learned=True, first="abacus", of="length"):
    return {"first": first, "second": second, "of": of, "p_first": p_first, "learned": learned}


def test_rivals_are_other_embeddings_that_learned():
    contrasts = [contrast("fire"), contrast("rope", learned=False), contrast("abacus+equals")]
    assert set(page.rivals([*contrasts, contrast("nope", of="id"), contrast("nope", first="fire")])) == {"fire"}


@pytest.mark.parametrize(
    ("further", "sure"), [({}, False), ({"nope": 0.97}, False), ({"nope": 0.975}, True), ({"n": 0.99, "f": 0.9}, False)]
)
def test_the_answer_is_settled_by_rivals_that_learned(further, sure):
    assert page.settled({name: contrast(name, p) for name, p in further.items()}) is sure


def test_the_law_sees_the_lengths_of_which_training_shows_every_position(findings, sections):
    counts, rows, entry = bs.load("arithmetic_gpu"), findings.posteriors["lengths"].rows, findings.document["lengths"]
    longest = counts[["length_a", "length_b"]].max(axis=1)
    assert len(rows) == (longest <= 119).sum() == entry["rows"] and entry["longest"] == 119
    assert not counts.loc[longest > 119, "correct"].any()
    assert set(entry["rivals"]) == {"fire", "nope"}
    point = sections["Accuracy and length by embedding"]["points"][1]
    assert "no digit is shown above position 119. No sum of more than 119 digits is right" in point


def test_the_page_gives_published_shares_next_to_the_scale_of_both(sections):
    (table,) = sections["Accuracy and length by embedding"]["blocks"]
    published = {row[0]: row[table.header.index("McLeish et al. 2024")] for row in table.rows}
    assert published == {"Abacus": "97.9%", "FIRE": "2.9%", "no positions": "3.2%", "Abacus+equals": "–"}
    points = sections["Accuracy and length by embedding"]["points"]
    assert "78% to 84% with Abacus" in points[0] and "1% with FIRE" in points[0]
    assert "398 times the compute: 5.19e17 FLOP against 1.3e15 FLOP" in points[3]


def test_the_chart_has_the_share_of_the_answer_and_every_embedding(findings, sections):
    (chart,) = sections["Chart"]["blocks"]
    assert plain(findings.document["lengths"]["accuracy"]["abacus"]["ood"], "{:.0%}") in chart.finding
    assert {"Abacus", "Abacus+equals", "FIRE", "no positions"} < {row[0] for row in chart.rows}


def test_shares_of_small_models_are_those_that_were_counted(findings):
    entry = findings.document["lengths_on_cpu"]
    counts = bs.load(entry["data"])
    beyond = counts[(counts["offset"] == 0) & (counts["length"] > counts["train_digits"])]
    for (name, seed), rows in beyond.groupby(["embedding", "seed"]):
        share = rows["correct"].sum() / rows["total"].sum()
        assert entry["share_right"][name][str(seed)]["beyond"] == pytest.approx(share)
    for name, learned in entry["learned"].items():
        within = np.mean([of["within"] for of in entry["share_right"][name].values()])
        assert learned == (within >= 0.95)
