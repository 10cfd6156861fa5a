"""A check of a device: does it give the results that it should, and how fast; results are on disk after every step."""

import copy
import itertools
import json
import math
import os
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np
import torch

from ..datasets.files import written_whole
from ..datasets.wording import printable
from ..errors import InputError
from .arithmetic.evaluation import evaluate, greedy, right
from .arithmetic.models.transformer import Configuration, Transformer
from .arithmetic.presets import PRESETS as ARITHMETIC
from .arithmetic.problems.layout import EOS
from .arithmetic.problems.tasks import TASKS, Addition
from .arithmetic.sweep_file import make_sweep
from .engine.compilation import can_compile
from .engine.guard import Guard
from .engine.hardware import ceiling, choose_device, describe_where, name_device, timed
from .engine.loop import Optimisation
from .engine.loop import run as loop
from .engine.updates import Stepper, make_optimiser, rounded
from .language.corpora.synthetic import Synthetic
from .language.loss import ROUTES, choose_route, compiled_loss, next_token_loss
from .language.presets import PRESETS as LANGUAGE
from .language.sweep_file import make_sweep as language_sweep
from .language.transformer import Configuration as Shape
from .language.transformer import Decoder
from .sweeps.base import Execution
from .sweeps.outline import update
from .sweeps.records import versions
from .sweeps.trainer import make_folder, train_run

CPU = torch.device("cpu")
# Largest relative differences that rounding explains: of bfloat16, whose last bit is 1/256; of float32 sums in another
# order, with TensorFloat-32 allowed; and of losses after some updates.
BFLOAT16, FLOAT32, UPDATES = 0.05, 0.005, 0.02
WIDTHS = (1, 2, 3, 8, 14)
COMPILED = ("fire", "abacus+rope")
TINY = {
    "model": {"d_model": 32, "heads": 2, "k_max": 1, "table_rows": 48},
    "training": {"samples": 40_000, "batch": 64, "learning_rate": 0.005, "evaluations": 4, "evaluation_problems": 100},
    "evaluation": {"longest": 3, "diagonal_to": 14, "count": 20},
    "arms": [{"name": "one", "task": "addition", "lengths": 1, "embeddings": ["abacus"], "architectures": ["1x1"]}],
}


def compare_bfloat16(device):
    """Compare FIRE's layers forward and backward in bfloat16 with float32."""
    model, tokens = _small("fire", device)
    outputs = [_outputs(rounded(model, precision), tokens) for precision in ("bfloat16", "float32")]
    difference = _difference(*outputs)
    return {"ok": difference <= BFLOAT16, "difference": difference}


def compare_compilation(device):
    """Compare compiled blocks with plain ones, on a GPU in bfloat16 too."""
    if not can_compile(device.type):
        return {"ok": True, "skipped": "nothing can be compiled here"}
    allowed = {"float32": FLOAT32} | ({"bfloat16": BFLOAT16} if device.type == "cuda" else {})
    worst = dict.fromkeys(allowed, 0.0)
    for scheme, precision in itertools.product(COMPILED, allowed):
        model, tokens = _small(scheme, device)
        model = rounded(model, precision)
        plain = _outputs(model, tokens)
        model.compile_block()
        worst[precision] = max(worst[precision], _difference(_outputs(model, tokens), plain))
    return {"ok": all(worst[precision] <= allowed[precision] for precision in allowed), "difference": worst}


def compare_judging(device):
    """Compare counts of right answers at several widths: in batches of few shapes, of many, and token by token."""
    (run,) = make_sweep(TINY).settled(describe_where(str(device))).arms["one"]
    model, task = run.prepared(Execution(compile=False), device, "float32")
    loop(model, task, run.optimisation, evaluate_at=())
    cells = [(length, length) for length in WIDTHS]
    options = {"count": 100, "device": device}
    one, other = (evaluate(model, run.task, cells, multiple=multiple, **options) for multiple in (1, 32))
    right = 0
    for cell in cells:
        batch = run.task.cell(*cell, 100, 0, device)
        right += int((greedy(model, batch) == batch.tokens).all(1).sum())
    counts = [int(result["correct"].sum()) for result in (one, other)]
    same = bool((one["correct"] == other["correct"]).all()) and counts[0] == right
    return {"ok": same and right > 0, "right": [*counts, right], "of": 100 * len(cells)}


