"""The command ``predict``: the loss that a run will reach, and its errors on tasks."""

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from ..errors import InputError
from . import options, parsing, tables


def predict(
    file: Annotated[Path, Argument(metavar="FILE.nc", help="A fit of runs that 'bayescaling fit' wrote.")],
    parameters: Annotated[
        list[str] | None, Option(help="Parameters of a run, such as 7B. Repeatable.", metavar="N")
    ] = None,
    tokens: Annotated[
        list[str] | None, Option(help="Tokens of a run, such as 140B: one, or one a run.", metavar="D")
    ] = None,
    column: Annotated[
        list[str] | None,
        Option(
            help="Another column of the law: unique_tokens=100B, or the group: corpus=c4. Repeatable.",
            metavar="NAME=VALUE",
        ),
    ] = None,
    noise: Annotated[bool, Option(help="The loss of a single run, with the scatter of runs.")] = True,
    beyond: options.Beyond = "drift",
    task: Annotated[
        Path | None, Option(help="A fit of task-error: errors that follow from the loss.", metavar="TASKS.nc")
    ] = None,
    above: Annotated[
        float | None, Option(help="An accuracy, such as 0.6, and the probability of more.", metavar="ACCURACY")
    ] = None,
    json: options.Json = False,
):
    """Print the loss that runs will reach, with its interval. Errors on tasks follow from it."""
    import pandas as pd

    from ..datasets.kinds.runs import RUNS
    from ..inference import storage
    from ..inference.fitted import of_kind

    fit = of_kind(storage.open(file), RUNS)
    texts_of = {"parameters": parameters or [], "tokens": tokens or []}
    texts_of |= {name: [text] for name, text in parsing.pairs(column, "--column").items()}
    by = [fit.law.grouped_by] if fit.law.grouped_by else []
    columns = {
        name: texts if name in by else [parsing.count(x, f"--{name}") for x in texts]
        for name, texts in texts_of.items()
        if texts
    }
    runs = max(map(len, columns.values()), default=0)
    if missing := [name for name in (*fit.law.columns, *by) if name not in columns]:
        listed = ", ".join(f"--{name}" if name in texts_of else f"--column {name}=..." for name in missing)
        raise InputError(f"{file} is a fit of {fit.law.name}, which needs {listed} of each run")
    for name, values in columns.items():
        if len(values) not in (1, runs):
            raise InputError(f"--{name}: {len(values)} values for {runs} runs; give one, or one a run")
    table = pd.DataFrame({name: values * (runs // len(values)) for name, values in columns.items()})
    tasks = None if task is None else storage.open(task)
    predicted = fit.predict(table, noise=noise, beyond=beyond, task=tasks, above=above)
    tables.print_result(predicted, predicted.document(), json)
