"""How often intervals cover the truth under the right noise and the wrong one, at the sizes of Chinchilla's runs.

``python tests/benchmarks/noise_coverage.py [--simulations 200]`` simulates tables under each noise, at the posterior
mean of its fit to the runs, and fits each table under every noise. It prints the share of 50% and 90% intervals that
hold the truth, for the exponent of the optimal size and for N* at 1e24 FLOP. Intervals are of the posterior, and of its
draws spread to the robust standard deviation.
"""

import argparse
import warnings

import bayescaling as bs
import numpy as np

NOISES = {
    "Student-t by size": bs.laws.Chinchilla(),
    "Student-t, one sigma": bs.laws.Chinchilla(scatter="one"),
    "normal by size": bs.laws.Chinchilla(noise="normal"),
    "normal, one sigma": bs.laws.Chinchilla(noise="normal", scatter="one"),
}
BUDGET = 1e24
LEVELS = {"50%": (0.25, 0.75), "90%": (0.05, 0.95)}


def quantities(law, constants):
    """Return the quantities whose intervals are checked, from the constants of a law."""
    size = law.optimal_sizes(constants, BUDGET, gamma=1.0)[1]
    return {"exponent": constants["exponent_parameters"], "N* at 1e24": size}


def main():
    """Run the study."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--simulations", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--made", choices=NOISES, nargs="*", default=list(NOISES), help="noises to simulate under")
    options = parser.parse_args()
    warnings.simplefilter("ignore", bs.DiagnosticWarning)
    runs = bs.load("chinchilla_runs")
    fitters = {name: bs.Fitter(law, runs) for name, law in NOISES.items()}
    for source in options.made:
        law = NOISES[source]
        posterior = fitters[source].fit(seed=options.seed)["posterior"]
        values = {name: float(posterior[name].mean()) for name in law.prior_of}
        reference = fitters[source].reference
        truth = {name: float(x) for name, x in quantities(law, law.constants(values, reference)).items()}
        held = {}
        for s in range(options.simulations):
            loss = law.simulate(values, runs, np.random.default_rng([options.seed, s]), reference)
            for fitted, fitter in fitters.items():
                fit = fitter.fit(runs.assign(loss=loss), seed=s, draws=500, tune=500, chains=2)
                for name, draws in quantities(law, fit["posterior"]).items():
                    for kind, x in (("posterior", draws), ("robust", fit.robust(draws))):
                        for level, ends in LEVELS.items():
                            low, high = np.quantile(x, ends)
                            held.setdefault((fitted, name, kind, level), []).append(low <= truth[name] <= high)
        for (fitted, name, kind, level), inside in held.items():
            print(f"made {source}; fitted {fitted}; {name}; {kind} {level}: {np.mean(inside):.3f}", flush=True)


if __name__ == "__main__":
    main()
