"""The mean loss of one group of runs by training compute, and the compute at which it reaches a loss, draw by draw."""

import numpy as np

from ...models.loss.budget import FLOP_PER_PARAMETER_TOKEN
from ...models.loss.search import root
from ..estimands.allocate import compute_range

DECADES = np.log(10)
MOST = 6.0  # decades of compute around a budget within which a loss must be reached
CELLS = 48


class LossCurve:
    """Log mean loss by log compute: of the law, and with an error that grows beyond the largest run of the group.

    The fit is of a `Grouped` law, and `planned` is what else the law must know of the runs planned. The ratio of tokens
    to parameters is None for the best allocation of each draw. The slope, (sample, 1), is the error of log loss a
    decade beyond the largest run, 0 for none.
    """

    def __init__(self, fit, group, planned, ratio, slope):
        draws, options = fit.draws.of_planned(group=group, **planned)
        self.plan, self.ratio = draws.law.plan(draws.constants(), **options), ratio
        self.slope, self.greatest = slope, compute_range(fit, group=group, **planned)[1]

    def law(self, log_compute):
        """Compute the log mean loss of the law at log budgets that broadcast to (sample, point)."""
        return np.log(self.plan.loss(*self._allocated(np.exp(log_compute))))

    def _allocated(self, compute):
        """Return models and their tokens at budgets, by draw where the best allocation is."""
        if self.ratio is None:
            return self.plan.optimum(compute)
        parameters = np.sqrt(compute / (FLOP_PER_PARAMETER_TOKEN * self.ratio))
        return self.plan.model(self.plan.size(parameters)), self.ratio * parameters

    def sizes(self, compute):
        """Return the median model and tokens at each budget, (point,), a dict of arrays."""
        model, tokens = self._allocated(compute)
        return {name: np.median(np.atleast_2d(x), 0) for name, x in (model | {"tokens": tokens}).items()}

    def drift(self, log_compute):
        """Compute the error of the log loss at log budgets, 0 within the runs of the group."""
        beyond = np.maximum(log_compute - np.log(self.greatest), 0.0) / DECADES
        return self.slope * np.where(np.isfinite(beyond), beyond, 0.0)  # a group without runs has no largest one

    def __call__(self, log_compute):
        """Compute the log mean loss with its error."""
        return self.law(log_compute) + self.drift(log_compute)

    def reaches(self, log_loss, log_budget):
        """Find the least log compute, (sample, point), at which a log loss is reached, `MOST` decades about budgets.

        It is infinite where no compute up to the upper end does, and the lower end where that does.
        """
        steps = np.linspace(-MOST, MOST, CELLS + 1) * DECADES
        result = np.empty(log_loss.shape)
        for i, budget in enumerate(log_budget):
            target = log_loss[:, [i]]
            reached = self(budget + steps) <= target
            first = reached.argmax(1)[:, None]
            low, high = (budget + steps[np.clip(first + move, 0, CELLS)] for move in (-1, 0))
            exact = root(lambda x, target=target: self(x) - target, low, high)
            result[:, [i]] = np.where(reached.any(1, keepdims=True), exact, np.inf)
        return result


def crossing(log_compute, gaps, log_budget):
    """Find the log compute, (sample,), at which each draw's gap, (sample, point), changes sign, nearest to a budget.

    It is interpolated between the points, which are in order, and infinite where the sign does not change.

    Examples
    --------
    >>> crossing(np.array([0.0, 1.0, 2.0]), np.array([[3.0, 1.0, -1.0], [1.0, 2.0, 3.0]]), 1.0)
    array([1.5, inf])
    """
    before, after = gaps[:, :-1], gaps[:, 1:]
    changes = (before < 0) != (after < 0)
    part = np.divide(before, before - after, out=np.zeros(before.shape), where=changes)
    places = np.where(changes, log_compute[:-1] + part * np.diff(log_compute), np.inf)
    nearest = np.abs(places - log_budget).argmin(1)
    return places[np.arange(len(places)), nearest]
