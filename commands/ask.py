"""The command ``ask``: questions to a fit of a formula."""

from pathlib import Path
from typing import Annotated

from typer import Argument

from . import options, tables


def ask(
    file: Annotated[Path, Argument(metavar="FILE.nc", help="A fit of a formula that 'bayescaling fit' wrote.")],
    questions: Annotated[
        list[str],
        Argument(
            metavar="QUESTION...",
            help="'alpha', 'loss at n = 1e9', 'n where loss = 2.5', 'a[x] > a[y]' or 'best n, d for 6*n*d = 1e21'.",
        ),
    ],
    json: options.Json = False,
):
    """Answer questions about a fit of a formula."""
    from ..inference import storage

    answered = storage.open(file).ask(*questions)
    tables.print_result(answered, answered.document(), json)
