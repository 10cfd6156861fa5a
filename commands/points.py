"""The command ``points``: point estimates of the papers."""

from dataclasses import replace
from typing import Annotated

from typer import Option

from . import options, parsing, tables


@options.shares(options.Reading)
def points(
    data: Annotated[str, Option(help=f"A built-in table or a file of runs {options.FORMATS}")] = "chinchilla_runs",
    width: Annotated[float, Option(help="Width of an iso-FLOP group in decades of compute.", metavar="DECADES")] = 0.1,
    minimum_runs: Annotated[int | None, Option(help="Fewest runs of an iso-FLOP group: 8, with --by 4.")] = None,
    compute: Annotated[
        list[str] | None, Option(help=f"Compute of an iso-FLOP group: {options.FLOP}. Repeatable.", metavar="FLOP")
    ] = None,
    by: Annotated[str | None, Option(help="Column of the budgets of iso-FLOP groups.", metavar="COLUMN")] = None,
    *,
    reading,
):
    """Print the usual point estimates of a table. They are Huber fits, iso-FLOP parabolas and the frontier."""
    from ..datasets.kinds.runs import RUNS
    from ..datasets.printed import Text
    from ..reports.pages.chinchilla.estimators import point_estimates

    runs = parsing.read_table(RUNS, data, replace(reading, drop_highest=0))
    budgets = parsing.numbers(compute or [], "--compute") or None
    isoflop = {"width": width, "minimum_runs": minimum_runs, "compute": budgets, "by": by}
    estimates = point_estimates(runs, drop_highest=reading.drop_highest, **isoflop)
    if reading.json:
        tables.print_json({"data": runs.attrs.get("source", data), "point_estimates": estimates.to_dict()})
        return
    usable = (estimates.parametric | estimates.envelopes).items()
    print(*(estimate for name, estimate in usable if name not in estimates.missing), sep="\n\n")
    for name, reason in estimates.missing.items():
        print(f"\n{Text(f'{name}: not available: {reason}.')}")
