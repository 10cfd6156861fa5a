"""The command ``doubling``: doubling times of saved fits."""

import sys
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from . import options, parsing, tables


def doubling(
    files: Annotated[list[Path], Argument(help="Fits of progress-N.", metavar="FILE.nc...")],
    compute: Annotated[
        str | None, Option(help=f"Budget of the rate in FLOP: {options.FLOP}; 1e25 with --year.", metavar="FLOP")
    ] = None,
    year: Annotated[float | None, Option(help="Year of the rate; 2023 with --compute.")] = None,
    json: options.Json = False,
):
    """Print the months in which effective compute doubles.

    They apply to the sizes and dates of the evaluations, over all and by benchmark. With --compute or --year they apply
    to a budget and a year, which may lie far from every evaluation.
    """
    from ..inference.progress.rate_at_optimum import COMPUTE, YEAR, doubling_times
    from ..inference.progress.rate_at_rows import gain_times

    at = None
    if compute is not None or year is not None:
        flop = COMPUTE if compute is None else parsing.flop(compute, "--compute")
        at = {"compute": flop, "year": YEAR if year is None else year}
    fits = tables.open_fits(files, json)
    times = {name: doubling_times(fit, **at) if at else gain_times(fit) for name, fit in fits.items()}
    parts = {name: {"doubling_months": table} for name, table in times.items()}
    tables.print_parts(parts, fits, json, keyed=True, at=at or "the evaluations")
    for name, table in times.items() if at else ():
        if left_out := int(table["no_optimum"].sum()):
            print(f"warning: {name}: {left_out} draws have no optimum and are left out", file=sys.stderr)
