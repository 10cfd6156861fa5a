"""The command ``rollout``: fits below cutoffs, predictions of the rest, and their scores."""

from functools import partial
from typing import Annotated

from typer import Option

from . import options, parsing, tables


@options.works
@options.shares(options.Fitting)
def rollout(
    law: options.LawName,
    below: Annotated[
        list[str], Option(help="Fit the rows below this: 1e20, '1 ZFLOP' or 2019-06-30. Repeatable.", metavar="CUTOFF")
    ],
    by: Annotated[
        str, Option(help="What to cut along: compute of runs, date of evaluations, or a column.", metavar="COLUMN")
    ] = "compute",
    data: options.AnyTable = None,
    figure: options.Figure = None,
    beyond: options.Beyond = "drift",
    *,
    fitting,
):
    """Fit a law below a cutoff, and score what it predicts. Each cutoff has a fit and a score."""
    from ..inference import rollout as roll_out
    from ..plots.with_matplotlib import check_format

    chosen, table = parsing.law_and_table(law, data, fitting, figure)
    if figure:
        check_format(figure)
    if by == "compute":
        below = [parsing.flop(text, "--below") for text in below]
    settings = parsing.sampler_settings(fitting) | {"progress": tables.interactive(fitting.json)}
    result = roll_out(chosen, table, by, below, beyond=beyond, **settings)
    if figure:
        tables.draw(figure, [partial(result.plot, cutoff=cutoff) for cutoff in result.scores.index])
    tables.print_result(result, {"law": law, "by": by, **result.document()}, fitting.json, figure)
