"""Training one arithmetic model with the training loop, and judging it on its grid."""

from pathlib import Path

import torch

from ..checkpoints import Checkpoints
from ..guard import Guard
from ..hardware import autocast, chosen_device, chosen_precision
from ..loop import FINISHED, PAUSED, Task, run
from ..randomness import hashed, low_bits
from ..records import read_dataset, write_dataset
from ..runs import Execution
from .evaluation import evaluate
from .memory import check_memory, evaluation_tokens
from .objective import divide_gradients, judged
from .records import record
from .transformer import Transformer
from .vocabulary import PAD

# First word of the hash that turns a run's seed into that of problems never trained on.
HELD_OUT = 201
# Cells judged between looks at the guard, which are then safe on disk.
CELLS = 100


def train_run(configuration, folder, *, execution=None, device=None, guard=None, deadline=None, report=None):
    """Train one run and judge it, from its last checkpoint if there is one.

    Parameters
    ----------
    configuration : runs.Run
    folder : path
        Where its checkpoints are, on the machine that trains.
    execution : Execution, optional
        Of which `compile` and `save_seconds` count.
    device : str, optional
        By default CUDA where there is a GPU.
    guard : Guard, optional
        What may stop the run; by default one made of `deadline`.
    deadline : float, optional
        Seconds since the epoch.
    report : callable, optional
        As `training.loop.run` takes it.

    Returns
    -------
    xarray.Dataset or None
        The record of the run, or None if it was stopped before its end.

    Raises
    ------
    InputError
        If the device, a choice or a checkpoint cannot be used, or the device has too little memory.
    """
    execution, device, folder = execution or Execution(), chosen_device(device), Path(folder)
    precision = chosen_precision(configuration.precision, device)
    checkpoints = Checkpoints(folder)
    check_memory(configuration, device, precision)
    model = Transformer(configuration.model, configuration.seed).to(device)
    if configuration.objective.divide_gradients:
        divide_gradients(model)
    if execution.compiles(device):
        model.compile_layers()
    guard = guard or Guard(deadline)
    with guard.listening():
        outcome = run(
            model,
            task(configuration, device),
            configuration.optimisation,
            evaluate_at=configuration.evaluate_at,
            precision=precision,
            checkpoints=checkpoints,
            save_seconds=execution.save_seconds,
            guard=guard,
            report=report,
        )
        if outcome.status == PAUSED:
            return None
        parts = judge(model, configuration, folder, device, precision, guard, trained=outcome.status == FINISHED)
    return None if parts is None else record(configuration, outcome, parts, device, precision)


def task(configuration, device):
    """Give a run's problems as the training loop takes them.

    Returns
    -------
    Task
    """

    def batch(step):
        parts = []
        for microbatch in configuration.plan.microbatches(step):
            draws = configuration.draws(microbatch)
            made = configuration.batches(configuration.seed, microbatch, configuration.plan.microbatch, device)
            # Each part has noise of its own, and the other draws in common.
            parts += [
                (part, draws._replace(noise=low_bits(hashed(draws.noise, place), 62)))
                for place, part in enumerate(made)
            ]
        return tuple(parts)

    def loss(model, *parts):
        return configuration.objective.losses(model, parts)

    return Task(batch, loss, _evaluation(configuration, device))


def judge(model, configuration, folder, device, precision, guard, *, trained=True):
    """Count right answers in every cell of a run's grid, some cells at a time.

    Parameters
    ----------
    model : Transformer
    configuration : runs.Run
    folder : path
        Where counts are kept until all are there.
    device : torch.device
    precision : str
        Of the layers; logits are in float32.
    guard : Guard
        What may stop it.
    trained : bool
        Whether the model is one; no answer of one that diverged is right.

    Returns
    -------
    list of xarray.Dataset or None
        As `evaluation.evaluate` gives them, one for each part of the grid; None if it was stopped.
    """
    cells, parts = configuration.grid.cells, []
    model.eval()
    for start in range(0, len(cells), CELLS):
        path = Path(folder) / f"cells-{start:06d}.nc"
        if path.exists():
            parts.append(read_dataset(path))
            continue
        if guard.expired:
            return None
        with torch.no_grad(), autocast(precision, device):
            part = evaluate(
                model if trained else Silent(configuration.model),
                configuration.task,
                cells[start : start + CELLS],
                count=configuration.grid.count,
                seed=configuration.grid.seed,
                device=device,
                batch_tokens=evaluation_tokens(configuration.model, device),
            )
        write_dataset(part, path)
        parts.append(part)
    return parts


class Silent(torch.nn.Module):
    """A model that answers nothing but padding, in place of one that diverged.

    Parameters
    ----------
    configuration : transformer.Configuration
    """

    def __init__(self, configuration):
        super().__init__()
        self.configuration = configuration

    def forward(self, tokens, *, recurrences=None):
        """Logits of which the first is the largest, as `Transformer` shapes them."""
        logits = torch.zeros(*tokens.shape, self.configuration.vocabulary, device=tokens.device)
        logits[..., PAD] = 1
        return logits


def _evaluation(configuration, device):
    seed = low_bits(hashed(HELD_OUT, configuration.seed), 62)
    batches = configuration.batches(seed, 0, configuration.evaluation_problems, device)

    def evaluate_now(model):
        loss, tokens, right = (sum(parts).item() for parts in zip(*(judged(model, b) for b in batches), strict=True))
        return {"loss_eval": loss / tokens, "accuracy": right / sum(len(b.tokens) for b in batches)}

    return evaluate_now
