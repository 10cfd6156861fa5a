import itertools
import json
import warnings

import bayescaling as bs
import numpy as np
import pandas as pd
import pytest
import scipy.stats as st
import xarray as xr
from bayescaling.cli import main
from bayescaling.inference import LengthsFitter
from bayescaling.inference.lengths import conditions, quantiles, region_accuracy
from bayescaling.inference.lengths_fit import State, counts_of
from bayescaling.inference.lengths_integrals import Points, integrated, of_draws
from bayescaling.inference.lengths_loo import exact, leave_runs_out
from bayescaling.inference.samplers import Settings
from bayescaling.models import lengths, lengths_design, lengths_modes
from bayescaling.reports.arithmetic.entries import lengths_entry
from bayescaling.reports.results import to_json
from scipy.optimize import brentq, minimize
from scipy.special import expit

TRAIN = 8
GRID = (1, 3, 5, 8, 9, 10, 12, 15, 20)
CURVES = {
    "abacus": {"log_reach": 0.7, "log_steepness": 1.8, "logit_lapse": -4.0, "logit_shorter": -1.5},
    "nope": {"log_reach": 0.1, "log_steepness": 2.8, "logit_lapse": -3.0, "logit_shorter": -2.5},
}
SPREADS = {"log_reach": 0.15, "log_steepness": 0.2, "logit_lapse": 0.5, "logit_shorter": 0.2, "log_precision": 0.2}
PRECISION = 3.4


def cells(runs, grid=GRID, train=TRAIN, total=50):
    """Build cells of runs, given as (name, embedding, architecture, recurrences)."""
    a, b = (x.ravel() for x in np.meshgrid(grid, grid, indexing="ij"))
    parts = [
        pd.DataFrame(
            {"run": name, "embedding": embedding, "architecture": architecture, "recurrences": recurrences,
             "train_digits": train, "length_a": a, "length_b": b, "correct": 0, "total": total}
        )
        for name, embedding, architecture, recurrences in runs
    ]  # fmt: skip
    return bs.read_counts(pd.concat(parts, ignore_index=True))


def curves_of(embeddings, rng=None):
    """Parameters of runs, at those of their embeddings or about them: dict of (run,)."""
    found = {part: np.array([CURVES[e][part] for e in embeddings]) for part in lengths.PARTS[:-1]}
    found["log_precision"] = np.full(len(embeddings), PRECISION)
    if rng is not None:
        found = {part: x + SPREADS[part] * rng.standard_normal(len(x)) for part, x in found.items()}
    return found


RUNS = [(f"{e}-{seed}", e, "standard", 1) for e in CURVES for seed in range(3)]
EMBEDDINGS = [e for _, e, _, _ in RUNS]


@pytest.fixture(scope="module")
def design():
    return cells(RUNS)


@pytest.fixture(scope="module")
def counts(design):
    rng = np.random.default_rng(4)
    return design.assign(correct=bs.Lengths().simulate(curves_of(EMBEDDINGS, rng), design, rng))


@pytest.fixture(scope="module")
def fitter(counts):
    return LengthsFitter(bs.Lengths(), counts)


@pytest.fixture(scope="module")
def fitted(fitter):
    """The default fit, refits of its leave-one-out done."""
    fit = fitter.fit(seed=1)
    leave_runs_out(fit, fitter=fitter)
    return fit


# The curve -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", lengths.SHAPES)
@pytest.mark.parametrize("share", [0.05, 0.5, 0.9])
def test_length_is_where_the_mean_accuracy_crosses_the_share(shape, share):
    curve = {"log_reach": 0.4, "log_steepness": 1.3, "logit_lapse": -3.0, "logit_shorter": -1.0}
    log_train = np.log(20.0)

    def excess(digits):
        right, _ = lengths.right_and_wrong(lengths.natural(curve, log_train), np.log(digits), 0.0, shape)
        return right - share

    found = lengths.length_at(curve, log_train, share, shape)
    assert found == pytest.approx(brentq(excess, 1, 1e4), rel=1e-9)


@pytest.mark.parametrize("shape", lengths.SHAPES)
def test_no_length_where_the_plateau_is_below_the_share(shape):
    curve = {"log_reach": 0.4, "log_steepness": 1.3, "logit_lapse": np.array([0.1, -4.0])}
    assert (lengths.length_at(curve, np.log(20.0), 0.5, shape) > 0).tolist() == [False, True]


