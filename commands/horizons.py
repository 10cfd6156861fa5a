"""The command ``horizons``: the human time of tasks that models do, its doubling time, and dates ahead."""

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from . import options, tables

MOST = 30  # models that are printed


def horizons(
    files: Annotated[list[Path], Argument(help="Fits of horizons; several stand side by side.", metavar="FILE.nc...")],
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
    from ..inference import storage
    from ..inference.needs import of_kind

    short = len({file.stem for file in files}) == len(files)
    named = {file.stem if short and len(files) > 1 else str(file): file for file in files}
    fits = {name: of_kind(storage.open(file), "horizons") for name, file in named.items()}
    results = {name: _results(fit, share, tasks, until) for name, fit in fits.items()}
    if json:
        documents = {name: _document(fits[name], *of, tasks, until) for name, of in results.items()}
        tables.print_json(documents if len(documents) > 1 else next(iter(documents.values())))
        return
    if len(fits) > 1:
        _print_side_by_side(results, tasks)
    else:
        ((table, days, reached),) = results.values()
        _print_models(table, tasks)
        if days is not None:
            _print_trend(days, reached, tasks, until)
    for name, fit in fits.items():
        tables.print_diagnostics(name, fit.diagnostics)


def _results(fit, share, tasks, until):
    """Return horizons of models and, of a dated law, doubling times and dates ahead, else None."""
    from ..inference.horizons import quantities
    from ..inference.progress import trends

    table = quantities.summary(fit, share or quantities.SHARES, tasks=tasks)
    if fit.law.trend is None:
        return table, None, None
    return table, trends.doubling_days(fit), trends.dates_reached(fit, tasks=tasks, until=until)


def _print_side_by_side(results, tasks):
    """Print horizons at the first share, doubling times and dates, a column a fit."""
    from ..inference.intervals import ends
    from ..inference.words import dates, durations, months

    def cell(table, place, form):
        return form(ends(table.loc[place])) if table is not None and place in table.index else ""

    def rows(which, places, form):
        return [(str(place), *(cell(of[which], place, form) for of in results.values())) for place in places]

    first = next(iter(results.values()))[0]
    models = list(dict.fromkeys(model for of in results.values() for model in of[0].index.get_level_values("model")))
    share = first.index.get_level_values("share")[0]
    at_share = {name: (of[0].xs(share, level="share"), *of[1:]) for name, of in results.items()}
    results, header = at_share, ("", *results)
    title = f"human time of the {tasks} task that a model does in {100 * share:g}% of runs [95% interval]"
    tables.print_table(title, header, rows(0, models[:MOST], durations))
    for which, title, form in (
        (1, "days in which the horizon doubles", months),
        (2, f"when the mean horizon, of half of the runs of a {tasks} task, reaches a human time", dates),
    ):
        there = [of[which] for of in results.values() if of[which] is not None]
        if there:
            places = list(dict.fromkeys(place for table in there for place in table.index))
            tables.print_table(title, header, rows(which, places, form))


def _document(fit, table, days, reached, tasks, until):
    from ..inference.intervals import entries

    models = {model: entries(table.loc[model]) for model in table.index.unique("model")}
    document = {"tasks": tasks, "minutes": models, "diagnostics": fit.diagnostics}
    if days is not None:
        document |= {"doubling_days": entries(days), "dates_reached": entries(reached), "until": until}
    return document


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
    from ..inference.intervals import ends
    from ..inference.words import dates, months, probability

    rows = [
        (
            str(period),
            months(ends(row)),
            probability(row["p_growth"]),
            *([tables.number(row["p_faster"], ".3f")] if "p_faster" in row else []),
        )
        for period, row in days.iterrows()
    ]
    more = ("P(faster than the first)",) if "p_faster" in days else ()
    header = ("period", "days [95% interval]", "P(growth)", *more)
    tables.print_table("days in which the horizon doubles", header, rows)
    rows = [(name, dates(ends(row)), probability(row["p_not_until"])) for name, row in reached.iterrows()]
    header = ("human time", "date [95% interval]", f"P(not by {until:g})")
    tables.print_table(f"when the mean horizon, of half of the runs of a {tasks} task, reaches it", header, rows)
    print("dates follow from one form of the trend; fit others (--option trend=break, acceleration, logistic) too")
