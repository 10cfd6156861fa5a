"""The command ``ranks``: ranks of models by capability or time horizon, with their intervals."""

from pathlib import Path
from typing import Annotated

from typer import Argument

from . import options, tables


def ranks(
    file: Annotated[Path, Argument(help="A fit of scores or horizons.", metavar="FILE.nc")],
    json: options.Json = False,
):
    """Print ranks of models, and which may change places."""
    from ..inference import storage
    from ..inference.intervals import finite
    from ..inference.scores.ranks import above, ranks

    fit = storage.open(file)
    table = ranks(fit)
    if json:
        models = {name: {key: finite(x) for key, x in row.items()} for name, row in table.iterrows()}
        better = above(fit).to_pandas()
        pairs = {name: {other: finite(p) for other, p in row.items()} for name, row in better.iterrows()}
        tables.print_json({"models": models, "p_above": pairs, "diagnostics": fit.diagnostics})
        return
    print(table)
    tables.print_diagnostics(str(file), fit.diagnostics)
