"""The commands ``forecast`` and ``score-forecast``: a ledger of forecasts, scored once what they are of has come."""

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from . import options, parsing, tables


def forecast(
    file: Annotated[Path, Argument(metavar="FILE.nc", help="A fit of runs, dated scores, horizons or dated values.")],
    out: Annotated[Path, Option(help="Folder of the ledger.", metavar="FOLDER")],
    at: Annotated[str | None, Option(help="Release of a new model: 2027-01-31 or 2027-01.", metavar="DATE")] = None,
    benchmark: Annotated[list[str] | None, Option(help="All by default. Repeatable.", metavar="NAME")] = None,
    plan: Annotated[list[str] | None, Option(help="A run: parameters=7e9. Repeatable.", metavar="NAME=VALUE")] = None,
    seed: Annotated[int | None, Option(help="Seed of the draws; that of the fit by default.")] = None,
    json: options.Json = False,
):
    """Write down what a fit forecasts, with its date. The file has the law, the data and a fingerprint too."""
    from ..inference import forecasts, storage

    planned = parsing.values(plan, "--plan")
    document = forecasts.forecast(storage.open(file), at, benchmarks=benchmark or (), plan=planned or None, seed=seed)
    path = forecasts.write(document, out)
    tables.print_result(document, {"file": str(path), **document}, json, path)


@options.shares(options.Reading)
def score_forecast(
    files: Annotated[list[Path], Argument(metavar="FORECAST.json...", help="Files of the ledger, of one kind.")],
    later: Annotated[str, Option(help="A table of what came; of horizons a fit to later data.", metavar="FILE")],
    within: Annotated[float, Option(help="Days from the forecast date to a release.", metavar="DAYS")] = 45.0,
    *,
    reading,
):
    """Score forecasts on what came. Shares in intervals, CRPS and log score are next to a straight line's."""
    import pandas as pd

    from ..datasets import KINDS
    from ..datasets.wording import plural
    from ..errors import InputError
    from ..inference import forecasts, storage
    from ..inference.kinds import find_record

    documents = [forecasts.read(path) for path in files]
    kinds = {document["kind"] for document in documents}
    if len(kinds) > 1:
        raise InputError(f"the forecasts are of {' and of '.join(sorted(kinds))}; score one kind at a time")
    kind = kinds.pop()
    forecasting = find_record(kind).forecasts
    from_fit = forecasting is not None and forecasting.from_fit
    came = storage.open(Path(later)) if from_fit else parsing.read_table(KINDS[kind], later, reading)
    scores = pd.concat([forecasts.scored(document, came, within=within) for document in documents], ignore_index=True)
    means = forecasts.summary(scores)
    if reading.json:
        tables.print_json({"means": means, "outcomes": scores.to_dict("records")})
        return
    header = ("", "outcomes", "in 50%", "in 90%", "CRPS", "log score")
    rows = [
        (name, of["outcomes"], *(tables.number(of[key], ".0%") for key in ("covers_50", "covers_90")),
         *(tables.number(of[key]) for key in ("crps", "log_score")))
        for name, of in means.items()
    ]  # fmt: skip
    counts = f"{plural(len(documents), 'forecast')} of {kind}, {plural(len(scores), 'outcome')}"
    tables.print_table(counts, header, rows)
