"""Effective samples per second of fitting the Chinchilla law: our default against the alternatives, in one run.

    python tests/benchmarks/chinchilla.py [--cap SECONDS] [--json FILE]

Every contender runs in a separate process on the built-in 245 runs, with Student-t noise on log loss. Each has 4 chains
of 1000 tuning steps and 1000 draws:

- nutpie: the default of bayescaling.fit;
- numpyro: the same model with NumPyro, whose sampling is timed on a second run of the compiled program;
- pymc: the same model and parameterisation with PyMC's default sampler;
- textbook: PyMC's default sampler on (E, A, B, alpha, beta) as printed.

"sampling" excludes compilation; "cold" is the whole process, imports included. A contender that reaches the cap is
killed, and a ratio against it is a lower bound. It assumes one effective sample for every draw in the capped time.
"""

import argparse
import json
import subprocess
import sys
import time

DRAWS = TUNE = 1000
CHAINS = 4
CONTENDERS = ("nutpie", "numpyro", "pymc", "textbook")


def ess_of(posterior, names):
    """Least bulk effective sample size over `names`."""
    import arviz_stats as azs

    values = azs.ess(posterior[list(names)], method="bulk")
    return min(float(v) for v in values.data_vars.values())


SAMPLED = ("loss_centre", "reducible_share", "parameter_share", "alpha", "beta", "sigma", "nu_minus_one")
TEXTBOOK = ("E", "A", "B", "alpha", "beta", "sigma", "nu_minus_one")


def run_ours(sampler):
    """Fit through the package."""
    import bayescaling as bs

    fit = bs.fit(bs.laws.Chinchilla(scatter="one"), bs.load("chinchilla_runs"), seed=1, sampler=sampler)
    return ess_of(fit["posterior"].to_dataset(), SAMPLED), fit.record["seconds"]["sample"]


def run_numpyro_warm():
    """Time a second NumPyro run of the compiled program, for its sampling speed alone."""
    import bayescaling as bs
    import jax
    import numpyro
    import xarray as xr
    from pymc.sampling.jax import get_jaxified_logp

    jax.config.update("jax_num_cpu_devices", CHAINS)
    jax.config.update("jax_enable_x64", True)
    model = bs.laws.Chinchilla(scatter="one").model(bs.load("chinchilla_runs"))
    logp = get_jaxified_logp(model)
    point = model.initial_point()
    start = [jax.numpy.broadcast_to(point[v.name], (CHAINS, *point[v.name].shape)) for v in model.value_vars]
    kernel = numpyro.infer.NUTS(potential_fn=logp, target_accept_prob=0.9)
    sampler = numpyro.infer.MCMC(
        kernel, num_warmup=TUNE, num_samples=DRAWS, num_chains=CHAINS, chain_method="parallel", progress_bar=False
    )
    for key in (1, 2):
        begin = time.perf_counter()
        sampler.run(jax.random.PRNGKey(key), init_params=start)
        draws = jax.block_until_ready(sampler.get_samples(group_by_chain=True))
        seconds = time.perf_counter() - begin
    named = {v.name: (("chain", "draw"), jax.numpy.asarray(x)) for v, x in zip(model.value_vars, draws, strict=True)}
    return ess_of(xr.Dataset(named), named), seconds


def run_pymc(model, names):
    """Sample with PyMC's defaults; the time of sampling is PyMC's figure."""
    import pymc as pm

    with model:
        trace = pm.sample(
            DRAWS, tune=TUNE, chains=CHAINS, random_seed=1, progressbar=False, compute_convergence_checks=False
        )
    posterior = trace["posterior"]
    seconds = posterior.attrs.get("sampling_time") or trace["sample_stats"].attrs["sampling_time"]
    return ess_of(getattr(posterior, "to_dataset", lambda: posterior)(), names), seconds


def textbook_model():
    """The law with its printed constants as the sampled quantities."""
    import bayescaling as bs
    import numpy as np
    import pymc as pm
    from bayescaling.models.loss import chinchilla

    runs = bs.load("chinchilla_runs")
    with pm.Model() as model:
        constants = {
            "E": pm.LogNormal("E", 0.5, 0.5),
            "A": pm.LogNormal("A", 6, 2),
            "B": pm.LogNormal("B", 6, 2),
            "alpha": pm.LogNormal("alpha", -1.2, 0.7),
            "beta": pm.LogNormal("beta", -1.2, 0.7),
        }
        mean = chinchilla.loss(runs["parameters"].to_numpy(float), runs["tokens"].to_numpy(float), **constants)
        nu = 1 + pm.Gamma("nu_minus_one", 2, 0.1)
        sigma = pm.LogNormal("sigma", -4.6, 1.5)
        pm.StudentT("log_loss", nu=nu, mu=pm.math.log(mean), sigma=sigma, observed=np.log(runs["loss"].to_numpy()))
    return model


def work(contender):
    """Run one contender in this process and print its figures as JSON."""
    import bayescaling as bs

    if contender == "numpyro warm":
        ess, seconds = run_numpyro_warm()
    elif contender == "pymc":
        ess, seconds = run_pymc(bs.laws.Chinchilla(scatter="one").model(bs.load("chinchilla_runs")), SAMPLED)
    elif contender == "textbook":
        ess, seconds = run_pymc(textbook_model(), TEXTBOOK)
    else:
        ess, seconds = run_ours(contender)
    print(json.dumps({"ess": ess, "sampling": seconds}))


def measure(contender, cap):
    """Run a contender in a fresh process, at most `cap` seconds."""
    start = time.perf_counter()
    command = [sys.executable, "-W", "ignore", __file__, "--contender", contender]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=cap, check=True)
    except subprocess.TimeoutExpired:
        return {"ess": None, "sampling": None, "cold": cap, "capped": True}
    figures = json.loads(done.stdout.strip().splitlines()[-1])
    return figures | {"cold": time.perf_counter() - start, "capped": False}


def speed(figures, clock):
    """ESS per second by a clock; for a capped contender an upper bound."""
    if figures["capped"]:
        return CHAINS * DRAWS / figures["cold"]
    return figures["ess"] / figures[clock]


def main():
    """Measure all contenders and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cap", type=float, default=300)
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--contender", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.contender:
        work(options.contender)
        return
    figures = {contender: measure(contender, options.cap) for contender in CONTENDERS}
    warm = measure("numpyro warm", options.cap)
    figures["numpyro"]["sampling"] = warm["sampling"]
    figures["numpyro"]["ess_warm"] = warm["ess"]
    header = f"{'':10}{'ESS':>8}{'sampling s':>12}{'cold s':>9}{'ESS/s sampling':>16}{'ESS/s cold':>12}"
    print(f"{header}{'default is faster by':>24}")
    for name, f in figures.items():
        sampling, cold = speed(f, "sampling"), speed(f, "cold")
        ratios = [speed(figures["nutpie"], clock) / speed(f, clock) for clock in ("sampling", "cold")]
        bound = ">= " if f["capped"] else ""
        ess, seconds = ("capped", "capped") if f["capped"] else (f"{f['ess']:.0f}", f"{f['sampling']:.2f}")
        print(
            f"{name:10}{ess:>8}{seconds:>12}{f['cold']:>9.1f}{sampling:>16.0f}{cold:>12.0f}"
            f"{f'{bound}{ratios[0]:.1f} x, {bound}{ratios[1]:.1f} x cold':>24}"
        )
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(figures, file, indent=1)


if __name__ == "__main__":
    main()