def test_no_length_below_one_digit():
    curve = {"log_reach": -4.0, "log_steepness": 1.0}
    assert lengths.length_at(curve, np.log(20.0), 0.5, "log") == 0
    assert lengths.length_at(curve, np.log(200.0), 0.5, "log") == pytest.approx(200 * np.exp(-4))


def test_linear_shape_reaches_no_share_above_that_of_empty_operands():
    curve = {"log_reach": 0.0, "log_steepness": 0.5}
    assert lengths.length_at(curve, np.log(20.0), expit(np.exp(0.5)) + 1e-3, "linear") == 0


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


# The density ---------------------------------------------------------------------------------------------------------


def run_densities(law, counts, curve):
    """Log densities of runs by scipy, cell by cell."""
    runs = lengths_design.runs_of_counts(counts)
    run = runs.index.get_indexer(counts["run"])
    longer = counts[["length_a", "length_b"]].max(axis=1).to_numpy()
    shorter = counts[["length_a", "length_b"]].min(axis=1).to_numpy()
    u = {name: x[run] for name, x in curve.items()}
    weight = expit(u["logit_shorter"]) if "logit_shorter" in u else 0.0
    length = longer ** (1 - weight) * shorter**weight
    half = TRAIN * np.exp(u["log_reach"])
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


