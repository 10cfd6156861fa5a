"""The command ``worth``: what a changed recipe is worth against a baseline, and whether to promote it."""

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from ..errors import InputError
from . import options, parsing, tables


@options.shares(options.Reading)
def worth(
    files: Annotated[
        list[Path],
        Argument(
            help="Fits with --group, of which the first is reported; or a table of runs at one size, or logs.",
            metavar="FILE...",
        ),
    ],
    baseline: Annotated[str, Option(help="Group with which the others are compared.", metavar="NAME")],
    compute: options.Budgets = None,
    group: Annotated[
        str | None, options.of_tables(help="Recipes; by default the column with the baseline.", metavar="COLUMN")
    ] = None,
    until: Annotated[str | None, options.of_tables(help="Where logs end: 24000 steps.", metavar="PLACE")] = None,
    schedule: Annotated[str | None, options.of_tables(help="Rate of logs, as of curve.", metavar="SCHEDULE")] = None,
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
    *,
    reading,
):
    """Print what a changed recipe is worth. Each group has a compute multiplier, and advice to promote it or not.

    At one size, from a table of seeds or of logs, each has a gain in loss, and the probability that it is better.
    """
    from ..datasets import KINDS
    from ..inference.decisions.change import CLOCKS
    from ..inference.decisions.worth import worth
    from ..reports import results

    json, of_table = reading.json, {"group": group, "schedule": schedule}
    of_table["until"] = None if until is None else parsing.count(until, "--until")
    if compute is None and files[0].suffix != ".nc":
        of_fits = {"--tokens-per-parameter": tokens_per_parameter, "--within": within, "--plan": plan}
        if given := [name for name, x in of_fits.items() if x] + [f"another file, {x}" for x in files[1:]]:
            raise InputError(f"{given[0]}: for fits, not for the table {files[0]}; leave it out")
        steps = () if until is None else CLOCKS
        table = parsing.read_table(KINDS["columns"], str(files[0]), reading, steps)
        result = worth(table, baseline, **of_table)
        tables.print_result(result, {"worth": result.entries()}, json)
        return
    if compute is None:
        raise InputError(f"{files[0]}: a fit is compared at budgets; give them with --compute, such as 1e22")
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
        **of_table,
        **parsing.values(plan, "--plan"),
    )
    tables.print_result(result, {"worth": result.entries(), "diagnostics": first.diagnostics, "verdict": verdict}, json)
    for file, fit in list(zip(files, fits.values(), strict=True))[1:]:
        tables.print_diagnostics(file, fit.diagnostics)
