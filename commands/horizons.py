"""The command ``horizons``: the human time of tasks that models do, its doubling time, and dates ahead."""

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from . import options, tables

MOST = 30  # models that are printed


def horizons(
    file: Annotated[Path, Argument(help="A fit of horizons.", metavar="FILE.nc")],
    share: Annotated[
        list[float] | None, Option(help="Probability of success, 0.5 and 0.8 by default. Repeatable.", metavar="P")
    ] = None,
    tasks: Annotated[
        str, Option(help="typical, or random: averaged over how hard tasks of one human time are.")
    ] = "typical",
    until: Annotated[float, Option(help="Year of the probability that a time is not reached by then.")] = 2035.0,
    json: options.Json = False,
):
    """Print the human time of tasks that models do, how fast it doubles, and when it reaches a day, a week, a month."""
    from ..inference import storage
    from ..inference.horizons import quantities
    from ..inference.needs import of_kind
    from ..inference.progress import trends

    fit = of_kind(storage.open(file), "horizons")
    table = quantities.summary(fit, share or quantities.SHARES, tasks=tasks)
    dated = fit.law.trend is not None
    days = trends.doubling_days(fit) if dated else None
    reached = trends.dates_reached(fit, tasks=tasks, until=until) if dated else None
    if json:
        tables.print_json(_document(fit, table, days, reached, tasks, until))
        return
    _print_models(table, tasks)
    if dated:
        _print_trend(days, reached, tasks, until)
    tables.print_diagnostics(str(file), fit.diagnostics)


def _document(fit, table, days, reached, tasks, until):
    models = {}
    for (model, share), row in _entries(table).items():
        models.setdefault(model, {})[f"{share:g}"] = row
    document = {"tasks": tasks, "minutes": models, "diagnostics": fit.diagnostics}
    if days is not None:
        document |= {"doubling_days": _entries(days), "dates_reached": _entries(reached), "until": until}
    return document


def _entries(table):
    from ..inference.intervals import finite

    return {name: {column: finite(x) for column, x in row.items()} for name, row in table.iterrows()}


def _print_models(table, tasks):
    from ..inference.words import durations

    shares = table.index.get_level_values("share").unique()
    models = table.index.get_level_values("model").unique()
    header = ("model", *(f"{100 * share:g}% of runs [95% interval]" for share in shares), "runs with any success")
    rows = [
        (
            model,
            *(durations(table.loc[(model, share)]) for share in shares),
            f"{100 * table.loc[(model, shares[0]), 'solved']:.0f}%",
        )
        for model in models[:MOST]
    ]
    of = f"the {len(rows)} latest of {len(models)} models" if len(models) > MOST else f"{len(models)} models"
    tables.print_table(f"human time of the {tasks} task that {of} do in a share of runs", header, rows)
    if (table["solved"] == 0).any():
        print("a model without any success has no horizon: its numbers follow from the trend, and are upper bounds")


def _print_trend(days, reached, tasks, until):
    from ..inference.words import dates, months, probability

    rows = [
        (
            str(period),
            months(_finite(row)),
            probability(row["p_growth"]),
            *([tables.number(row["p_faster"], ".3f")] if "p_faster" in row else []),
        )
        for period, row in days.iterrows()
    ]
    more = ("P(faster than the first)",) if "p_faster" in days else ()
    header = ("period", "days [95% interval]", "P(growth)", *more)
    tables.print_table("days in which the horizon doubles", header, rows)
    rows = [(name, dates(_finite(row)), probability(row["p_not_until"])) for name, row in reached.iterrows()]
    header = ("human time", "date [95% interval]", f"P(not by {until:g})")
    tables.print_table(f"when the mean horizon, of half of the runs of a {tasks} task, reaches it", header, rows)
    print("dates follow from one form of the trend; fit others (--option trend=break, acceleration, logistic) too")


def _finite(row):
    from ..inference.intervals import finite

    return {name: finite(row[name]) for name in tables.QUANTILES}
