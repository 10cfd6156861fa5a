"""The command ``allocate``: the best sizes at a budget, or the cheapest to reach a loss."""

import sys
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from ..errors import InputError
from . import options, parsing, tables

ALLOCATED = ("parameters", "parameters_nonembedding", "tokens", "tokens_per_parameter", "epochs", "learning_rate_peak",
             "batch_tokens", "loss",
             "training_compute", "inference_compute", "total_compute")  # fmt: skip
LABELS = {  # of further quantities
    "gpu_hours": "GPU-hours",
    "money": "money",
    "saved": "share saved by planning for demand",
    "parameters_near_low": "least parameters nearly as good",
    "parameters_near_high": "most parameters nearly as good",
    "tokens_near_low": "their tokens, least",
    "tokens_near_high": "their tokens, most",
}
RESERVED = {"fit", "compute", "loss", "demand", "near_optimal", "beyond", "robust"}  # of `allocate`
MOST_TABLES = 4  # of one answer each; more answers share a table


def allocate(
    file: Annotated[Path, Argument(metavar="FILE.nc", help="A fit that 'bayescaling fit' wrote.")],
    compute: Annotated[
        list[str] | None,
        Option(
            help="Budget in FLOP, or 1e20:1e24:5 for five from 1e20 to 1e24, evenly spaced in logarithms. Repeatable.",
            metavar="FLOP",
        ),
    ] = None,
    loss: Annotated[
        list[str] | None,
        Option(help="Loss to reach with the least compute, in place of a budget. Repeatable.", metavar="NATS"),
    ] = None,
    demand: Annotated[
        list[str] | None,
        Option(
            help="Tokens that the model is to read and write over its life, 2 N FLOP each, or a range as of --compute. "
            "Repeatable.",
            metavar="TOKENS",
        ),
    ] = None,
    near_optimal: Annotated[
        float | None,
        Option(help="Give the sizes whose loss is within so much of the best, relatively: 0.001.", metavar="SHARE"),
    ] = None,
    vocabulary: options.Vocabulary = None,
    aspect_ratio: options.AspectRatio = None,
    plan: Annotated[
        list[str] | None,
        Option(
            help="What the law is to know of the runs planned: unique_tokens=1e11. Repeatable.", metavar="NAME=VALUE"
        ),
    ] = None,
    beyond: options.Beyond = "drift",
    robust: Annotated[bool, Option(help="Robust widths where the rows reject the law.")] = True,
    gpu_hour: options.GpuHour = None,
    flop_per_second: options.FlopPerSecond = options.H100,
    utilisation: options.Utilisation = options.USUAL,
    json: options.Json = False,
):
    """Print the best size and tokens at a budget, or for a loss.

    A budget is one for training, C = 6 N_T D, N_T all parameters. With --demand it is one for training and inference
    together, 6 N_T D + 2 N_T demand, and a loss is reached with the least of both.
    """
    from ..inference.decisions.price import Price
    from ..reports import results

    price = None if gpu_hour is None else Price(gpu_hour, flop_per_second, utilisation)
    planned = {"vocabulary": vocabulary, "aspect_ratio": aspect_ratio} | parsing.values(plan, "--plan")
    if reserved := sorted(RESERVED & planned.keys()):
        raise InputError(f"--plan {reserved[0]!r}: not what a law knows of runs; see the options of --help")
    if bool(compute) == bool(loss):
        which = "both" if loss else "neither"
        raise InputError(f"give --compute, a budget in FLOP, or --loss, a target in nats per token, not {which}")
    texts_of = {"compute": (compute, parsing.flop), "loss": (loss, parsing.count), "demand": (demand, parsing.count)}
    requests = {name: parsing.numbers(texts, f"--{name}", of) for name, (texts, of) in texts_of.items() if texts}
    from ..inference import storage

    fit = storage.open(file)
    answers = fit.allocate(**requests, near_optimal=near_optimal, **planned, beyond=beyond, robust=robust)
    entries, verdict = answers.entries(fit.law.name), results.verdict_entry(fit)
    if price is not None:
        entries = [entry | _priced(entry, price) for entry in entries]
    if json:
        checks = {"diagnostics": fit.diagnostics, "misfit": results.misfit_entries(fit), "verdict": verdict}
        tables.print_json({"allocation": entries} | checks)
        return
    if len(entries) > MOST_TABLES:
        _print_together(entries)
    else:
        for entry in entries:
            _print_one(entry)
    tables.print_diagnostics(file, fit.diagnostics)
    if verdict["rejected_by"]:
        print(f"warning: {file}: {verdict['sentence']}", file=sys.stderr)


