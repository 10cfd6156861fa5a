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
    rows = above(fit).to_pandas().iterrows() if json else ()
    pairs = {name: {other: finite(p) for other, p in row.items()} for name, row in rows}
    tables.print_parts({str(file): {"models": table}}, {str(file): fit}, json, p_above=pairs)
