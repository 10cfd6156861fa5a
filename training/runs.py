"""One run: what is trained, on what, and how, as a value whose hash is its name."""

import hashlib
import json
from dataclasses import asdict, dataclass

from ..datasets.wording import unknown
from ..errors import InputError
from .corpora import Corpus
from .hardware import PRECISIONS
from .loop import Optimisation
from .transformer import Configuration

CHOICES = ("auto", True, False)


@dataclass(frozen=True)
class Execution:
    """How a run is computed, which changes its result by rounding alone and is no part of its name.

    Parameters
    ----------
    loss_route : str
        As `training.loss.cross_entropy` takes it.
    compile : bool or "auto"
        Whether to compile the model and its loss; ``"auto"`` does on CUDA.
    graph : bool
        Whether to replay updates as CUDA graphs; only on CUDA.
    save_seconds : float
        Time between checkpoints.
    """

    loss_route: str = "auto"
    compile: bool | str = "auto"
    graph: bool = False
    save_seconds: float = 60.0

    def __post_init__(self):
        if not any(self.compile is choice or self.compile == choice == "auto" for choice in CHOICES):
            raise InputError(f'training: compile is {self.compile!r}; give true, false or "auto"')
        if not isinstance(self.graph, bool):
            raise InputError(f"training: graph is {self.graph!r}; give true or false")
        if not self.save_seconds >= 0:
            raise InputError(f"training: save_seconds is {self.save_seconds!r}; give a number of at least 0")

    def compiles(self, device):
        """Whether to compile on a device."""
        return device.type == "cuda" if self.compile == "auto" else self.compile


@dataclass(frozen=True)
class Run:
    """One model trained once.

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
        ``"auto"``, ``"float32"`` or ``"bfloat16"``.
    seed : int
        Of the initial weights and of the order of the training text.
    budget_fraction : float
        Updates as a share of those of the size's full budget.
    """

    model: Configuration
    corpus: Corpus
    optimisation: Optimisation
    evaluate_at: tuple[int, ...]
    batch_tokens: int = 65536
    evaluation_tokens: int = 65536
    precision: str = "auto"
    seed: int = 0
    budget_fraction: float = 1.0

    def __post_init__(self):
        context = self.model.context
        for name in ("batch_tokens", "evaluation_tokens"):
            value = getattr(self, name)
            if not isinstance(value, int) or value < context or value % context:
                raise InputError(
                    f"training: {name} is {value!r}; give a positive multiple of the context, {context} tokens"
                )
        if self.precision not in PRECISIONS:
            raise InputError(unknown("training: precision", self.precision, PRECISIONS))
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
    def name(self):
        """First 16 hexadecimal digits of the SHA-256 of the configuration."""
        text = json.dumps(self.configuration, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    @property
    def sequences(self):
        """Sequences in an update."""
        return self.batch_tokens // self.model.context

    @property
    def matmul_flop(self):
        """FLOP of matrix products in the whole run."""
        return self.flop_done(self.optimisation.updates)

    def flop_done(self, updates):
        """FLOP of matrix products in a number of updates."""
        return self.model.matmul_flop_per_token * self.tokens_done(updates)

    def tokens_done(self, updates):
        """Tokens trained on in a number of updates."""
        return self.batch_tokens * updates
