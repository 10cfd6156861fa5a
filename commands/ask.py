"""The command ``ask``: questions to a fit of a formula."""

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from ..errors import InputError
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
    among: Annotated[
        str | None, Option(help="Candidates, a table: the best is one of its rows.", metavar="FILE")
    ] = None,
    where: Annotated[str | None, Option(help="Rows of --among to read.", metavar="CONDITION")] = None,
    json: options.Json = False,
):
    """Answer questions about a fitted or a published formula."""
    from ..datasets.reader import as_table
    from ..inference import published, storage
    from ..models.published import laws

    if str(file) in laws() and not file.exists():
        if among:
            raise InputError(f"--among: {file} has no draws to weigh candidates with; fit it to a table")
        answered = published(str(file)).ask(*questions)
        tables.print_result(answered, answered["value"].to_dict(), json)
        return
    rows = None if among is None else as_table(among, "columns", where=where)
    answered = storage.open(file).ask(*questions, among=rows)
    tables.print_result(answered, answered.document(), json)
