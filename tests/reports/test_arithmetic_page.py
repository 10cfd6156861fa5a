from types import SimpleNamespace

import pytest
from bayescaling.reports.pages.arithmetic.page import _answer, _checks, settled

LENGTH = {"q2.5": 7.4, "q50": 8.4, "q97.5": 9.6}
FITS = {"verdict": {"verdict": "fits", "sentence": "the law fits its rows"}}


def found(learned, further, p_first=0.88):
    """What the page reads of an analysis: shares right within the training lengths, and P that Abacus goes further."""
    contrast = {"first": "abacus", "second": "nope", "of": "length", "p_first": p_first, "learned": True}
    typical = {name: {"0.5": LENGTH} for name in ("abacus", "nope")}
    equal = {
        "learned": learned,
        "p_abacus_further": further,
        "p_abacus_further_all": {name: 1.0 for name in learned if name != "abacus"},
        "confounded": {name: share for name, share in learned.items() if name not in {"abacus", *further}},
    }
    lengths = {"contrasts": [contrast], "lengths": {"typical": typical}}
    return SimpleNamespace(document={"equal_cost": equal | FITS, "lengths": lengths | FITS})


@pytest.mark.parametrize(
    ("further", "sure"),
    [({}, False), ({"nope": 0.97}, False), ({"nope": 0.975}, True), ({"nope": 0.99, "fire": 0.9}, False)],
)
def test_the_answer_is_settled_by_rivals_that_learned(further, sure):
    page = found({"abacus": 1.0, "nope": 0.99, "fire": 0.96}, further)
    assert settled(page.document["equal_cost"]) is sure
    (text,) = _answer(page)
    assert ("Not settled at this scale." in text) is not sure


def test_the_answer_names_rivals_that_did_not_learn_and_the_sweep_in_which_they_did():
    page = found({"abacus": 1.0, "nope": 0.684, "rope": 0.008}, {})
    (text,) = _answer(page)
    assert "2 rivals of Abacus did not learn to add" in text
    assert "68% with no positions, 1% with rotary" in text
    assert "8.4 [7.4, 9.6] digits" in text and "P = 0.880" in text
    assert "0 of 2 rivals of Abacus learned to add" in _checks(page)[0]
