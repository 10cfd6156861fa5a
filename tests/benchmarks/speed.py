"""How long commands take, how many effective draws a CPU second gives, how a density grows with its table.

    python tests/benchmarks/speed.py [--only PART ...] [--skip PART ...] [--repeats 3] [--out docs/speed.md]

Without ``--only`` and ``--skip`` all parts are measured; ``--skip report`` leaves out what takes longest.

- ``commands``: help, a refusal, `fit` and `compare progress`, in the first process and in the second;
- ``report``: with an empty cache, and again with nothing changed;
- ``samplers``: effective draws a CPU second of Chinchilla's law on the built-in runs, as ratios to the default;
- ``files``: a fit saved and opened;
- ``large``: `fit` of a table of 100,000 simulated rows;
- ``growth``: microseconds of a density with its gradient, against rows and benchmarks.

Seconds of commands are medians over repeats, each in a separate process; the rest is measured once. With ``--out`` the
sections of the parts that were measured are replaced in a file, and the others stay. Compare ratios of one run.
"""

import argparse
import ctypes
import datetime
import json
import math
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import timeit
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from bayescaling.clusters import cores
from large_tables import simulated

PARTS = ("commands", "report", "samplers", "files", "large", "growth")
ROWS = (245, 2_450, 24_500, 245_000, 1_000_000)
LARGE = 100_000
BENCHMARKS = (3, 6, 25, 100)
REPLICATES = 1000
CORES = cores()
CLI = [sys.executable, "-m", "bayescaling.commands.cli"]
SAMPLERS = {
    "default (nutpie, low-rank metric)": "default",
    "Stan's settings (diagonal metric, acceptance 0.8)": "stan",
    "PyMC's own sampler": "pymc",
    "NumPyro": "numpyro",
    f"bootstrap of {REPLICATES:,} point fits (Huber, least absolute deviations)": "bootstrap",
}
INTRODUCTION = """# How fast is it?

Each section is measured by `python tests/benchmarks/speed.py --only NAME` with nothing else running. Seconds differ
between machines, and on one machine between days: compare ratios within a section. CPU seconds are those of all
processes of a command together.
"""


def clocked(command, cache, status=0):
    """Return wall seconds, CPU seconds and peak resident bytes of a command with a separate cache."""
    with tempfile.TemporaryFile("w+") as printed:
        start, environment = time.perf_counter(), os.environ | {"XDG_CACHE_HOME": str(cache)}
        process = subprocess.Popen(command, stdout=printed, stderr=printed, env=environment)
        _, ended, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        if os.waitstatus_to_exitcode(ended) != status:
            printed.seek(0)
            raise SystemExit(f"{command[3:]} ended with status {ended}: {printed.read()[-500:]}")
    peak = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return seconds, usage.ru_utime + usage.ru_stime, peak


def medians(command, repeats, *, cold=True, status=0):
    """Medians of `clocked`, with an empty cache each time or one that an earlier run filled."""
    measures = []
    with tempfile.TemporaryDirectory() as shared:
        if not cold:
            clocked(command, shared, status)
        for _ in range(repeats):
            with tempfile.TemporaryDirectory() as fresh:
                measures.append(clocked(command, fresh if cold else shared, status))
    return [statistics.median(column) for column in zip(*measures, strict=True)]


def commands(options):
    """Measure commands: seconds and CPU seconds with an empty cache, and with that which a first process left."""
    repeats, refusal = options.repeats, [*CLI, "fit", "chinchilla", "--data", "missing.csv"]
    single = {
        "`import bayescaling`": medians([sys.executable, "-c", "import bayescaling"], repeats),
        "`bayescaling --help`": medians([*CLI, "--help"], repeats),
        "a refusal (`fit` of a missing file)": medians(refusal, repeats, status=2),
    }
    rows = [(name, seconds, cpu, None, None) for name, (seconds, cpu, _) in single.items()]
    for name, times in (("fit chinchilla", repeats), ("compare progress", 1)):
        command = [*CLI, *name.split()]
        cold, warm = (medians(command, times, cold=cold) for cold in (True, False))
        rows.append((f"`{name}`", *cold[:2], *warm[:2]))
    return table(["medians", "seconds, empty cache", "CPU seconds", "seconds, again", "CPU seconds"], rows)


