"""CPU seconds of commands, of samplers and of large tables, in seconds and in units of an import: docs/speed.md.

    python tests/benchmarks/speed.py [--only PART ...] [--repeats 3] [--write]

- ``commands``: what a user waits for, until the first line of the answer and in all;
- ``samplers``: effective draws a CPU second of Chinchilla's law, against a program written in Stan, if pystan is there;
- ``large``: `fit` of simulated tables of 245 to a million rows;
- ``stages``: where a first `fit` and a first `report` spend their time, and docs/pictures/speed.svg.

The unit u is the CPU seconds of ``python -c "import pandas, xarray"`` with one thread, the least of three, measured
before each row. With ``--write`` the sections that were measured are replaced in docs/speed.md, and so are the times
that pages quote from it. CPU seconds of all processes of a command count, the least of the repeats.
"""

import argparse
import datetime
import importlib.util
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bayescaling.clusters import cores
from large_tables import simulated
from stages import IMPORTS, REST, STAGES, draw

HERE = Path(__file__).resolve().parent
DOCS = HERE.parents[1] / "docs"
PAGE, PICTURE = DOCS / "speed.md", DOCS / "pictures" / "speed.svg"
QUOTED = re.compile(r"(<!-- speed: (.+?) -->)(.*?)(<!-- end -->)")
ROWS = (245, 10_000, 100_000, 1_000_000)
CLI = [sys.executable, "-m", "bayescaling.commands.cli"]
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
TICK = os.sysconf("SC_CLK_TCK")
SESSION = """
import resource
import bayescaling as bs
def used():
    return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
def measured(work):
    before = used()
    work()
    print(used() - before)
runs = bs.load("chinchilla_runs")
fit = bs.fit(bs.laws.Chinchilla(), runs, seed=1)
measured(lambda: bs.fit(bs.laws.Chinchilla(), runs, seed=2))
measured(fit.check)
measured(fit.wider_laws)
"""
IN_SESSION = ("`bs.fit` again in a session", "`check()` after it", "`wider_laws()` after it")
INTRODUCTION = """# How fast is it?

Times are CPU seconds of all processes of a command, with one thread for matrices. Machines differ, so multiples of u
stand next to them: the CPU seconds of `python -c "import pandas, xarray"` on the same machine at the same time.
`python tests/benchmarks/speed.py --write` writes this page.
"""


def clocked(command, cache, answer=None):
    """Return CPU seconds of a command until its answer and in all, its peak memory in bytes, and what it printed.

    `answer` takes the number of bytes that it has printed, and returns whether the answer is there.
    """
    environment = os.environ | ONE_THREAD | {"XDG_CACHE_HOME": str(cache), "PYTHONUNBUFFERED": "1"}
    with tempfile.TemporaryFile() as printed, tempfile.TemporaryFile("w+") as errors:
        process, first = subprocess.Popen(command, stdout=printed, stderr=errors, env=environment), None
        while not (ended := os.wait4(process.pid, os.WNOHANG))[0]:
            if first is None and answer is not None and answer(os.fstat(printed.fileno()).st_size):
                first = used_by(process.pid)
            time.sleep(0.01)
        if os.waitstatus_to_exitcode(ended[1]):
            errors.seek(0)
            raise SystemExit(f"{command[2:]} ended with status {ended[1]}: {errors.read()[-500:]}")
        printed.seek(0)
        text = printed.read().decode()
    usage = ended[2]
    peak = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return first, usage.ru_utime + usage.ru_stime, peak, text


def used_by(process):
    """Return the CPU seconds of a process and of its descendants until now; 0 where there is no /proc."""
    try:
        ticks = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[11:15]
        children = "".join(
            path.read_text(encoding="utf-8") for path in Path(f"/proc/{process}/task").glob("*/children")
        )
    except OSError:
        return 0.0
    return sum(map(int, ticks)) / TICK + sum(map(used_by, children.split()))


def unit():
    """Return u, the CPU seconds of an import of pandas and xarray."""
    return min(clocked([sys.executable, "-c", "import pandas, xarray"], "/nonexistent")[1] for _ in range(3))


def printed_something(size):
    """Return whether a command has printed."""
    return size > 0


def in_units(u, *seconds):
    """Return cells with seconds and their multiples of u, empty for None."""
    return [cell for x in seconds for cell in (("", "") if x is None else (f"{x:.3g}", f"{x / u:.3g}"))]


