"""How fast a device is at what training does, compared with the most that it can do."""

import statistics

import torch

from ...errors import InputError
from ..arithmetic.evaluation import greedy, right
from ..arithmetic.problems import TASKS
from ..arithmetic.problems.vocabulary import EOS
from ..arithmetic.sweep_file import make_sweep as arithmetic_sweep
from ..engine.hardware import ceiling, describe_where, timed
from ..engine.optimisers import make_optimiser
from ..engine.steps import Stepper
from ..language.loss import ROUTES, choose_route
from ..language.sweep_file import make_sweep as language_sweep
from ..sweeps.execution import Execution
from ..sweeps.times import update

# Ways in which updates are computed.
WAYS = {"plain": {"compile": False}, "compiled": {"compile": True}, "graphs": {"compile": True, "graph": True}}
LONGEST = 10  # kernels of a profile


def measure_device(device, tables):
    """Measure matrix products (FLOP/s) and copies (byte/s)."""
    precision = describe_where(str(device)).precision
    return {"precision": precision, "measured": ceiling(device, precision)._asdict()}


def count_slots(device, tables):
    """Count the slots of digits and signs a second that each task makes."""
    slots_per_second = {}
    for name, task in TASKS.items():
        problems = task(tables["digits"])
        batches = problems.batches(0, 0, tables["problems"], device)
        slots = sum(batch.tokens.numel() for batch in batches)
        seconds = timed(lambda step, problems=problems: problems.batches(0, step, tables["problems"], device), device)
        slots_per_second[name] = slots / statistics.median(seconds)
    return {"slots_per_second": slots_per_second}


def make_timer(way):
    """Make the step that times an update of each model in one of `WAYS`, with its share of the measured peak."""

    def time_updates(device, tables):
        if way not in tables["ways"]:
            return {"skipped": "compiling takes longer than all else here"}
        return {label: _update(run, Execution(**WAYS[way]), device) for label, run in _runs(device, tables).items()}

    return time_updates


def time_losses(device, tables):
    """Time an update of the language models by each route of the loss that works here, compiled where that is fast."""
    runs = {label: run for label, run in _runs(device, tables).items() if label.startswith("language")}
    times = {}
    for route in ROUTES:
        try:
            choose_route(route, device)
        except InputError as error:
            times[route] = {"skipped": str(error)}
            continue
        execution = Execution(loss_route=route, compile="compiled" in tables["ways"])
        times[route] = {label: _update(run, execution, device) for label, run in runs.items()}
    return times


def list_kernels(device, tables):
    """List the kernels that take longest in a plain update of the first arithmetic model: milliseconds and calls."""
    run = next(iter(_runs(device, tables).values()))
    model, task = run.prepared(Execution(compile=False), device, run.precision)
    stepper = Stepper(model, task.loss, make_optimiser(run.optimisation, model), run.optimisation.clip, run.precision)
    batch, kind = task.batch(0), "device" if device.type == "cuda" else "cpu"
    stepper(1e-4, *batch)
    with torch.profiler.profile() as profile:
        stepper(1e-4, *batch)
    field = f"self_{kind}_time_total"
    events = sorted(profile.key_averages(), key=lambda event: -getattr(event, field))[:LONGEST]
    return {event.key[:60]: {"ms": getattr(event, field) / 1e3, "calls": event.count} for event in events}


def time_judging(device, tables):
    """Time the test of a batch by one pass and token by token, of a model that never ends an answer."""
    run = next(iter(_runs(device, tables).values()))
    model, _ = run.prepared(Execution(compile=False), device, "float32")
    batch = run.task.cell(run.task.largest, run.task.largest, tables["judged"], 0, device)

    def endless(tokens):
        # A model that is not trained would end all answers at their first token, and decoding with them.
        return model(tokens).index_fill(-1, torch.tensor([EOS], device=device), -torch.inf)

    ways = {"one_pass": right, "token_by_token": greedy}
    seconds = {
        name: statistics.median(timed(lambda _, test=test: test(endless, batch), device)) for name, test in ways.items()
    }
    return seconds | {"ratio": seconds["token_by_token"] / seconds["one_pass"]}


def _runs(device, tables):
    """Return the runs whose updates are timed, by what they are."""
    where = describe_where(str(device))
    reduced, addition = (arithmetic_sweep(tables[name]).settled(where).arms for name in ("reduced", "addition"))
    language = language_sweep(tables["schemes"]).settled(where)
    stage = language.runs(language.stages[0], dict.fromkeys(language.sizes, 0.01))
    runs = {f"reduced {run.model.embedding}": run for arm in reduced.values() for run in reversed(arm)}
    runs["addition abacus"] = next(run for arm in addition.values() for run in arm)
    return runs | {f"language {run.model.d_model}x{run.model.layers}": run for run in (stage[0], stage[-1])}


def _update(run, execution, device):
    timing = update(run, execution, device)
    peak = ceiling(device, run.precision).flop_per_second
    return timing | {"share_of_peak": timing["flop"] / timing["seconds"] / peak}


SPEEDS = {"device": measure_device, "problems": count_slots, "judging": time_judging, "kernels": list_kernels}
SPEEDS |= {f"updates {way}": make_timer(way) for way in WAYS} | {"losses": time_losses}
