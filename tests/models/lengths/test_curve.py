import bayescaling as bs
import numpy as np
import pytest
import scipy.stats as st
from bayescaling.models.lengths import curve as lengths
from bayescaling.models.lengths import design as designs
from scipy.optimize import brentq
from scipy.special import expit


@pytest.mark.parametrize("shape", lengths.SHAPES)
@pytest.mark.parametrize("share", [0.05, 0.5, 0.9])
def test_length_is_where_the_mean_accuracy_crosses_a_share_of_its_plateau(shape, share):
    curve = {"log_reach": 0.4, "log_steepness": 1.3, "logit_lapse": -3.0, "logit_shorter": -1.0}
    log_train = np.log(20.0)

    def excess(digits):
        right, _ = lengths.right_and_wrong(lengths.natural(curve, log_train), np.log(digits), 0.0, shape)
        return right - share * expit(3.0)

    length = lengths.length_at(curve, log_train, share, shape)
    assert length == pytest.approx(brentq(excess, 1, 1e4), rel=1e-9)


@pytest.mark.parametrize("shape", lengths.SHAPES)
def test_errors_at_any_length_move_no_length(shape):
    curve = {"log_reach": 0.4, "log_steepness": 1.3, "logit_lapse": np.array([0.1, -4.0])}
    assert np.ptp(lengths.length_at(curve, np.log(20.0), 0.95, shape)) == 0


def test_no_length_is_below_one_digit():
    curve = {"log_reach": -4.0, "log_steepness": 1.0}
    assert lengths.length_at(curve, np.log(20.0), 0.5, "log") == 1
    assert lengths.length_at(curve, np.log(200.0), 0.5, "log") == pytest.approx(200 * np.exp(-4))
    # Under the linear shape operands of no digits at all have a lower share right than this.
    assert lengths.length_at({"log_reach": 0.0, "log_steepness": 0.5}, np.log(20.0), 0.95, "linear") == 1


def test_length_beyond_floats_is_infinite():
    curve = {"log_reach": 0.4, "log_steepness": -8.0}
    assert lengths.length_at(curve, np.log(20.0), 0.3, "log") == np.inf


@pytest.mark.parametrize("shape", lengths.SHAPES)
def test_both_shapes_fall_equally_steeply_at_half(shape):
    half, step = np.log(30.0), 1e-6
    fall = [lengths.logit_fall(half + s * step, half, 4.0, shape) for s in (-1, 1)]
    assert (fall[0] - fall[1]) / (2 * step) == pytest.approx(4.0)
    assert lengths.logit_fall(half, half, 4.0, shape) == 0


def test_right_and_wrong_are_exact_in_both_tails():
    curve = {"log_reach": 0.0, "log_steepness": np.log(8.0)}
    right, wrong = lengths.right_and_wrong(lengths.natural(curve, 0.0), np.array([-4.0, 4.0]), 0.0, "log")
    np.testing.assert_allclose(wrong[0], np.exp(-32), rtol=1e-10)
    np.testing.assert_allclose(right[1], np.exp(-32), rtol=1e-10)
    np.testing.assert_allclose(right + wrong, 1, rtol=1e-15)


def test_effective_length_of_equal_operands_is_theirs():
    curve = {"log_reach": 0.3, "log_steepness": 1.0, "logit_shorter": np.array([-5.0, 0.0, 5.0])}
    right, _ = lengths.right_and_wrong(lengths.natural(curve, 2.0), 3.0, 0.0, "log")
    assert np.ptp(right) == 0


# The density ----------------------------------------------------------------------------------------------------------


def run_densities(law, counts, curve, train):
    """Log densities of runs by scipy, cell by cell."""
    runs = designs.runs_of_counts(counts)
    run = runs.index.get_indexer(counts["run"])
    longer = counts[["length_a", "length_b"]].max(axis=1).to_numpy()
    shorter = counts[["length_a", "length_b"]].min(axis=1).to_numpy()
    u = {name: x[run] for name, x in curve.items()}
    weight = expit(u["logit_shorter"]) if "logit_shorter" in u else 0.0
    length = longer ** (1 - weight) * shorter**weight
    half = train * np.exp(u["log_reach"])
    beyond = np.log(length / half) if law.shape == "log" else length / half - 1
    logit, lapse = -np.exp(u["log_steepness"]) * beyond, expit(u["logit_lapse"]) if "logit_lapse" in u else 0.0
    right, wrong = (1 - lapse) * expit(logit), lapse + (1 - lapse) * expit(-logit)
    k, m = counts["correct"].to_numpy(), counts["total"].to_numpy()
    if law.noise == "binomial":
        density = np.where(right < 0.5, st.binom.logpmf(k, m, right), st.binom.logpmf(m - k, m, wrong))
    else:
        precision = np.exp(u["log_precision"])
        density = st.betabinom.logpmf(k, m, precision * right, precision * wrong)
    return np.bincount(run, density)


def by_run(*arguments):
    return sum(np.bincount(run, values) for values, run in lengths.terms(*arguments))


OPTIONS = [
    {},
    {"shape": "linear"},
    {"noise": "binomial"},
    {"operands": "longest"},
    {"lapse": False},
    {"noise": "binomial", "operands": "longest", "lapse": False},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_density_of_runs_is_that_of_scipy(lengths_counts, options, lengths_design):
    law = bs.laws.Lengths(**options)
    drawn = lengths_design.curves_of(lengths_design.embeddings, np.random.default_rng(2))
    curve = {part: drawn[part] for part in law.parts}
    reference = law.reference(lengths_counts)
    groups = law.groups(lengths_counts, reference)
    densities = by_run(curve, lengths_design.log_train, groups, law.shape)
    log_choose = law.prior_draws(np.random.default_rng(0), reference, lengths_counts).log_choose()
    expected = run_densities(law, lengths_counts, curve, lengths_design.train)
    np.testing.assert_allclose(densities + log_choose, expected, rtol=1e-9)


@pytest.mark.parametrize("log_precision", [15.0, 40.0, 700.0])
def test_counts_of_the_greatest_precision_are_binomial(lengths_counts, log_precision, lengths_design):
    curve = lengths_design.curves_of(lengths_design.embeddings, np.random.default_rng(2))
    groups = bs.laws.Lengths().groups(lengths_counts, bs.laws.Lengths().reference(lengths_counts))
    arguments = lengths_design.log_train, groups, "log"
    precise = curve | {"log_precision": np.full(len(lengths_design.runs), log_precision)}
    binomial = {part: x for part, x in curve.items() if part != "log_precision"}
    np.testing.assert_allclose(by_run(precise, *arguments), by_run(binomial, *arguments), rtol=1e-3)
