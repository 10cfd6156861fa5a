"""Laws of runs at any learning rate and batch: their mathematics, on arrays of any kind, and what is fitted.

Notation: N parameters, D training tokens, r the peak learning rate, b the tokens of a batch.

References
----------
.. [1] Li, H. et al. (2025). Predictable scale: Part I, step law, optimal hyperparameter scaling law in large language
   model pre-training. arXiv:2503.04715.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd

from ...datasets.wording import source_of
from ...errors import InputError
from ..arrays import exp, log, minimum
from ..contrasts import Contrast, ordinals
from ..priors import REAL
from .chinchilla import Chinchilla
from .law import REFERENCES, Sampled, geometric_means
from .plan import FamilyPlan

RATE, BATCH = "learning_rate_peak", "batch_tokens"
WITHOUT = {RATE: "coupled", BATCH: "learning-rate"}  # laws that do without a column
ALIKE = np.log(1.1)  # of tokens
BINS = 8  # of learning rates and of batches, in tests of the law
MOST = 300.0  # log of a loss over that of tuned runs: beyond any loss, and its exponential is finite
BY_SIZE = "Normal(0, 0.5)"
BY_SIZE_RATIONALE = "From a fall with the size itself to a rise with it, no direction preferred."


def best_setting(parameters, tokens, *, constant, by_parameters, by_tokens):
    """Return the best learning rate or batch at sizes, ``K N**a D**b``, the form of Li et al. (2025).

    Examples
    --------
    >>> published = {"constant": 1.79, "by_parameters": -0.713, "by_tokens": 0.307}
    >>> round(float(best_setting(1e9, 1e11, **published)), 5)
    0.00163
    """
    return exp(log(constant) + by_parameters * log(parameters) + by_tokens * log(tokens))


def lost(ratio, *, cost, skew):
    """Return the share of the loss that is lost, in logarithms, where a rate is so many times the best one.

    It is ``2 cost (exp(skew x) - 1 - skew x)/skew**2`` at x, the log of the ratio. Near the best rate it is
    ``cost x**2``; below it grows like x, above exponentially, as divergence nears.

    Examples
    --------
    >>> low, high = (lost(x, cost=0.01, skew=0.6) for x in (0.25, 4.0))
    >>> bool(low < high)
    True
    """
    x = skew * log(ratio)
    return minimum(2 * cost * (exp(x) - 1 - x) / skew**2, MOST)


def rungs(rows):
    """Return the number of the rung of each row, (row,): one size, on tokens that differ by less than 10%."""
    order = rows.sort_values(["parameters", "tokens"])
    jumps = (order["parameters"].diff() != 0) | (np.log(order["tokens"]).diff().abs() > ALIKE)
    return jumps.cumsum().reindex(rows.index)


class TunedPlan(FamilyPlan):
    """Models at their best rate and, where the law has batches, their best batch, which it describes too."""

    def described(self, model, tokens):
        """Add ``learning_rate_peak`` and ``batch_tokens`` (tokens) to the description of planned models."""
        return super().described(model, tokens) | self.law.best_settings(self.constants, model["parameters"], tokens)


@dataclass(frozen=True)
class LearningRate(Chinchilla):
    """The Chinchilla law of runs at any learning rate, ``loss = (E + A/N**alpha + B/D**beta) exp(lost(r/r*))``.

    The best peak rate follows the sizes, ``r* = K N**a D**b`` (Li et al. 2025). What is lost at other rates is zero
    at r* and rises on both sides; see `lost`. The constants of the Chinchilla law are those of tuned runs. A table
    needs ``learning_rate_peak``. Sampled are the quantities of `Chinchilla`, whose options it has, and

    ================== ======================== ==================================================================
    quantity           default prior            what it is and why
    ================== ======================== ==================================================================
    best_rate          LogNormal(0, 1.5)        r* at (N0, D0) over the geometric mean of the rates: 0.05 to 19
    rate_by_parameters Normal(0, 0.5)           a, exponent of r* in N; no direction preferred
    rate_by_tokens     Normal(0, 0.5)           b, exponent of r* in D; likewise
    rate_cost          LogNormal(-4.6, 1.5)     share of the loss lost a squared factor e off r*: 0.05% to 19%
    rate_skew          LogNormal(-0.5, 0.8)     0.13 to 2.9: from equal costs of low and high rates to divergence
    ================== ======================== ==================================================================

    Derived, draw by draw: those of `Chinchilla`, and ``rate_constant``, K. `Fit.allocate` gives the best rate too, and
    `Fit.tuning` what each size lost by the rates that were tried.

    Examples
    --------
    >>> LearningRate(priors={"rate_by_parameters": "Normal(-0.7, 0.1)"}).label
    'learning-rate, prior rate_by_parameters Normal(-0.7, 0.1)'
    """

    name: ClassVar[str] = "learning-rate"
    settings: ClassVar[dict] = {RATE: "rate"}
    columns: ClassVar[tuple] = (*Chinchilla.columns, RATE)
    sized_by: ClassVar[tuple] = Chinchilla.columns
    in_all_parameters: ClassVar[bool] = False
    sum_of_terms: ClassVar[bool] = False
    wider: ClassVar[None] = None
    plan_class: ClassVar[type[FamilyPlan]] = TunedPlan
    best_rate = Sampled("LogNormal(0, 1.5)", "Best rate of a typical run over the typical rate tried: 0.05 to 19.")
    rate_by_parameters = Sampled(BY_SIZE, BY_SIZE_RATIONALE, support=REAL)
    rate_by_tokens = Sampled(BY_SIZE, BY_SIZE_RATIONALE, support=REAL)
    rate_cost = Sampled("LogNormal(-4.6, 1.5)", "Share of the loss lost a squared factor e off: 0.05% to 19%.")
    rate_skew = Sampled("LogNormal(-0.5, 0.8)", "From equal costs of low and high rates to divergence: 0.13 to 2.9.")

    def contrasts(self, rows):
        """Add means by learning rate and by batch to the contrasts of laws of the loss."""
        contrasts = super().contrasts(rows)
        for column, what in self.settings.items():
            codes = pd.qcut(rows[column], BINS, labels=False, duplicates="drop").to_numpy(int)
            codes = np.unique(codes, return_inverse=True)[1]
            contrasts[f"means by {what}"] = Contrast.of_means(codes, f"bins of {what}", ordinals(codes, what))
        return contrasts

    @property
    def derived_names(self):
        """Return the names of what follows from what is sampled."""
        return (*super().derived_names, *(f"{what}_constant" for what in self.settings.values()))

    def rows(self, table):
        """Return the table, refusing one in which no size has several rates or batches; see `LossLaw.rows`."""
        rows = super().rows(table)
        for column in self.settings:
            if rows.groupby(rungs(rows).to_numpy())[column].nunique().max() < 2:
                raise InputError(
                    f"{source_of(table)}: no size has runs with two values of {column!r} on the "
                    f"same tokens, so that nothing tells what others lose; add such runs, or fit {WITHOUT[column]}"
                )
        return rows

    def centre(self, table):
        """Return the geometric means of N, D and of the rates and batches."""
        typical = geometric_means(table, self.settings)
        return super().centre(table) | dict(zip(map("typical_{}".format, self.settings), typical, strict=True))

    def constants(self, values, reference):
        """Return the Chinchilla constants of tuned runs, and those of the best rate, the best batch and their costs."""
        constants = super().constants(values, reference)
        constants |= {q.name: values[q.name] for q in self.mean_parameters if q not in Chinchilla.mean_parameters}
        centre = [reference[name] for name in REFERENCES]
        for column, what in self.settings.items():
            by = {f"by_{size}": values[f"{what}_by_{size}"] for size in Chinchilla.columns}
            best = values[f"best_{what}"] * reference[f"typical_{column}"]
            constants[f"{what}_constant"] = best / best_setting(*centre, constant=1.0, **by)
        return constants

    def mean(self, constants, columns):
        """Return the mean loss in nats per token: that of tuned runs, and what the rate lost."""
        sizes = [columns[name] for name in Chinchilla.columns]
        ratio = columns[RATE] / self.best_settings(constants, *sizes)[RATE]
        cost = lost(ratio, cost=constants["rate_cost"], skew=constants["rate_skew"])
        return self.mean_of_sizes(constants, None, *sizes) * exp(cost)

    def mean_of_sizes(self, constants, nonembedding, total, tokens):
        """Return the mean loss of tuned models; see `chinchilla.loss`."""
        return self.loss(total, tokens, **{name: constants[name] for name in self._constant_names})

    def best_settings(self, constants, parameters, tokens):
        """Return the best learning rate and, where the law has batches, the best batch, by column."""
        best = {}
        for column, what in self.settings.items():
            of = {name: constants[f"{what}_{name}"] for name in ("constant", "by_parameters", "by_tokens")}
            best[column] = best_setting(parameters, tokens, **of)
        return best


@dataclass(frozen=True)
class RateAndBatch(LearningRate):
    """The Chinchilla law of runs at any learning rate and batch.

    ``loss = (E + A/N**alpha + B/D**beta) exp(lost(r/r*) + batch_cost log(b/b*)**2)``: as `LearningRate`, with a best
    batch ``b* = K N**a D**b`` (Li et al. 2025). The best rate of another batch is ``r* (b/b*)**rate_by_batch``. A table
    needs ``learning_rate_peak`` and ``batch_tokens``. Sampled are the quantities of `LearningRate` and

    =================== ======================== =================================================================
    quantity            default prior            what it is and why
    =================== ======================== =================================================================
    best_batch          LogNormal(0, 1.5)        b* at (N0, D0) over the geometric mean of the batches: 0.05 to 19
    batch_by_parameters Normal(0, 0.5)           exponent of b* in N; no direction preferred
    batch_by_tokens     Normal(0, 0.5)           exponent of b* in D; likewise
    batch_cost          LogNormal(-4.6, 1.5)     share of the loss lost at e times b*, and at 1/e: 0.05% to 19%
    rate_by_batch       Normal(0.5, 0.5)         from no change of r* with the batch to one in proportion
    =================== ======================== =================================================================

    Derived too is ``batch_constant``, K of the batch.

    Examples
    --------
    >>> RateAndBatch().settings
    {'learning_rate_peak': 'rate', 'batch_tokens': 'batch'}
    """

    name: ClassVar[str] = "rate-and-batch"
    settings: ClassVar[dict] = LearningRate.settings | {BATCH: "batch"}
    columns: ClassVar[tuple] = (*LearningRate.columns, BATCH)
    best_batch = Sampled("LogNormal(0, 1.5)", "Best batch of a typical run over the typical batch tried: 0.05 to 19.")
    batch_by_parameters = Sampled(BY_SIZE, BY_SIZE_RATIONALE, support=REAL)
    batch_by_tokens = Sampled(BY_SIZE, BY_SIZE_RATIONALE, support=REAL)
    batch_cost = Sampled("LogNormal(-4.6, 1.5)", "Share of the loss lost at e times the best batch: 0.05% to 19%.")
    rate_by_batch = Sampled(
        "Normal(0.5, 0.5)", "From a best rate that is one for all batches to one in proportion.", support=REAL
    )

    def mean(self, constants, columns):
        """Return the mean loss in nats per token: that of `LearningRate` at the rate that suits the batch, and more."""
        best = self.best_settings(constants, *(columns[name] for name in Chinchilla.columns))
        off = log(columns[BATCH] / best[BATCH])
        suited = columns[RATE] * exp(-constants["rate_by_batch"] * off)
        return super().mean(constants, columns | {RATE: suited}) * exp(minimum(constants["batch_cost"] * off**2, MOST))
