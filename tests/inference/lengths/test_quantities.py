import json

import bayescaling as bs
import numpy as np
import pytest
from bayescaling.inference.kinds.counts import details
from bayescaling.inference.lengths.quantities import LEARNED, conditions, learned_shares, plateau, region_accuracy
from bayescaling.reports.results import to_json


@pytest.mark.parametrize("seeds", ["typical", "new"])
def test_lengths_are_those_at_which_a_share_of_the_accuracy_at_short_lengths_is_left(lengths_fit, seeds):
    lengths = bs.lengths.length_at_accuracy(lengths_fit, [0.5, 0.95], seeds=seeds)
    highest = plateau(lengths_fit, seeds=seeds)
    for condition in ("abacus", "nope"):
        of = {"condition": condition, "chain": 0, "draw": 3}
        right = bs.lengths.accuracy_at_length(lengths_fit, lengths.sel(of).values, seeds=seeds).sel(of)
        np.testing.assert_allclose(right, lengths["share"] * float(highest.sel(of)), rtol=1e-9)
    table = bs.lengths.summary(lengths_fit, seeds=seeds)
    assert table.loc[("nope", 0.95), "plateau"] == pytest.approx(float(highest.sel(condition="nope").median()))
    assert (highest < 1).all() and float(highest.median()) == pytest.approx(0.95, abs=0.03)


def test_new_seeds_spread_more_than_the_median_run(lengths_fit):
    tables = [bs.lengths.summary(lengths_fit, 0.5, seeds=seeds) for seeds in ("typical", "new")]
    typical, new = (np.log(table["q97.5"] / table["q2.5"]) for table in tables)
    assert (new > typical).all()


def test_region_accuracy_is_the_mean_over_the_cells_of_a_region(lengths_fit, lengths_counts):
    accuracies = region_accuracy(lengths_fit).sel(condition="abacus").isel(chain=1, draw=5)
    for region in ("id", "ood"):
        cells = lengths_counts[(lengths_counts["split"] == region) & (lengths_counts["run"] == "abacus-0")]
        right = bs.lengths.accuracy_at_length(lengths_fit, cells["length_a"], cells["length_b"], conditions="abacus")
        assert float(accuracies.sel(region=region)) == pytest.approx(float(right.isel(chain=1, draw=5).mean()))


def test_contrasts_say_which_embedding_goes_further(lengths_fit):
    table = bs.lengths.embedding_contrasts(lengths_fit).set_index("of")
    assert set(table.index) == {"id", "ood", "length"}
    assert table.loc["length", "q50"] == pytest.approx(np.exp(0.6), rel=0.4)
    assert table.loc["length", "p_first"] > 0.95
    assert table.loc["ood", "p_first"] > 0.95


def test_a_contrast_is_of_learning_where_a_condition_did_not_learn(lengths_fit, lengths_counts):
    within = lengths_counts[lengths_counts[["length_a", "length_b"]].max(axis=1) <= 8]
    shares = learned_shares(lengths_fit)
    for name in ("abacus", "nope"):
        cells = within[within["embedding"] == name]
        assert shares[name] == pytest.approx(cells["correct"].sum() / cells["total"].sum())
    both = all(share >= LEARNED for share in shares.values())
    assert (bs.lengths.embedding_contrasts(lengths_fit)["learned"] == both).all()
    assert not both  # a plateau of 95% that falls within the training lengths
    entry = json.loads(to_json(details(lengths_fit)))
    assert entry["learned"] == pytest.approx(shares)
    assert all(contrast["learned"] is False for contrast in entry["contrasts"])


def test_conditions_that_were_not_run_can_be_asked_about(lengths_fit):
    asked = conditions(lengths_fit).loc[["abacus"]].assign(train_digits=16)
    twice, once = (bs.lengths.length_at_accuracy(lengths_fit, 0.5, conditions=c).values for c in (asked, "abacus"))
    np.testing.assert_allclose(twice / once, 2)


def test_questions_that_have_no_answer_are_refused(lengths_fit, runs):
    with pytest.raises(bs.InputError, match="shares"):
        bs.lengths.length_at_accuracy(lengths_fit, 1.0)
    with pytest.raises(bs.InputError, match="in no run"):
        bs.lengths.length_at_accuracy(lengths_fit, conditions="fire")
    with pytest.raises(bs.InputError, match="in no run"):
        bs.lengths.length_at_accuracy(lengths_fit, conditions=conditions(lengths_fit).assign(embedding="fire"))
    with pytest.raises(bs.InputError, match="at least 1"):
        bs.lengths.accuracy_at_length(lengths_fit, 0)
    with pytest.raises(bs.InputError, match="lengths law needs"):
        bs.fit(bs.laws.Lengths(), runs)
    with pytest.raises(bs.InputError, match="no compute-optimal size"):
        lengths_fit.allocate(1e20)


def test_lengths_as_json_stand_next_to_the_accuracy_at_short_lengths(lengths_fit):
    document = json.loads(to_json(details(lengths_fit)))
    for length in document["lengths"]["typical"]["abacus"].values():
        assert length["q2.5"] < length["q50"] < length["q97.5"]
    assert {*document["lengths"]["runs"]["abacus-0"]} == {"0.5", "0.95", "plateau"}
    assert {c["of"] for c in document["contrasts"]} == {"id", "ood", "length"}
