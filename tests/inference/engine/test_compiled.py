"""The traced density of a law against its PyMC model, value and gradient, at points drawn at random."""

import ast
import dataclasses
from pathlib import Path

import bayescaling as bs
import numpy as np
import pytest
from bayescaling.inference.engine import UntraceableError, compile_density, flat
from bayescaling.inference.samplers.choose import compiled
from bayescaling.inference.samplers.nutpie import DensityProgram, model_of
from bayescaling.inference.samplers.pymc import ModelProgram
from bayescaling.models.arrays import log, sum_by
from bayescaling.models.progress.law import Progress

OF_RUNS = {
    "chinchilla": bs.laws.Chinchilla(),
    "normal": bs.laws.Chinchilla(noise="normal", scatter="one"),
    "huber, skew": bs.laws.Chinchilla(noise="huber", skew=True, scale="loss"),
    "reading error": bs.laws.Chinchilla(noise="normal", measurement_error=True),
    "run effects": bs.laws.Chinchilla(run_effects=True),
    "run effects, normal": bs.laws.Chinchilla(run_effects=True, noise="normal", scatter="one"),
    "size effects": bs.laws.Chinchilla(size_effects=True),
    "coupled": bs.laws.Coupled(),
    "offsets": bs.laws.Offsets(),
    "kaplan": bs.laws.Kaplan(),
    "weighted": bs.laws.EmbeddingWeighted(coupled=True),
    "corrected": bs.laws.EmbeddingCorrected(),
    "joint": bs.laws.EmbeddingCorrected(joint=True),
}
OF_GROUPS = {
    "grouped": bs.laws.Grouped(bs.laws.Chinchilla(), "part"),
    "grouped, nothing shared": bs.laws.Grouped(bs.laws.Kaplan(scatter="one"), "part", pooled=()),
    "grouped, run effects": bs.laws.Grouped(
        bs.laws.Chinchilla(run_effects=True), "part", ("alpha", "sigma"), ("beta", "run_sd")
    ),
    "grouped, size effects": bs.laws.Grouped(
        bs.laws.Chinchilla(size_effects=True), "part", ("alpha",), ("beta", "size_sd")
    ),
    "grouped, all shared": bs.laws.Grouped(
        bs.laws.EmbeddingWeighted(noise="normal"),
        "part",
        shared=tuple(bs.laws.EmbeddingWeighted(noise="normal").prior_of),
    ),
}
OF_EVALUATIONS = {
    "7": Progress(7),
    "7, by paper": Progress(7, paper_effects=True, scatter="by_benchmark"),
    "10, Student-t": Progress(10, noise="student_t", scale="log_loss"),
    "14, irreducible": Progress(14, irreducible=True, transformer="sigmoid"),
    "20, penalty": Progress(20, penalty=0.0025),
    "1, pooling": Progress(1, pooling=True),
    "7, random walk": Progress(7, pace="random_walk"),
}
# Fields of nutpie's compiled model: those that a traced density fills, and those of PyMC's own that it leaves empty.
FILLED = {
    *("dims", "compiled_logp_func", "compiled_expand_func", "initial_point_func", "shared_data", "user_data"),
    *("n_expanded", "shape_info", "_n_dim", "_shapes", "_coords"),
}
EMPTY = {"logp_func", "expand_func"}
SINCE_0_16_11 = {"shared_var_keys"}  # empty too: keys of PyMC's shared variables
WITH_DEFAULTS = {"_transform_adapt_args", "reparameterized_names"}
LONG_EVALUATIONS = {"7", "20, penalty", "1, pooling", "14, irreducible", "7, random walk"}
OF_COUNTS = {
    "lengths": bs.laws.Lengths(),
    "linear, longest": bs.laws.Lengths(shape="linear", operands="longest", effects=""),
    "binomial, no seeds": bs.laws.Lengths(noise="binomial", seeds=False, lapse=False),
}


