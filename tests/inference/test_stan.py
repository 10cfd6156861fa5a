"""Posteriors against those of programs written in Stan apart from this package, by its NUTS.

Posterior means and standard deviations are those of Stan 2.35 on the built-in tables. It drew 4 chains of 4,000 draws
after 1,500 of warm-up. Its target acceptance is 0.95. The expected log predictive densities are by importance
sampling of Stan's pointwise densities.
"""

from functools import partial

import bayescaling as bs
import numpy as np
import pytest
from bayescaling.models.laws import Progress

law_alone = partial(bs.Fit.allocate, beyond="none", robust=False)

BUDGET = 1e24
OF_RUNS = {
    "chinchilla": {
        "E": (1.772694, 0.021202),
        "alpha": (0.313739, 0.011219),
        "beta": (0.374022, 0.017498),
        "exponent_parameters": (0.543662, 0.016689),
        "sigma": (0.004723, 0.000438),
        "nu_minus_one": (2.144141, 0.786563),
        "sigma_parameters": (0.404569, 0.061402),
        "sigma_tokens": (-0.352533, 0.069817),
        "log N*": (25.652354, 0.177548),
    },
    "coupled": {
        "E": (1.702087, 0.021342),
        "alpha": (0.294518, 0.007552),
        "beta": (0.332915, 0.012753),
        "kappa": (0.686188, 0.034646),
        "exponent_parameters": (0.530485, 0.010128),
        "sigma": (0.004959, 0.000384),
        "nu_minus_one": (4.689803, 2.114446),
        "sigma_parameters": (0.377418, 0.051881),
        "sigma_tokens": (-0.477128, 0.049623),
        "log N*": (25.452056, 0.105693),
    },
}
PROGRESS = {
    "alpha_param": (0.080373, 0.02696),
    "beta_data": (0.04017, 0.020817),
    "alpha_year": (0.007561, 0.027857),
    "beta_year": (0.029423, 0.025572),
    "sigma": (0.218818, 0.010333),
    "parameter_share": ((0.497648, 0.554482, 0.460278), (0.167718, 0.150878, 0.167239)),
    "loss_centre": ((2.998909, 3.374482, 4.147685), (0.021863, 0.038419, 0.026081)),
}
ELPD = {"chinchilla": 865.63, "coupled": 892.28, "progress-7": 16.89}
ERROR = 0.8  # Monte-Carlo, of an elpd from 4,000 draws: 0.15 to 0.2 in standard deviation between samplers
LAWS = {"chinchilla": bs.laws.Chinchilla(), "coupled": bs.laws.Coupled()}


def agrees(draws, mean, sd, effective=1000):
    """Within Monte-Carlo error of means and standard deviations, of so many effective draws."""
    error = 4 * np.asarray(sd) / effective**0.5
    assert (abs(draws.mean(("chain", "draw")) - np.asarray(mean)) < error).all()
    np.testing.assert_allclose(draws.std(("chain", "draw"), ddof=1) / np.asarray(sd), 1, atol=4 / effective**0.5)


@pytest.mark.parametrize("name", OF_RUNS)
def test_laws_of_the_loss_are_those_of_stan(name, runs):
    fit = bs.fit(LAWS[name], runs, seed=1)
    quantities = fit["posterior"].to_dataset()
    quantities["log N*"] = np.log(law_alone(fit, [BUDGET])["parameters"].isel(compute=0, drop=True))
    for quantity, (mean, sd) in OF_RUNS[name].items():
        agrees(quantities[quantity], mean, sd)
    assert fit.loo().elpd == pytest.approx(ELPD[name], abs=ERROR)


def test_a_specification_of_progress_is_that_of_stan(evaluations):
    fit = bs.progress.new_fitter(evaluations).fit(law=Progress(7), seed=1)
    for quantity, (mean, sd) in PROGRESS.items():
        agrees(fit["posterior"][quantity], mean, sd)
    assert fit.loo().elpd == pytest.approx(ELPD["progress-7"], abs=ERROR)
