"""How often intervals of 50% lengths cover the truth, in counts simulated from the law of lengths.

``python tests/benchmarks/lengths_coverage.py [--simulations 100] [--truth prior]`` prints the share of simulations
whose 50%, 80% and 95% equal-tailed intervals cover the truth. It does so for each fitted run, for the median run of a
condition and for a run with a new seed.

With ``--truth prior`` coefficients and spreads are drawn from the prior in each simulation. If the sampling is right,
coverage is then nominal on average (simulation-based calibration). With ``--truth fixed`` they are the same in all, and
the prior of the spreads makes the intervals of conditions wider than necessary.
"""

import argparse
import time
import warnings

import bayescaling as bs
import numpy as np
import pandas as pd
from bayescaling.inference.lengths.quantities import conditions as conditions_of
from bayescaling.models.lengths import curve as lengths

TRAIN, GRID, TOTAL = 10, (1, 2, 4, 6, 8, 10, 11, 12, 14, 17, 20, 25, 30), 100
EMBEDDINGS = ("abacus", "fire", "nope")
FIXED = {
    "log_reach": (0.9, 0.2, 0.05),
    "log_steepness": (1.8, 2.4, 2.8),
    "logit_lapse": (-5.0, -4.0, -4.0),
    "logit_shorter": (-2.0, -2.5, -1.5),
}
SPREADS = {"log_reach": 0.2, "log_steepness": 0.25, "logit_lapse": 0.7, "logit_shorter": 0.3, "log_precision": 0.3}
LEVELS = (0.5, 0.8, 0.95)


def design(seeds):
    """Build cells of `seeds` runs of each embedding."""
    a, b = (x.ravel() for x in np.meshgrid(GRID, GRID, indexing="ij"))
    cell = {"train_digits": TRAIN, "length_a": a, "length_b": b, "correct": 0, "total": TOTAL}
    parts = [pd.DataFrame({"run": f"{e}-{s}", "embedding": e} | cell) for e in EMBEDDINGS for s in range(seeds)]
    return bs.read(pd.concat(parts, ignore_index=True), "counts")


def truth(law, kind, seeds, rng):
    """Draw parameters of typical runs, of the runs and of new ones: three dicts of arrays."""
    typical, spread = dict(FIXED) | {"log_precision": (3.4,) * len(EMBEDDINGS)}, dict(SPREADS)
    if kind == "prior":
        priors = law.prior_of
        typical = {part: priors[part].drawn(rng, len(EMBEDDINGS)) for part in law.parts}
        typical["log_precision"] = np.repeat(typical["log_precision"][0], len(EMBEDDINGS))
        spread = {part: priors[f"{part}_sd"].drawn(rng) for part in law.parts}

    def deviated(times):
        means = {part: np.repeat(np.asarray(typical[part], float), times) for part in law.parts}
        return {part: x + spread[part] * rng.standard_normal(len(x)) for part, x in means.items()}

    return {part: np.asarray(x, float) for part, x in typical.items()}, deviated(seeds), deviated(1)


def simulated(fitter, table, kind, seeds, seed):
    """Fit one simulation; return where the truth lies among the draws, by kind of length."""
    rng = np.random.default_rng([11, seed])
    typical, runs, new = truth(fitter.law, kind, seeds, rng)
    counts = table.assign(correct=fitter.law.simulate(runs, table, rng))
    fit = fitter.fit(counts, seed=seed, draws=400, tune=500, chains=4)
    assert list(conditions_of(fit).index) == list(EMBEDDINGS)
    ranks = {}
    for seeds_of, curve in (("typical", typical), ("runs", runs), ("new", new)):
        drawn = bs.lengths.length_at_accuracy(fit, 0.5, seeds=seeds_of, seed=seed).values[..., 0]
        true = lengths.length_at(curve, np.log(TRAIN), 0.5, fitter.law.shape)
        # Draws equal to the truth, both being none, take a random place.
        ties = rng.random(len(true)) * (drawn == true).mean((0, 1))
        ranks[seeds_of] = (drawn < true).mean((0, 1)) + ties
    return ranks, fit.diagnostics


def main():
    """Run the study."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--simulations", type=int, default=100)
    parser.add_argument("--seeds", type=int, default=3, help="runs of each embedding")
    parser.add_argument("--truth", choices=("fixed", "prior"), default="fixed")
    options = parser.parse_args()
    warnings.simplefilter("ignore", bs.DiagnosticWarning)
    table = design(options.seeds)
    fitter = bs.Fitter(bs.laws.Lengths(), table)
    start, simulations, divergences, r_hats = time.perf_counter(), [], 0, []
    for s in range(options.simulations):
        ranks, diagnostics = simulated(fitter, table, options.truth, options.seeds, s)
        simulations.append(ranks)
        divergences += diagnostics["divergences"]
        r_hats.append(diagnostics["r_hat_max"])
    seconds = (time.perf_counter() - start) / options.simulations
    print(f"{options.simulations} simulations, truth {options.truth}, {options.seeds} seeds, {seconds:.1f} s each")
    print(f"{divergences} divergences, median r_hat {np.median(r_hats):.4f}, largest {np.max(r_hats):.4f}")
    for kind in ("runs", "typical", "new"):
        ranks = np.concatenate([r[kind] for r in simulations])
        shares = [float((np.abs(ranks - 0.5) <= level / 2).mean()) for level in LEVELS]
        coverage = ", ".join(
            f"{level:.0%} interval covers {share:.3f}" for level, share in zip(LEVELS, shares, strict=True)
        )
        print(f"{kind:8} {coverage}; mean rank {ranks.mean():.3f}, {len(ranks)} lengths", flush=True)


if __name__ == "__main__":
    main()