OPTIONS = [
    {},
    {"shape": "linear"},
    {"noise": "binomial"},
    {"operands": "longest"},
    {"lapse": False},
    {"noise": "binomial", "operands": "longest", "lapse": False},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_density_of_runs_is_that_of_scipy(counts, options):
    law = bs.Lengths(**options)
    drawn = curves_of(EMBEDDINGS, np.random.default_rng(2))
    curve = {part: drawn[part] for part in law.parts}
    groups = law.groups(counts, law.reference(counts))
    log_train = np.full(len(RUNS), np.log(TRAIN))
    by_run = lengths.log_likelihood(curve, log_train, groups, law.shape, lambda x, run: np.bincount(run, x, len(RUNS)))
    state = State(law, law.reference(counts), counts, lengths_design.runs_of_counts(counts), xr.Dataset(), curve={})
    np.testing.assert_allclose(by_run + state.log_choose(), run_densities(law, counts, curve), rtol=1e-9)


def test_no_search_ends_above_the_mode_of_a_run():
    """Of the built-in runs one is hard: some searches end at a point that is no optimum."""
    law, counts = bs.Lengths(), bs.load("arithmetic_runs")
    reference = law.reference(counts)
    design, log_train, priors = law.design(counts, reference), np.log(6.0), [law.prior_of[part] for part in law.parts]
    location = np.array([prior.frozen.median() for prior in priors])
    spread = np.array([1.5 * np.diff(prior.frozen.ppf([0.16, 0.84]))[0] for prior in priors])
    for run in range(len(reference["runs"])):
        own = lengths_modes.of_run(law.groups(counts, reference), run)

        def cost(u, own=own):
            scaled = (u - location) / spread
            return 0.5 * scaled @ scaled - lengths_modes.run_log_likelihood(u, law.parts, log_train, own, "log")

        least = cost(design["centre"][run])
        for start in (-0.3, 0.3, 2.0):
            u = np.array([start, *location[1:]])
            assert least < minimize(cost, u, method="Nelder-Mead", options={"maxfev": 4000, "fatol": 1e-8}).fun + 1e-3


@pytest.mark.parametrize("log_precision", [15.0, 40.0, 700.0])
def test_counts_of_the_greatest_precision_are_binomial(counts, log_precision):
    curve = curves_of(EMBEDDINGS, np.random.default_rng(2))
    groups = bs.Lengths().groups(counts, bs.Lengths().reference(counts))
    arguments = np.full(len(RUNS), np.log(TRAIN)), groups, "log", lambda x, run: np.bincount(run, x, len(RUNS))
    found = lengths.log_likelihood(curve | {"log_precision": np.full(len(RUNS), log_precision)}, *arguments)
    binomial = {part: x for part, x in curve.items() if part != "log_precision"}
    np.testing.assert_allclose(found, lengths.log_likelihood(binomial, *arguments), rtol=1e-3)


@pytest.mark.parametrize("options", [{}, {"shape": "linear"}, {"seeds": False}, {"noise": "binomial"}], ids=str)
def test_pymc_model_has_the_density_of_the_law(counts, options):
    law = bs.Lengths(**options)
    reference = law.reference(counts)
    model = law.model(counts, reference)
    point = model.initial_point()
    rng = np.random.default_rng(0)
    point = {name: x + 0.1 * rng.standard_normal(np.shape(x)) for name, x in point.items()}
    names = {name.removesuffix("_log__"): np.exp(x) if name.endswith("_log__") else x for name, x in point.items()}
    curve, log_density = law.curve(names, law.design(counts, reference))
    groups = law.groups(counts, reference)
    expected = lengths.log_likelihood(curve, np.full(len(RUNS), np.log(TRAIN)), groups, law.shape, lambda x, _: x.sum())
    found = model.compile_logp(vars=model.potentials, sum=False, mode="FAST_COMPILE")(point)
    np.testing.assert_allclose(found[-1], expected, rtol=1e-9)
    if law.seeds:
        np.testing.assert_allclose(found[0], np.sum(log_density), rtol=1e-9)


def test_units_are_a_change_of_variables_of_the_deviations(counts):
    law = bs.Lengths()
    design = law.design(counts, law.reference(counts))
    rng = np.random.default_rng(1)
    values = {part: rng.normal(size=2) for part in law.parts[:-1]} | {"log_precision": np.array(3.0)}
    values |= {f"{part}_sd": np.array(0.05 + 0.5 * rng.random()) for part in law.parts}
    z, step = rng.normal(size=(len(RUNS), len(law.parts))), 1e-5
    typical = law.typical(values, design)
    curve, log_density = law.curve(values | {"z": z}, design)
    above, below = (law.curve(values | {"z": z + s * step}, design)[0] for s in (1, -1))
    expected = 0.0
    for part in law.parts:
        slope = (above[part] - below[part]) / (2 * step)
        expected = expected + st.norm.logpdf(curve[part], typical[part], values[f"{part}_sd"]) + np.log(slope)
    np.testing.assert_allclose(np.ptp(log_density - expected), 0, atol=1e-6)


def test_density_and_gradient_are_finite_where_a_far_cell_is_right(counts):
    law = bs.Lengths()
    table = counts.copy()
    table.loc[table["length_a"] == GRID[-1], "correct"] = 1
    model = law.model(table)
    point = model.initial_point()
    point["log_steepness"] = point["log_steepness"] + 4
    logp, gradient = (f(mode="FAST_COMPILE")(point) for f in (model.compile_logp, model.compile_dlogp))
    assert np.isfinite(logp)
    assert np.isfinite(gradient).all()


def test_modes_lie_where_long_tables_were_simulated():
    grid = tuple(range(1, 21))
    table = cells([("a", "abacus", "standard", 1), ("n", "nope", "standard", 1)], grid=grid, total=200)
    truth = curves_of(["abacus", "nope"])
    law = bs.Lengths()
    table = table.assign(correct=law.simulate(truth, table, np.random.default_rng(0)))
    design = law.design(table, law.reference(table))
    for i, part in enumerate(law.parts):
        error = np.abs(design["centre"][:, i] - truth[part]) * np.sqrt(design["information"][:, i])
        assert (error < 4).all(), part


def test_a_run_without_counts_has_no_information(counts):
    law = bs.Lengths()
    runs = lengths_design.runs_of_counts(counts)
    kept = counts[counts["run"] != "nope-1"]
    design = law.design(kept, law.reference(counts), runs)
    assert (design["information"][4] == 0).all()
    assert (np.delete(design["information"], 4, axis=0) > 0).all()


# Effects -------------------------------------------------------------------------------------------------------------

FACTORIAL = [
    (f"{e}-{a}-{r}", e, a, r)
    for e, (a, r) in itertools.product(("abacus", "fire"), (("standard", 1), ("looped", 2), ("looped", 4)))
]


def test_only_conditions_in_the_data_have_coefficients(counts):
    assert bs.Lengths().reference(counts)["effects"] == []
    reference = bs.Lengths().reference(cells(FACTORIAL))
    assert reference["levels"] == ["abacus", "fire"]
    assert reference["effects"] == ["looped", "recurrences"]
    assert reference["confounded"] == []


def test_interactions_have_one_column_for_each_difference_of_differences():
    table = cells(FACTORIAL)
    assert bs.Lengths(effects="embedding * architecture").reference(table)["effects"] == ["looped", "abacus:looped"]


def test_confounded_conditions_are_named():
    runs = [("a", "abacus", "standard", 1), ("b", "abacus", "looped", 2), ("c", "fire", "standard", 1)]
    reference = bs.Lengths().reference(cells(runs))
    assert reference["effects"] == ["looped"]
    assert reference["confounded"] == ["recurrences"]


def test_effects_add_up_to_the_curve_of_a_condition():
    law, table = bs.Lengths(effects="embedding * architecture + recurrences"), cells(FACTORIAL)
    reference = law.reference(table)
    assert reference["effects"] == ["looped", "recurrences", "abacus:looped"]
    runs = lengths_design.runs_of_counts(table)
    values = {part: np.zeros(2) for part in law.parts[:-1]} | {"log_precision": np.array(0.0)}
    values |= {"log_reach": np.array([1.0, 2.0]), "log_reach_effect": np.array([10.0, 100.0, 1000.0])}
    found = law.typical(values, law.matrices(runs, reference))["log_reach"]
    doublings = np.array([0, 1, 2, 0, 1, 2]) - 1.0
    expected = [1, 1 + 1010, 1 + 1010, 2, 2 + 10, 2 + 10] + 100 * doublings
    np.testing.assert_allclose(found, expected)


def test_arms_and_shapes_tell_runs_apart():
    table = cells([(str(place), "abacus", "standard", 1) for place in range(4)])
    run = table["run"].astype(int)
    table = table.assign(arm=run.map({0: "a", 1: "b", 2: "a", 3: "b"}), k_max=run.map({0: 25, 1: 25, 2: 50, 3: 50}))
    table = bs.read_counts(table)
    reference = bs.Lengths().reference(table)
    assert reference["effects"] == ["k_max"]
    assert list(lengths_design.conditions(table, bs.Lengths().effects).index) == [
        "abacus, 25 offsets", "abacus, 50 offsets"
    ]  # fmt: skip
    law = bs.Lengths(effects="k_max + arm")
    assert law.reference(table)["effects"] == ["k_max", "b"]
    runs = lengths_design.runs_of_counts(table)
    np.testing.assert_array_equal(law.matrices(runs, law.reference(table))["effects"], np.array(
        [[-0.5, 0], [-0.5, 1], [0.5, 0], [0.5, 1]]
    ))  # fmt: skip
    assert len(lengths_design.conditions(table, law.effects)) == 4


def test_runs_of_one_condition_and_one_seed_are_refused():
    table = cells([("p", "abacus", "standard", 1), ("q", "abacus", "standard", 1)]).assign(seed=3.0)
    with pytest.raises(bs.InputError, match=r'"p" and "q" have one condition and one seed, 3.*column \'arm\''):
        bs.Lengths().check(bs.read_counts(table))
    table = bs.read_counts(table.assign(arm=table["run"].map({"p": "masked", "q": "unmasked"})))
    with pytest.raises(bs.InputError, match="name 'arm' in the effects"):
        bs.Lengths().check(table)
    bs.Lengths(effects="embedding + arm").check(table)
    bs.Lengths().check(bs.read_counts(table.drop(columns="seed")))


def test_without_embedding_all_runs_share_a_level(counts):
    assert bs.Lengths(effects="1").reference(counts)["levels"] == ["all"]


# The fit -------------------------------------------------------------------------------------------------------------


def test_fit_is_a_tree_as_of_other_laws(fitted, counts):
    assert {"posterior", "sample_stats", "log_likelihood", "observed_data", "constant_data"} <= set(fitted.children)
    assert fitted["log_likelihood"]["correct"].dims == ("chain", "draw", "run")
    assert fitted["posterior"]["log_reach"].sel(embedding="abacus").dims == ("chain", "draw")
    assert list(fitted["posterior"]["log_reach_run"]["run"].values) == [name for name, *_ in RUNS]
    assert bs.diagnose(fitted)["ok"], bs.diagnose(fitted)["warnings"]
    pd.testing.assert_frame_equal(counts_of(fitted)[list(counts)], counts, check_dtype=False)


def test_a_saved_fit_opens_into_a_working_one(fitted, tmp_path):
    bs.save_fit(fitted, tmp_path / "fit.nc")
    opened = bs.open_fit(tmp_path / "fit.nc")
    for seeds in ("typical", "new", "runs"):
        expected = bs.lengths_table(fitted, seeds=seeds)
        pd.testing.assert_frame_equal(bs.lengths_table(opened, seeds=seeds), expected)
    pd.testing.assert_frame_equal(bs.embedding_contrasts(opened), bs.embedding_contrasts(fitted))
    assert float(bs.loo(opened).elpd) == pytest.approx(float(bs.loo(fitted).elpd))


def test_the_same_seed_gives_the_same_draws(fitter, fitted):
    again = fitter.fit(seed=1)
    np.testing.assert_array_equal(again["posterior"]["log_reach"], fitted["posterior"]["log_reach"])
    np.testing.assert_array_equal(again["log_likelihood"]["correct"], fitted["log_likelihood"]["correct"])


def test_intervals_cover_the_lengths_that_counts_were_simulated_at(fitter, design, quiet):
    """Runs' own 50% lengths, and the median run's, in repeated simulations with one compiled model."""
    of_runs, of_conditions, settings = [], [], Settings(draws=250, tune=300, chains=2)
    for simulation in range(16):
        rng = np.random.default_rng([7, simulation])
        curve = curves_of(EMBEDDINGS, rng)
        table = design.assign(correct=fitter.law.simulate(curve, design, rng))
        state, _, _ = fitter.sample(table, settings, simulation)
        typical = state.typical(lengths_design.conditions(table, fitter.law.effects))
        for found, drawn, true in ((of_runs, state.curve, curve), (of_conditions, typical, curves_of(CURVES))):
            draws, truth = (lengths.length_at(x, np.log(TRAIN), 0.5, "log") for x in (drawn, true))
            low, high = np.quantile(draws, [0.1, 0.9], axis=(0, 1))
            found.append((low <= truth) & (truth <= high))
    # Of 96 and of 32 lengths, each bound is passed by chance once in about 500 times at a coverage of 0.8.
    assert 0.68 < np.mean(of_runs) < 0.91
    assert np.mean(of_conditions) > 0.59


def test_without_seeds_runs_of_a_condition_share_their_curve(counts, fitted, quiet):
    fitter = LengthsFitter(bs.Lengths(seeds=False), counts)
    fit = fitter.fit(seed=1, draws=300, tune=500, chains=2)
    found = bs.lengths_at(fit, 0.5, seeds="runs")
    assert (found.sel(run="abacus-0") == found.sel(run="abacus-2")).all()
    typical = bs.lengths_at(fit, 0.5)
    assert (typical == bs.lengths_at(fit, 0.5, seeds="new")).all()
    np.testing.assert_allclose(typical.sel(condition="abacus"), found.sel(run="abacus-1"))
    leave_runs_out(fit, fitter=fitter, draws=200, tune=300, chains=2)
    table = bs.compare({"seeds": fitted, "one": fit})
    assert table.index[0] == "seeds"
    assert (table["pareto_k_max"] <= 0.7).all()


# What a fit says -----------------------------------------------------------------------------------------------------


def test_typical_lengths_are_those_at_which_accuracy_is_the_share(fitted):
    found = bs.lengths_at(fitted, 0.5)
    for condition in ("abacus", "nope"):
        digits = found.sel(condition=condition).isel(chain=0, draw=3).values
        right = bs.accuracy(fitted, digits, conditions=condition).isel(chain=0, draw=3)
        np.testing.assert_allclose(right.values.ravel(), 0.5, rtol=1e-9)


def test_new_seeds_spread_more_than_the_median_run(fitted):
    tables = [bs.lengths_table(fitted, 0.5, seeds=seeds) for seeds in ("typical", "new")]
    typical, new = (np.log(table["q97.5"] / table["q2.5"]) for table in tables)
    assert (new > typical).all()


def test_region_accuracy_is_the_mean_over_the_cells_of_a_region(fitted, counts):
    found = region_accuracy(fitted).sel(condition="abacus").isel(chain=1, draw=5)
    for region in ("id", "ood"):
        own = counts[(counts["split"] == region) & (counts["run"] == "abacus-0")]
        right = bs.accuracy(fitted, own["length_a"], own["length_b"], conditions="abacus").isel(chain=1, draw=5)
        assert float(found.sel(region=region)) == pytest.approx(float(right.mean()))


def test_contrasts_say_which_embedding_goes_further(fitted):
    table = bs.embedding_contrasts(fitted).set_index("of")
    assert set(table.index) == {"id", "ood", "length"}
    assert table.loc["length", "q50"] == pytest.approx(np.exp(0.6), rel=0.4)
    assert table.loc["length", "p_first"] > 0.95
    assert table.loc["ood", "p_first"] > 0.95


def test_counts_foretold_scatter_as_beta_binomial_counts(fitted):
    found = bs.predict_counts(fitted, [4, 12, 30], [8, 12, 12], total=50, seeds="typical")
    right = bs.accuracy(fitted, [4, 12, 30], [8, 12, 12])
    assert found.dtype.kind == "i"
    assert ((found >= 0) & (found <= 50)).all()
    np.testing.assert_allclose(found.mean(("chain", "draw")) / 50, right.mean(("chain", "draw")), atol=0.02)
    cell = {"condition": "abacus", "cell": 1}
    p, precision = (
        x.values for x in (right.sel(condition="abacus").isel(cell=1), np.exp(fitted["posterior"]["log_precision"]))
    )
    expected = np.mean(50 * p * (1 - p) * (precision + 50) / (precision + 1)) + (50 * p).var()
    assert float(found.sel(condition="abacus").isel(cell=1).var()) == pytest.approx(expected, rel=0.15), cell


def test_conditions_that_were_not_run_can_be_asked_about(fitted):
    asked = conditions(fitted).loc[["abacus"]].assign(train_digits=16)
    ratio = bs.lengths_at(fitted, 0.5, conditions=asked).values / bs.lengths_at(fitted, 0.5, conditions="abacus").values
    np.testing.assert_allclose(ratio, 2)


def test_quantiles_of_lengths_are_draws_and_survive_infinity():
    draws = np.array([0.0, 0.0, 5.0, 7.0, np.inf, np.inf])
    assert quantiles(draws, [0.1, 0.5, 0.9]).tolist() == [0.0, 5.0, np.inf]


# Leaving out runs ----------------------------------------------------------------------------------------------------


def test_integrated_density_is_that_of_quadrature():
    """Compare the density of a run's counts with quadrature on a fine grid, in a law of two parameters a run."""
    law = bs.Lengths(noise="binomial", operands="longest", lapse=False)
    table = cells([("a", "abacus", "standard", 1), ("n", "nope", "standard", 1)], grid=(5, 10, 20), total=5)
    truth = {part: curves_of(["abacus", "nope"])[part] for part in law.parts}
    table = table.assign(correct=law.simulate(truth, table, np.random.default_rng(3)))
    reference, runs = law.reference(table), lengths_design.runs_of_counts(table)
    rng, draws = np.random.default_rng(0), 200
    around = {part: x + 0.4 * rng.standard_normal((1, draws, 2)) for part, x in truth.items()}
    values = {part: (("chain", "draw", "embedding"), around[part]) for part in law.parts}
    values |= {f"{part}_sd": (("chain", "draw"), 0.1 + rng.random((1, draws))) for part in law.parts}
    sampled = xr.Dataset(values, coords={"chain": [0], "draw": np.arange(draws)})
    state = State(law, reference, table, runs, sampled, curve=around)
    found, efficiency = integrated(state)
    assert efficiency > 50
    for run, draw in ((0, 0), (1, 7)):
        means = [around[part][0, draw, run] for part in law.parts]
        spreads = [float(values[f"{part}_sd"][1][0, draw]) for part in law.parts]
        reach, steepness = (m + s * np.linspace(-7, 7, 801) for m, s in zip(means, spreads, strict=True))
        density = st.norm.logpdf(reach, means[0], spreads[0])[:, None] + st.norm.logpdf(steepness, means[1], spreads[1])
        for cell in table[table["run"] == runs.index[run]].itertuples():
            beyond = np.log(max(cell.length_a, cell.length_b) / TRAIN) - reach[:, None]
            density = density + st.binom.logpmf(cell.correct, cell.total, expit(-np.exp(steepness) * beyond))
        expected = np.log(np.trapezoid(np.trapezoid(np.exp(density), steepness), reach))
        assert float(found[0, draw, run]) == pytest.approx(expected, abs=0.05)


def test_points_of_importance_sampling_agree_between_seeds(fitted):
    state = State.of(fitted)
    once, again = (integrated(state, seed=seed)[0] for seed in (1, 2))
    assert float(np.abs(once - again).mean()) < 0.05
    assert bs.diagnose(fitted)["integration_efficiency_min"] > 50


def test_importance_sampling_agrees_with_refits_without_the_run(fitter, fitted):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bs.DiagnosticWarning)
        result = bs.loo(fitted, moment_match=False)
        trusted = np.flatnonzero(result.pareto_k <= 0.7)[[0, -1]]
        found = exact(fitted, trusted, fitter=fitter)
    assert np.flatnonzero(found["refitted"]).tolist() == trusted.tolist()
    error = found["elpd"].values[trusted] - result.elpd_i.values[trusted]
    assert (np.abs(error) < 0.5).all()
    assert (found["elpd_se"].values[trusted] < 0.3).all()


