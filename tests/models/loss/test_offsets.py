from functools import partial

import bayescaling as bs
import numpy as np
import pytest
from bayescaling.models.loss import chinchilla, offsets

law_alone = partial(bs.Fit.allocate, beyond="none", robust=False)

VALUES = {"loss_centre": 2.6, "reducible_share": 0.34, "parameter_share": 0.4, "alpha": 0.37, "beta": 0.35}
SHIFTS = {"parameters_shift": 1.3, "tokens_shift": 0.2}


def test_without_shifts_it_is_the_chinchilla_law(runs):
    law = bs.laws.Offsets()
    constants = law.constants(VALUES | dict.fromkeys(SHIFTS, 1.0), law.reference(runs))
    plain = bs.laws.Chinchilla().constants(VALUES, bs.laws.Chinchilla().reference(runs))
    assert {name: constants[name] for name in plain} == pytest.approx(plain, rel=1e-12)
    np.testing.assert_allclose(law.mean(constants, law.sizes(runs)), bs.laws.Chinchilla().mean(plain, law.sizes(runs)))


def test_shifts_are_those_of_the_least_sizes(runs):
    law = bs.laws.Offsets()
    reference = law.reference(runs)
    constants = law.constants(VALUES | SHIFTS, reference)
    n, d = float(runs["parameters"].min()), float(runs["tokens"].min())
    assert constants["n0"] == pytest.approx(0.3 * n)
    assert constants["d0"] == pytest.approx(-0.8 * d)
    named = {name: constants[name] for name in ("E", "A", "B", "alpha", "beta")}
    at = {"parameters": np.array([n, 1e10]), "tokens": np.array([d, 1e11])}
    expected = chinchilla.loss(at["parameters"] + 0.3 * n, at["tokens"] - 0.8 * d, **named)
    np.testing.assert_allclose(law.mean(constants, at), expected, rtol=1e-12)
    centre = {"parameters": reference["reference_parameters"], "tokens": reference["reference_tokens"]}
    assert law.mean(constants, centre) == pytest.approx(2.6, rel=1e-12)


def test_no_size_passes_zero():
    sizes = offsets.shifted(np.array([1e5, 0.5e9, 1e9, 2e9]), -0.8e9, 0.2)
    np.testing.assert_allclose(sizes, [0.2e5, 0.1e9, 0.2e9, 1.2e9])


@pytest.mark.thorough
def test_the_runs_of_chinchilla_with_shifted_sizes(runs):
    """An independent model: elpd 884.6, exponent .480 (.025); the shortest run loses most of its tokens."""
    fit = bs.fit(bs.laws.Offsets(), runs, seed=1, check=False)
    posterior = fit["posterior"]
    assert float(posterior["exponent_parameters"].mean()) == pytest.approx(0.480, abs=0.006)
    assert float(posterior["tokens_shift"].mean()) == pytest.approx(0.18, abs=0.02)
    assert fit.loo().elpd == pytest.approx(884.6, abs=2.0)
    law, at = fit.law, law_alone(fit, [1e21, 1e24])
    for factor in (0.9, 1.1):
        elsewhere = {"parameters": at["parameters"] * factor, "tokens": at["tokens"] / factor}
        assert (law.mean(posterior, elsewhere) > at["loss"]).all()
