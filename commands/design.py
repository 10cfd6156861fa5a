"""The command ``design``: which runs to make next, in order of purchase."""

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from . import options, parsing, tables


def design(
    files: Annotated[
        list[Path],
        Argument(
            help="Fits of the same runs that 'bayescaling fit' wrote, of one law or several.", metavar="FILE.nc..."
        ),
    ],
    budget: Annotated[float, Option(help="FLOP for all runs together: 1e20.", metavar="FLOP")],
    compute: Annotated[
        float | None, Option(help="Training FLOP that the runs are to inform: 1e24.", metavar="FLOP")
    ] = None,
    target: Annotated[
        str, Option(help="allocation, the best size there; loss, the best loss; or exponent, of the best size.")
    ] = "allocation",
    candidates: Annotated[
        Path | None,
        Option(
            help="A table of runs that may be made: parameters, tokens and, optionally, cost in FLOP. By default a "
            "ladder from the range of the fitted runs.",
            metavar="FILE",
        ),
    ] = None,
    gate: Annotated[bool, Option(help="Test by rollouts whether the law may choose runs.")] = True,
    plan: Annotated[
        list[str] | None,
        Option(help="What the law is to know of the target: unique_tokens=1e11. Repeatable.", metavar="NAME=VALUE"),
    ] = None,
    beyond: options.Beyond = "drift",
    gpu_hour: options.GpuHour = None,
    flop_per_second: options.FlopPerSecond = options.H100,
    utilisation: options.Utilisation = options.USUAL,
    seed: Annotated[int | None, Option(help="Seed of the rollouts; that of the fit by default.")] = None,
    figure: Annotated[
        Path | None, Option(help="Draw the runs by size and tokens.", metavar="FILE.svg|.png|.pdf")
    ] = None,
    json: options.Json = False,
):
    """Print which runs to make next within a budget. They are in order of purchase."""
    from ..inference import design as designed
    from ..inference import storage
    from ..plots.with_matplotlib import check_format, write

    if figure:
        check_format(figure)
    planned = parsing.values(plan, "--plan")
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
        from matplotlib.figure import Figure

        from ..plots import plot_design

        write(plot_design(schedule, ax=Figure(figsize=(7.0, 4.6), layout="constrained").subplots()).figure, figure)
    if json:
        tables.print_json(schedule.document())
        return
    print(schedule)
    tables.print_written(figure)
    for file, fit in zip(files, fits, strict=True):
        tables.print_diagnostics(str(file), fit.diagnostics)
