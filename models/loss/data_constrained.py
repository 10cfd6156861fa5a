"""The law of repeated data: its mathematics, on arrays of any broadcastable shape and any array library, and its fit.

Notation: N parameters, D training tokens seen, U distinct tokens among them, loss in nats per token. ``R_D = D/U - 1``
is how often the data were repeated, U_N how many parameters are optimal for U distinct tokens, ``R_N = N/U_N - 1`` what
a model has in excess of them.

References
----------
.. [1] Muennighoff, N. et al. (2023). Scaling data-constrained language models. arXiv:2305.16264.
"""

from dataclasses import dataclass
from typing import ClassVar

from ..arrays import exp, log, maximum, minimum
from ..naming import check_positive
from .chinchilla import Chinchilla
from .chinchilla import loss as chinchilla_loss
from .law import Sampled
from .plan import Plan

# Section 6 of [1]: R_D* and R_N*, fitted with E, A, B and alpha = beta held at other values.
PUBLISHED = {"repetition_decay": 15.387756, "excess_decay": 5.309743}


def decayed(distinct, repetitions, decay):
    """Return the effective amount of something repeated, ``X (1 + R* (1 - exp(-R/R*)))``, equation 5 of [1]_.

    X is repeated R times beyond the first, and after R* repetitions their value is 1/e.
    """
    return distinct * (1 + decay * (1 - exp(-repetitions / decay)))


def optimal_parameters(unique_tokens, *, A, B, alpha, beta):
    """Return U_N, the parameters that are compute-optimal where U distinct tokens are: ``G (G U)**(beta/alpha)``.

    ``G = (alpha A/(beta B))**(1/(alpha+beta))``, as in `chinchilla.optimum`.
    """
    log_G = log(alpha * A / (beta * B)) / (alpha + beta)
    return exp(log_G + (beta / alpha) * (log_G + log(unique_tokens)))


def loss(parameters, tokens, unique_tokens, *, E, A, B, alpha, beta, repetition_decay, excess_decay):
    """Return the mean loss ``E + A/N'**alpha + B/D'**beta``, equations 5 and 6 of Muennighoff et al. (2023).

    D' is the effective data, ``decayed(U, R_D, R_D*)``, and N' the effective parameters, ``decayed(U_N, R_N, R_N*)``
    where N is above U_N and N itself below. Its first derivatives are continuous there. U counts as D where it is above
    it.

    Examples
    --------
    >>> constants = {"E": 1.87, "A": 521.0, "B": 1488.0, "alpha": 0.353, "beta": 0.353}
    >>> once = loss(1e9, 1e10, 1e10, **constants, **PUBLISHED)
    >>> repeated = loss(1e9, 1e10, 1e8, **constants, **PUBLISHED)
    >>> bool(repeated > once)
    True
    """
    distinct = minimum(unique_tokens, tokens)
    data = decayed(distinct, maximum(tokens / distinct - 1, 0.0), repetition_decay)
    enough = minimum(parameters, optimal_parameters(distinct, A=A, B=B, alpha=alpha, beta=beta))
    size = decayed(enough, maximum(parameters / enough - 1, 0.0), excess_decay)
    return chinchilla_loss(size, data, E=E, A=A, B=B, alpha=alpha, beta=beta)


@dataclass(frozen=True)
class RepeatedPlan(Plan):
    """Models trained on so many distinct tokens, or all distinct where None.

    It describes ``parameters``, ``tokens``, ``epochs`` (passes over the distinct tokens) and ``loss`` (nats per token).
    """

    unique_tokens: float | None

    def _distinct(self, tokens):
        return tokens if self.unique_tokens is None else self.unique_tokens

    def loss(self, model, tokens):
        """Return the mean loss; see `loss`."""
        return super().loss(model | {"unique_tokens": self._distinct(tokens)}, tokens)

    def described(self, model, tokens):
        """Add ``epochs`` to the description of planned models."""
        return super().described(model, tokens) | {"epochs": maximum(tokens / self._distinct(tokens), 1.0)}


@dataclass(frozen=True)
class DataConstrained(Chinchilla):
    """The Chinchilla law of repeated data (Muennighoff et al. 2023), ``loss = E + A/N'**alpha + B/D'**beta``.

    N' and D' are effective parameters and data; see `loss`. A table needs ``unique_tokens``, which may be one number
    for all runs. Sampled are the quantities of `Chinchilla`, its centre that of data seen once, and

    ================= ======================== ==================================================================
    quantity          default prior            what it is and why
    ================= ======================== ==================================================================
    repetition_decay  LogNormal(2.5, 1.5)      R_D*: 0.6 to 230 repetitions until a token's value has fallen to 1/e
    excess_decay      LogNormal(1.5, 1.5)      R_N*: 0.24 to 85 times the parameters that the distinct data are worth
    ================= ======================== ==================================================================

    The options are those of `Chinchilla`.

    Examples
    --------
    >>> DataConstrained(priors={"repetition_decay": "LogNormal(2, 1)"}).priors
    {'repetition_decay': 'LogNormal(2, 1)'}
    """

    name: ClassVar[str] = "data-constrained"
    constant_columns: ClassVar[tuple] = ("unique_tokens",)
    sized_by: ClassVar[tuple] = ("parameters", "tokens")
    in_all_parameters: ClassVar[bool] = False
    sum_of_terms: ClassVar[bool] = False
    wider: ClassVar[None] = None
    repetition_decay = Sampled(
        "LogNormal(2.5, 1.5)",
        "Repetitions after which a token is worth 1/e of a new one: 0.6 to 230, from data that are used up at once to "
        "data that barely age.",
        "repetitions",
    )
    excess_decay = Sampled(
        "LogNormal(1.5, 1.5)",
        "Excess of parameters, in units of those that the distinct data are worth, after which one more is worth 1/e: "
        "0.24 to 85.",
    )
    loss = staticmethod(loss)
    optimal_sizes = None  # type: ignore[assignment]
    planned: ClassVar[tuple] = ("unique_tokens",)

    def plan(self, constants, *, unique_tokens=None):
        """Return a `RepeatedPlan` of models of any size where only so many distinct tokens are available.

        By default there are as many as are wanted, none being repeated.
        """
        if unique_tokens is not None:
            check_positive("unique_tokens", unique_tokens)
        return RepeatedPlan(self, constants, unique_tokens)