def reports(options):
    """Measure reports, of as many processes as there are cores, with a cache that the one before left."""
    timed, durations, answered = ("`report`, empty cache", "`report`, nothing changed"), [], []
    for _ in range(options.repeats):
        with (
            tempfile.TemporaryDirectory() as cache,
            tempfile.TemporaryDirectory() as out,
            ThreadPoolExecutor(1) as pool,
        ):
            page = Path(options.keep or out) / "index.html"
            page.unlink(missing_ok=True)
            first = pool.submit(seconds_until, page)
            command = [*CLI, "report", "--out", str(page.parent), "--processes", str(CORES)]
            durations.append([clocked(command, cache)[:2] for _ in timed])
            answered.append(first.result())
    rows = [
        (name, *(statistics.median(values) for values in zip(*measures, strict=True)))
        for name, measures in zip(timed, zip(*durations, strict=True), strict=True)
    ]
    first = ("first answers on its page", statistics.median(answered), None)
    return table(["medians, a process a core", "seconds", "CPU seconds"], [rows[0], first, rows[1]])


def seconds_until(path):
    """Return the seconds until there is a file."""
    start = time.perf_counter()
    while not path.exists():
        time.sleep(0.1)
    return time.perf_counter() - start


def used():
    """Return CPU seconds that this process and those that it waited for have used."""
    return sum(resource.getrusage(who).ru_utime for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def sample(which):
    """Fit in this process, and print least bulk ESS, or replicates, and CPU seconds as JSON."""
    import arviz_stats as azs
    import bayescaling as bs
    import nutpie

    runs, law = bs.load("chinchilla_runs"), bs.laws.Chinchilla()
    if which == "bootstrap":
        before, constants = used(), bs.points.fit_huber(runs)["constants"]
        start = [[*(math.log(constants[name]) for name in "ABE"), constants["alpha"], constants["beta"]]]
        for seed in range(REPLICATES):
            bs.points.fit_huber(runs.sample(frac=1, replace=True, random_state=seed), starts=start)
        print(json.dumps({"ess": REPLICATES, "cpu": used() - before}))
        return
    if which == "stan":
        ours = nutpie.sample
        nutpie.sample = lambda *args, **options: ours(
            *args, **options | {"low_rank_modified_mass_matrix": False, "target_accept": 0.8}
        )
    before = used()
    fit = bs.fit(law, runs, seed=1, sampler=None if which in ("default", "stan") else which)
    cpu = used() - before
    names = [name for name in law.prior_of if name in fit["posterior"]]
    ess = azs.ess(fit["posterior"].to_dataset()[names], method="bulk")
    print(json.dumps({"ess": min(float(x) for x in ess.data_vars.values()), "cpu": cpu}))


def samplers(options):
    """Measure samplers: least ESS, CPU seconds, and ESS a CPU second over that of the default."""
    rows, first = [], None
    for name, which in SAMPLERS.items():
        command = [sys.executable, "-W", "ignore", __file__, "--sample", which]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            rows.append((name, "not installed", "", ""))
            continue
        run = json.loads(done.stdout.splitlines()[-1])
        first = first or run["ess"] / run["cpu"]
        rows.append((name, f"{run['ess']:.0f}", f"{run['cpu']:.1f}", f"{run['ess'] / run['cpu'] / first:.2g}"))
    header = ["Chinchilla's law, 4 x (1000 + 1000)", "least bulk ESS", "CPU seconds", "ESS a CPU second, relative"]
    return table(header, rows)


def files(options):
    """Measure a fit saved and opened: seconds of the first and the median of later ones, and megabytes."""
    import bayescaling as bs

    fit = bs.fit(bs.laws.Chinchilla(), bs.load("chinchilla_runs"), seed=1)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "fit.nc"
        saved = [timeit.timeit(lambda: fit.save(path), number=1) for _ in range(8)]
        opened = [timeit.timeit(lambda: bs.open(path), number=1) for _ in range(8)]
        size = path.stat().st_size / 1e6
    rows = [(name, x[0], statistics.median(x[1:])) for name, x in (("`fit.save`", saved), ("`bs.open`", opened))]
    return table([f"a fit of 245 runs, 4,000 draws, {size:.2f} MB", "seconds, first time", "again, median"], rows)


def large(options):
    """Measure `fit` of a large table, with all that it prints, and of the built-in one."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        data, out = Path(folder) / "runs.csv", Path(folder) / "fit.nc"
        for count in (245, LARGE):
            simulated(count).to_csv(data, index=False)
            command = [*CLI, "fit", "chinchilla", "--data", str(data), "--out", str(out), "--seed", "1"]
            seconds, cpu, peak = clocked(command, folder)
            rows.append((f"{count:,}", f"{seconds:.0f}", f"{cpu:.0f}", f"{peak / 1e9:.2f}", out.stat().st_size / 1e6))
    header = ["rows of simulated runs, `fit chinchilla`", "seconds", "CPU seconds", "peak memory, GB", "file, MB"]
    return table(header, rows)


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


def growth(options):
    """Measure growth: what of, how many, microseconds, microseconds for each."""
    import bayescaling as bs
    import pandas as pd

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
        whole = pd.concat(copies, ignore_index=True)
        benchmarks = sorted(whole["benchmark"].unique())[:count]
        whole = whole[whole["benchmark"].isin(benchmarks)].reset_index(drop=True)
        seconds = density(bs.laws.Progress(7), whole)
        rows.append(("specification 7, benchmarks", f"{count} ({len(whole):,} rows)", f"{seconds:.0f}",
                     f"{seconds / len(whole):.3f} a row"))  # fmt: skip
    return table(["density and gradient of", "how many", "microseconds", "for each"], rows)


def table(header, rows):
    """Write a table in Markdown."""
    shown = [[f"{x:.2f}" if isinstance(x, float) else "" if x is None else x for x in row] for row in rows]
    lines = [header, ["---"] * len(header), *shown]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


WRITERS = dict(zip(PARTS, (commands, reports, samplers, files, large, growth), strict=True))


def sections(path):
    """Return the sections of a file that this benchmark wrote, by the name of the part."""
    text = Path(path).read_text(encoding="utf-8") if Path(path).is_file() else ""
    parts = (part.partition("\n") for part in text.split("\n## ")[1:])
    return {name.lower(): body.strip() for name, _, body in parts if name.lower() in PARTS}


def main():
    """Measure, and write the results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--skip", nargs="+", choices=PARTS, default=())
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--out", metavar="FILE.md")
    parser.add_argument("--keep", metavar="FOLDER", help="where the last report stays")
    parser.add_argument("--sample", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.sample:
        sample(options.sample)
        return
    now = datetime.date.today()
    where = f"On {now.day} {now:%B %Y}, {CORES} cores ({platform.machine()}), Python {platform.python_version()}."
    parts = sections(options.out) if options.out else {}
    for part in PARTS:
        if part in options.only and part not in options.skip:
            parts[part] = f"{where}\n\n{WRITERS[part](options)}"
            print(f"{part}\n\n{parts[part]}\n", flush=True)
            if options.out:  # after each part, so that none is lost
                written = [f"## {name.capitalize()}\n\n{parts[name]}\n" for name in PARTS if name in parts]
                Path(options.out).write_text("\n".join([INTRODUCTION, *written]), encoding="utf-8")


if __name__ == "__main__":
    main()
