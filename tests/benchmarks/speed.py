"""How long commands take, how many effective draws a CPU second gives, how a density grows with its table.

    python tests/benchmarks/speed.py [--only PART ...] [--repeats 3] [--out docs/speed.md] [--note TEXT] [--keep FOLDER]

Without ``--only`` all parts are measured:

- ``commands``: help, a refusal, `fit` and `compare progress`, in the first process and in the second;
- ``report``: with an empty cache, and again with nothing changed;
- ``samplers``: least effective draws per CPU second of Chinchilla's law on the built-in runs under several samplers, as
  ratios to the default in the same run;
- ``growth``: microseconds of a density with its gradient, against rows and benchmarks.

Seconds are medians over repeats, each in a separate process. Compare ratios of one run: seconds differ by machine.
"""

import argparse
import ctypes
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import timeit
from pathlib import Path

from bayescaling.clusters import cores

PARTS = ("commands", "report", "samplers", "growth")
ROWS = (245, 2_450, 24_500, 245_000, 1_000_000)
BENCHMARKS = (3, 6, 25, 100)
CORES = cores()
CLI = [sys.executable, "-m", "bayescaling.commands.cli"]
SAMPLERS = {
    "default (nutpie, low-rank metric)": "default",
    "Stan's settings (diagonal metric, acceptance 0.8)": "stan",
    "PyMC's own sampler": "pymc",
    "NumPyro": "numpyro",
}


def clocked(command, cache, status=0):
    """Return the wall seconds of a command with a separate cache."""
    start = time.perf_counter()
    environment = os.environ | {"XDG_CACHE_HOME": str(cache)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    if done.returncode != status:
        raise SystemExit(f"{command[3:]} ended with status {done.returncode}: {done.stderr[-500:]}")
    return time.perf_counter() - start


def median(command, repeats, *, cold=True, status=0):
    """Median seconds of a command, with an empty cache each time or one that an earlier run filled."""
    durations = []
    with tempfile.TemporaryDirectory() as shared:
        if not cold:
            clocked(command, shared, status)
        for _ in range(repeats):
            with tempfile.TemporaryDirectory() as fresh:
                durations.append(clocked(command, fresh if cold else shared, status))
    return statistics.median(durations)


def commands(repeats):
    """Rows of the table on commands: name, first process, second process."""
    python = [sys.executable, "-c", "import bayescaling"]
    rows = [("`import bayescaling`", median(python, repeats), None)]
    rows.append(("`bayescaling --help`", median([*CLI, "--help"], repeats), None))
    refusal = [*CLI, "fit", "chinchilla", "--data", "missing.csv"]
    rows.append(("a refusal (`fit` of a missing file)", median(refusal, repeats, status=2), None))
    timed = (["fit", "chinchilla"], ["compare", "progress"])
    both = [[median([*CLI, *name], repeats, cold=cold) for cold in (True, False)] for name in timed]
    return rows + [(f"`{' '.join(name)}`", *seconds) for name, seconds in zip(timed, both, strict=True)]


def reports(repeats, timed, keep=None):
    """Rows of the table on reports, of as many processes as there are cores: name, seconds.

    Each is timed in a folder and with a cache that the one before left. The last report stays in the folder `keep`.
    """
    durations = []
    for _ in range(repeats):
        with tempfile.TemporaryDirectory() as cache, tempfile.TemporaryDirectory() as out:
            command = [*CLI, "report", "--out", keep or out, "--processes", str(CORES)]
            durations.append([clocked([*command, *words], cache) for words in timed.values()])
    return [(name, statistics.median(column)) for name, column in zip(timed, zip(*durations, strict=True), strict=True)]


def sample(which):
    """Fit in this process, and print least bulk ESS and CPU seconds of sampling as JSON."""
    import arviz_stats as azs
    import bayescaling as bs
    import nutpie

    if which == "stan":
        ours = nutpie.sample
        nutpie.sample = lambda *args, **options: ours(
            *args, **options | {"low_rank_modified_mass_matrix": False, "target_accept": 0.8}
        )
    runs, law = bs.load("chinchilla_runs"), bs.laws.Chinchilla()
    before = resource.getrusage(resource.RUSAGE_SELF)
    fit = bs.fit(law, runs, seed=1, sampler=None if which in ("default", "stan") else which)
    after = resource.getrusage(resource.RUSAGE_SELF)
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    names = [name for name in law.prior_of if name in fit["posterior"]]
    ess = azs.ess(fit["posterior"].to_dataset()[names], method="bulk")
    least = min(float(x) for x in ess.data_vars.values())
    cpu = after.ru_utime - before.ru_utime + children.ru_utime
    print(json.dumps({"ess": least, "cpu": cpu, "sampling": fit.record["seconds"]["sample"]}))


def ess(repeats):
    """Rows of the table on samplers: name, least ESS, CPU seconds, ESS a CPU second over that of the default."""
    rows, first = [], None
    for name, which in SAMPLERS.items():
        runs = []
        for _ in range(repeats):
            command = [sys.executable, "-W", "ignore", __file__, "--sample", which]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                break
            runs.append(json.loads(done.stdout.splitlines()[-1]))
        if not runs:
            rows.append((name, "not installed", "", ""))
            continue
        least, cpu = (statistics.median(run[key] for run in runs) for key in ("ess", "cpu"))
        first = first or least / cpu
        rows.append((name, f"{least:.0f}", f"{cpu:.1f}", f"{least / cpu / first:.2g}"))
    return rows


def density(law, table):
    """Microseconds of a law's log density with its gradient."""
    import numpy as np
    from bayescaling.inference.engine import compile_density, flat

    rows = law.rows(table)
    density = law.density(rows, law.reference(rows))
    traced = compile_density(density)
    user, _held = traced.addresses(density)
    z, value = flat(density.start), np.zeros(1)
    gradient = np.zeros_like(z)
    pointers = [x.ctypes.data for x in (z, gradient, value, user)]
    call = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_uint64, *[ctypes.c_void_p] * 4)(traced.address)
    clock = timeit.Timer(lambda: call(len(z), *pointers))
    times, seconds = clock.autorange()
    return min([seconds, *clock.repeat(4, times)]) / times * 1e6


