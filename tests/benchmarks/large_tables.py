"""Seconds and peak memory of `bayescaling fit` against the rows of its table.

    python tests/benchmarks/large_tables.py [--rows 245 10000 100000] [--draws 1000]

Tables are simulated from the default law at published constants, sizes and tokens log-uniform. Each is read, fitted,
checked (leave-one-out, robust sds, sensitivity, tests of misfit) and saved by the command line in a separate process.
The benchmark prints total seconds, seconds of sampling, peak resident memory and the size of the file. It also prints
their ratios to those of the first table in the same run.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import bayescaling as bs
import numpy as np
import pandas as pd

TRUTH = {"E": 1.8172, "A": 482.01, "B": 2085.43, "alpha": 0.3478, "beta": 0.3658}  # Besiroglu et al. (2024)
SCATTER = 0.01


def simulated(rows, seed=1):
    """Runs of random sizes whose log losses scatter about the law by a Student-t of 5 degrees of freedom."""
    rng = np.random.default_rng(seed)
    parameters, tokens = (10 ** rng.uniform(low, high, rows) for low, high in ((7, 10.5), (9, 12)))
    loss = TRUTH["E"] + TRUTH["A"] * parameters ** -TRUTH["alpha"] + TRUTH["B"] * tokens ** -TRUTH["beta"]
    return pd.DataFrame(
        {"parameters": parameters, "tokens": tokens, "loss": loss * np.exp(SCATTER * rng.standard_t(5, rows))}
    )


def measured(command, cache):
    """Seconds and peak resident bytes of a process with a separate cache."""
    start, environment = time.perf_counter(), os.environ | {"XDG_CACHE_HOME": cache}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=sys.stderr, text=True, env=environment)
    printed = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{command[:4]}... ended with status {status}")
    return time.perf_counter() - start, usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024), printed


def main():
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[245, 10_000, 100_000])
    parser.add_argument("--draws", type=int, default=1000)
    options = parser.parse_args()
    first = None
    with tempfile.TemporaryDirectory() as folder:
        table, out = Path(folder) / "runs.csv", Path(folder) / "fit.nc"
        for rows in options.rows:
            simulated(rows).to_csv(table, index=False)
            command = [sys.executable, "-m", "bayescaling.commands.cli", "fit", "chinchilla", "--data", str(table)]
            seconds, peak, printed = measured(
                [*command, "--draws", str(options.draws), "--out", str(out), "--json"], folder
            )
            measures = seconds, peak, out.stat().st_size
            first = first or measures
            sampling = bs.open(out).record["seconds"]["sample"]
            ratios = ", ".join(f"{x / y:.2g}" for x, y in zip(measures, first, strict=True))
            alpha = json.loads(printed)["parameters"]["alpha"]
            print(
                f"{rows:7,} rows: {seconds:.1f} s, {sampling:.1f} of them sampling; peak {peak / 1e9:.2f} GB; file "
                f"{measures[2] / 1e6:.2f} MB; times the first: {ratios}; "
                f"alpha {alpha['mean']:.4f} ({alpha['sd']:.4f}), truth {TRUTH['alpha']}",
                flush=True,
            )


if __name__ == "__main__":
    main()
