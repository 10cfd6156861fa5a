"""The commands ``allocate``, ``predict``, ``design`` and ``worth``: what follows from fits for runs to come."""

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
        Option(help="Another column of the law: unique_tokens=100B. Repeatable.", metavar="NAME=VALUE"),
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
    from ..inference.needs import of_kind

    fit = of_kind(storage.open(file), RUNS)
    texts_of = {"parameters": parameters or [], "tokens": tokens or []}
    texts_of |= {name: [text] for name, text in parsing.pairs(column, "--column").items()}
    columns = {name: [parsing.count(x, f"--{name}") for x in texts] for name, texts in texts_of.items() if texts}
    runs = max(map(len, columns.values()), default=0)
    if missing := [name for name in fit.law.columns if name not in columns]:
        listed = ", ".join(f"--{name}" if name in texts_of else f"--column {name}=..." for name in missing)
        raise InputError(f"{file} is a fit of {fit.law.name}, which needs {listed} of each run")
    for name, values in columns.items():
        if len(values) not in (1, runs):
            raise InputError(f"--{name}: {len(values)} values for {runs} runs; give one, or one a run")
    table = pd.DataFrame({name: values * (runs // len(values)) for name, values in columns.items()})
    tasks = None if task is None else storage.open(task)
    predicted = fit.predict(table, noise=noise, beyond=beyond, task=tasks, above=above)
    tables.print_result(predicted, predicted.document(), json)


def design(
    files: Annotated[
        list[Path],
        Argument(help="Fits of the same runs, of one law or several.", metavar="FILE.nc..."),
    ],
    budget: Annotated[str, Option(help=f"FLOP for all runs together: {options.FLOP}.", metavar="FLOP")],
    compute: Annotated[str | None, Option(help="Budget in FLOP that the runs are to inform.", metavar="FLOP")] = None,
    target: Annotated[
        str, Option(help="allocation, the best size there; loss, the best loss; or exponent, of the best size.")
    ] = "allocation",
    candidates: Annotated[
        Path | None,
        Option(help="A table of possible runs: parameters, tokens, and cost in FLOP if known.", metavar="FILE"),
    ] = None,
    gate: Annotated[bool, Option(help="Test by rollouts whether the law may choose runs.")] = True,
    plan: options.Plan = None,
    beyond: options.Beyond = "drift",
    gpu_hour: options.GpuHour = None,
    flop_per_second: options.FlopPerSecond = options.H100,
    utilisation: options.Utilisation = options.USUAL,
    seed: Annotated[int | None, Option(help="Seed of the rollouts; that of the fit by default.")] = None,
    figure: options.Figure = None,
    json: options.Json = False,
):
    """Print which runs to make next within a budget. They are in order of purchase."""
    from ..inference import design as designed
    from ..inference import storage
    from ..plots.with_matplotlib import check_format

    if figure:
        check_format(figure)
    planned = parsing.values(plan, "--plan")
    budget = parsing.flop(budget, "--budget")
    compute = None if compute is None else parsing.flop(compute, "--compute")
    fits = [storage.open(file) for file in files]
    schedule = designed(
        fits,
        candidates,
        budget,
        compute=compute,
        target=target,
        gate=gate,
        beyond=beyond,
        gpu_hour=gpu_hour,
        flop_per_second=flop_per_second,
        utilisation=utilisation,
        seed=seed,
        progress=tables.interactive(json),
        **planned,
    )
    if figure:
        tables.draw(figure, [schedule.plot])
    tables.print_result(schedule, schedule.document(), json, figure)


def worth(
    files: Annotated[
        list[Path],
        Argument(help="Fits with --group. Of several the first is reported.", metavar="FILE.nc..."),
    ],
    baseline: Annotated[str, Option(help="Group with which the others are compared.", metavar="NAME")],
    compute: Annotated[
        list[str], Option(help=f"Budget in FLOP: {options.FLOP}, or a range 1e20:1e24:5. Repeatable.", metavar="FLOP")
    ],
    tokens_per_parameter: Annotated[
        float | None, Option(help="Of every run; by default the best of each group.", metavar="RATIO")
    ] = None,
    within: Annotated[str | None, Option(help="FLOP in which the order may turn.", metavar="LOW:HIGH")] = None,
    switch: Annotated[str, Option(help="FLOP that adopting a change takes.", metavar="FLOP")] = "0",
    gpu_hour: options.GpuHour = None,
    flop_per_second: options.FlopPerSecond = options.H100,
    utilisation: options.Utilisation = options.USUAL,
    plan: options.Plan = None,
    beyond: options.Beyond = "drift",
    robust: options.Robust = True,
    json: options.Json = False,
):
    """Print what a changed recipe is worth. Each group has a compute multiplier, and advice to promote it or not."""
    from ..inference.decisions.worth import worth
    from ..reports import results

    fits = {name.removesuffix(".nc"): fit for name, fit in tables.open_fits(files, json).items()}
    first = next(iter(fits.values()))
    verdict = results.verdict_entry(first)
    result = worth(
        fits if len(fits) > 1 else first,
        baseline,
        parsing.numbers(compute, "--compute"),
        tokens_per_parameter=tokens_per_parameter,
        within=None if within is None else parsing.ends(within, "--within"),
        switch=parsing.flop(switch, "--switch"),
        gpu_hour=gpu_hour,
        flop_per_second=flop_per_second,
        utilisation=utilisation,
        beyond=beyond,
        robust=robust,
        **parsing.values(plan, "--plan"),
    )
    tables.print_result(result, {"worth": result.entries(), "diagnostics": first.diagnostics, "verdict": verdict}, json)
    for file, fit in list(zip(files, fits.values(), strict=True))[1:]:
        tables.print_diagnostics(file, fit.diagnostics)