def growth():
    """Rows of the table on growth: what of, how many, microseconds, microseconds for each."""
    import bayescaling as bs
    import pandas as pd
    from large_tables import simulated

    rows = []
    for count in ROWS:
        seconds = density(bs.laws.Chinchilla(), simulated(count))
        rows.append(("Chinchilla's law, rows", f"{count:,}", f"{seconds:.0f}", f"{seconds / count:.3f}"))
    evaluations = bs.load("lm_progress")
    for count in BENCHMARKS:
        copies = [
            evaluations.assign(benchmark=[f"{name}-{i}" if i else name for name in evaluations["benchmark"]])
            for i in range(-(-count // evaluations["benchmark"].nunique()))
        ]
        table = pd.concat(copies, ignore_index=True)
        benchmarks = sorted(table["benchmark"].unique())[:count]
        table = table[table["benchmark"].isin(benchmarks)].reset_index(drop=True)
        seconds = density(bs.laws.Progress(7), table)
        rows.append(("specification 7, benchmarks", f"{count} ({len(table):,} rows)", f"{seconds:.0f}",
                     f"{seconds / len(table):.3f} a row"))  # fmt: skip
    return rows


def table(header, rows):
    """Write a table in Markdown."""
    shown = [[f"{x:.2f}" if isinstance(x, float) else "" if x is None else x for x in row] for row in rows]
    lines = [header, ["---"] * len(header), *shown]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def main():
    """Measure, and write the results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--out", metavar="FILE.md")
    parser.add_argument("--note", default="")
    parser.add_argument("--keep", metavar="FOLDER", help="where the last report stays")
    parser.add_argument("--sample", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.sample:
        sample(options.sample)
        return
    machine = f"{CORES} cores ({platform.machine()}), Python {platform.python_version()}"
    parts = [
        f"# How fast is it?\n\nMeasured by `python tests/benchmarks/speed.py` on {machine}. {options.note}".rstrip()
    ]

    def of_reports(timed):
        return table(["seconds, medians", "a process a core"], reports(options.repeats, timed, options.keep))

    writers = {
        "commands": lambda: table(["seconds, medians", "first process", "second process"], commands(options.repeats)),
        "report": lambda: of_reports({"`report`, empty cache": [], "`report`, nothing changed": []}),
        "samplers": lambda: table(
            ["Chinchilla's law, 4 x (1000 + 1000)", "least bulk ESS", "CPU seconds", "ESS a CPU second, relative"],
            ess(options.repeats),
        ),
        "growth": lambda: table(["density and gradient of", "how many", "microseconds", "for each"], growth()),
    }
    for part in options.only:
        parts.append(writers[part]())
        print(parts[-1], flush=True)
    if options.out:
        Path(options.out).write_text("\n\n".join(parts) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