def test_a_run_left_out_is_foretold_from_its_condition(fitter, fitted, quiet):
    """Density of a run left out, by integrating over new runs drawn by plain Monte Carlo."""
    state = State.of(fitted)
    points = Points(state)
    density, _ = of_draws(state, points, 1)
    rng = np.random.default_rng(0)
    curve = state.typical(state.runs)
    chain, draw, n = 0, 11, 40_000
    u = np.stack(
        [
            curve[p][chain, draw, 1] + state.values[f"{p}_sd"][chain, draw] * rng.standard_normal(n)
            for p in state.law.parts
        ],
        axis=-1,
    )
    groups = lengths_modes.of_run(state.law.groups(state.rows, state.reference), 1)
    logs = lengths_modes.run_log_likelihood(u, state.law.parts, np.log(TRAIN), groups, "log") + state.log_choose()[1]
    weights = np.exp(logs - logs.max())
    expected = np.log(weights.mean()) + logs.max()
    error = weights.std() / weights.mean() / np.sqrt(n)
    assert float(density[chain, draw]) == pytest.approx(expected, abs=4 * error + 0.05)


# Tables and errors ---------------------------------------------------------------------------------------------------

SMALL = pd.DataFrame(
    {"run": ["a"] * 3 + ["b"] * 3, "embedding": ["abacus"] * 3 + ["nope"] * 3, "train_digits": 5,
     "length_a": [3, 5, 9] * 2, "length_b": [3, 5, 9] * 2, "correct": [9, 8, 1, 9, 5, 0], "total": 10}
)  # fmt: skip


