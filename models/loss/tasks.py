"""The error of models on a task as a function of their loss."""

from dataclasses import dataclass, replace
from typing import ClassVar

from ...datasets.wording import source_of
from ...errors import InputError
from ..arrays import exp, log, log1p, logaddexp
from .law import LossLaw, Sampled

OPTIONS: dict = {"scale": ("loss",), "scatter": ("one",), "measurement_error": (False,), "run_effects": (False,)}
OPTIONS |= {"size_effects": (None, False)}
SIGMA = "Scatter of a model's error about the curve: 0.2 to 20 points, of many questions and of few."


def error(loss, *, chance, floor, midpoint, slope, shape):
    """Return the mean error at a loss in nats per token; see `TaskError`.

    Examples
    --------
    >>> round(float(error(2.5, chance=0.75, floor=0.05, midpoint=2.5, slope=1.0, shape=1.0)), 6)
    0.4
    """
    return chance - (chance - floor) * exp(-shape * logaddexp(0.0, slope * (loss - midpoint) / shape))


@dataclass(frozen=True)
class TaskError(LossLaw):
    """Error of models on a task by their loss, ``error = chance - (chance - floor) (1 + exp(z/shape))**-shape``.

    ``z = slope (loss - midpoint)``: a sigmoid, from the error of guessing at a high loss to a floor at a low one. At
    shape 1 it is logistic. As shape goes to 0 it is ``chance - k exp(-slope loss)``, the form of Gadre et al. (2024),
    which stops at the floor. A table needs the columns ``loss`` and ``error``, from 0 to 1. Of several tasks it has a
    row for each model and task: ``Grouped(TaskError(), "task")`` pools their slopes. Sampled are, with L0 the geometric
    mean of the losses:

    ================= ======================== ==================================================================
    quantity          default prior            what it is and why
    ================= ======================== ==================================================================
    chance            Beta(4, 1)               error of guessing, 0.40 to 0.99: two choices, four, free answers
    floor_share       Beta(1, 9)               floor over chance, up to a third: wrong labels, unclear questions
    solved            Beta(1, 1)               share of the way from chance to the floor at L0; nothing preferred
    slope             LogNormal(0, 0.7)        per nat, 0.25 to 4
    shape             Beta(1, 1)               from exponential (0) to logistic (1); nothing preferred
    sigma             LogNormal(-4, 1.2)       scatter of the errors, 0.2 to 20 points
    ================= ======================== ==================================================================

    Derived, draw by draw: ``floor`` and ``midpoint``. Losses count as exact. Give the chance of a task where it is
    known, as ``priors={"chance": "Beta(750, 250)"}``. `predict` carries a loss and its uncertainty to the error.

    Parameters
    ----------
    noise, threshold, skew, priors
        As for `Chinchilla`; its other options are refused.

    Raises
    ------
    InputError
        If an option or a prior is unknown.

    References
    ----------
    Gadre, S. Y. et al. (2024). Language models scale reliably with over-training and on downstream tasks.
    arXiv:2403.08540.

    Examples
    --------
    >>> list(TaskError().prior_of)
    ['chance', 'floor_share', 'solved', 'slope', 'shape', 'sigma']
    """

    noise: str = "normal"
    scale: str = "loss"
    scatter: str = "one"

    name: ClassVar[str] = "task-error"
    observed: ClassVar[str] = "error"
    exponents: ClassVar[tuple] = ("slope",)
    _centred: ClassVar[tuple] = ("solved",)
    planned: ClassVar[tuple] = ()
    chance = Sampled("Beta(4, 1)", "Error of guessing: two choices 0.5, four 0.75, free answers 1.", support=(0, 1))
    floor_share = Sampled("Beta(1, 9)", "Floor over chance: wrong labels, unclear questions.", support=(0, 1))
    solved = Sampled("Beta(1, 1)", "Share of the way from chance to the floor at L0; any.", support=(0, 1))
    slope = Sampled("LogNormal(0, 0.7)", "Per nat of loss: 0.25 to 4.", "1/nat")
    shape = Sampled("Beta(1, 1)", "From exponential (0) to logistic (1); neither preferred.", support=(0, 1))
    loss = staticmethod(error)

    def __post_init__(self):
        self._check_options(**OPTIONS)
        super().__post_init__()

    @property
    def _free_parameters(self):
        """Return everything that is sampled, the scatter in the unit of an error."""
        sigma = {"prior": "LogNormal(-4, 1.2)", "unit": "", "rationale": SIGMA}
        return tuple(replace(q, **sigma) if q.name == "sigma" else q for q in super()._free_parameters)

    @staticmethod
    def derive(chance, floor_share, solved, slope, shape, typical_loss):
        """Return the floor, and the midpoint at which the typical loss has ``solved``."""
        z = shape * log1p(-exp(log(solved) / shape)) - log(solved)
        return {"floor": chance * floor_share, "midpoint": typical_loss - z / slope}

    def rows(self, table):
        """Return the table, refusing one that cannot inform this law, or errors that are no shares."""
        table = super().rows(table)
        wrong = ~table["error"].between(-1.0, 2.0)  # simulated errors scatter beyond 0 and 1
        if wrong.any():
            place, row = source_of(table), table.index[wrong][0]
            raise InputError(
                f"{place}: column 'error' is {table['error'][wrong].iloc[0]} in row {row}; errors are from 0 to 1: "
                "divide percents by 100 (--column error=PERCENT/100)"
            )
        return table