def compare_pause(device):
    """Compare a run that pauses every few updates and resumes with a run that does not pause."""
    short = TINY | {"training": TINY["training"] | {"samples": 1280, "evaluation_problems": 20}}
    (run,) = make_sweep(short).settled(describe_where(str(device))).arms["one"]
    execution = Execution(compile=False)
    with tempfile.TemporaryDirectory() as folder:
        options = {"execution": execution, "device": str(device)}
        whole = train_run(run, Path(folder) / "whole", **options)
        pauses, paused = 0, None
        while paused is None and pauses < run.plan.updates:
            limit = 0 if pauses < 3 else None
            paused = train_run(run, Path(folder) / "paused", guard=Guard(limit), **options)
            pauses += paused is None
    one, other = (np.asarray(record["loss_train"]).ravel() for record in (whole, paused))
    difference = float(np.max(np.abs(one - other) / one))
    return {"ok": difference <= UPDATES and pauses > 0, "difference": difference, "pauses": pauses}


def compare_graphs(device):
    """Compare updates whose losses are replayed as CUDA graphs, of two shapes in turn, with plain ones."""
    if device.type != "cuda" or not can_compile("cuda"):
        return {"ok": True, "skipped": "CUDA graphs need CUDA and compilation"}
    language, losses = Synthetic(vocabulary=32), []
    for loss in (next_token_loss, compiled_loss(graph=True)):
        model = Decoder(Shape(8, 1, vocabulary=32, context=8, heads=2), seed=0).to(device)
        update = Stepper(model, loss, make_optimiser(Optimisation(0.01, updates=12), model), 1.0, "float32")
        batches = [language.batch(0, step, 16 if step % 2 else 24, 8, device) for step in range(12)]
        losses.append(np.array([float(update(0.01, batch, "plain")) for batch in batches]))
    difference = float(np.max(np.abs(losses[0] - losses[1]) / losses[0]))
    return {"ok": difference <= UPDATES, "difference": difference}


def compare_data(device):
    """Compare problems and documents made on the device with those of the CPU, which must be the same to the bit."""
    differ = []
    for name, task in TASKS.items():
        batches = (task(5).batches(2, 3, 512, where) for where in (CPU, device))
        for one, other in zip(*batches, strict=True):
            differ += [name] * (not torch.equal(one.tokens, other.tokens.cpu()))
    language = Synthetic(vocabulary=512)
    one, other = (language.batch(2, 5, 256, 16, where) for where in (CPU, device))
    differ += ["documents"] * (not torch.equal(one, other.cpu()))
    return {"ok": not differ, "differ": sorted(set(differ))}


_STEPS = (compare_bfloat16, compare_compilation, compare_judging, compare_pause, compare_graphs, compare_data)
CHECKS = {step.__name__.removeprefix("compare_"): step for step in _STEPS}


def _small(scheme, device):
    task = Addition(6)
    shape = Configuration(task.vocabulary_size, 32, 2, 2, 2, "first-layer", embedding=scheme, table_rows=16, k_max=2)
    return Transformer(shape, seed=0).to(device), task.batch(0, 0, 64, device).tokens[:, :12]


def _outputs(model, tokens):
    """Return a model's logits, and the gradients of its loss as one vector, since those of some weights are tiny."""
    logits = model(tokens)
    loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), tokens.flatten())
    gradients = torch.autograd.grad(loss, list(model.parameters()))
    return logits.detach(), torch.cat([gradient.flatten().float() for gradient in gradients])


def _difference(values, expected):
    return max(float((a - b).norm() / b.norm()) for a, b in zip(values, expected, strict=True))


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
    where = describe_where(str(device))
    reduced, addition = (make_sweep(tables[name]).settled(where).arms for name in ("reduced", "addition"))
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


def full():
    """Return the sweeps whose updates are timed on a GPU, and the sizes of the other steps."""
    addition = ARITHMETIC["addition"]
    arm = addition["arms"][1] | {"embeddings": ["abacus"], "architectures": ["16x1+injection"]}
    return {
        "schemes": copy.deepcopy(LANGUAGE["schemes"]),
        "reduced": copy.deepcopy(ARITHMETIC["reduced"]),
        "addition": copy.deepcopy(addition | {"arms": [arm]}),
        "digits": 20,
        "problems": 65536,
        "judged": 1024,
        "ways": ["plain", "compiled", "graphs"],
    }


