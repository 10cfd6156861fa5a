import itertools

import bayescaling as bs
import numpy as np
import pandas as pd
import pytest
import scipy.stats as st
from bayescaling.models.lengths import curve as lengths
from bayescaling.models.lengths import design as designs
from bayescaling.models.lengths.law import UNITS


@pytest.mark.parametrize("options", [{}, {"shape": "linear"}, {"seeds": False}, {"noise": "binomial"}], ids=str)
def test_a_model_by_hand_has_the_density_of_the_law(oracle, lengths_counts, options, lengths_design, as_written):
    law = bs.laws.Lengths(**options)
    reference = law.reference(lengths_counts)
    model = oracle(law, lengths_counts, reference)
    point = model.initial_point()
    rng = np.random.default_rng(0)
    point = {name: x + 0.1 * rng.standard_normal(np.shape(x)) for name, x in point.items()}
    names = {name.removesuffix("_log__"): np.exp(x) if name.endswith("_log__") else x for name, x in point.items()}
    curve, log_density = law.curves(names, law.density(lengths_counts, reference).arrays)
    groups = law.groups(lengths_counts, reference)
    expected = lengths.log_likelihood(curve, lengths_design.log_train, groups, law.shape)
    densities = model.compile_logp(vars=model.potentials, sum=False, mode=as_written)(point)
    np.testing.assert_allclose(densities[-1], expected, rtol=1e-9)
    if law.seeds:
        np.testing.assert_allclose(densities[0], np.sum(log_density), rtol=1e-9)


def test_units_are_a_change_of_variables_of_the_deviations(lengths_counts, lengths_design):
    law = bs.laws.Lengths()
    arrays = law.density(lengths_counts, law.reference(lengths_counts)).arrays
    rng = np.random.default_rng(1)
    values = {part: rng.normal(size=2) for part in law.parts[:-1]} | {"log_precision": np.array(3.0)}
    values |= {f"{part}_sd": np.array(0.05 + 0.5 * rng.random()) for part in law.parts}
    z, step = rng.normal(size=(len(lengths_design.runs), len(law.parts))), 1e-5
    typical = law.typical(values, arrays)
    curve, log_density = law.curves(values | {UNITS: z}, arrays)
    above, below = (law.curves(values | {UNITS: z + s * step}, arrays)[0] for s in (1, -1))
    expected = 0.0
    for part in law.parts:
        slope = (above[part] - below[part]) / (2 * step)
        expected = expected + st.norm.logpdf(curve[part], typical[part], values[f"{part}_sd"]) + np.log(slope)
    np.testing.assert_allclose(np.ptp(log_density - expected), 0, atol=1e-6)


def test_density_and_gradient_are_finite_where_a_far_cell_is_right(lengths_counts, lengths_design, as_written):
    law = bs.laws.Lengths()
    table = lengths_counts.copy()
    table.loc[table["length_a"] == lengths_design.grid[-1], "correct"] = 1
    model = law.model(table)
    point = model.initial_point()
    point["log_steepness"] = point["log_steepness"] + 4
    logp, gradient = (f(mode=as_written)(point) for f in (model.compile_logp, model.compile_dlogp))
    assert np.isfinite(logp)
    assert np.isfinite(gradient).all()


# Effects --------------------------------------------------------------------------------------------------------------


FACTORIAL = [
    (f"{e}-{a}-{r}", e, a, r)
    for e, (a, r) in itertools.product(("abacus", "fire"), (("standard", 1), ("looped", 2), ("looped", 4)))
]


def test_only_conditions_in_the_data_have_coefficients(lengths_counts, lengths_design):
    assert bs.laws.Lengths().reference(lengths_counts)["effects"] == []
    reference = bs.laws.Lengths().reference(lengths_design.cells(FACTORIAL))
    assert reference["levels"] == ["abacus", "fire"]
    assert reference["effects"] == ["looped", "recurrences"]
    assert reference["confounded"] == []


def test_interactions_have_one_column_for_each_difference_of_differences(lengths_design):
    table = lengths_design.cells(FACTORIAL)
    assert bs.laws.Lengths(effects="embedding * architecture").reference(table)["effects"] == [
        "looped",
        "abacus:looped",
    ]


def test_confounded_conditions_are_named(lengths_design):
    runs = [("a", "abacus", "standard", 1), ("b", "abacus", "looped", 2), ("c", "fire", "standard", 1)]
    reference = bs.laws.Lengths().reference(lengths_design.cells(runs))
    assert reference["effects"] == ["looped"]
    assert reference["confounded"] == ["recurrences"]


