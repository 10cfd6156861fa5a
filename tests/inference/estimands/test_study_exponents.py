from functools import partial

import bayescaling as bs
import numpy as np
import pytest
import xarray as xr
from bayescaling.errors import InputError
from bayescaling.inference.estimands.study_exponents import (
    SyntheticStudy,
    frontier_exponents,
    local_exponents,
)
from bayescaling.inference.quoted import drift_errors, quote_draws
from bayescaling.models.loss import embeddings
from bayescaling.models.loss.sizes import chinchilla_configurations, family_constant

law_alone = partial(bs.Fit.allocate, beyond="none", robust=False)

BESIROGLU = {"E": 1.8172, "A": 482.01, "B": 2085.43, "alpha": 0.3478, "beta": 0.3658}
HOFFMANN = {"E": 1.6934, "A": 406.4, "B": 410.7, "alpha": 0.3392, "beta": 0.2849}
GAMMA = 47491.0
BUDGETS = [1e18, 1e21, 1e24]


@pytest.fixture(scope="module")
def configurations():
    return bs.fit(bs.laws.Configurations(), chinchilla_configurations(), seed=1, check=False)


@pytest.fixture(scope="module")
def weighted(runs):
    return bs.fit(bs.laws.EmbeddingWeighted(omega=0.0), runs, seed=1, check=False)


@pytest.mark.parametrize(
    ("constants", "basis", "grid", "exact"),
    [
        (BESIROGLU, "nonembedding", 0.781, 0.775),
        (BESIROGLU, "total", 0.515, 0.509),
        (HOFFMANN, "nonembedding", 0.739, 0.741),
        (HOFFMANN, "total", 0.458, 0.458),
    ],
)
def test_a_study_of_curves_finds_the_known_slopes(constants, basis, grid, exact):
    for study, slope in ((SyntheticStudy(), grid), (SyntheticStudy(exact=True), exact)):
        exponents = frontier_exponents(constants, basis=basis, gamma=GAMMA, study=study)
        assert float(exponents["size"][0]) == pytest.approx(slope, abs=1e-3)


def test_exponents_of_the_loss_are_the_known_ones():
    for basis, loss, reducible in (("nonembedding", -0.069, -0.133), ("total", -0.097, -0.178)):
        exponents = frontier_exponents(BESIROGLU, basis=basis, gamma=GAMMA)
        assert float(exponents["loss"][0]) == pytest.approx(loss, abs=1e-3)
        assert float(exponents["reducible_loss"][0]) == pytest.approx(reducible, abs=1e-3)


def test_local_exponents_have_their_limits_and_a_hump():
    draws = xr.Dataset({name: ("draw", [x, x * 1.01]) for name, x in BESIROGLU.items()})
    exponents = local_exponents(draws, np.logspace(-10, 30, 401), gamma=GAMMA)
    first, last = (exponents["exponent"].isel(size=i, drop=True) for i in (0, -1))
    xr.testing.assert_allclose(first, exponents["small"], rtol=1e-3)
    xr.testing.assert_allclose(last, exponents["large"], rtol=1e-3)
    assert (exponents["highest"] > exponents["small"]).all()
    assert ((exponents["highest_at"] > 1e5) & (exponents["highest_at"] < 1e8)).all()


@pytest.mark.filterwarnings("ignore::bayescaling.DiagnosticWarning")  # any draws do
@pytest.mark.parametrize("law", [bs.laws.Coupled(), bs.laws.Offsets(), bs.laws.EmbeddingCorrected(coupled=True)])
def test_the_study_reads_the_curves_of_the_law(law, runs):
    study = SyntheticStudy(count=40, exact=True)
    fit = bs.fit(law, runs, seed=1, draws=100, tune=400, chains=2, check=False)
    posterior = fit["posterior"].to_dataset()
    options = {"gamma": family_constant(32_000), "study": study, "law": law}
    exponents = frontier_exponents(posterior, basis="total", **options).isel(draw=107)
    constants = posterior.isel(chain=1, draw=7)
    nonembedding = np.logspace(*study.sizes, study.models)
    total = embeddings.total(nonembedding, family_constant(32_000))
    budgets = np.logspace(*study.budgets[1], study.count)
    best, least = [], []
    for compute in budgets:
        losses = [
            float(law.mean_of_sizes(constants, n, parameters, compute / (6 * parameters)))
            for n, parameters in zip(nonembedding, total, strict=True)
        ]
        best.append(total[np.argmin(losses)])
        least.append(min(losses))
    reducible = np.array(least) - float(constants["E"])
    for name, values in (("size", best), ("loss", least), ("reducible_loss", reducible)):
        assert float(exponents[name]) == pytest.approx(np.polyfit(np.log(budgets), np.log(values), 1)[0])


