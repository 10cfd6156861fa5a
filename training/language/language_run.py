"""One run of a language model: what is trained, on what, and how; what its record holds and the memory it needs."""

import functools
from dataclasses import dataclass
from typing import Literal

from ...errors import InputError
from ..deviations import LANGUAGE
from ..engine.fields import Count, Positive, check_fields
from ..engine.hardware import MARGIN, PRECISIONS, measure_free_memory
from ..engine.loop import Optimisation
from ..sweeps import base
from .external_trainer import ExternalTrainer
from .loss import CHUNK, choose_route, task
from .transformer import Configuration, Decoder

MEASURED = ("loss_train", "loss_eval", "loss_eval_se", "loss_oracle", "excess", "excess_se", "wall_seconds")
UNITS = {
    **dict.fromkeys(MEASURED[:-1], "nats per token"),
    "wall_seconds": "s",
    "tokens": "tokens",
    "flop": "FLOP",
    **dict.fromkeys(("parameters", "parameters_nonembedding"), "parameters, gains of norms apart"),
}


@dataclass(frozen=True)
class Run(base.Run):
    """A language model trained once.

    Its record has losses in nats per token: loss_train (mean since the evaluation before, with what balances experts),
    loss_eval and loss_eval_se.
    If the law of the corpus is known, it also has loss_oracle (the true law on the same tokens), excess
    (loss_eval - loss_oracle) and excess_se. Other variables are learning_rate, tokens, flop (6 N_T D, N_T of the active
    experts) and wall_seconds.
    For a corpus of known law the attribute entropy is the least expected loss, with the error entropy_se.

    Parameters
    ----------
    model : Configuration
    corpus : corpus
        One of those that `corpora.corpus` opens.
    optimisation : Optimisation
    evaluate_at : tuple of int
        Numbers of updates after which to evaluate.
    batch_tokens : int
        Tokens predicted in an update, a multiple of the context.
    evaluation_tokens : int
        Tokens predicted in an evaluation, at most.
    precision : str
        ``"float32"`` or ``"bfloat16"``; ``"auto"`` takes bfloat16 on a GPU that has it, else float32.
    seed : int
        Seed of the initial weights and of the order of the training text.
    budget_fraction : float
        Updates as a share of those of the size's full budget.

    Examples
    --------
    >>> from bayescaling.training import Configuration, Optimisation, Run, Synthetic
    >>> model, corpus = Configuration(8, 1, vocabulary=32, heads=2), Synthetic(vocabulary=32)
    >>> run = Run(model, corpus, Optimisation(0.01, updates=100), evaluate_at=(50, 100), batch_tokens=256)
    >>> run.sequences, run.tokens_done(100)
    (16, 25600)
    """

    model: Configuration
    corpus: object
    optimisation: Optimisation
    evaluate_at: tuple[int, ...]
    batch_tokens: Count = 65536
    evaluation_tokens: Count = 65536
    precision: Literal[PRECISIONS] = "auto"
    seed: int = 0
    budget_fraction: Positive = 1.0

    # By the bar of the sweep `schemes`, which needed 45 minutes, at the ratio of single updates; the loss compiled.
    peak_shares = (0.8e6, 0.041), (4.6e6, 0.16)
    measured = MEASURED
    units = UNITS
    deviations = LANGUAGE

    def __post_init__(self):
        check_fields(self, "training")
        context = self.model.context
        for name in ("batch_tokens", "evaluation_tokens"):
            value = getattr(self, name)
            if value % context:
                raise InputError(
                    f"training: {name} is {value!r}; give a positive multiple of the context, {context} tokens"
                )
        if self.corpus.vocabulary > self.model.vocabulary:
            raise InputError(
                f"model: vocabulary is {self.model.vocabulary} and the corpus has tokens of "
                f"{self.corpus.vocabulary}; give the model at least as many"
            )
        self.corpus.check(context)

    @property
    def configuration(self):
        """Everything that the result depends on, as plain values."""
        plain = {name: getattr(self, name) for name in ("batch_tokens", "evaluation_tokens", "precision", "seed")}
        plain |= {"model": self.model.plain, "optimisation": self.optimisation.plain}
        return plain | {"evaluate_at": list(self.evaluate_at), "corpus": self.corpus.fingerprint}

    @property
    def sequences(self):
        """Sequences in an update."""
        return self.batch_tokens // self.model.context

    def flop_done(self, updates):
        """Compute the FLOP of matrix products in a number of updates."""
        return self.model.matmul_flop_per_token * self.tokens_done(updates)

    def tokens_done(self, updates):
        """Count the tokens trained on in a number of updates."""
        return self.batch_tokens * updates

    def route(self, execution, device, precision):
        """Choose the route of the loss; ``"auto"`` is ``"chunked"`` where the logits of ``"plain"`` do not fit."""
        route = choose_route(execution.loss_route, device)
        short = self._bytes(route, execution, device, precision) > measure_free_memory(device)
        return "chunked" if short and execution.loss_route == "auto" else route

    def bytes_needed(self, execution, device, precision):
        """Estimate the memory that training takes on a device, in bytes."""
        return self._bytes(self.route(execution, device, precision), execution, device, precision)

    def _bytes(self, route, execution, device, precision):
        tokens = -(-self.sequences // execution.parts) * self.model.context
        return training_bytes(self.model, tokens, route, precision, on_gpu=device.type == "cuda")

    @property
    def test_flop(self):
        """FLOP of matrix products of its evaluations, which have no gradients."""
        return len(self.evaluate_at) * self.evaluation_tokens * self.model.matmul_flop_per_token / 3

    @property
    def largest(self):
        """What needs memory (the model and the tokens of an update), and what to give if it is too much."""
        what = f"a model of {self.model.total_parameters:,} parameters with {self.batch_tokens:,} tokens an update"
        return what, 'more `parts`, loss_route = "chunked", or a device with more memory'

    def check_fits(self, execution, device, precision):
        """Raise `InputError` if training here does not fit into the free memory of a device."""
        if not isinstance(self.corpus, ExternalTrainer):
            super().check_fits(execution, device, precision)

    def trained(self, execution, device, precision, **options):
        """Train the model, or let the program of the corpus do it, as `base.Run.trained` does."""
        if isinstance(self.corpus, ExternalTrainer):
            folder = options["checkpoints"].folder
            return None, self.corpus.train(self, folder, options["guard"], options["report"])
        return super().trained(execution, device, precision, **options)

    def prepared(self, execution, device, precision):
        """Make the model with its initial weights, and its task."""
        if isinstance(self.corpus, ExternalTrainer):
            raise InputError("another program trains the runs")
        route = self.route(execution, device, precision)
        return Decoder(self.model, self.seed).to(device), task(self, execution, device, route)

    @property
    def described(self):
        """Coordinates of its record; the scheme is added when the runs are merged."""
        model, optimisation = self.model, self.optimisation
        names = ("parameters", "parameters_nonembedding", "d_model", "layers", "vocabulary", "context")
        return {name: getattr(model, name) for name in names} | {
            "optimiser": optimisation.optimiser,
            "schedule": optimisation.schedule,
            "updates": optimisation.updates,
            "batch_tokens": self.batch_tokens,
            "budget_fraction": self.budget_fraction,
            "scheme": "",
        }

    def curves(self, steps):
        """Compute tokens and 6 N_T D by step, where N_T has the experts that act on a token."""
        tokens = (steps * self.batch_tokens).astype(float)
        return {"tokens": tokens, "flop": 6 * self.model.active_parameters * tokens}

    @property
    def attributes(self):
        """Entropy of the corpus and its standard error, nats per token, where its law is known."""
        if not hasattr(self.corpus, "irreducible_loss"):
            return {}
        return dict(zip(("entropy", "entropy_se"), _entropy(self.corpus, self.model.context), strict=True))


@functools.lru_cache(maxsize=16)
def _entropy(corpus, context):
    return corpus.irreducible_loss(context)


def training_bytes(model, tokens, route, precision, *, on_gpu=False):
    """Estimate the memory that training a `Configuration` takes at its largest, in bytes, with so many tokens at once.

    Weights, gradients and AdamW's two averages take 16 bytes a parameter. For each layer and token of an update,
    backpropagation needs eighteen widths and attention's weights; with experts three widths more, ten for each active
    one after the first, and four numbers for each of all. Logits are counted in the precision of the layers, in
    float32, and again for their gradients. A route of the loss that works in chunks has logits of one chunk.
    """
    width = 2 if precision == "bfloat16" else 4
    routed = (10 * model.active - 7) * model.d_model + 4 * model.experts if model.experts > 1 else 0
    layer = (18 * model.d_model + 2 * model.heads * model.context + routed) * width
    at_once = tokens if route == "plain" else min(tokens, 1 + CHUNK[on_gpu] // model.vocabulary)
    logits = at_once * model.vocabulary * (width + 8)
    return MARGIN * (16 * (model.total_parameters + model.gains) + tokens * model.layers * layer + logits)