def _priced(entry, price):
    """Return hours of one GPU and money for the compute of an answer, by quantile where it has an interval."""
    spent = entry.get("total_compute", entry.get("compute"))
    if not isinstance(spent, dict):
        return {"gpu_hours": price.hours(spent), "money": price.money(spent)}
    scaled = {"gpu_hours": price.hours, "money": price.money}
    return {name: {key: None if x is None else of(x) for key, x in spent.items()} for name, of in scaled.items()}


def _bill(entry):
    """Yield what an answer takes in hours and money, where it has a price and no interval."""
    if isinstance(entry.get("money"), float):
        yield f"{entry['gpu_hours']:,.0f} GPU-hours, {entry['money']:,.0f} in money"


def _print_one(entry):
    """Print one answer as a table of quantities."""
    from ..inference.estimands.allocation import asked_for, remarks, sentence

    rows = [
        _row(entry, name)
        for name in (*ALLOCATED, *LABELS)
        if isinstance(entry.get(name), dict) and not (name == "loss" and "target" in entry)
    ]
    title = f"{entry['law']} {asked_for(entry)}{_beyond(entry)}"
    tables.print_table(title, tables.SUMMARY_HEADER, rows, least=("mean", "sd"))
    if None not in (entry.get("parameters", {}).get(q) for q in tables.QUANTILES):
        print(sentence(entry))
    for line in (*_bill(entry), *remarks(entry)):
        print(line)


def _print_together(entries):
    """Print many answers, one per row."""
    from ..inference.estimands.allocation import asked_for, remarks

    near = {"near_low": "near, least", "near_high": "near, most"} if "near_optimal" in entries[0] else {}
    ends = near.values()
    header = ("", "parameters", "2.5%", "97.5%", *ends, "tokens", "tokens/parameter", "loss", "decades beyond")
    rows = [
        (
            asked_for(entry),
            *(_quantile(entry, "parameters", q) for q in ("q50", "q2.5", "q97.5")),
            *(tables.number(entry[name]) for name in near),
            *(_quantile(entry, name, "q50") for name in ("tokens", "tokens_per_parameter", "loss")),
            f"{entry['extrapolation']:+.1f}" if entry["extrapolation"] else "0",
        )
        for entry in entries
    ]
    title = f"{entries[0]['law']}: medians, and 95% intervals of the parameters"
    tables.print_table(title, header, rows, least=("tokens/parameter", "decades beyond", "loss"))
    bills = [f"{asked_for(entry)}: {line}" for entry in entries for line in _bill(entry)]
    for line in dict.fromkeys([*bills, *(line for entry in entries for line in remarks(entry, whole=False))]):
        print(line)


def _beyond(entry):
    beyond = entry["extrapolation"]
    if beyond is None:
        return ", endlessly beyond the fitted runs"
    return f", {abs(beyond):.1f} decades {'above' if beyond > 0 else 'below'} the fitted runs" if beyond else ""


def _row(entry, name):
    moments = (tables.number(entry[name][key]) for key in ("mean", "sd"))
    return LABELS.get(name, name), *moments, *(_quantile(entry, name, q) for q in tables.QUANTILES)


def _quantile(entry, name, q):
    """Return the text of a quantile, which is infinite where no size reaches the target; a dash where it has none."""
    value = entry.get(name, {}).get(q)
    return "never" if value is None and entry.get("p_reached", 1.0) < 1 else tables.number(value)
