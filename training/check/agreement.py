"""What must agree: kernels and plain arithmetic, runs with and without pauses, problems on device and CPU."""

import itertools
import tempfile
from pathlib import Path

import numpy as np
import torch

from ..arithmetic.evaluation import evaluate, greedy
from ..arithmetic.models.transformer import Configuration, Transformer
from ..arithmetic.problems import TASKS
from ..arithmetic.problems.operations import Addition
from ..arithmetic.sweep_file import make_sweep
from ..engine.compilation import can_compile
from ..engine.guard import Guard
from ..engine.hardware import describe_where
from ..engine.loop import Optimisation
from ..engine.loop import run as loop
from ..engine.optimisers import make_optimiser
from ..engine.precision import rounded
from ..engine.steps import Stepper
from ..language.corpora.synthetic import Synthetic
from ..language.next_token import compiled_loss, next_token_loss
from ..language.transformer import Configuration as Shape
from ..language.transformer import Decoder
from ..sweeps.execution import Execution
from ..sweeps.trainer import train_run

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


CHECKS = {
    "bfloat16": compare_bfloat16,
    "compilation": compare_compilation,
    "judging": compare_judging,
    "pause": compare_pause,
    "graphs": compare_graphs,
    "data": compare_data,
}


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
