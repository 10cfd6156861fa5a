from collections import defaultdict

import bayescaling as bs
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from bayescaling.reports.findings import Findings
from bayescaling.reports.html import prose
from bayescaling.reports.pages.arithmetic import figures, page
from bayescaling.reports.pages.arithmetic.analysis import abacus, offsets_entry

LENGTH = {"q2.5": 7.4, "q50": 8.4, "q97.5": 9.6}
FITS = {"verdict": {"verdict": "fits", "sentence": "the law fits its rows"}}
NAMES = ["abacus", "nope"]


def analysis(learned, further, p_first=0.88):
    """What the page reads of an analysis: shares right within the training lengths, and P that Abacus goes further."""
    contrast = {"first": "abacus", "second": "nope", "of": "length", "p_first": p_first, "learned": True} | LENGTH
    typical = {name: {"0.5": LENGTH} for name in NAMES}
    equal = {
        "learned": learned,
        "p_abacus_further": further,
        "p_abacus_further_all": {name: 1.0 for name in learned if name != "abacus"},
        "confounded": {name: share for name, share in learned.items() if name not in {"abacus", *further}},
    }
    lengths = {"contrasts": [contrast], "lengths": {"typical": typical}}
    index = pd.MultiIndex.from_product([NAMES, [0.5]])
    result = Findings()
    vars(result).update(
        document={"equal_cost": equal | FITS, "lengths": lengths | FITS},
        counts=bs.load("arithmetic_runs"),
        arms=bs.load("arithmetic_offsets"),
        lengths={"typical": pd.DataFrame([LENGTH] * 2, index=index)},
        contrasts=pd.DataFrame([contrast]),
        beyond=xr.DataArray(
            np.full((1, 4, 2, 1), 0.5),
            dims=("chain", "draw", "condition", "length_a"),
            coords={"condition": NAMES, "length_a": [33.0]},
        ),
    )
    return result


def sections(learned, further):
    """Sections of the page by title, without figures and tables."""
    named = page.named(analysis(learned, further), bs.load("published"))
    return {section["title"]: section for section in prose.sections(page.__file__, defaultdict(list), **named)}


@pytest.mark.parametrize(
    ("further", "sure"),
    [({}, False), ({"nope": 0.97}, False), ({"nope": 0.975}, True), ({"nope": 0.99, "fire": 0.9}, False)],
)
def test_the_answer_is_settled_by_rivals_that_learned(further, sure):
    learned = {"abacus": 1.0, "nope": 0.99, "fire": 0.96}
    assert page.settled(analysis(learned, further).document["equal_cost"]) is sure
    assert ("Not settled at this scale." in sections(learned, further)["Answer"]["text"][0]) is not sure


def test_the_answer_names_rivals_that_did_not_learn_and_the_sweep_in_which_they_did():
    on_page = sections({"abacus": 1.0, "nope": 0.684, "rope": 0.008}, {})
    text = on_page["Answer"]["text"][0]
    assert "2 rivals of Abacus did not learn to add" in text
    assert "68% with no positions, 1% with rotary" in text
    assert "8.4 [7.4, 9.6] digits" in text and "P = 0.880" in text
    assert "0 of 2 rivals of Abacus learned to add" in on_page["Checks"]["points"][0]


def test_offsets_are_told_as_they_were_counted():
    offsets = abacus(bs.load("arithmetic_offsets"))
    entry = offsets_entry(offsets)["share_right"]
    for (length, offset), rows in offsets.groupby(["length", "offset"]):
        entry_of_cell = entry[str(length)][str(offset)]
        assert entry_of_cell["share"] == pytest.approx(rows["correct"].mean() / 100)
        assert entry_of_cell["by_seed"] == {seed: rows.set_index("seed").at[seed, "correct"] / 100 for seed in range(4)}
    section = sections({"abacus": 1.0, "nope": 0.99}, {"nope": 0.9})["Abacus embeddings: the offset of the test"]
    at_first = offsets[(offsets["length"] == 15) & (offsets["offset"] == 0)]["correct"].mean()
    assert any(point.startswith(f"15 digits: {at_first:.0f}% right at offset 0") for point in section["points"])
    # A tenth of the numbers has each length up to 10 digits: the first row meets 2 digits in 2.5% of problems.
    assert "row 1 to 0.05 digits a problem and row 10 to 0.28" in section["text"][0]
    accuracy, rows = figures.by_offset(offsets), figures.rows_seen(offsets)
    assert len(rows.data[0].x) == 49 and {trace.name for trace in accuracy.data if trace.name} == {
        f"{length} digits" for length in (12, 15, 18, 21)
    }
