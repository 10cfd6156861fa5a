"""The command ``ask``: questions to a fit of a formula."""

from pathlib import Path
from typing import Annotated

from typer import Argument

from . import options, tables


def ask(
    file: Annotated[
        Path, Argument(metavar="FILE.nc", help="A fit of a formula that 'bayescaling fit' wrote, or a published law.")
    ],
    questions: Annotated[
        list[str],
        Argument(
            metavar="QUESTION...",
            help="'alpha', 'loss at n = 1e9', 'n where loss = 2.5', 'a[x] > a[y]' or 'best n, d for 6*n*d = 1e21'.",
        ),
    ],
    json: options.Json = False,
):
    """Answer questions about a fit of a formula, or a published law."""
    from ..inference import published, storage
    from ..models.published import laws

    if str(file) in laws() and not file.exists():
        answered = published(str(file)).ask(*questions)
        tables.print_result(answered, answered["value"].to_dict(), json)
        return
    answered = storage.open(file).ask(*questions)
    tables.print_result(answered, answered.document(), json)
