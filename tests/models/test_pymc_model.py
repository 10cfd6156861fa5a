"""The PyMC model of every law is derived from its density: the same density, and it samples as the law does."""

import bayescaling as bs
import numpy as np
import pytest
from bayescaling.inference.engine import flat

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning")]
CHINCHILLA = bs.laws.Chinchilla(noise="normal", scatter="one")


@pytest.fixture(scope="module")
def studied(lengths_counts, scores_design):
    """Return laws with tables, one of each kind whose model differs."""
    runs, curves = bs.load("chinchilla_runs").iloc[::4].reset_index(drop=True), bs.load("schedule_curves")
    halves = runs.assign(half=["a", "b"] * (len(runs) // 2) + ["a"] * (len(runs) % 2), run=np.arange(len(runs)) // 2)
    return {
        "chinchilla": (bs.laws.Chinchilla(), runs),
        "run effects": (bs.laws.Chinchilla(run_effects=True), halves),
        "reading error": (bs.laws.Chinchilla(measurement_error=True), runs),
        "grouped": (bs.laws.Grouped(CHINCHILLA, "half", shared=("beta",)), halves),
        "joint": (bs.laws.EmbeddingCorrected(joint=True), runs),
        "progress": (bs.laws.Progress(7), bs.load("lm_progress")),
        "lengths": (bs.laws.Lengths(), lengths_counts),
        "scores": (bs.laws.Scores(pace="linear", family_effects=True), scores_design.table),
        "curve": (bs.laws.Curve(), curves[curves["run"].isin(["100M cosine_24000", "100M wsdcon_9"])]),
    }


NAMES = ("chinchilla", "run effects", "reading error", "grouped", "joint", "progress", "lengths", "scores", "curve")
LONG = ("run effects", "reading error", "joint", "progress")
SOME = [pytest.param(name, marks=[pytest.mark.thorough] if name in LONG else []) for name in NAMES]


@pytest.fixture(scope="module")
def built(studied):
    """Build the model of each law once, when a test needs it."""
    models = {}

    def build(name):
        if name not in models:
            law, table = studied[name]
            rows = law.rows(table)
            reference = law.reference(rows)
            models[name] = law, rows, reference, law.density(rows, reference), law.model(rows, reference)
        return models[name]

    return build


@pytest.mark.parametrize("name", SOME)
def test_it_has_the_density_of_the_law(built, name, as_written):
    law, _, _, density, model = built(name)
    value = model.compile_logp(mode=as_written)
    centre = flat(density.start)
    for seed in range(2):
        z = centre + np.random.default_rng(seed).normal(0, 0.2, len(centre))
        parts = np.split(z, np.cumsum([block.size for block in density.start])[:-1])
        shaped = tuple(part.reshape(block.shape) for part, block in zip(parts, density.start, strict=True))
        expected = sum(float(np.sum(term)) for term in density.terms(shaped, density.arrays))
        assert float(value(_point(law, density, model, z))) == pytest.approx(expected, rel=1e-9)


def _point(law, density, model, z):
    """Values of the model's variables on the real line, at coordinates z."""
    named, point = density.named(z[None, None]), {}
    units = sum(block.start.size for block in density.blocks if type(block).__name__ == "Units")
    for free, variable in zip(model.free_RVs, model.value_vars, strict=True):
        if free.name in named and law.kind != "evaluations" and free.name in law.prior_of:
            point[variable.name] = law.prior_of[free.name].to_unconstrained(named[free.name].values[0, 0])
        else:
            point[variable.name] = z[len(z) - units :]
    return point


@pytest.mark.newer
@pytest.mark.parametrize("name", SOME)
def test_its_prior_predictive_draws_are_those_of_the_law(built, name, as_written):
    pm = pytest.importorskip("pymc")
    law, rows, reference, _, model = built(name)
    with model:
        tree = pm.sample_prior_predictive(400, random_seed=1, compile_kwargs={"mode": as_written})
    of_pymc = tree["prior_predictive"][law.scale].values[0]
    ours = law.prior_draws(np.random.default_rng(2), reference, rows, 400).replicate(np.random.default_rng(3)).values[0]
    spread = np.subtract(*np.quantile(ours, [0.84, 0.16]))
    for q in (0.25, 0.5, 0.75):
        a, b = (np.median(np.quantile(x, q, axis=1)) for x in (of_pymc, ours))
        assert abs(a - b) < 0.2 * spread + 1e-12, q


def test_a_user_samples_it_and_predicts_and_adds_to_it(runs, as_written):
    pm = pytest.importorskip("pymc")
    rows = runs.iloc[::5].reset_index(drop=True)
    fit = bs.fit(CHINCHILLA, rows, seed=1, draws=500, tune=500, check=False)
    model = CHINCHILLA.model(rows)
    with model:
        posterior = pm.sample(500, tune=500, chains=2, cores=1, random_seed=1, progressbar=False, target_accept=0.95)
        predicted = pm.sample_posterior_predictive(posterior, random_seed=1, progressbar=False)
    for name in ("alpha", "beta", "sigma"):
        ours, of_pymc = fit["posterior"][name], posterior["posterior"][name]
        assert float(of_pymc.mean()) == pytest.approx(float(ours.mean()), abs=0.25 * float(ours.std()))
    residual = predicted["posterior_predictive"]["log_loss"] - np.log(rows["loss"].to_numpy())
    assert abs(float(residual.mean())) < 0.01
    assert float(residual.std()) == pytest.approx(2**0.5 * float(fit["posterior"]["sigma"].mean()), rel=0.25)
    model = CHINCHILLA.model(rows)
    point = model.initial_point()
    before = float(model.compile_logp(mode=as_written)(point))
    with model:
        pm.Potential("alpha near a third", -0.5 * ((model["alpha"] - 1 / 3) / 0.01) ** 2)
    assert float(model.compile_logp(mode=as_written)(point)) < before