OF_SCORES = {
    "scores": bs.laws.Scores(),
    "linear": bs.laws.Scores(pace="linear"),
    "break, families": bs.laws.Scores(pace="break", family_effects=True, speculative=True),
    "on the logit": bs.laws.Scores(noise="logit_t4", pace="linear"),
    "sampled break": bs.laws.Scores("logit_t4", pace="sampled_break"),
    "acceleration": bs.laws.Scores("logit_t4", pace="acceleration", compute_prior="normal"),
    "random walk": bs.laws.Scores("logit_t4", pace="random_walk", family_effects=True),
    "slope by period": bs.laws.Scores("logit_t4", pace="break", slope_by_period=True),
    "ceilings, versions": bs.laws.Scores("logit_t4", "linear", scatter="t4", ceilings=True, version_effects=True),
}
# `models/scores/test_law` holds the density of each form by the normals written out, and the contract the gradient.
THOROUGH_SCORES = set(OF_SCORES) - {"random walk", "ceilings, versions"}


def agrees(oracle, law, table, mode):
    rows = law.rows(table)
    reference = law.reference(rows)
    density, model = law.density(rows, reference), oracle(law, rows, reference)
    traced, start = compile_density(density), flat(density.start)
    names = [variable.name for variable in model.free_RVs]
    priors = {} if names == ["z"] else law.prior_of  # specifications are sampled as standard normals alone
    value, slope = model.compile_logp(mode=mode), model.compile_dlogp(mode=mode)
    rng = np.random.default_rng(3)
    for _ in range(3):
        z = start + rng.normal(0, 0.3, len(start))
        named = density.named(z[None, None])
        point = {}
        for name, variable in zip(names, model.value_vars, strict=True):
            x = named[name].values[0, 0]
            point[variable.name] = priors[name].to_unconstrained(x) if name in priors else x
        log_density, gradient = traced(z, density)
        assert log_density == pytest.approx(float(value(point)), rel=1e-9)
        of_z = _in_order(z, point, slope(point))
        np.testing.assert_allclose(gradient, of_z, rtol=1e-8, atol=1e-9 * np.abs(of_z).max())


def _in_order(z, point, gradient):
    """Gradient in the order of z, whose values, all different, tell which is which."""
    flat = np.concatenate([np.ravel(x) for x in point.values()])
    near = np.abs(flat[:, None] - z).argmin(0)
    assert len(set(near)) == len(z)
    return gradient[near]


def test_nutpie_has_the_fields_that_are_filled_and_no_others():
    law, runs = bs.laws.Chinchilla(), bs.load("chinchilla_runs")
    rows = law.rows(runs)
    density = law.density(rows, law.reference(rows))
    model = model_of(compile_density(density), density)
    fields = {field.name: field.default is dataclasses.MISSING for field in dataclasses.fields(model)}
    required = {name for name, needed in fields.items() if needed}
    assert required - SINCE_0_16_11 == FILLED | EMPTY
    assert {name for name, needed in fields.items() if not needed} <= WITH_DEFAULTS
    assert {name for name in required if getattr(model, name) is not None} == FILLED


def of(laws, thorough):
    return [pytest.param(name, marks=pytest.mark.thorough if name in thorough else ()) for name in laws]


@pytest.mark.parametrize("name", of(OF_RUNS, {"joint", "weighted", "offsets", "run effects, normal"}))
def test_a_law_of_the_loss_is_traced_as_its_model_says(oracle, as_written, name, runs):
    twos = [f"run {i // 2}" for i in range(len(runs))]
    agrees(oracle, OF_RUNS[name], runs.assign(run=twos), as_written)


@pytest.mark.parametrize("name", of(OF_GROUPS, {"grouped, all shared", "grouped, nothing shared"}))
def test_a_grouped_law_is_traced_as_its_model_says(oracle, as_written, name, runs):
    law = OF_GROUPS[name]
    parts = ["a" if i < 100 else "b" if i < 180 else "c" for i in range(len(runs))]
    rows = law.rows(runs.assign(run=[f"run {i // 2}" for i in range(len(runs))], part=parts))
    reference = law.reference(rows)
    density, model = law.density(rows, reference), oracle(law, rows, reference)
    traced, start = compile_density(density), flat(density.start)
    value = model.compile_logp(mode=as_written)
    rng = np.random.default_rng(3)
    for _ in range(2):
        z = start + rng.normal(0, 0.3, len(start))
        named = density.named(z[None, None])
        point = {
            variable.name: law.prior_of[free.name].to_unconstrained(named[free.name].values[0, 0])
            for free, variable in zip(model.free_RVs, model.value_vars, strict=True)
        }
        log_density, gradient = traced(z, density)
        assert log_density == pytest.approx(float(value(point)), rel=1e-9)
        steps = 1e-5 * np.eye(len(z))
        slopes = [(traced(z + step, density)[0] - traced(z - step, density)[0]) / 2e-5 for step in steps]
        np.testing.assert_allclose(gradient, slopes, rtol=1e-5, atol=1e-6 * np.abs(gradient).max())


