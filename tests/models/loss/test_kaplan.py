from functools import partial

import bayescaling as bs
import numpy as np
import pytest
import xarray as xr
from bayescaling.errors import InputError
from bayescaling.inference.progress.contributions import chinchilla_over_kaplan
from bayescaling.models.loss import chinchilla, kaplan, rules

law_alone = partial(bs.Fit.allocate, beyond="none", robust=False)

# As Ho et al. (2024), appendix B, take them from Hoffmann et al. (2022).
HOFFMANN = {"E": 1.69, "A": 406.4, "B": 410.7, "alpha": 0.34, "beta": 0.28}
CONSTANTS = [kaplan.PUBLISHED, {"Nc": 8.8e13, "Dc": 5.4e13, "aN": 0.3, "aD": 0.095}]
BUDGETS = np.logspace(15, 28, 14)


def written_out(parameters, tokens, c):
    return ((c["Nc"] / parameters) ** (c["aN"] / c["aD"]) + c["Dc"] / tokens) ** c["aD"]


@pytest.mark.parametrize("c", CONSTANTS)
def test_loss_is_that_of_the_equation_in_every_array_library(jax, c):
    import pytensor.tensor as pt

    N, D = np.logspace(6, 12, 7), np.logspace(8, 13, 7)
    losses = {
        "numpy": kaplan.loss(N, D, **c),
        "xarray": kaplan.loss(xr.DataArray(N, dims="run"), xr.DataArray(D, dims="run"), **c),
        "pytensor": kaplan.loss(pt.as_tensor(N), pt.as_tensor(D), **c).eval(),
        "jax": jax.jit(kaplan.loss)(N, D, **c),
    }
    for library, value in losses.items():
        np.testing.assert_allclose(np.asarray(value), written_out(N, D, c), rtol=1e-12, err_msg=library)


def test_the_law_has_the_limits_that_the_paper_states():
    # With unlimited data (Nc/N)**aN, with unlimited parameters (Dc/D)**aD: equations 1.1 and 1.2.
    c = kaplan.PUBLISHED
    assert kaplan.loss(1e9, 1e60, **c) == pytest.approx((c["Nc"] / 1e9) ** c["aN"])
    assert kaplan.loss(1e60, 1e10, **c) == pytest.approx((c["Dc"] / 1e10) ** c["aD"])


@pytest.mark.parametrize("c", CONSTANTS)
def test_the_optimum_is_stationary_by_automatic_differentiation(jax, c):
    def along(x, budget):
        return kaplan.loss(jax.numpy.exp(x), budget / 6 * jax.numpy.exp(-x), **c)

    N, _ = kaplan.optimum(BUDGETS, **c)
    slope = jax.vmap(jax.grad(along))(np.log(N), BUDGETS)
    bend = jax.vmap(jax.grad(jax.grad(along)))(np.log(N), BUDGETS)
    assert np.abs(slope / bend).max() < 1e-10
    assert (bend > 0).all()
    exponent = jax.grad(lambda x: jax.numpy.log(kaplan.optimum(jax.numpy.exp(x), **c)[0]))(50.0)
    assert float(exponent) == pytest.approx(kaplan.parameter_exponent(**c), rel=1e-12)


def test_the_published_exponent_is_that_of_the_law():
    assert kaplan.parameter_exponent(**kaplan.PUBLISHED) == pytest.approx(0.103 / 0.179)
    assert kaplan.PUBLISHED == {"Nc": 6.4e13, "Dc": 1.8e13, "aN": 0.076, "aD": 0.103}


def test_the_least_compute_inverts_the_optimum():
    sizes = chinchilla.optimum(BUDGETS, **HOFFMANN)
    reducible = chinchilla.loss(*sizes, **HOFFMANN) - HOFFMANN["E"]
    np.testing.assert_allclose(rules.least_compute(reducible, **HOFFMANN), BUDGETS, rtol=1e-9)


def test_the_gain_is_that_of_the_paper():
    # The paper plots about 1.6 for `GPT-2` and 3.8 to 4 for PaLM.
    gain = rules.chinchilla_over_kaplan(np.array([1.5e21, 2.5e24]), **HOFFMANN)
    assert gain == pytest.approx([1.62, 3.82], abs=0.01)


def test_no_rule_is_better_than_the_laws_own():
    rng = np.random.default_rng(1)
    alpha, beta = rng.uniform(0.1, 0.9, (2, 200, 1))
    A, B = np.exp(rng.normal(0, 1, (2, 200, 1))) * np.array([1e9**alpha, 2e10**beta])
    gain = rules.chinchilla_over_kaplan(BUDGETS, A=A, B=B, alpha=alpha, beta=beta)
    assert gain.shape == (200, 14)
    assert (gain >= 1 - 1e-9).all()


def test_the_gain_of_a_posterior_is_that_of_each_draw(fit_default):
    gains = chinchilla_over_kaplan(fit_default, [1.5e21, 2.5e24])
    assert dict(gains.sizes) == {"chain": 4, "draw": 1000, "compute": 2}
    draws = fit_default["posterior"]
    one = {name: float(draws[name][2, 7]) for name in ("A", "B", "alpha", "beta")}
    np.testing.assert_allclose(gains["gain"][2, 7], rules.chinchilla_over_kaplan(np.array([1.5e21, 2.5e24]), **one))
    N, D = kaplan.optimum(np.array([1.5e21, 2.5e24]), **kaplan.PUBLISHED)
    np.testing.assert_allclose(gains["kaplan_parameters"], N)
    np.testing.assert_allclose(gains["kaplan_tokens"], D)
    allocated = law_alone(fit_default, [1.5e21, 2.5e24])
    np.testing.assert_allclose(gains["extrapolation"], allocated["extrapolation"])
    assert gains["outside"].values.tolist() == [False, True]


def test_unusable_input_is_refused_in_one_line(fit_default, runs, quiet):
    with pytest.raises(InputError, match="compute must be positive FLOP"):
        chinchilla_over_kaplan(fit_default, -1)
    for law in (bs.laws.Kaplan(noise="normal"), bs.laws.Coupled(noise="normal")):
        other = bs.Fitter(law, runs).fit(seed=1, draws=20, tune=50, chains=2, least_ess=0)
        with pytest.raises(InputError, match=f'needs a fit of chinchilla, not of "{law.name}"'):
            chinchilla_over_kaplan(other, 1e21)
    assert bs.laws.EmbeddingCorrected().sum_of_terms and not bs.laws.EmbeddingCorrected(coupled=True).sum_of_terms
