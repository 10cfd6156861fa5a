"""The command ``design``: which runs to make next, in order of purchase."""

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from . import options, parsing, tables


def design(
    files: Annotated[
        list[Path],
        Argument(help="Fits of the same runs, of one law or several.", metavar="FILE.nc..."),
    ],
    budget: Annotated[str, Option(help=f"FLOP for all runs together: {options.FLOP}.", metavar="FLOP")],
    compute: Annotated[str | None, Option(help="Budget in FLOP that the runs are to inform.", metavar="FLOP")] = None,
    target: Annotated[
        str, Option(help="allocation, the best size there; loss, the best loss; or exponent, of the best size.")
    ] = "allocation",
    candidates: Annotated[
        Path | None,
        Option(help="A table of possible runs: parameters, tokens, and cost in FLOP if known.", metavar="FILE"),
    ] = None,
    gate: Annotated[bool, Option(help="Test by rollouts whether the law may choose runs.")] = True,
    plan: options.Plan = None,
    beyond: options.Beyond = "drift",
    gpu_hour: options.GpuHour = None,
    flop_per_second: options.FlopPerSecond = options.H100,
    utilisation: options.Utilisation = options.USUAL,
    seed: Annotated[int | None, Option(help="Seed of the rollouts; that of the fit by default.")] = None,
    figure: options.Figure = None,
    json: options.Json = False,
):
    """Print which runs to make next within a budget. They are in order of purchase."""
    from ..inference import design as designed
    from ..inference import storage
    from ..plots.with_matplotlib import check_format

    if figure:
        check_format(figure)
    planned = parsing.values(plan, "--plan")
    budget = parsing.flop(budget, "--budget")
    compute = None if compute is None else parsing.flop(compute, "--compute")
    fits = [storage.open(file) for file in files]
    schedule = designed(
        fits,
        candidates,
        budget,
        compute=compute,
        target=target,
        gate=gate,
        beyond=beyond,
        gpu_hour=gpu_hour,
        flop_per_second=flop_per_second,
        utilisation=utilisation,
        seed=seed,
        progress=tables.interactive(json),
        **planned,
    )
    if figure:
        tables.draw(figure, [schedule.plot])
    tables.print_result(schedule, schedule.document(), json, figure)
