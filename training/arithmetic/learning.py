"""One arithmetic model: the task that it learns, and its test on a grid of cells."""

import functools
from pathlib import Path

import torch

from ...datasets import netcdf
from ..engine.loop import Task
from ..engine.precision import rounded
from ..engine.randomness import hashed, low_bits
from ..sweeps.records import read_dataset
from .cell_counts import together
from .evaluation import evaluate
from .models.memory import evaluation_tokens
from .models.transformer import Transformer
from .objective import divide_gradients, judged
from .problems.layout import Batch
from .problems.vocabulary import PAD

# First word of the hash that turns a run's seed into that of problems never trained on.
HELD_OUT = 201
# Problems to train on that are made at once, by whether on a GPU, where launches of kernels take most of the time.
AHEAD = {False: 2**14, True: 2**16}
# Cells tested before they are saved and the guard decides whether to stop, by whether on a GPU.
CELLS = {False: 100, True: 1000}


def compiled_model(run, execution, device):
    """Make the model of a run on a device, with its initial weights, compiled where that is wanted and possible."""
    model = Transformer(run.model, run.seed).to(device)
    if run.objective.divide_gradients:
        divide_gradients(model)
    if execution.compiles(device):
        model.compile_block(graph=execution.graph)
    return model


def task(run, device, precision="float32"):
    """Make the task of a run, an `engine.loop.Task`, whose layers have a precision."""
    joined, size = run.joined(torch.device(device), precision), AHEAD[torch.device(device).type == "cuda"]
    size = max(1, size // run.plan.microbatch)

    # A call that generates problems takes a thousand operations, however few they are.
    @functools.lru_cache(maxsize=1)
    def made(first):
        steps = range(first, min(first + size, run.plan.starts[-1]))
        return run.batches(run.seed, steps, run.plan.microbatch, device)

    def batch(step):
        parts = []
        for microbatches in run.plan.groups(step, joined):
            draws = [run.draws(microbatch) for microbatch in microbatches]
            offsets = torch.tensor([one.offset for one in draws], device=device)
            problems = [made(microbatch - microbatch % size)[microbatch % size] for microbatch in microbatches]
            for place, batches in enumerate(zip(*problems, strict=True)):
                # Parts have different noise; the other draws are common to all.
                noise = tuple(low_bits(hashed(*one.noise, place), 62) for one in draws)
                offset = offsets.repeat_interleave(len(batches[0].tokens))[:, None]
                part = Batch(*(torch.cat(columns) for columns in zip(*batches, strict=True)))
                parts.append((part, draws[0]._replace(offset=offset, noise=noise)))
        return tuple(parts)

    def loss(model, *parts):
        return run.objective.losses(model, parts)

    return Task(batch, loss, _evaluation(run, device))


def grid_counts(model, run, folder, device, precision, guard, *, trained=True):
    """Count right answers in every cell of a run's grid, some cells at a time.

    Counts are saved in a folder until all cells are tested. The guard may stop it; a time limit stops it only after at
    least one part of the grid. A model that diverged, not `trained`, has no right answers. Logits are in float32,
    layers in the precision. The result is an xarray.Dataset as `together` makes it, or None if the guard stopped it.
    """
    cells, parts = run.grid.cells, []
    size, tokens = CELLS[device.type == "cuda"], evaluation_tokens(run.model, device)
    model = rounded(model, precision).eval()
    for start in range(0, len(cells), size):
        path = Path(folder) / f"cells-{start:06d}-{size}.nc"
        if path.exists():
            parts.append(read_dataset(path))
            continue
        if guard.expired:
            return None
        with torch.no_grad():
            part = evaluate(
                model if trained else silent,
                run.task,
                cells[start : start + size],
                count=run.grid.count,
                seed=run.grid.seed,
                offsets=run.grid.offsets,
                device=device,
                batch_tokens=tokens,
            )
        netcdf.write(part, path, parents=True)
        guard.progressed()
        parts.append(part)
    return together(parts)


def silent(tokens, *, offset=0):
    """Return logits of padding alone, in place of those of a model that diverged."""
    return torch.zeros(*tokens.shape, PAD + 1, device=tokens.device)


def _evaluation(run, device):
    seed = low_bits(hashed(HELD_OUT, run.seed), 62)
    (batches,) = run.batches(seed, range(1), run.evaluation_problems, device)

    def evaluate_now(model):
        sums = zip(*(judged(model, batch) for batch in batches), strict=True)
        loss, tokens, right = (sum(parts).item() for parts in sums)
        return {"loss_eval": loss / tokens, "accuracy": right / sum(len(b.tokens) for b in batches)}

    return evaluate_now
