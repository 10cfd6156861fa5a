"""The command ``trend``: how fast dated values grow, and when their mean reaches a level."""

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from ..errors import InputError
from . import options, parsing, tables


def trend(
    file: Annotated[Path, Argument(help="A fit of trend.", metavar="FILE.nc")],
    reach: Annotated[
        list[str] | None,
        Option(help="A level of the value, such as 1e27 or 'GPT-4 price=30'. Repeatable.", metavar="[NAME=]VALUE"),
    ] = None,
    year: Annotated[
        list[float] | None, Option(help="Date of a rate, such as 2025.5. Repeatable.", metavar="YEAR")
    ] = None,
    until: Annotated[float, Option(help="Year of the probability that a level is not reached by then.")] = 2035.0,
    json: options.Json = False,
):
    """Print how fast dated values grow. Also their doubling time, and when they reach a level."""
    from ..inference import storage
    from ..inference.needs import of_kind
    from ..inference.progress import trends

    fit = of_kind(storage.open(file), "values")
    results = {"yearly_gain": trends.yearly_gain(fit, year)}
    if fit.law.linear_unit is None:
        falls = bool((results["yearly_gain"]["p_growth"] < trends.EVEN).all())
        name = "halving_days" if falls else "doubling_days"
        results[name] = trends.doubling_days(fit, year, halving=falls)
    results["by_form"] = trends.by_form(fit)
    if reach:
        results["dates_reached"] = trends.dates_reached(fit, _levels(reach), until=until)
    tables.print_parts({str(file): results}, {str(file): fit}, json)


def _levels(texts):
    """Return levels by name of texts NAME=VALUE, or VALUE, which then is the name too."""
    named = parsing.values([text if "=" in text else f"{text}={text}" for text in texts], "--reach")
    for name, level in named.items():
        if isinstance(level, bool) or not isinstance(level, int | float):
            raise InputError(f"--reach {name!r}: {level!r} is no number; write NAME=VALUE, such as 'a tenth=0.1'")
    return named