def with_value(column, value, row=1):
    table = SMALL.astype({column: object})
    table.loc[row, column] = value
    return table


@pytest.mark.parametrize(
    ("table", "said"),
    [
        (with_value("correct", 11), "11 of 10 problems"),
        (with_value("correct", -1), "found -1, which is not a finite number of at least 0"),
        (with_value("correct", 2.5), "found 2.5, which is no whole number"),
        (with_value("correct", None), "found nothing"),
        (with_value("total", 0), "found 0, which is not a positive finite number"),
        (with_value("length_a", 0), "found 0, which is not a positive finite number"),
        (with_value("length_a", "3x"), "is not a number"),
        (with_value("embedding", "fire"), 'run "a" had "abacus" before'),
        (with_value("train_digits", 6), 'run "a" had 5 before'),
        (pd.concat([SMALL, SMALL.iloc[[4]]]), 'run "b" has lengths 5 and 5 before'),
        (SMALL.drop(columns="embedding"), '"embedding" are needed'),
        (SMALL.assign(split="inside"), "one of id, ood, ood100"),
        (with_value("run", None), "found nothing (a blank)"),
    ],
)
def test_tables_that_cannot_be_used_are_refused_in_one_line(table, said):
    with pytest.raises(bs.InputError) as refused:
        bs.read_counts(table)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_optional_columns_are_filled_in(tmp_path):
    path = tmp_path / "counts.csv"
    SMALL.assign(run=[1, 1, 1, 2, 2, 2], length_b=[3, 5, 150] * 2).to_csv(path, index=False)
    table = bs.read_counts(path)
    assert table["run"].tolist() == ["1"] * 3 + ["2"] * 3
    assert table["split"].tolist() == ["id", "id", "ood100"] * 2
    assert (table["architecture"] == "standard").all()
    assert (table["recurrences"] == 1).all()
    assert table.attrs["source"] == "counts.csv"


