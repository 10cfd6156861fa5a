"""Next-token prediction of a corpus, and its cross-entropy over a large vocabulary, computed by several routes.

A small model spends most of its time on the logits of a batch: 65,536 tokens over 50,257 words are 6.6 GB in bf16. The
routes differ in how often those bytes are read and written.
"""

import functools
import importlib.util

import torch
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint

from ...datasets.wording import unknown
from ...errors import InputError
from ..engine.compilation import compiled
from ..engine.loop import Task

# Logits that are made at once, by whether on a GPU: a CPU's fit into its cache, a GPU's use all of it.
CHUNK = {False: 2**20, True: 2**28}
# The words of a matrix product are filled up to a multiple of this, which a GPU's tensor cores want.
MULTIPLE = {False: 1, True: 64}


def cross_entropy(states, weight, targets, route="auto"):
    """Compute the mean cross-entropy of predictions, to train on: nats, shape ().

    States have shape (..., d_model), the weight of the unembedding (vocabulary, d_model), and targets, the next tokens,
    int64, (...).

    The route ``"plain"`` has all logits in memory. ``"chunked"`` has those of a chunk, and makes them twice.
    ``"torch"`` is torch's linear cross-entropy in chunks, which of bf16 states rounds the loss too, but not its
    gradients. ``"liger"`` and ``"cut"`` are the Liger and cut-cross-entropy kernels for CUDA. ``"auto"`` is resolved by
    `choose_route`, and in a sweep by `Run.route`, which takes ``"chunked"`` where memory is short. `InputError` is
    raised if the route is unknown or does not work here.

    Examples
    --------
    Without information, the loss is the logarithm of the vocabulary:

    >>> import torch
    >>> from bayescaling.training import cross_entropy
    >>> states, weight, targets = torch.zeros(5, 4), torch.ones(10, 4), torch.arange(5)
    >>> round(cross_entropy(states, weight, targets, "plain").item(), 4)
    2.3026
    """
    states, targets = states.reshape(-1, states.shape[-1]), targets.reshape(-1)
    # Compiled code was given a resolved route.
    chosen = route if torch.compiler.is_compiling() and route in ROUTES else choose_route(route, states.device)
    # Chunks round the weight themselves, so that its gradients add up in float32.
    return ROUTES[chosen](states, weight if chosen == "chunked" else weight.to(states.dtype), targets)


def token_losses(states, weight, targets):
    """Compute the cross-entropy of every prediction in float32, to evaluate, without gradients.

    It is in nats, of the shape of `targets`; the parameters are those of `cross_entropy`.

    Examples
    --------
    >>> import torch
    >>> from bayescaling.training import token_losses
    >>> token_losses(torch.zeros(2, 3, 4), torch.ones(10, 4), torch.zeros(2, 3).long()).shape
    torch.Size([2, 3])
    """
    rows = max(1, CHUNK[states.is_cuda] // len(weight))
    flat = states.reshape(-1, states.shape[-1]).float().split(rows), targets.reshape(-1).split(rows)
    with torch.no_grad():
        parts = [F.cross_entropy(F.linear(s, weight.float()), t, reduction="none") for s, t in zip(*flat, strict=True)]
    return torch.cat(parts).view(targets.shape)


def choose_route(route, device):
    """Return the route that is taken on a device for a requested one, such as ``"auto"``.

    On the CPU ``"auto"`` is ``"torch"`` where this torch has it, else ``"chunked"``: the fastest without compilation,
    as measured by `tests/benchmarks/training.py`. On CUDA it is ``"liger"`` where that package is installed, by
    ``bayescaling[kernels]``, else ``"plain"``, which compilation fuses; `gpu-check` compares them. `InputError` is
    raised if the route is unknown, needs CUDA, or needs a package that is missing.
    """
    in_torch = hasattr(torch.nn, "LinearCrossEntropyOptions")
    if route == "auto":
        if device.type == "cuda":
            return "liger" if importlib.util.find_spec(PACKAGES["liger"]) else "plain"
        return "torch" if in_torch else "chunked"
    if route not in ROUTES:
        raise InputError(unknown("training: loss_route", route, ["auto", *ROUTES]))
    package = PACKAGES.get(route)
    if package and device.type != "cuda":
        raise InputError(f'training: loss_route "{route}" needs CUDA and the device is {device.type}; take "auto"')
    if package and not importlib.util.find_spec(package):
        raise InputError(f'training: loss_route "{route}" needs the package {package}; install it or take "auto"')
    if route == "torch" and not in_torch:
        raise InputError(f'training: loss_route "torch" needs torch 2.13 and this is {torch.__version__}; take "auto"')
    return route


def _plain(states, weight, targets):
    spare = -len(weight) % MULTIPLE[states.is_cuda]
    logits = F.linear(states, F.pad(weight, (0, 0, 0, spare)) if spare else weight)
    return F.cross_entropy(logits[:, : len(weight)].float(), targets)


def _chunked(states, weight, targets):
    def summed(part, wanted):
        return F.cross_entropy(F.linear(part, weight.to(part.dtype)).float(), wanted, reduction="sum")

    # Logits are made again for the gradients, so that those of one chunk are in memory.
    rows = max(1, CHUNK[states.is_cuda] // len(weight))
    chunks = zip(states.split(rows), targets.split(rows), strict=True)
    losses = (checkpoint(summed, *chunk, use_reentrant=False, preserve_rng_state=False) for chunk in chunks)
    return sum(losses) / len(states)


def _torch(states, weight, targets):
    rows = None if states.is_cuda else max(32, 2 * CHUNK[False] // len(weight))
    options = torch.nn.LinearCrossEntropyOptions(
        batch_chunk_size=rows, allow_retain_graph=torch.compiler.is_compiling()
    )
    return F.linear_cross_entropy(states, weight, targets, options=options)


def _liger(states, weight, targets):
    from liger_kernel.transformers import LigerFusedLinearCrossEntropyLoss

    return LigerFusedLinearCrossEntropyLoss()(weight, states, targets)


def _cut(states, weight, targets):
    from cut_cross_entropy import linear_cross_entropy

    # By default it leaves out gradients below a threshold, which are most of a small model's.
    return linear_cross_entropy(states, weight, targets, filter_eps=None)


ROUTES = {"plain": _plain, "chunked": _chunked, "torch": _torch, "liger": _liger, "cut": _cut}
PACKAGES = {"liger": "liger_kernel", "cut": "cut_cross_entropy"}


def task(run, execution, device, route=None):
    """Make the task of a run, an `engine.loop.Task`, with a route of the loss, by default that of the execution."""
    route = route or choose_route(execution.loss_route, device)
    # How many tokens an expert has is known only as it runs, so that it cannot be compiled.
    compiles = run.model.experts == 1 and execution.compiles(device)
    loss = compiled_loss(graph=execution.graph) if compiles else next_token_loss
    corpus, context = run.corpus, run.model.context

    def batch(step):
        return (corpus.batch(run.seed, step, run.sequences, context, device),)

    def in_parts(model, tokens):
        for part in tokens.chunk(execution.parts):
            yield loss(model, part, route) * (len(part) / len(tokens))

    return Task(batch, in_parts, _evaluation(run, device))


def next_token_loss(model, tokens, route):
    """Compute what is trained on, nats: the mean cross-entropy of every token but the first of each sequence.

    It is computed by a route of `ROUTES`. A model with experts adds how uneven their loads are.
    """
    states, unevenness = model.balanced(tokens[:, :-1])
    return cross_entropy(states, model.unembedding, tokens[:, 1:], route) + unevenness


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
