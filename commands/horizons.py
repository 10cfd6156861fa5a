"""The command ``horizons``: the human time of tasks that models do, its doubling time, and dates ahead."""

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from . import options, tables


def horizons(
    files: Annotated[list[Path], Argument(help="Fits of horizons; one after another.", metavar="FILE.nc...")],
    share: Annotated[
        list[float] | None, Option(help="Probability of success, 0.5 and 0.8 by default. Repeatable.", metavar="P")
    ] = None,
    tasks: Annotated[
        str, Option(help="typical, or random: averaged over how hard tasks of one human time are.")
    ] = "typical",
    until: Annotated[float, Option(help="Year of the probability that a time is not reached by then.")] = 2035.0,
    json: options.Json = False,
):
    """Print the human time of tasks that models do. Also its doubling time, and when it reaches a day or a month."""
    from ..inference.horizons import quantities
    from ..inference.needs import of_kind
    from ..inference.progress import trends

    fits = {name: of_kind(fit, "horizons") for name, fit in tables.open_fits(files, json).items()}
    parts = {}
    for name, fit in fits.items():
        parts[name] = {"minutes": quantities.summary(fit, share or quantities.SHARES, tasks=tasks)}
        if fit.law.trend is not None:
            parts[name]["doubling_days"] = trends.doubling_days(fit)
            parts[name]["dates_reached"] = trends.dates_reached(fit, tasks=tasks, until=until)
    tables.print_parts(parts, fits, json, tasks=tasks, until=until)
