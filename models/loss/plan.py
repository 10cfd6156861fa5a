"""Models planned: their mean loss under draws of a law, by size and tokens, and what is spent on them.

Notation: N parameters, N_x without embeddings, D training tokens, D_inf tokens of demand: those that the model is to
read and write over its life. Training takes 6 N D FLOP, inference 2 N D_inf.

References
----------
.. [1] Sardana, N., Portes, J., Doubov, S. and Frankle, J. (2023). Beyond Chinchilla-optimal: Accounting for inference
   in language model scaling laws. arXiv:2401.00448.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import exp, log
from . import embeddings
from .budget import FLOP_PER_PARAMETER_TOKEN, FLOP_PER_PARAMETER_TOKEN_SERVED
from .search import farthest, least, least_on_budget, root

LIMIT = 1e100  # parameters or tokens that stand for infinitely many


@dataclass(frozen=True)
class Plan:
    """Models of any size, each with any number of tokens, under draws of a law of N and D and its constants by draw."""

    law: Any
    constants: Any

    def size(self, parameters):
        """Return what is searched over, at N parameters: N itself."""
        return parameters

    def model(self, size):
        """Name what is known of models of a size before their tokens are: ``parameters`` among it."""
        return {"parameters": size}

    def loss(self, model, tokens):
        """Return the mean loss of models in nats per token; it falls with parameters and with tokens."""
        return self.law.mean(self.constants, model | {"tokens": tokens})

    def described(self, model, tokens):
        """Return planned models by name: sizes, tokens and mean loss."""
        return model | {"tokens": tokens, "loss": self.loss(model, tokens)}

    def optimum(self, compute):
        """Return the models of least loss on ``6 N D = C``, and their tokens."""
        size, tokens = least_on_budget(compute, lambda n, d: self.loss(self.model(n), d))
        return self.model(size), tokens


@dataclass(frozen=True)
class FamilyPlan(Plan):
    """Models whose embedding parameters grow as ``gamma N_x**(1/3)``; see `sizes.family_constant`. All are paid for."""

    gamma: float

    def size(self, parameters):
        """Return N_x of models of N_T parameters."""
        return embeddings.nonembedding(parameters, self.gamma)

    def model(self, size):
        """Return N_T and N_x."""
        return {"parameters": embeddings.total(size, self.gamma), "parameters_nonembedding": size}

    def loss(self, model, tokens):
        """Return the mean loss; see `LossLaw.mean_of_sizes`."""
        return self.law.mean_of_sizes(self.constants, model["parameters_nonembedding"], model["parameters"], tokens)

    def optimum(self, compute):
        """Return the models of least loss on ``6 N_T D = C``, by the law's own form."""
        nonembedding, parameters, tokens = self.law.optimal_sizes(self.constants, compute, gamma=self.gamma)
        return {"parameters": parameters, "parameters_nonembedding": nonembedding}, tokens


def inference_compute(parameters, demand):
    """Return FLOP ``2 N D_inf`` that models take to serve a demand, section 2 of Sardana et al. (2023)."""
    return FLOP_PER_PARAMETER_TOKEN_SERVED * parameters * demand


def training_compute(parameters, tokens):
    """Return FLOP ``6 N D`` that models take to train."""
    return FLOP_PER_PARAMETER_TOKEN * parameters * tokens


class Spending:
    """A choice among the models of a plan: the size of least objective for each draw and each target.

    A subclass gives ``low`` and ``high``, logarithms of sizes, ``tokens(model)``, on which each model is trained, and
    ``value(model, tokens)``, what is to be least. The demand is D_inf in tokens, at least 0.
    """

    def __init__(self, plan, demand):
        self.plan, self.demand = plan, demand

    def objective(self, log_size):
        """Return `value` at the logarithm of a size."""
        model = self.plan.model(exp(log_size))
        return self.value(model, self.tokens(model))

    def best(self):
        """Return the logarithm of the best size."""
        return least(self.objective, self.low, self.high)

    def near(self, best, tolerance):
        """Return logs of the least and greatest size whose value is at most ``1 + tolerance`` times the best."""
        most = (1 + tolerance) * self.objective(best)
        ends = self.low, np.maximum(self.highest(most), best)
        return tuple(farthest(lambda x: self.objective(x) - most, best, end) for end in ends)

    def highest(self, most):
        """Return the logarithm of a size beyond which the value is above `most`, or that ends the range."""
        return self.high


class OnBudget(Spending):
    """The least mean loss of models whose training and inference together take at most a budget.

    ``6 N D + 2 N D_inf = C`` leaves ``D = C/(6 N) - D_inf/3`` tokens to train on, at least one for sizes of at most
    ``C/(6 + 2 D_inf)``.
    """

    def __init__(self, plan, compute, demand):
        super().__init__(plan, demand)
        self.compute = compute
        served = FLOP_PER_PARAMETER_TOKEN + inference_compute(1.0, demand)
        self.low = log(plan.size(1.0 + 0 * compute * demand))
        self.high = log(plan.size(compute / served))

    def tokens(self, model):
        """Return the tokens that the rest of the budget pays for."""
        left = self.compute / model["parameters"] - inference_compute(1.0, self.demand)
        return np.maximum(left / FLOP_PER_PARAMETER_TOKEN, 1.0)

    def value(self, model, tokens):
        """Return the mean loss."""
        return self.plan.loss(model, tokens)


class ToTarget(Spending):
    """The least training and inference compute of models that reach a mean loss, equation 2 of Sardana et al. (2023).

    Where none is ``reached``, the target lies below the loss of infinite size and tokens, and nothing that is found
    means anything.
    """

    def __init__(self, plan, target, demand):
        super().__init__(plan, demand)
        one, endless = log(plan.size(1.0 + 0 * target * demand)), log(plan.size(LIMIT))
        largest = plan.model(exp(endless + 0 * one))
        floor = plan.loss(largest, LIMIT)
        self.target, self.floor, self.reached = target + 0 * floor, floor, target > floor
        self.fewest = self.tokens(largest)
        self.low = self._large_enough(self.target, one, endless)
        # Half of what is above the floor for size, half for tokens: models that will do, if not the best.
        will_do = self._large_enough((self.target + floor) / 2, self.low, endless)
        self.high = np.maximum(self.highest(self.objective(will_do)), will_do)

    def _large_enough(self, target, low, high):
        """Return the logarithm of the least size that reaches a loss with endless tokens."""
        plan = self.plan
        return root(lambda x: plan.loss(plan.model(exp(x)), LIMIT) - target, low, high)

    def highest(self, most):
        """Return the log of a size that takes more than `most` even with the fewest tokens that any size needs."""
        flop = training_compute(1.0, self.fewest) + inference_compute(1.0, self.demand)
        return log(self.plan.size(np.maximum(most / flop, 1.0)))

    def tokens(self, model):
        """Return the fewest tokens with which each model reaches the target."""
        start, end = 0 * self.target, np.log(LIMIT) + 0 * self.target
        return exp(root(lambda x: self.plan.loss(model, exp(x)) - self.target, start, end))

    def value(self, model, tokens):
        """Return the training and inference compute in FLOP."""
        parameters = model["parameters"]
        return training_compute(parameters, tokens) + inference_compute(parameters, self.demand)
