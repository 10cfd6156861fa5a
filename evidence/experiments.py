"""What each experiment of the training studies takes on a GPU that is not here, and a tiny run of each of its arms."""

import hashlib
import json
import tempfile
from dataclasses import replace
from functools import partial

from bayescaling import training
from bayescaling.training import arithmetic
from bayescaling.training.arithmetic.cells import Grid
from bayescaling.training.sweeps.outline import SHARES_OF
from study import register

GPU = "H100"
KINDS = {"arithmetic": arithmetic, "language": training}
# Presets of the experiments; the others are smaller ones of this package.
OWN = {
    "arithmetic": ("demo", "gpu", "small", "reduced"),
    "language": ("demo", "small", "rates", "experts", "experts-gpu"),
}
NAMES = {kind: [name for name in module.PRESETS if name not in OWN[kind]] for kind, module in KINDS.items()}
UPDATES, PROBLEMS, TOKENS = 2, 8, 128


# A fingerprint of the presets of all experiments.
TABLES = {kind: {name: KINDS[kind].PRESETS[name] for name in names} for kind, names in NAMES.items()}
DIGEST = hashlib.sha256(json.dumps(TABLES, sort_keys=True).encode()).hexdigest()[:16]


@register("what the experiments of the training studies take", list, gpu=GPU, shares=SHARES_OF, presets=DIGEST)
def experiments(parts, **settings):
    """Compute what every preset takes, and train one tiny run for each of its arms, embeddings and architectures."""
    return {
        kind: {name: parts.entry(f"{kind} {name}", partial(_taken, kind, name)) for name in names}
        for kind, names in NAMES.items()
    }


def _taken(kind, name):
    sweep = KINDS[kind].make_sweep({"preset": name})
    outline = KINDS[kind].outline(sweep, device=GPU)["rounds"]
    counts = [count for of in outline for count in of["parameters"]]
    taken = {key: sum(of[key] for of in outline) for key in ("runs", "flop", "seconds")}
    taken |= {"parameters": [min(counts), max(counts)], "bytes": max(of["bytes"] for of in outline)}
    tiny = {run.name: run for runs in sweep.groups().values() for run in map(TINY[kind], runs)}
    return taken | {"tiny": len(tiny), "tiny_finished": sum(_finished(run) for run in tiny.values())}


def _tiny_arithmetic(run):
    """Return a run of narrow layers and few problems, of the same depth, embedding, task and objective."""
    plan = replace(run.plan, samples=UPDATES * PROBLEMS, batch=PROBLEMS, microbatch=PROBLEMS, ramp=0.0)
    model = replace(run.model, d_model=16, heads=2)
    optimisation = replace(run.optimisation, plan=plan, updates=UPDATES)
    settings = {"evaluate_at": (UPDATES,), "evaluation_problems": PROBLEMS, "seed": 0, "precision": "float32"}
    grid = Grid(((1, 1), (2, 2)), count=2)
    return replace(run, model=model, optimisation=optimisation, grid=grid, noise_device="cpu", **settings)


def _tiny_language(run):
    model = replace(run.model, d_model=8, vocabulary=64)
    optimisation = replace(run.optimisation, updates=UPDATES, warmup=0)
    settings = {"batch_tokens": TOKENS, "evaluation_tokens": TOKENS, "evaluate_at": (UPDATES,), "precision": "float32"}
    return replace(run, model=model, corpus=replace(run.corpus, vocabulary=64), optimisation=optimisation, **settings)


TINY = {"arithmetic": _tiny_arithmetic, "language": _tiny_language}


def _finished(run):
    import torch

    model, _ = run.prepared(training.Execution(compile=False), torch.device("cpu"), "float32")
    counted = sum(weight.numel() for weight in model.parameters())
    gains = getattr(run.model, "gains", 0)  # which counts of language models leave out
    with tempfile.TemporaryDirectory() as folder:
        record = training.train_run(run, folder, device="cpu")
    finite = bool(record["loss_eval"].notnull().all())
    return record["status"].item() == "finished" and finite and counted == run.model.parameters + gains