def test_effects_add_up_to_the_curve_of_a_condition(lengths_design):
    law, table = bs.laws.Lengths(effects="embedding * architecture + recurrences"), lengths_design.cells(FACTORIAL)
    reference = law.reference(table)
    assert reference["effects"] == ["looped", "recurrences", "abacus:looped"]
    runs = designs.runs_of_counts(table)
    values = {part: np.zeros(2) for part in law.parts[:-1]} | {"log_precision": np.array(0.0)}
    values |= {"log_reach": np.array([1.0, 2.0]), "log_reach_effect": np.array([10.0, 100.0, 1000.0])}
    log_reach = law.typical(values, law.matrices(runs, reference))["log_reach"]
    doublings = np.array([0, 1, 2, 0, 1, 2]) - 1.0
    expected = [1, 1 + 1010, 1 + 1010, 2, 2 + 10, 2 + 10] + 100 * doublings
    np.testing.assert_allclose(log_reach, expected)


def test_arms_and_shapes_tell_runs_apart(lengths_design):
    table = lengths_design.cells([(str(place), "abacus", "standard", 1) for place in range(4)])
    run = table["run"].astype(int)
    table = table.assign(arm=run.map({0: "a", 1: "b", 2: "a", 3: "b"}), k_max=run.map({0: 25, 1: 25, 2: 50, 3: 50}))
    table = bs.read(table, "counts")
    reference = bs.laws.Lengths().reference(table)
    assert reference["effects"] == ["k_max"]
    assert list(designs.conditions(table, bs.laws.Lengths().effects).index) == [
        "abacus, 25 offsets", "abacus, 50 offsets"
    ]  # fmt: skip
    law = bs.laws.Lengths(effects="k_max + arm")
    assert law.reference(table)["effects"] == ["k_max", "b"]
    runs = designs.runs_of_counts(table)
    np.testing.assert_array_equal(law.matrices(runs, law.reference(table))["effects"], np.array(
        [[-0.5, 0], [-0.5, 1], [0.5, 0], [0.5, 1]]
    ))  # fmt: skip
    assert len(designs.conditions(table, law.effects)) == 4


def test_runs_of_one_condition_and_one_seed_are_refused(lengths_design):
    table = lengths_design.cells([("p", "abacus", "standard", 1), ("q", "abacus", "standard", 1)]).assign(seed=3.0)
    with pytest.raises(bs.InputError, match=r'"p" and "q" have one condition and one seed, 3.*column \'arm\''):
        bs.laws.Lengths().rows(bs.read(table, "counts"))
    table = bs.read(table.assign(arm=table["run"].map({"p": "masked", "q": "unmasked"})), "counts")
    with pytest.raises(bs.InputError, match="name 'arm' in the effects"):
        bs.laws.Lengths().rows(table)
    bs.laws.Lengths(effects="embedding + arm").rows(table)
    bs.laws.Lengths().rows(bs.read(table.drop(columns="seed"), "counts"))


def test_without_embedding_all_runs_share_a_level(lengths_counts):
    assert bs.laws.Lengths(effects="1").reference(lengths_counts)["levels"] == ["all"]


# Options --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"noise": "normal"}, "beta_binomial"),
        ({"shape": "cubic"}, "log, linear"),
        ({"seeds": 1}, "true or false"),
        ({"effects": "embeding"}, 'did you mean "embedding"'),
        ({"effects": "embedding:embedding"}, "no interaction"),
        ({"priors": {"sigma": "HalfNormal(1)"}}, "not known to this law"),
        ({"priors": {"log_reach_sd": "Normal(0, 1)"}}, "support"),
        ({"priors": {"logit_lapse": "Normal(0, 1)"}, "lapse": False}, "not known to this law"),
    ],
)
def test_options_that_cannot_be_used_are_refused(options, message):
    with pytest.raises(bs.InputError, match=message):
        bs.laws.Lengths(**options)


def test_several_tasks_need_a_choice(lengths_design):
    table = lengths_design.cells(lengths_design.runs[:2], grid=(3, 5))
    table = bs.read(table.assign(task=table["run"].map({"abacus-0": "add", "abacus-1": "or"})), "counts")
    with pytest.raises(bs.InputError, match="fit one at a time"):
        bs.laws.Lengths().rows(table)
    assert len(bs.laws.Lengths(task="or").rows(table)) == 4
    with pytest.raises(bs.InputError, match="task"):
        bs.laws.Lengths(task="sort").rows(table)


def test_a_run_judged_at_two_offsets_is_one_at_each(lengths_counts):
    law = bs.laws.Lengths()
    inner = lengths_counts[lengths_counts["embedding"] == "abacus"].assign(offset=8)
    both = bs.read(pd.concat([lengths_counts.assign(offset=0), inner], ignore_index=True), "counts")
    rows = law.rows(both)
    reference = law.reference(rows)
    assert reference["levels"] == ["abacus", "abacus at offset 8", "nope"]
    assert len(reference["runs"]) == 9 and "abacus-1 at offset 8" in reference["runs"]
    assert law.rows(rows).equals(rows)
    alone = law.rows(both[both["offset"] == 0].reset_index(drop=True))
    assert law.reference(alone) == law.reference(law.rows(lengths_counts))
