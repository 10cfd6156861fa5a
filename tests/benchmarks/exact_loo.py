"""Compare leave-one-out of specification 7 by a refit for every row with importance sampling.

    python tests/benchmarks/exact_loo.py [--rows N] [--draws N]

All refits share one compilation. Prints both elpd, their Monte-Carlo standard errors, the difference and the time.
"""

import argparse
import time

import bayescaling as bs
import numpy as np
from bayescaling.inference.comparison.refits import exact_loo


def psis_error(fit, result):
    """Monte-Carlo standard error of the importance-sampling elpd, summed over rows, from the chains."""
    weights = np.exp(result.log_weights.transpose("chain", "draw", ...).values)
    density = np.exp(fit.draws.rowwise())
    chains = (weights * density).sum(1) / weights.sum(1)
    return np.sqrt(((chains.std(0, ddof=1) / np.sqrt(len(chains)) / chains.mean(0)) ** 2).sum())


def main():
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int)
    parser.add_argument("--draws", type=int, default=1000)
    options = parser.parse_args()
    fitter = bs.progress.new_fitter(bs.load("lm_progress"))
    fit = fitter.fit(law=bs.laws.Progress(7), draws=4 * options.draws)
    result = fit.loo(high_k="none")
    start = time.perf_counter()
    rows = np.arange(options.rows or len(fitter.table))
    exact = exact_loo(fit, rows, draws=options.draws, progress=True)
    seconds = time.perf_counter() - start
    psis, elpd = result.elpd_i.values[rows], exact["elpd"].values[rows]
    exact_error = float(np.sqrt((exact["elpd_se"].values[rows] ** 2).sum()))
    print(f"exact elpd {elpd.sum():.2f} (Monte-Carlo error {exact_error:.3f}), {len(rows)} refits in {seconds:.0f} s")
    print(f"PSIS elpd {psis.sum():.2f} (Monte-Carlo error {psis_error(fit, result):.3f})")
    print(f"difference {psis.sum() - elpd.sum():+.3f}, largest of a row {np.abs(psis - elpd).max():.3f}")


if __name__ == "__main__":
    main()
