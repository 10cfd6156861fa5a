"""One arithmetic model: the objective and the task that it learns, and its test on a grid of cells.

The objective is that of McLeish et al. (2024, arXiv:2405.17399): cross-entropy through a random number of recurrences.
"""

import functools
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import torch
import torch.nn.functional as F

from ...datasets import netcdf
from ..engine.fields import Share, check_fields
from ..engine.loop import Task
from ..engine.randomness import hashed, low_bits
from ..engine.updates import rounded
from ..sweeps.records import read_dataset
from .cells import together
from .evaluation import evaluate, evaluation_tokens
from .models.transformer import Transformer
from .problems.layout import PAD, Batch


@dataclass(frozen=True)
class Objective:
    """The objective that a run minimises.

    Parameters
    ----------
    masked : bool
        Whether tokens up to the equals sign do not count.
    average : str
        ``"tokens"`` is the mean over all tokens that count. ``"problems"`` is the mean over problems of the mean over
        their tokens. ``"positions"`` is the sum over the number of all positions, padding included (McLeish et al.
        2024, multiplication). That number is B (S - 1) for B problems whose longest can have S tokens, so short answers
        count less.
    alpha : float
        Weight of the progressive loss; the pass through all recurrences has weight 1 - alpha. McLeish et al. (2024)
        describe this combination; their runs have 1.
    all_gradients : bool
        Whether the pass through all recurrences has gradients in all. In the public code of McLeish et al. (2024) it
        has them in the last half.
    divide_gradients : bool
        Whether gradients of the block's weights are divided by the recurrences. McLeish et al. (2024) describe it for
        multiplication; in their public code it has no effect.
    """

    masked: bool = True
    average: Literal["tokens", "positions", "problems"] = "tokens"
    alpha: Share = 1.0
    all_gradients: bool = False
    divide_gradients: bool = False

    def __post_init__(self):
        check_fields(self, "training")

    def held(self, recurrences):
        """Return how many recurrences have gradients in the pass through all."""
        return recurrences if self.all_gradients else max(1, recurrences // 2)

    def counted(self, batch):
        """Compute the weights of all tokens but the first of a batch, float32, shape (problems, length - 1)."""
        scored = batch.scored if self.masked else batch.tokens != PAD
        weights = scored[:, 1:].float()
        if self.average == "problems":
            weights = weights / weights.sum(1, keepdim=True).clamp(min=1)
        return weights

    def losses(self, model, parts):
        """Yield losses, nats, which add up to the mean loss of a batch, of its parts: each problems and their draws."""
        weights = [self.counted(batch) for batch, _ in parts]
        if self.average == "positions":
            widest = max(batch.tokens.shape[1] for batch, _ in parts)
            total = sum(len(batch.tokens) for batch, _ in parts) * (widest - 1)
        else:
            total = torch.stack([weight.sum() for weight in weights]).sum()
        for (batch, draws), weight in zip(parts, weights, strict=True):
            yield self._loss(model, batch, draws, weight) / total

    def _loss(self, model, batch, draws, weights):
        every = model.configuration.recurrences
        held = self.held(every)
        passes = [(self.alpha, draws), (1 - self.alpha, draws._replace(free=every - held, held=held))]
        return sum(
            share * summed(model(batch.tokens[:, :-1], draws=of_pass), batch, weights)
            for share, of_pass in passes
            if share > 0
        )


def summed(logits, batch, weights):
    """Sum the cross-entropies of the tokens that follow, in nats, with weights of shape (problems, length - 1)."""
    targets = batch.tokens[:, 1:].flatten()
    return F.cross_entropy(logits.flatten(0, 1), targets, reduction="none") @ weights.flatten()


def divide_gradients(model):
    """Divide all later gradients of the block's weights by the recurrences."""
    share = 1 / model.configuration.recurrences
    for weight in model.layers.parameters():
        weight.register_hook(lambda gradient: gradient * share)


@torch.no_grad()
def judged(model, batch):
    """Sum the loss of a batch's answers, in nats, and count their tokens and the problems with all of them right."""
    logits = model(batch.tokens[:, :-1])
    wanted = batch.scored[:, 1:]
    right = (logits.argmax(-1) == batch.tokens[:, 1:]) | ~wanted
    return summed(logits, batch, wanted.float()), wanted.sum(), right.all(1).sum()


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
    options = {name: getattr(run.grid, name) for name in ("count", "seed", "offsets")}
    options |= {"device": device, "batch_tokens": tokens}
    for start in range(0, len(cells), size):
        path = Path(folder) / f"cells-{start:06d}-{size}.nc"
        if path.exists():
            parts.append(read_dataset(path))
            continue
        if guard.expired:
            return None
        with torch.no_grad():
            part = evaluate(model if trained else silent, run.task, cells[start : start + size], **options)
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
