"""One run of a language model: what is trained, on what, and how."""

from dataclasses import asdict, dataclass
from typing import Literal

from ...errors import InputError
from ..engine.fields import Count, Positive, check_fields
from ..engine.hardware import PRECISIONS
from ..engine.loop import Optimisation
from ..sweeps import runs
from .corpora.corpus import Corpus
from .transformer import Configuration


@dataclass(frozen=True)
class Run(runs.Run):
    """A language model trained once.

    Parameters
    ----------
    model : Configuration
    corpus : Corpus
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
        Of the initial weights and of the order of the training text.
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
    corpus: Corpus
    optimisation: Optimisation
    evaluate_at: tuple[int, ...]
    batch_tokens: Count = 65536
    evaluation_tokens: Count = 65536
    precision: Literal[PRECISIONS] = "auto"
    seed: int = 0
    budget_fraction: Positive = 1.0

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
        plain |= {"model": asdict(self.model), "optimisation": asdict(self.optimisation)}
        return plain | {"evaluate_at": list(self.evaluate_at), "corpus": self.corpus.fingerprint}

    @property
    def sequences(self):
        """Sequences in an update."""
        return self.batch_tokens // self.model.context

    def flop_done(self, updates):
        """FLOP of matrix products in a number of updates."""
        return self.model.matmul_flop_per_token * self.tokens_done(updates)

    def tokens_done(self, updates):
        """Tokens trained on in a number of updates."""
        return self.batch_tokens * updates