def formulas():
    """Return formulas with simulated tables: a power law with a floor, and a law of mixtures of experts."""
    import numpy as np
    import pandas as pd

    rng = np.random.default_rng(0)
    few, n, d, g = np.geomspace(1e6, 1e9, 12), *np.exp(rng.uniform(15, 22, (2, 80))), 2.0 ** rng.integers(0, 6, 80)
    loss = 0.5 + (1.2 / g**0.58 + 18) / n**0.115 + 30 / d**0.147
    floor = {"x": few, "y": (1.8 + 60 * few**-0.25) * np.exp(0.01 * rng.standard_normal(12))}
    experts = {"n": n, "d": d, "g": g, "loss": loss * np.exp(0.01 * rng.standard_normal(80))}
    return {
        "12 rows, 3 constants": ("y ~ E + A * x**-a", pd.DataFrame(floor)),
        "80 rows, 7 constants": ("loss ~ c + (b / g**gamma + a) / n**alpha + h / d**beta", pd.DataFrame(experts)),
    }


def commands(options):
    """Measure what a user waits for."""
    rows = []

    def row(name, *seconds, u):
        rows.append((name, *in_units(u, *seconds), f"{u:.3f}"))
        print("\t".join(rows[-1]), flush=True)

    def measure(name, command, cache=None, answer=None, repeats=options.repeats):
        u, measures = unit(), []
        for _ in range(repeats):
            with tempfile.TemporaryDirectory() as fresh:
                measures.append(clocked(command, cache or fresh, answer)[:2])
        row(name, *(None if None in values else min(values) for values in zip(*measures, strict=True)), u=u)

    with tempfile.TemporaryDirectory() as folder:
        cache, file = Path(folder) / "cache", Path(folder) / "fit.nc"
        fit = [*CLI, "fit", "chinchilla", "--data", "chinchilla_runs"]
        measure("`bayescaling --help`", [*CLI, "--help"])
        measure("`fit chinchilla`, empty cache", fit, answer=printed_something)
        clocked([*fit, "--out", str(file)], cache)
        measure("`fit chinchilla` again", fit, cache, printed_something)
        measure("`allocate` of a saved fit", [*CLI, "allocate", str(file), "--compute", "1e24"], cache)
        u, session = unit(), clocked([sys.executable, "-W", "ignore", "-c", SESSION], cache)[3]
        for name, seconds in zip(IN_SESSION, session.split(), strict=True):
            row(name, None, float(seconds), u=u)
        page = Path(folder) / "report" / "index.html"
        report = [*CLI, "report", "--out", str(page.parent), "--processes", str(cores())]
        measure("`report`, empty cache", report, cache / "new", lambda _: page.exists(), repeats=1)
        measure("`report`, nothing changed", report, cache / "new")
        for name, (formula, rows) in formulas().items():
            rows.to_csv(file.with_suffix(".csv"), index=False)
            fit = [*CLI, "fit", formula, "--data", str(file.with_suffix(".csv"))]
            measure(f"`fit` of a formula, {name}, empty cache", fit, answer=printed_something)
        horizons = [*CLI, "fit", "horizons", "--data", "weirdml"]
        measure("`fit horizons`, the table weirdml", horizons, answer=printed_something, repeats=1)
        demo = [*CLI, "train", "--preset", "demo", "--out", str(Path(folder) / "demo"), "--device", "cpu"]
        measure("`train --preset demo`", demo, repeats=1)
    header = ["command", "until the answer, CPU seconds", "u", "in all, CPU seconds", "u", "1 u, CPU seconds"]
    return table(header, rows)


def sample(which):
    """Sample Chinchilla's law once in this process; print CPU seconds of it and in all, and the draws."""
    import bayescaling as bs
    import numpy as np

    runs = bs.load("chinchilla_runs")
    if which == "stan":
        import stan

        logs = {f"log_{name}": np.log(runs[name].to_numpy(float)) for name in ("parameters", "tokens")}
        data = {name: (log - log.mean()).tolist() for name, log in logs.items()}
        data |= {"rows": len(runs), "log_loss": np.log(runs["loss"]).tolist()}
        program = stan.build((HERE / "chinchilla.stan").read_text(encoding="utf-8"), data=data, random_seed=1)
        before = used_by(os.getpid())
        fit = program.sample(num_chains=4, num_samples=1000, num_warmup=1000)
        after = used_by(os.getpid())
        draws = {name: fit[name].reshape(1000, 4).T for name in fit.param_names}
    else:
        from bayescaling.inference.fitter import Fitter

        fitter = Fitter(bs.laws.Chinchilla(), runs, sampler=None if which == "default" else which)
        fitter.compiled()
        before = used_by(os.getpid())
        dataset = fitter.draws(seed=1)[0].named()
        after = used_by(os.getpid())
        draws = {name: dataset[name].values for name in fitter.law.prior_of}
    print(
        "\n"
        + json.dumps({"seconds": [after - before, after], "draws": {name: x.tolist() for name, x in draws.items()}})
    )


