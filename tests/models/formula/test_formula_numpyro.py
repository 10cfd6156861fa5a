"""Posteriors of formulas against programs written by hand in NumPyro, of the same priors."""

import bayescaling as bs
import numpy as np
import pandas as pd
import pytest

pytestmark = pytest.mark.slow
EFFECTIVE = 1000  # draws of either, at least


def power_with_floor(rng):
    x = np.geomspace(1e6, 1e9, 14)
    table = pd.DataFrame({"x": x, "y": (1.8 + 60 * x**-0.25) * np.exp(0.02 * rng.standard_normal(14))})

    def mean(sample, dist, np, d):
        a, size = sample("a", dist.LogNormal(-1.2, 0.7)), d["median"] * sample("centre", dist.LogNormal(0, 1))
        share = sample("share_E", dist.Beta(1, 1))
        return size * (share + (1 - share) * (d["x"] / d["x centre"]) ** -a)

    return "y ~ E + A * x**-a", table, mean


def two_groups(rng):
    x, group = np.tile(np.geomspace(1e6, 1e9, 10), 2), np.repeat(["one", "two"], 10)
    y = 2 + np.where(group == "one", 60 * x**-0.25, 90 * x**-0.3)
    table = pd.DataFrame({"x": x, "g": group, "y": y * np.exp(0.02 * rng.standard_normal(20))})

    def mean(sample, dist, np, d):
        a = sample("a", dist.LogNormal(-1.2, 0.7).expand([2]))
        size = d["median"] * sample("centre", dist.LogNormal(0, 1))
        share, apart = sample("share_E", dist.Beta(1, 1)), sample("apart", dist.Normal(0, 1)) / np.sqrt(2)
        second = d["g"] == "two"
        factor = np.exp(np.where(second, -apart, apart))
        return size * (share + (1 - share) * factor * (d["x"] / d["x centre"]) ** -np.where(second, a[1], a[0]))

    return "y ~ E + A[g] * x**-a[g]", table, mean


def experts(rng):
    active, ratio = np.exp(rng.uniform(np.log(1e7), np.log(1e9), 24)), 2.0 ** rng.integers(0, 6, 24)
    y = (1.5 + 40 * active**-0.2 * ratio**-0.15) * np.exp(0.01 * rng.standard_normal(24))
    table = pd.DataFrame({"active": active, "total": active * ratio, "y": y})

    def mean(sample, dist, np, d):
        a, g = sample("a", dist.LogNormal(-1.2, 0.7)), sample("g", dist.LogNormal(-1.2, 0.7))
        size, share = d["median"] * sample("centre", dist.LogNormal(0, 1)), sample("share_E", dist.Beta(1, 1))
        x = d["active"] / d["active centre"]
        return size * (share + (1 - share) * x**-a * (d["total"] / d["total centre"] / x) ** -g)

    return "y ~ E + A * active**-a * (total / active)**-g", table, mean


@pytest.mark.parametrize("form", [power_with_floor, two_groups, experts])
def test_a_posterior_is_that_of_a_program_written_in_numpyro(form):
    numpyro = pytest.importorskip("numpyro", reason="NumPyro is not installed")
    import jax
    import numpyro.distributions as dist

    formula, table, mean = form(np.random.default_rng(5))
    data = {name: table[name].to_numpy() for name in table} | {"median": np.median(table["y"])}
    data |= {f"{name} centre": np.exp(np.log(table[name]).mean()) for name in table if name not in ("y", "g")}

    def program():
        expected = mean(numpyro.sample, dist, jax.numpy, data)
        sigma, nu = numpyro.sample("sigma", dist.LogNormal(-3.5, 1.5)), numpyro.sample("nu", dist.Gamma(2, 0.1))
        numpyro.sample("y", dist.StudentT(1 + nu, jax.numpy.log(expected), sigma), obs=np.log(data["y"]))

    jax.config.update("jax_enable_x64", True)
    sampler = numpyro.infer.MCMC(
        numpyro.infer.NUTS(program, target_accept_prob=0.95),
        num_warmup=1500, num_samples=2000, num_chains=4, chain_method="vectorized", progress_bar=False,
    )  # fmt: skip
    sampler.run(jax.random.PRNGKey(1))
    theirs = sampler.get_samples()
    law = bs.laws.Formula(formula, noise="relative", tails="student_t")
    ours = bs.fit(law, table, seed=1)["posterior"].to_dataset().stack(sample=("chain", "draw"))
    exponents = [name for name in ("a", "g") if name in theirs]
    for name in ("centre", "share_E", "sigma", *exponents):
        here, there = (np.reshape(x, (-1, x.shape[-1])) for x in (ours[name].values, theirs[name].T))
        here, there = (np.log(x) for x in (here, there))
        error = 4 * there.std(1) * np.sqrt(2 / EFFECTIVE)
        assert (abs(np.median(here, 1) - np.median(there, 1)) < 1.25 * error).all(), name
        assert here.std(1) / there.std(1) == pytest.approx(1, abs=4 * np.sqrt(1 / EFFECTIVE)), name
