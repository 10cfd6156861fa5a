"""The command ``points``: point estimates of the papers."""

from . import options, parsing, tables


@options.shares(options.Reading)
def points(
    data: options.Data = "chinchilla_runs",
    width: options.Width = 0.1,
    minimum_runs: options.MinimumRuns = 8,
    budget: options.LevelBudgets = None,
    *,
    reading,
):
    """Print the usual point estimates of a table: parametric Huber fits, iso-FLOP parabolas, the frontier."""
    from ..reports.pages.chinchilla.estimators import point_estimates

    runs = parsing.runs_from(data, reading)
    isoflop = {"width": width, "minimum_runs": minimum_runs, "budgets": budget or None}
    found = point_estimates(runs, drop_highest=reading.drop_highest, **isoflop)
    if reading.json:
        tables.print_json({"data": runs.attrs.get("source", data), "point_estimates": found.to_dict()})
    else:
        tables.print_estimates(found)
