"""The command ``worth``: what a changed recipe is worth against a baseline, and whether to promote it."""

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from . import options, parsing, tables


def worth(
    files: Annotated[
        list[Path],
        Argument(help="Fits with --group. Of several the first is reported.", metavar="FILE.nc..."),
    ],
    baseline: Annotated[str, Option(help="Group with which the others are compared.", metavar="NAME")],
    compute: Annotated[
        list[str], Option(help=f"Budget in FLOP: {options.FLOP}, or a range 1e20:1e24:5. Repeatable.", metavar="FLOP")
    ],
    tokens_per_parameter: Annotated[
        float | None, Option(help="Of every run; by default the best of each group.", metavar="RATIO")
    ] = None,
    within: Annotated[str | None, Option(help="FLOP in which the order may turn.", metavar="LOW:HIGH")] = None,
    switch: Annotated[str, Option(help="FLOP that adopting a change takes.", metavar="FLOP")] = "0",
    gpu_hour: options.GpuHour = None,
    flop_per_second: options.FlopPerSecond = options.H100,
    utilisation: options.Utilisation = options.USUAL,
    plan: options.Plan = None,
    beyond: options.Beyond = "drift",
    robust: options.Robust = True,
    json: options.Json = False,
):
    """Print what a changed recipe is worth. Each group has a compute multiplier, and advice to promote it or not."""
    from ..inference.decisions.worth import worth
    from ..reports import results

    fits = {name.removesuffix(".nc"): fit for name, fit in tables.open_fits(files, json).items()}
    first = next(iter(fits.values()))
    verdict = results.verdict_entry(first)
    result = worth(
        fits if len(fits) > 1 else first,
        baseline,
        parsing.numbers(compute, "--compute"),
        tokens_per_parameter=tokens_per_parameter,
        within=None if within is None else parsing.ends(within, "--within"),
        switch=parsing.flop(switch, "--switch"),
        gpu_hour=gpu_hour,
        flop_per_second=flop_per_second,
        utilisation=utilisation,
        beyond=beyond,
        robust=robust,
        **parsing.values(plan, "--plan"),
    )
    tables.print_result(result, {"worth": result.entries(), "diagnostics": first.diagnostics, "verdict": verdict}, json)
    for file, fit in list(zip(files, fits.values(), strict=True))[1:]:
        tables.print_diagnostics(file, fit.diagnostics)
