"""How often intervals of omega cover the truth, in runs simulated at the sizes of Chinchilla's.

``python tests/benchmarks/omega_coverage.py [--simulations 40]`` prints, for each true omega, the share of simulations
whose 50% and 90% equal-tailed intervals cover it and whose 95% upper bound lies above it. An equal-tailed interval of a
quantity that cannot be negative never covers 0, so at omega = 0 the bound alone is nominal.
"""

import argparse
import warnings

import bayescaling as bs
import numpy as np

TRUTH = {
    "loss_centre": 2.58,
    "reducible_share": 0.30,
    "parameter_share": 0.49,
    "alpha": 0.35,
    "beta": 0.36,
    "sigma": 0.0037,
    "sigma_parameters": 0.4,
    "sigma_tokens": -0.35,
}
OMEGAS = (0.0, 0.5, 1.0, 2.0)
LEVELS = (0.05, 0.25, 0.75, 0.95)


def covered(fitter, runs, omega, simulations, seed):
    """Quantiles of omega in each simulation, (simulation, 4)."""
    values = TRUTH | {"nu_minus_one": 2.1, "omega": omega}
    quantiles = []
    for s in range(simulations):
        rng = np.random.default_rng([seed, s, int(10 * omega)])
        loss = fitter.law.simulate(values, runs, rng, fitter.reference)
        fit = fitter.fit(runs.assign(loss=loss), seed=s, draws=500, tune=500)
        quantiles.append(np.quantile(fit["posterior"]["omega"], LEVELS))
    return np.array(quantiles)


def main():
    """Run the study."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--simulations", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    warnings.simplefilter("ignore", bs.DiagnosticWarning)
    runs = bs.load("chinchilla_runs")
    fitter = bs.Fitter(bs.laws.EmbeddingWeighted(), runs)
    for omega in OMEGAS:
        q = covered(fitter, runs, omega, options.simulations, options.seed)
        inside = ((q[:, i] <= omega) & (omega <= q[:, -1 - i]) for i in (0, 1))
        ninety, fifty = (float(x.mean()) for x in inside)
        bound = float((omega <= q[:, -1]).mean())
        width = np.ptp(q[:, [0, 3]], 1).mean()
        print(
            f"omega {omega}: 90% interval covers {ninety:.3f}, 50% {fifty:.3f}, 95% upper bound {bound:.3f}; mean "
            f"width of the 90% interval {width:.2f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
