"""CPU seconds of a command by stage, as JSON: ``python tests/benchmarks/stages.py OUT.json fit chinchilla``.

The command runs in this process. A stage is the time within a function of the package, less that of stages within it;
but all within wider laws counts for these. Imports are those of any module at any place.
"""

import contextlib
import functools
import importlib
import io
import json
import sys
import time
from collections import Counter
from pathlib import Path

STAGES = {
    "compilation": ["inference.fitter:Fitter.compiled"],
    "sampling": ["inference.fitter:Fitter.sample"],
    "checks": [
        "inference.comparison.loo:loo",
        "inference.checks.check:check",
        "inference.checks.law_tests:law_tests",
        "inference.checks.sandwich:robust_sds",
        "inference.checks.sensitivity:power_scalings",
        "inference.checks.sensitivity:prior_driven",
    ],
    "wider laws": ["inference.checks.wider_laws:wider_laws"],
    "page": ["reports.html.render:render"],
}
IMPORTS, REST = "imports", "the rest"
COLOURS = ("BLUE", "PURPLE", "SKY", "GREEN", "ORANGE", "BLACK")
seconds, stack, clock = Counter(), [IMPORTS], [0.0]


@contextlib.contextmanager
def within(stage):
    """Count the CPU seconds of a block for a stage."""
    _count()
    stack.append(stack[-1] if stack[-1] in ("wider laws", IMPORTS) and stage != IMPORTS else stage)
    try:
        yield
    finally:
        _count()
        stack.pop()


def _count():
    now = time.process_time()
    seconds[stack[-1]] += now - clock[0]
    clock[0] = now


def _counted(function, stage):
    @functools.wraps(function)
    def counting(*args, **options):
        with within(stage):
            return function(*args, **options)

    return counting


def watch_imports():
    """Count imports, and the functions of `STAGES` once their modules are imported."""
    targets = {}
    for stage, places in STAGES.items():
        for place in places:
            module, path = place.split(":")
            targets.setdefault(f"bayescaling.{module}", []).append((path, stage))
    bootstrap = importlib._bootstrap
    load = bootstrap._find_and_load

    def find_and_load(name, *args):
        with within(IMPORTS):
            module = load(name, *args)
        for path, stage in targets.pop(name, ()):
            *owners, function = path.split(".")
            owner = functools.reduce(getattr, owners, module)
            setattr(owner, function, _counted(getattr(owner, function), stage))
        return module

    bootstrap._find_and_load = find_and_load


def draw(bars, path):
    """Draw stacked bars of stages in u, a panel a command."""
    import matplotlib

    matplotlib.use("agg")
    from bayescaling.plots import style
    from bayescaling.plots.with_matplotlib import compact
    from matplotlib import pyplot as plt

    colours = [getattr(style, name) for name in COLOURS]
    look = {"svg.hashsalt": "bayescaling", "svg.fonttype": "none", "font.size": 10}
    with plt.rc_context(look):
        figure, axes = plt.subplots(len(bars), figsize=(7.4, 3.2), layout="constrained")
        for ax, (title, bar) in zip(axes, bars.items(), strict=True):
            left = 0.0
            for name, colour in (*zip((IMPORTS, *STAGES), colours, strict=True), (REST, style.GREY)):
                ax.barh(0, bar.get(name, 0), left=left, color=colour, label=name)
                left += bar.get(name, 0)
            ax.set_title(f"{title}: {left:.3g} u", loc="left", fontsize=10.5, color=style.INK)
            ax.set_yticks([])
            ax.spines[["top", "right", "left"]].set_visible(False)
            ax.grid(True, axis="x", color=style.GRID, linewidth=0.8)
            ax.set_axisbelow(True)
        axes[-1].set_xlabel("CPU time in u, that of import pandas, xarray", fontsize=9.5)
        axes[0].legend(fontsize=8.5, frameon=False, loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0.0)
        svg = io.StringIO()
        figure.savefig(svg, format="svg", metadata={"Date": None}, bbox_inches="tight")
    path.write_text(compact(svg.getvalue()), encoding="utf-8")


def main(out, *command):
    """Run a command, and write its stages."""
    watch_imports()
    _count()
    stack[:] = [REST]
    sys.argv = ["bayescaling", *command]
    from bayescaling.commands import cli

    try:
        cli.main()
    finally:
        _count()
        Path(out).write_text(json.dumps(seconds), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
