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
    from ..inference import storage
    from ..inference.progress.rate_at_optimum import COMPUTE, YEAR, doubling_times
    from ..inference.progress.rate_at_rows import gain_times
    from ..reports import results

    at = None
    if compute is not None or year is not None:
        budget = COMPUTE if compute is None else parsing.flop(compute, "--compute")
        at = {"compute": budget, "year": YEAR if year is None else year}
    fits = {name: storage.open(path) for name, path in zip(tables.names_of(files, json), files, strict=True)}
    times = {name: doubling_times(fit, **at) if at else gain_times(fit) for name, fit in fits.items()}
    if json:
        document = {
            name: {
                "at": at or "the evaluations",
                "doubling_months": results.doubling_entries(times[name]),
                "diagnostics": fit.diagnostics,
            }
            for name, fit in fits.items()
        }
        tables.print_json(document)
        return
    _print(times, at)
    for name, fit in fits.items():
        tables.print_diagnostics(name, fit.diagnostics)
        left_out = int(times[name]["no_optimum"].sum()) if at else 0
        if left_out:
            print(f"warning: {name}: {left_out} draws have no optimum and are left out", file=sys.stderr)


def _print(times, at):
    """Print doubling times by fit, at the budget and year of `at` or, where it is None, at the evaluations."""
    optimal, where = {}, "at the evaluations' own sizes and dates"
    if at:
        optimal = {f"optimal_{q}": f"optimal scaling {text}" for q, text in tables.QUANTILES.items()}
        where = f"at {at['compute']:.3g} FLOP in {at['year']:g}".replace("e+", "e")
    columns = tables.QUANTILES | optimal
    rows = [
        (name, label, *(() if at else (int(row["count"]),)), f"{row['p_progress']:.3f}", *map(_months, row[[*columns]]))
        for name, table in times.items()
        for label, row in table.iterrows()
    ]
    header = ("", *([""] if at else ["evaluations", "number"]), "P(progress)", *columns.values())
    title = f"months in which effective compute doubles, {where}"
    tables.print_table(title, header, rows, least=(*optimal.values(), "P(progress)"))


def _months(x):
    return "never" if x == float("inf") else f"{x:.1f}"