def test_reconcile_goes_draw_by_draw_and_follows_the_vocabulary(fit_default):
    exponents = fit_default.study_exponents()
    one = {name: float(fit_default["posterior"][name].values.ravel()[7]) for name in BESIROGLU}
    alone = frontier_exponents(one, gamma=family_constant())["size"]
    slopes = frontier_exponents(fit_default["posterior"].to_dataset(), gamma=family_constant())["size"]
    assert float(slopes[7]) == pytest.approx(float(alone[0]))
    quoted = exponents["nonembedding"]["size"]
    assert exponents.standing["robust"] and float(quoted.std()) > 1.2 * float(slopes.std())
    assert float(quoted.mean()) == pytest.approx(float(slopes.mean()), abs=0.01)
    small = fit_default.study_exponents(vocabulary=1000)
    assert float(small["nonembedding"]["size"].median()) < float(exponents["nonembedding"]["size"].median())


def test_reconcile_refuses_laws_that_count_otherwise(weighted):
    with pytest.raises(InputError, match=r"embedding-weighted does not state the loss in all parameters"):
        weighted.study_exponents()


def test_allocation_keeps_the_budget_and_splits_the_parameters(fit_default, weighted):
    for fit in (fit_default, weighted):
        plan = law_alone(fit, BUDGETS, vocabulary=100_000, aspect_ratio=80)
        np.testing.assert_allclose(
            6 * plan["parameters"] * plan["tokens"], np.broadcast_to(BUDGETS, plan["tokens"].shape), rtol=1e-9
        )
        gamma = family_constant(100_000, 80)
        np.testing.assert_allclose(
            plan["parameters"], embeddings.total(plan["parameters_nonembedding"], gamma), rtol=1e-9
        )


def test_a_larger_vocabulary_moves_the_optimum_without_embeddings_only(fit_default):
    small, large = (law_alone(fit_default, BUDGETS, vocabulary=v) for v in (32_000, 256_000))
    xr.testing.assert_allclose(small["parameters"], large["parameters"])
    assert (large["parameters_nonembedding"] < small["parameters_nonembedding"]).all()


@pytest.mark.parametrize("option", [{"vocabulary": 0}, {"aspect_ratio": -3.0}, {"vocabulary": float("nan")}])
def test_shapes_that_are_none_are_refused(fit_default, option):
    with pytest.raises(InputError, match=f"{next(iter(option))} must be a positive number"):
        law_alone(fit_default, BUDGETS, **option)


def test_a_fit_of_sizes_has_no_optimal_size(runs):
    fit = bs.fit(bs.laws.Configurations(delta=1 / 3), runs, seed=1)
    assert len(fit.rows) == runs[["parameters", "parameters_nonembedding"]].drop_duplicates().shape[0] < len(runs)
    with pytest.raises(InputError, match="configurations has no compute-optimal size"):
        law_alone(fit, BUDGETS)
    with pytest.raises(InputError, match="configurations does not state the loss"):
        fit.study_exponents()


def test_runs_of_a_width_and_a_vocabulary_get_their_nonembedding_parameters(tmp_path):
    path = tmp_path / "runs.csv"
    path.write_text("parameters,tokens,loss,d_model,vocab\n1e8,1e9,3.5,640,32000\n2e8,1e9,3.4,768,32000\n")
    table = bs.read(path)
    np.testing.assert_allclose(table["parameters_nonembedding"], [1e8 - 640 * 32000, 2e8 - 768 * 32000])


def test_exponents_far_below_the_runs_carry_the_slope_of_the_drift(fit_default):
    far, inside = (SyntheticStudy(budgets=(ends, ends)) for ends in ((13.0, 16.0), (19.0, 21.0)))
    exponents, within = (fit_default.study_exponents(study=study) for study in (far, inside))
    assert exponents.decades["total"] < -4 and within.decades == {"nonembedding": 0.0, "total": 0.0}
    # All budgets lie below the runs: an error of c a decade of log N* changes its slope in log C by c / log(10).
    law = frontier_exponents(fit_default["posterior"].to_dataset(), basis="total", gamma=family_constant(), study=far)
    drift = drift_errors(fit_default, "size", -1.0)
    quoted = quote_draws(fit_default, drift.copy(data=law["size"].values.reshape(drift.shape)))
    sd = np.hypot(drift.std() / np.log(10), quoted.std())
    assert float(exponents["total"]["size"].std()) == pytest.approx(float(sd), rel=0.1)
    assert "below the smallest run" in str(exponents) and "below the smallest" not in str(within)