def tiny():
    """Return sweeps and sizes of the same kinds that a CPU does in half a minute, to rehearse the check."""
    tables = full()
    # To compile takes longer than all else here.
    tables |= {"digits": 5, "problems": 256, "judged": 16, "ways": ["plain"]}
    schemes = tables["schemes"]
    schemes["corpus"]["vocabulary"] = 32
    schemes["model"] |= {"sizes": [[4, 1], [8, 1]], "heads": 2, "context": 8}
    schemes["training"] |= {"batch_tokens": 128, "updates": [4, 6], "evaluations": 2, "evaluation_tokens": 128}
    for name in ("reduced", "addition"):
        sweep = tables[name]
        sweep["model"] = {"d_model": 16, "heads": 2, "k_max": 2, "table_rows": 16}
        sweep["training"] |= {"samples": 128, "batch": 32, "microbatch": 32, "evaluations": 1, "seeds": [0]}
        sweep["training"]["evaluation_problems"] = 16
        sweep["evaluation"] = {"longest": 3, "diagonal_to": 0, "count": 4}
        sweep["arms"][0] |= {"lengths": 2, "architectures": ["1x1+injection"]}
    return tables


def check(out, *, minutes=9.0, device=None, tables=None, announce=print):
    """Check a device: what must agree, then how fast it is; ``OUT/check.json`` and ``OUT/summary.md`` have the results.

    No step begins after some `minutes`. `tables` has sweeps and sizes, by default those of `full` and on a CPU those of
    `tiny`. `announce` takes each line about what was done.
    """
    if isinstance(minutes, bool) or not isinstance(minutes, int | float) or not 0 < minutes < math.inf:
        raise InputError(f"minutes is {minutes!r}; give a number above 0")
    out, where = Path(os.path.realpath(os.path.expanduser(out))), choose_device(device)
    if device is None and where.type != "cuda":
        raise InputError(
            f"device: torch {torch.__version__} sees no GPU here; run this on a machine with one, with a torch for "
            'CUDA, or rehearse it with device "cpu"'
        )
    make_folder(out)
    tables = tables or (full() if where.type == "cuda" else tiny())
    results = {"device": name_device(where), "versions": json.loads(versions()), "agreement": {}, "speed": {}}
    start = time.monotonic()
    for group, steps in {"agreement": CHECKS, "speed": SPEEDS}.items():
        for name, step in steps.items():
            if time.monotonic() - start > 60 * minutes:
                announce(f"{group}, {name}: left out after {minutes:g} minutes; give more --minutes")
                continue
            results[group][name] = _tried(step, where, *([tables] if group == "speed" else []))
            for path, text in {"check.json": json.dumps(results, indent=1), "summary.md": summary(results)}.items():
                with written_whole(out / path) as partial:
                    partial.write_text(text, encoding="utf-8")
            announce(f"{group}, {name}: {_text(results[group][name])}")
    announce(printable(out / "summary.md"))
    return results


def summary(results):
    """Write the results of a check as Markdown."""
    lines = [f"# Check of {results['device']}", ""]
    lines += [", ".join(f"{name} {number}" for name, number in results["versions"].items()), ""]
    for group in ("agreement", "speed"):
        lines += [f"## {group.capitalize()}", ""]
        lines += [f"- **{name}**: {_text(result)}" for name, result in results[group].items()] or ["- nothing yet"]
        lines.append("")
    return "\n".join(lines)


def _tried(step, *options):
    """Run a step and return its result; a failure is a result too, so that the other steps run."""
    start = time.perf_counter()
    try:
        result = step(*options)
    # The check is there to report what fails on a new device.
    except Exception as error:
        result = {"ok": False, "error": f"{type(error).__name__}: {error}".splitlines()[0]}
    return result | {"took": time.perf_counter() - start}


def _text(content, depth=0):
    if isinstance(content, dict):
        text = ", ".join(f"{name} {_text(value, depth + 1)}" for name, value in content.items())
        return f"({text})" if depth else text
    if isinstance(content, bool):
        return "yes" if content else "NO"
    return f"{content:.4g}" if isinstance(content, float) else str(content)
