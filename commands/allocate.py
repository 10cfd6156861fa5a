"""The command ``allocate``: the best sizes at a budget, or the cheapest to reach a loss."""

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from ..errors import InputError
from . import options, parsing, tables

RESERVED = {"fit", "compute", "loss", "demand", "near_optimal", "beyond", "robust"}  # of `allocate`


def allocate(
    file: Annotated[Path, Argument(metavar="FILE.nc", help="A fit that 'bayescaling fit' wrote.")],
    compute: options.Budgets = None,
    loss: Annotated[
        list[str] | None,
        Option(help="Loss to reach with the least compute, instead of a budget. Repeatable.", metavar="NATS"),
    ] = None,
    demand: Annotated[
        list[str] | None,
        Option(help="Tokens of inference, such as 2T, 2 N FLOP each, or a range. Repeatable.", metavar="TOKENS"),
    ] = None,
    near_optimal: Annotated[
        float | None,
        Option(help="Also sizes whose loss exceeds the best by this share, such as 0.001.", metavar="SHARE"),
    ] = None,
    vocabulary: options.Vocabulary = None,
    aspect_ratio: options.AspectRatio = None,
    plan: options.Plan = None,
    beyond: options.Beyond = "drift",
    robust: options.Robust = True,
    gpu_hour: options.GpuHour = None,
    flop_per_second: options.FlopPerSecond = options.H100,
    utilisation: options.Utilisation = options.USUAL,
    json: options.Json = False,
):
    """Print the best size and tokens at a budget, or for a loss.

    A budget is one for training, C = 6 N_T D, N_T all parameters. With --demand it is one for training and inference
    together, 6 N_T D + 2 N_T demand, and a loss is reached with the least of both.
    """
    from ..inference import storage
    from ..inference.decisions.price import Price
    from ..reports import results

    price, planned, requests, fit = parsing.all_of(
        lambda: None if gpu_hour is None else Price(gpu_hour, flop_per_second, utilisation),
        lambda: {"vocabulary": vocabulary, "aspect_ratio": aspect_ratio} | _planned(plan),
        lambda: _requests(compute, loss, demand),
        lambda: storage.open(file),
    )
    answers = fit.allocate(**requests, near_optimal=near_optimal, **planned, beyond=beyond, robust=robust)
    entries = answers.entries(fit.law.name)
    if price is not None:
        entries = [entry | _priced(entry, price) for entry in entries]
    if json:
        checks = {"diagnostics": fit.diagnostics, **results.check_entries(fit)}
        tables.print_json({"allocation": entries, "standing": answers.attrs.get("standing")} | checks)
        return
    print(answers)
    for entry in entries if price else ():
        print(_bill(entry))


def _planned(plan):
    planned = parsing.values(plan, "--plan")
    if reserved := sorted(RESERVED & planned.keys()):
        raise InputError(f"--plan {reserved[0]!r}: not what a law knows of runs; see the options of --help")
    return planned


def _requests(compute, loss, demand):
    """Return budgets, losses and demands by name."""
    if bool(compute) == bool(loss):
        which = "both" if loss else "neither"
        raise InputError(f"give --compute, a budget in FLOP, or --loss, a target in nats per token, not {which}")
    texts_of = {"compute": (compute, parsing.flop), "loss": (loss, parsing.count), "demand": (demand, parsing.count)}
    return {name: parsing.numbers(texts, f"--{name}", of) for name, (texts, of) in texts_of.items() if texts}


def _priced(entry, price):
    """Return hours of one GPU and money for the compute of an answer, by quantile where it has an interval."""
    spent = entry.get("total_compute", entry.get("compute"))
    if not isinstance(spent, dict):
        return {"gpu_hours": price.hours(spent), "money": price.money(spent)}
    scaled = {"gpu_hours": price.hours, "money": price.money}
    return {name: {key: None if x is None else of(x) for key, x in spent.items()} for name, of in scaled.items()}


def _bill(entry):
    """Write the GPU-hours and the money of an answer."""
    from ..inference.estimands.allocation import asked_for
    from ..inference.words import sizes

    hours, money = (sizes(x) if isinstance(x, dict) else f"{x:,.0f}" for x in (entry["gpu_hours"], entry["money"]))
    asked = asked_for(entry)
    return f"{asked[:1].upper()}{asked[1:]}: {hours} GPU-hours, {money} in money."
