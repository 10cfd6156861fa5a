"""Next-token prediction of a corpus, as a task for the training loop."""

import functools

import torch

from ..engine.compilation import compiled
from ..engine.loop import Task
from .loss import choose_route, cross_entropy, token_losses


def task(run, execution, device, route=None):
    """Make the task of a run, an `engine.loop.Task`, with a route of the loss, by default that of the execution."""
    route = route or choose_route(execution.loss_route, device)
    loss = compiled_loss(graph=execution.graph) if execution.compiles(device) else next_token_loss
    corpus, context = run.corpus, run.model.context

    def batch(step):
        return (corpus.batch(run.seed, step, run.sequences, context, device),)

    def in_parts(model, tokens):
        for part in tokens.chunk(execution.parts):
            yield loss(model, part, route) * (len(part) / len(tokens))

    return Task(batch, in_parts, _evaluation(run, device))


def next_token_loss(model, tokens, route):
    """Compute the mean cross-entropy of every token but the first of each sequence, nats, shape ().

    Tokens are int64, of shape (sequences, context + 1); `route` is one of `loss.ROUTES`.
    """
    return cross_entropy(model(tokens[:, :-1]), model.unembedding, tokens[:, 1:], route)


@functools.cache
def compiled_loss(*, graph=False):
    """Compile `next_token_loss`, once for each size of model in the process, on CUDA as graphs if that is wanted."""
    return compiled(next_token_loss, mode="reduce-overhead" if graph else None)


def _evaluation(run, device):
    corpus, context = run.corpus, run.model.context
    tokens = corpus.held_out(run.evaluation_tokens // context, context, device)
    parts = tokens.split(run.sequences)
    log_probability = getattr(corpus, "log_probability", None)
    truth = None if log_probability is None else torch.cat([-log_probability(part) for part in parts]).mean(1)

    def evaluate(model):
        losses = [token_losses(model(part[:, :-1]), model.unembedding, part[:, 1:]) for part in parts]
        losses = torch.cat(losses).double().mean(1)
        values = {"loss_eval": losses.mean().item(), "loss_eval_se": _standard_error(losses)}
        if truth is not None:
            excess = losses - truth
            values |= {"loss_oracle": truth.mean().item()}
            values |= {"excess": excess.mean().item(), "excess_se": _standard_error(excess)}
        return values

    return evaluate


# Tokens of one sequence share their context, so the independent units are sequences.
def _standard_error(losses):
    return (losses.std() / len(losses) ** 0.5).item() if len(losses) > 1 else float("nan")
