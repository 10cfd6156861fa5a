"""How often intervals cover the truth, in runs simulated from a known law at the designs of the sweeps.

``python tests/benchmarks/sweep_coverage.py [--simulations 100] [--seeds 3]`` prints, for scheme 4 of the paper's sweep
and of the small one, the coverage of the Chinchilla law's constants and the bias of E.
"""

import argparse

import bayescaling as bs
import pandas as pd
from bayescaling.training import make_sweep

# Irreducible loss 2.21 nats, the rest of 0.39 split evenly at the centre, and 0.4% of scatter between seeds.
TRUTH = {
    "loss_centre": 2.6,
    "reducible_share": 0.15,
    "parameter_share": 0.5,
    "alpha": 0.4,
    "beta": 0.5,
    "sigma": 0.004,
    "nu_minus_one": 10.0,
    "sigma_parameters": 0.0,
    "sigma_tokens": 0.0,
}


def design(name, seeds):
    """Sizes and tokens of the runs of scheme 4 of a preset, each with `seeds` seeds."""
    sweep = make_sweep({"preset": name, "training": {"seeds": list(range(seeds))}})
    best = dict.fromkeys(sweep.sizes, 0.01)
    runs = sweep.runs(sweep.stages[-1], best)
    return pd.DataFrame(
        {
            "parameters": [float(run.model.parameters) for run in runs],
            "tokens": [float(run.batch_tokens * run.optimisation.updates) for run in runs],
        }
    )


def main():
    """Run the study."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--simulations", type=int, default=100)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    for name in ("scheme-4", "demo"):
        runs = design(name, options.seeds)
        calibration = bs.calibrate(
            bs.laws.Chinchilla(), runs, truth=TRUTH, simulations=options.simulations, seed=options.seed
        )
        table = calibration.table()
        print(f"{name}: {len(runs)} runs, {table.attrs['simulations']} simulations, "
              f"{table.attrs['not_converged']} with warnings")  # fmt: skip
        print(table.round(3).to_string(), flush=True)


if __name__ == "__main__":
    main()
