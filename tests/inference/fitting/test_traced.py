"""The traced density of a law against its PyMC model, value and gradient, at points drawn at random."""

import bayescaling as bs
import numpy as np
import pytest
from bayescaling.inference.fitting.samplers import OfLaw, OfModel, compiled
from bayescaling.inference.fitting.traced import Traced
from bayescaling.models.progress.law import Progress
from bayescaling.models.symbols import UntraceableError

OF_RUNS = {
    "chinchilla": bs.Chinchilla(),
    "normal": bs.Chinchilla(noise="normal", scatter="one"),
    "huber, skew": bs.Chinchilla(noise="huber", skew=True, scale="loss"),
    "reading error": bs.Chinchilla(noise="normal", measurement_error=True),
    "run effects": bs.Chinchilla(run_effects=True),
    "run effects, normal": bs.Chinchilla(run_effects=True, noise="normal", scatter="one"),
    "coupled": bs.Coupled(),
    "offsets": bs.Offsets(),
    "kaplan": bs.Kaplan(),
    "weighted": bs.EmbeddingWeighted(coupled=True),
    "corrected": bs.EmbeddingCorrected(),
    "joint": bs.EmbeddingCorrected(joint=True),
}
OF_EVALUATIONS = {
    "7": Progress(7),
    "7, by paper": Progress(7, paper_effects=True, scatter="by_benchmark"),
    "10, Student-t": Progress(10, noise="student_t", scale="log_loss"),
    "14, irreducible": Progress(14, irreducible=True, transformer="sigmoid"),
    "20, penalty": Progress(20, penalty=0.0025),
    "1, pooling": Progress(1, pooling=True),
}


def agrees(law, table):
    rows = law.rows(table)
    reference = law.reference(rows)
    arrays = law.model_data(rows, reference)
    density, model = Traced(law, arrays), law.model(rows, reference)
    value = model.compile_logp(mode="FAST_COMPILE")
    slope = model.compile_dlogp(mode="FAST_COMPILE")
    rng = np.random.default_rng(3)
    for _ in range(4):
        z = density.start + rng.normal(0, 0.3, len(density.start))
        point = dict(zip([v.name for v in model.value_vars], z if len(model.value_vars) > 1 else [z], strict=True))
        found, gradient = density(z, arrays)
        assert found == pytest.approx(float(value(point)), rel=1e-9)
        expected = slope(point)
        np.testing.assert_allclose(gradient, expected, rtol=1e-8, atol=1e-9 * np.abs(expected).max())


def of(laws, thorough):
    return [pytest.param(name, marks=pytest.mark.thorough if name in thorough else ()) for name in laws]


@pytest.mark.parametrize("name", of(OF_RUNS, {"joint", "weighted", "offsets", "run effects, normal"}))
def test_a_law_of_the_loss_is_traced_as_its_model_says(name, runs):
    twos = [f"run {i // 2}" for i in range(len(runs))]
    agrees(OF_RUNS[name], runs.assign(run=twos))


@pytest.mark.parametrize("name", of(OF_EVALUATIONS, {"7", "20, penalty", "1, pooling", "14, irreducible"}))
def test_a_specification_is_traced_as_its_model_says(name, evaluations):
    agrees(OF_EVALUATIONS[name], evaluations)


def test_built_in_laws_are_sampled_by_their_own_code(runs, evaluations):
    for law, table in ((bs.Kaplan(), runs), (Progress(18), evaluations)):
        rows = law.rows(table)
        assert isinstance(compiled(law, rows, law.reference(rows), "nutpie"), OfLaw)


def test_a_law_that_asks_for_numbers_is_refused(runs):
    class Own(bs.Chinchilla):
        def mean(self, constants, columns):
            return np.asarray(super().mean(constants, columns), float)

    law = Own(noise="normal", scatter="one")
    rows = law.rows(runs)
    reference = law.reference(rows)
    with pytest.raises(UntraceableError, match="chinchilla law"):
        Traced(law, law.model_data(rows, reference))


def test_a_law_that_is_another_on_symbols_is_sampled_by_its_model(runs):
    class Own(bs.Chinchilla):
        def mean(self, constants, columns):
            return super().mean(constants, columns) + 0 * columns["tokens"].sum() + columns["tokens"].size * 1e-3

    law = Own(noise="normal", scatter="one")
    rows = law.rows(runs)
    reference = law.reference(rows)
    with pytest.raises(UntraceableError, match="as traced"):
        Traced(law, law.model_data(rows, reference))
    assert isinstance(compiled(law, rows, reference, "nutpie"), OfModel)
