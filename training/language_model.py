"""Language modelling as a task for the training loop."""

import functools
from pathlib import Path

import torch

from .checkpoints import Checkpoints
from .guard import Guard
from .hardware import chosen_device, chosen_precision
from .loop import PAUSED, Task, run
from .loss import chosen_route, cross_entropy, token_losses
from .records import record
from .runs import Execution
from .transformer import Decoder

# Compiled once for each size of a sweep, more of them than torch takes for a mistake by default.
SIZES_COMPILED = 64


def train_run(configuration, folder, *, execution=None, device=None, guard=None, deadline=None, report=None):
    """Train one run, from its last checkpoint if there is one.

    Parameters
    ----------
    configuration : Run
    folder : path
        Where its checkpoints are, on the machine that trains.
    execution : Execution, optional
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
        If the device, a choice or a checkpoint cannot be used.
    """
    execution, device = execution or Execution(), chosen_device(device)
    precision = chosen_precision(configuration.precision, device)
    model = Decoder(configuration.model, configuration.seed).to(device)
    guard = guard or Guard(deadline)
    with guard.listening():
        outcome = run(
            model,
            task(configuration, execution, device),
            configuration.optimisation,
            evaluate_at=configuration.evaluate_at,
            precision=precision,
            checkpoints=Checkpoints(Path(folder)),
            save_seconds=execution.save_seconds,
            guard=guard,
            report=report,
            graph=execution.graph and device.type == "cuda",
        )
    return None if outcome.status == PAUSED else record(configuration, outcome, device, precision)


def task(configuration, execution, device):
    """Next-token prediction of a run's corpus, as the training loop takes it.

    Returns
    -------
    Task
    """
    route = chosen_route(execution.loss_route, device)
    loss = compiled_loss() if execution.compiles(device) else next_token_loss
    corpus, context = configuration.corpus, configuration.model.context

    def batch(step):
        return (corpus.batch(configuration.seed, step, configuration.sequences, context, device),)

    return Task(batch, lambda model, tokens: loss(model, tokens, route), _evaluation(configuration, device))


def next_token_loss(model, tokens, route):
    """Mean cross-entropy of every token but the first of each sequence.

    Parameters
    ----------
    model : Decoder
    tokens : torch.Tensor
        int64, shape (sequences, context + 1).
    route : str

    Returns
    -------
    torch.Tensor
        Nats, shape ().
    """
    return cross_entropy(model(tokens[:, :-1]), model.unembedding, tokens[:, 1:], route)


@functools.cache
def compiled_loss():
    """Compile `next_token_loss`, once for each size of model in the process."""
    import torch._dynamo

    torch._dynamo.config.recompile_limit = max(SIZES_COMPILED, torch._dynamo.config.recompile_limit)
    return torch.compile(next_token_loss, dynamic=False)


def _evaluation(configuration, device):
    corpus, context = configuration.corpus, configuration.model.context
    tokens = corpus.held_out(configuration.evaluation_tokens // context, context, device)
    parts = tokens.split(configuration.sequences)
    known = getattr(corpus, "log_probability", None)
    truth = None if known is None else torch.cat([-known(part) for part in parts]).mean(1)

    def evaluate(model):
        losses = [token_losses(model(part[:, :-1]), model.unembedding, part[:, 1:]) for part in parts]
        losses = torch.cat(losses).double().mean(1)
        values = {"loss_eval": _mean(losses), "loss_eval_se": _standard_error(losses)}
        if truth is not None:
            excess = losses - truth
            values |= {"loss_oracle": _mean(truth), "excess": _mean(excess), "excess_se": _standard_error(excess)}
        return values

    return evaluate


def _mean(losses):
    return losses.mean().item()


# Tokens of a sequence share their context, so sequences are what is independent.
def _standard_error(losses):
    return (losses.std() / len(losses) ** 0.5).item() if len(losses) > 1 else float("nan")