@pytest.mark.parametrize("name", of(OF_EVALUATIONS, LONG_EVALUATIONS))
def test_a_specification_is_traced_as_its_model_says(oracle, as_written, name, evaluations):
    agrees(oracle, OF_EVALUATIONS[name], evaluations, as_written)


@pytest.mark.parametrize("name", of(OF_COUNTS, {"linear, longest"}))
def test_a_law_of_counts_is_traced_as_its_model_says(oracle, as_written, name):
    agrees(oracle, OF_COUNTS[name], bs.load("arithmetic_runs"), as_written)


@pytest.mark.parametrize("name", of(OF_SCORES, THOROUGH_SCORES))
def test_a_law_of_scores_is_traced_as_its_model_says(oracle, as_written, name, scores_design):
    agrees(oracle, OF_SCORES[name], scores_design.table, as_written)


def test_built_in_laws_are_sampled_by_their_own_code(runs, evaluations):
    counts = bs.load("arithmetic_runs")
    studied = (bs.laws.Kaplan(), runs), (Progress(18), evaluations), (bs.laws.Lengths(), counts)
    for law, table in (*studied, (bs.laws.Scores(pace="break"), bs.load("eci_scores"))):
        rows = law.rows(table)
        reference = law.reference(rows)
        assert isinstance(compiled(law, rows, reference, law.density(rows, reference), "nutpie"), DensityProgram)


def test_a_law_that_asks_for_numbers_is_refused(runs):
    class Own(bs.laws.Chinchilla):
        def mean(self, constants, columns):
            return np.asarray(super().mean(constants, columns), float)

    law = Own(noise="normal", scatter="one")
    rows = law.rows(runs)
    reference = law.reference(rows)
    with pytest.raises(UntraceableError, match="need numbers"):
        compile_density(law.density(rows, reference))


@pytest.mark.thorough
def test_a_law_that_is_another_on_symbols_is_sampled_by_its_model(runs):
    class Own(bs.laws.Chinchilla):
        def mean(self, constants, columns):
            return super().mean(constants, columns) + 0 * columns["tokens"].sum() + columns["tokens"].size * 1e-3

    law = Own(noise="normal", scatter="one")
    rows = law.rows(runs)
    reference = law.reference(rows)
    with pytest.raises(UntraceableError, match="as traced"):
        compile_density(law.density(rows, reference))
    assert isinstance(compiled(law, rows, reference, law.density(rows, reference), "nutpie"), ModelProgram)


def test_axes_that_depend_on_each_other_are_refused(runs):
    class Own(bs.laws.Chinchilla):
        def density(self, rows, reference):
            density = super().density(rows, reference)

            def rest(values, data):
                of_runs = sum_by(data["observed"], data["effect_codes"], data["effect_counts"])
                return density.rest(values, data) | {"again": of_runs[..., data["effect_codes"]]}

            return density._replace(rest=rest)

    law = Own(run_effects=True)
    rows = law.rows(runs.assign(run=np.arange(len(runs)) // 2))
    reference = law.reference(rows)
    with pytest.raises(UntraceableError, match="depend on each other"):
        compile_density(law.density(rows, reference))


def test_what_is_not_finite_is_not_hidden_by_a_product_with_zero(runs):
    class Hidden(bs.laws.Chinchilla):
        def mean(self, constants, columns):
            return super().mean(constants, columns) + 0.0 * log(columns["tokens"] - 1e11)

    law = Hidden(noise="normal", scatter="one")
    rows = law.rows(runs)
    density = law.density(rows, law.reference(rows))
    z = flat(density.start)
    with np.errstate(invalid="ignore"):
        assert np.isnan(sum(float(np.sum(term)) for term in density.terms((z,), density.arrays)))
    # Its value is NumPy's, so that a sampler refuses to start; the check that compares them refuses it first.
    with pytest.raises(UntraceableError, match="nan"):
        compile_density(density)


def test_the_compiler_imports_nothing_of_the_package():
    import bayescaling.inference.engine as engine

    for path in Path(engine.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                assert node.level <= 1 and not (node.module or "").startswith("bayescaling"), path.name