def test_a_column_of_another_name_can_be_chosen():
    table = bs.read_counts(SMALL.rename(columns={"correct": "hits"}), columns={"correct": "hits"})
    assert table["correct"].tolist() == SMALL["correct"].tolist()


@pytest.mark.parametrize(
    ("options", "said"),
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
def test_options_that_cannot_be_used_are_refused(options, said):
    with pytest.raises(bs.InputError, match=said):
        bs.Lengths(**options)


def test_a_column_that_need_not_be_there_can_be_deleted():
    with pytest.raises(bs.InputError, match=r'column "k_max": found -1, .* delete the row or the column$'):
        bs.read_counts(SMALL.assign(k_max=-1.0))
    with pytest.raises(bs.InputError, match=r'column "length_a": .* or delete the row$'):
        bs.read_counts(SMALL.assign(length_a=-1))


def test_several_tasks_need_a_choice():
    table = bs.read_counts(SMALL.assign(task=["add"] * 3 + ["or"] * 3))
    with pytest.raises(bs.InputError, match="fit one at a time"):
        bs.Lengths().check(table)
    assert len(bs.Lengths(task="or").rows(table)) == 3
    with pytest.raises(bs.InputError, match="task"):
        bs.Lengths(task="sort").check(table)


def test_questions_that_have_no_answer_are_refused(fitted, runs):
    with pytest.raises(bs.InputError, match="shares"):
        bs.lengths_at(fitted, 1.0)
    with pytest.raises(bs.InputError, match="in no run"):
        bs.lengths_at(fitted, conditions="fire")
    with pytest.raises(bs.InputError, match="in no run"):
        bs.lengths_at(fitted, conditions=conditions(fitted).assign(embedding="fire"))
    with pytest.raises(bs.InputError, match="at least 1"):
        bs.accuracy(fitted, 0)
    with pytest.raises(bs.InputError, match="total"):
        bs.predict_counts(fitted, 5, total=0)
    with pytest.raises(bs.InputError, match="lengths law needs"):
        bs.fit(bs.Lengths(), runs)
    with pytest.raises(bs.InputError, match="not offered"):
        bs.fit(bs.Lengths(), runs, posterior_predictive=True)
    with pytest.raises(bs.InputError, match="sizes and losses"):
        bs.allocate(fitted, 1e20)


def test_a_fitter_refuses_other_runs(fitter, counts):
    with pytest.raises(bs.InputError, match="not those of the table"):
        fitter.fit(counts[counts["run"] != "nope-2"].reset_index(drop=True))


def test_command_line_fits_and_compares(fitted, counts, tmp_path, monkeypatch, capsys):
    counts.to_csv(tmp_path / "counts.csv", index=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)
    short = ["--draws", "250", "--tune", "400", "--chains", "2", "--data", "counts.csv"]

    def call(*arguments):
        monkeypatch.setattr("sys.argv", ["bayescaling", *arguments])
        with warnings.catch_warnings(), pytest.raises(SystemExit) as left:
            warnings.simplefilter("ignore", bs.DiagnosticWarning)
            main()
        assert left.value.code == 0
        return capsys.readouterr().out

    text = call("fit", "lengths", *short, "--noise", "binomial", "--option", "shape=linear", "--out", "b.nc")
    assert "digits, of a run with a new seed" in text
    assert "contrasts of embeddings" in text
    bs.save_fit(fitted, "a.nc")
    models = json.loads(call("compare", "a.nc", "b.nc", "--json"))["models"]
    assert models["a.nc"]["elpd_diff"] == 0
    assert models["b.nc"]["elpd_diff"] < 0


def test_lengths_as_json_have_null_for_none(fitted):
    said = json.loads(to_json(lengths_entry(fitted)))
    length = said["lengths"]["typical"]["abacus"]["0.5"]
    assert length["q2.5"] < length["q50"] < length["q97.5"]
    assert {c["of"] for c in said["contrasts"]} == {"id", "ood", "length"}
    missing = [
        q for kind in said["lengths"].values() for row in kind.values() for q in row.values() if q["p_none"] > 0.05
    ]
    assert missing
    assert all(q["q2.5"] is None for q in missing)
