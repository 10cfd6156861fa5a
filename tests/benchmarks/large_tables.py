"""Seconds and peak memory of `bayescaling fit` against the rows of its table.

    python tests/benchmarks/large_tables.py [--rows 245 10000 100000] [--draws 1000]

Tables are simulated from the default law at published constants, sizes and tokens log-uniform. Each is read, fitted,
judged (leave-one-out, robust sds, sensitivity, tests of misfit) and saved by the command line in a process of its own,
and once more only fitted and saved. Prints seconds, peak resident memory and the size of the file, and their ratios to
those of the smallest table in the same run.
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
FIT_AND_SAVE = (
    "import sys, bayescaling as bs; runs = bs.read(sys.argv[1]);"
    "bs.save_fit(bs.fit(bs.Chinchilla(), runs, seed=1, draws=int(sys.argv[3])), sys.argv[2])"
)


def simulated(rows, seed=1):
    """Runs of random sizes whose log losses scatter about the law by a Student-t of 5 degrees of freedom."""
    rng = np.random.default_rng(seed)
    parameters, tokens = (10 ** rng.uniform(low, high, rows) for low, high in ((7, 10.5), (9, 12)))
    loss = TRUTH["E"] + TRUTH["A"] * parameters ** -TRUTH["alpha"] + TRUTH["B"] * tokens ** -TRUTH["beta"]
    return pd.DataFrame(
        {"parameters": parameters, "tokens": tokens, "loss": loss * np.exp(SCATTER * rng.standard_t(5, rows))}
    )


def measured(command):
    """Seconds and peak resident bytes of a process."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=sys.stderr, text=True)
    said = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{command[:4]}... ended with status {status}")
    return time.perf_counter() - start, usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024), said


def main():
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[245, 10_000, 100_000])
    parser.add_argument("--draws", type=int, default=1000)
    options = parser.parse_args()
    first = {}
    with tempfile.TemporaryDirectory() as folder:
        table, out = Path(folder) / "runs.csv", Path(folder) / "fit.nc"
        for rows in options.rows:
            simulated(rows).to_csv(table, index=False)
            draws = str(options.draws)
            judged = [sys.executable, "-m", "bayescaling.cli", "fit", "chinchilla", "--data", str(table)]
            commands = {
                "fitted and saved": [sys.executable, "-c", FIT_AND_SAVE, str(table), str(out), draws],
                "judged too": [*judged, "--draws", draws, "--out", str(out), "--json"],
            }
            for name, command in commands.items():
                seconds, peak, said = measured(command)
                size = out.stat().st_size
                base = first.setdefault(name, (seconds, peak, size))
                ratios = ", ".join(f"{x / y:.2g}" for x, y in zip((seconds, peak, size), base, strict=True))
                print(
                    f"{rows:7,} rows, {name}: {seconds:.1f} s, peak {peak / 1e9:.2f} GB, file {size / 1e6:.2f} MB "
                    f"(times those of {options.rows[0]} rows: {ratios})",
                    flush=True,
                )
            alpha = json.loads(said)["parameters"]["alpha"]
            seconds = bs.open_fit(out).attrs["bayescaling"]
            print(
                f"{'':7}       alpha {alpha['mean']:.4f} +- {alpha['sd']:.4f} (truth {TRUTH['alpha']}); "
                f"of which sampling {json.loads(seconds)['seconds']['sample']:.1f} s",
                flush=True,
            )


if __name__ == "__main__":
    main()
