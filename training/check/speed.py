"""How fast a device is at what training does, compared with the most that it can do."""

import statistics

from ..arithmetic.evaluation import greedy, right
from ..arithmetic.problems import TASKS
from ..arithmetic.sweep_file import make_sweep as arithmetic_sweep
from ..engine.hardware import ceiling, timed, where_trained
from ..language.sweep_file import make_sweep as language_sweep
from ..sweeps.execution import Execution
from ..sweeps.times import update

# Whether layers are compiled.
WAYS = {"eager": False, "compiled": True}


def of_device(device, tables):
    """Measure matrix products (FLOP/s) and copies (byte/s)."""
    precision = where_trained(str(device)).precision
    return {"precision": precision, "measured": ceiling(device, precision)._asdict()}


def of_problems(device, tables):
    """Count the slots of digits and signs a second that each task makes."""
    slots_per_second = {}
    for name, task in TASKS.items():
        problems = task(tables["digits"])
        batches = problems.batches(0, 0, tables["problems"], device)
        slots = sum(batch.tokens.numel() for batch in batches)
        seconds = timed(lambda step, problems=problems: problems.batches(0, step, tables["problems"], device), device)
        slots_per_second[name] = slots / statistics.median(seconds)
    return {"slots_per_second": slots_per_second}


def of_updates(device, tables):
    """Time an update of each sweep's first run, plain and compiled."""
    where, updates = where_trained(str(device)), {}
    sweeps = {"arithmetic": arithmetic_sweep(tables["reduced"]), "language": language_sweep(tables["schemes"])}
    for name, sweep in sweeps.items():
        sweep = sweep.settled(where)
        if name == "arithmetic":
            runs = {run.model.embedding: run for arm in sweep.arms.values() for run in reversed(arm)}
        else:
            best = dict.fromkeys(sweep.sizes, 0.01)
            stage = sweep.runs(sweep.stages[0], best)
            runs = {f"{run.model.d_model}x{run.model.layers}": run for run in (stage[0], stage[-1])}
        for label, run in runs.items():
            updates[f"{name} {label}"] = {
                word: update(run, Execution(compile=compiled), device)
                for word, compiled in WAYS.items()
                if word in tables["ways"]
            }
    return {"updates": updates}


def of_judging(device, tables):
    """Time the test of a batch by one pass and token by token."""
    run = next(iter(arithmetic_sweep(tables["reduced"]).arms.values()))[0]
    model, _ = run.prepared(Execution(compile=False), device, "float32")
    batch = run.task.cell(run.task.largest, run.task.largest, tables["judged"], 0, device)
    ways = {"one_pass": right, "token_by_token": greedy}
    seconds = {
        name: statistics.median(timed(lambda _, test=test: test(model, batch), device)) for name, test in ways.items()
    }
    return seconds | {"ratio": seconds["token_by_token"] / seconds["one_pass"]}


SPEEDS = {"device": of_device, "problems": of_problems, "updates": of_updates, "judging": of_judging}