def samplers(options):
    """Measure samplers: least ESS, CPU seconds, and ESS a CPU second of ours over theirs."""
    import arviz_stats as azs
    import numpy as np

    rows, ours, u = [], None, unit()
    names = {"default": "`bs.fit`", "stan": "Stan, by pystan", "numpyro": "NumPyro", "pymc": "PyMC's own sampler"}
    for which, name in names.items():
        if importlib.util.find_spec({"default": "nutpie"}.get(which, which)) is None:
            rows.append((name, f"{which} is not installed", *[""] * 6))
            continue
        with tempfile.TemporaryDirectory() as cache:
            text = clocked([sys.executable, "-W", "ignore", __file__, "--sample", which], cache)[3]
        run = json.loads(text.splitlines()[-1])
        ess = min(float(azs.ess(np.array(x), method="bulk")) for x in run["draws"].values())
        seconds = run["seconds"]
        ours = ours or [ess / x for x in seconds]
        times = (f"{rate * x / ess:.3g}" for rate, x in zip(ours, seconds, strict=True))
        rows.append((name, f"{ess:.0f}", *in_units(u, *seconds), *times))
        print("\t".join(rows[-1]), flush=True)
    header = ["4 chains of 1,000 + 1,000", "least bulk ESS", "sampling, CPU seconds", "u", "with start and compilation"]
    return table([*header, "u", "ESS a CPU second of ours over it", "with start and compilation"], rows)


def large(options):
    """Measure `fit` of large tables, with all that it prints."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        data, out = Path(folder) / "runs.csv", Path(folder) / "fit.nc"
        for count in ROWS:
            simulated(count).to_csv(data, index=False)
            u = unit()
            command = [*CLI, "fit", "chinchilla", "--data", str(data), "--out", str(out), "--seed", "1"]
            *seconds, peak, _ = clocked(command, folder, printed_something)
            sizes = f"{peak / 1e9:.2f}", f"{out.stat().st_size / 1e6:.1f}"
            rows.append((f"{count:,}", *in_units(u, *seconds), *sizes))
            print("\t".join(rows[-1]), flush=True)
    header = ["rows", "until the answer, CPU seconds", "u", "in all, CPU seconds", "u", "peak memory, GB", "file, MB"]
    return table(header, rows)


def stages(options):
    """Measure where a first `fit` and a first `report` spend CPU seconds, and draw it."""
    bars, u = {}, unit()
    for name in (["fit", "chinchilla", "--data", "chinchilla_runs"], ["report"]):
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder) / "stages.json"
            more = ["--out", f"{folder}/report", "--processes", "1"] if name == ["report"] else []
            clocked([sys.executable, str(HERE / "stages.py"), str(out), *name, *more], folder)
            bars[f"{name[0]}, empty cache"] = {
                stage: x / u for stage, x in json.loads(out.read_text(encoding="utf-8")).items()
            }
    draw(bars, PICTURE)
    rows = [(stage, *(f"{bar.get(stage, 0):.3g}" for bar in bars.values())) for stage in (IMPORTS, *STAGES, REST)]
    rows.append(("together", *(f"{sum(bar.values()):.3g}" for bar in bars.values())))
    picture = f"![CPU time of a first fit and a first report by stage](pictures/{PICTURE.name})"
    return f"{table([f'u, 1 u = {u:.3f} CPU seconds', *bars], rows)}\n\n{picture}"


def table(header, rows):
    """Write a table in Markdown."""
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in (header, ["---"] * len(header), *rows))


PARTS = {part.__name__: part for part in (commands, samplers, large, stages)}


def sections(text):
    """Return the sections of the page, by the name of the part."""
    parts = (part.partition("\n") for part in text.split("\n## ")[1:])
    return {name.lower(): body.strip() for name, _, body in parts if name.lower() in PARTS}


def quoted(text, page):
    """Return a text with the times that it quotes from the page, as "399 CPU seconds (1,120 u)"."""

    def time_of(mark):
        row = next(line for line in page.splitlines() if line.startswith(f"| {mark[2]} |"))
        seconds, units = row.split(" | ")[3:5]
        return f"{mark[1]}{seconds} CPU seconds ({units} u){mark[4]}"

    return QUOTED.sub(time_of, text)


def main():
    """Measure, and write the results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--sample", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.sample:
        sample(options.sample)
        return
    now = datetime.date.today()
    where = f"On {now.day} {now:%B %Y}, {cores()} cores ({platform.machine()}), Python {platform.python_version()}."
    for part in options.only:
        section = f"{where}\n\n{PARTS[part](options)}"
        print(f"{part}\n\n{section}\n", flush=True)
        if options.write:  # after each part, so that none is lost
            parts = sections(PAGE.read_text(encoding="utf-8")) | {part: section}
            written = [f"## {name.capitalize()}\n\n{parts[name]}\n" for name in PARTS if name in parts]
            PAGE.write_text("\n".join([INTRODUCTION, *written]), encoding="utf-8")
    if options.write:
        for path in (DOCS.parent / "README.md", *DOCS.rglob("*.md")):
            before = path.read_text(encoding="utf-8")
            if (after := quoted(before, PAGE.read_text(encoding="utf-8"))) != before:
                path.write_text(after, encoding="utf-8")


if __name__ == "__main__":
    main()
