"""The order in which runs are bought so that least is left of the variance of a target: greedy, by rank-one downdates.

Notation, by posterior draw: t is the target, and f is the mean log loss of each candidate. The variance of a run's loss
about its mean is v. Were t and f jointly normal, a run c would lower the variance of t by
``cov(t, f_c)**2 / (var(f_c) + v_c)``, whatever its loss turns out to be. The covariances that remain are those of
normal variables given that run, a downdate of rank one, so that runs after it count what it has taught already.
"""

from typing import NamedTuple

import numpy as np

ENDS = (0.005, 0.995)  # Quantiles at which draws are clipped: a few draws far out would decide a covariance.
NEAR, SHARE = 1.0, 0.2  # decades, and a share of the budget that is left, of runs that no law chooses
POWERS = (0.0, 0.25, 0.5, 0.75, 1.0)  # of the cost that a gain is divided by; the plan of least variance is chosen


class Moments(NamedTuple):
    """Second moments of a target and of the mean losses of candidates.

    They are the variance of the target, its covariances with each candidate, (candidate,), those of the candidates, and
    the variance of a run about its mean, (candidate,).
    """

    variance: float
    shared: np.ndarray
    covariance: np.ndarray
    noise: np.ndarray

    @property
    def gains(self):
        """Return by how much each candidate would lower the variance of the target, an ndarray (candidate,)."""
        return self.shared**2 / (np.diag(self.covariance) + self.noise)

    def after(self, chosen):
        """Return the moments once the loss of a candidate, by its place, is known."""
        scale = np.sqrt(self.covariance[chosen, chosen] + self.noise[chosen])
        column, weight = self.covariance[:, chosen] / scale, self.shared[chosen] / scale
        return Moments(
            max(self.variance - weight**2, 0.0),
            self.shared - column * weight,
            self.covariance - np.outer(column, column),
            self.noise,
        )


def moments(target, means, noise):
    """Compute `Moments` of clipped draws of a target, (sample,), and of means, (sample, candidate), with their noise.

    Means and noise, (candidate,), are on the scale of the law's residuals.
    """
    target, means = (np.clip(x, *np.quantile(x, ENDS, axis=0)) for x in (target, means))
    means = means - means.mean(0)
    target = target - target.mean()
    count = len(target) - 1
    noise = np.asarray(noise, float)
    return Moments(target @ target / count, target @ means / count, means.T @ means / count, noise)


class Purchases(NamedTuple):
    """Places of candidates in order of purchase, and the variance of the target once each is bought."""

    order: np.ndarray
    variances: np.ndarray


def filled(before, cost, budget, power):
    """Return the `Purchases` that fills a budget, at each step with what gains most for its cost to a power.

    Gains follow from `Moments` before a purchase; candidates that are left are those that can be paid for.
    """
    order, variances, left, free = [], [], budget, np.ones(len(cost), bool)
    worth = cost**-power
    while (possible := free & (cost <= left)).any():
        gains = np.where(possible, before.gains * worth, -1.0)
        chosen = int(gains.argmax())
        before = before.after(chosen)
        order.append(chosen)
        variances.append(before.variance)
        free[chosen], left = False, left - cost[chosen]
    return Purchases(np.array(order, int), np.array(variances))


def best_plan(before, cost, budget):
    """Fill a budget by each of `POWERS`, and return the `Purchases` that leaves the least variance of the target."""
    plans = [filled(before, cost, budget, power) for power in POWERS]
    return min(plans, key=lambda plan: plan.variances[-1] if len(plan.variances) else np.inf)


def spread_out(cost, distance, budget):
    """Choose places of runs of many costs near a line in the plane of sizes, where no law is trusted to choose them.

    Each run is the dearest that takes at most `SHARE` of what is left of the budget, then the cheapest that still fit.
    The dearest runs near the line thus take most of the budget, at several ratios of the sizes. Candidates are near it
    within a `distance` of `NEAR` decades. Where fewer than a tenth are, the nearest tenth is taken.
    """
    affordable = np.flatnonzero(cost <= budget)
    limit = max(NEAR, float(np.quantile(distance[affordable], 0.1)))
    free, left, order = affordable[distance[affordable] <= limit], budget, []
    while (free := free[cost[free] <= left]).size:
        small = free[cost[free] <= SHARE * left]
        pool = small if small.size else free
        chosen = pool[np.lexsort((distance[pool], -cost[pool]))[0]] if small.size else pool[cost[pool].argmin()]
        order.append(int(chosen))
        free, left = free[free != chosen], left - cost[chosen]
    return np.array(order, int)
