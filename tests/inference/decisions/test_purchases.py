"""Greedy purchases: gains are those of Gaussian conditioning, copies teach less, plans fit their budget."""

import numpy as np
import pytest
from bayescaling.errors import InputError
from bayescaling.inference.decisions.price import Price
from bayescaling.inference.decisions.purchases import Moments, best_plan, filled, moments, spread_out

COUNT = 7


@pytest.fixture
def before():
    rng = np.random.default_rng(1)
    root = rng.normal(size=(COUNT + 1, COUNT + 1))
    joint = root @ root.T
    return Moments(joint[0, 0], joint[0, 1:], joint[1:, 1:], rng.uniform(0.1, 2.0, COUNT))


def conditioned(before, chosen):
    """Return the variance of the target given runs, by inverting their covariance."""
    chosen = list(chosen)
    among = before.covariance[np.ix_(chosen, chosen)] + np.diag(before.noise[chosen])
    return before.variance - before.shared[chosen] @ np.linalg.solve(among, before.shared[chosen])


def test_downdates_are_gaussian_conditioning(before):
    after = before
    for i, chosen in enumerate((3, 0, 5)):
        after = after.after(chosen)
        assert after.variance == pytest.approx(conditioned(before, (3, 0, 5)[: i + 1]))
    for more in (1, 2, 4, 6):
        left = conditioned(before, (3, 0, 5)) - conditioned(before, (3, 0, 5, more))
        assert after.gains[more] == pytest.approx(left)


def test_greedy_purchases_are_the_best_at_each_step(before):
    cost = np.ones(COUNT)
    plan, chosen = filled(before, cost, 4.0, 0.0), []
    for place, variance in zip(plan.order, plan.variances, strict=True):
        left = {i: conditioned(before, [*chosen, i]) for i in range(COUNT) if i not in chosen}
        assert place == min(left, key=left.get)
        assert variance == pytest.approx(left[place])
        chosen.append(place)
    assert len(chosen) == 4


def test_a_copy_of_a_run_teaches_less_than_the_run():
    rng = np.random.default_rng(2)
    target = rng.normal(size=5000)
    mean = target + rng.normal(size=5000)
    first = moments(target, np.column_stack([mean, mean]), [0.5, 0.5])
    second = first.after(0)
    assert first.gains[0] == pytest.approx(first.gains[1])
    assert 0 < second.gains[1] < 0.5 * first.gains[0]


def test_moments_are_those_of_the_draws_and_a_draw_far_out_decides_nothing():
    rng = np.random.default_rng(3)
    target, mean = rng.normal(size=4000), rng.normal(size=(4000, 1))
    one = moments(target, mean, [1.0])
    assert one.variance == pytest.approx(np.var(target), rel=0.05)
    target[0], mean[0] = 1e6, 1e6
    two = moments(target, mean, [1.0])
    assert two.variance == pytest.approx(one.variance, rel=0.05)
    assert abs(two.shared[0]) < 0.1


def test_a_plan_fits_its_budget_and_leaves_the_least_of_its_powers(before):
    cost = np.array([1.0, 2.0, 3.0, 5.0, 8.0, 13.0, 21.0])
    plan = best_plan(before, cost, 20.0)
    assert cost[plan.order].sum() <= 20.0 and len(set(plan.order)) == len(plan.order)
    assert plan.variances[-1] == min(filled(before, cost, 20.0, p).variances[-1] for p in (0, 0.25, 0.5, 0.75, 1))


def test_runs_that_are_spread_fit_the_budget_and_lie_near_the_line():
    rng = np.random.default_rng(4)
    cost, distance = 10 ** rng.uniform(0, 4, 300), rng.uniform(0, 3, 300)
    order = spread_out(cost, distance, 3000.0)
    assert cost[order].sum() <= 3000.0 and len(set(order)) == len(order)
    assert distance[order].max() <= 1.0
    assert cost[order].max() <= 600.0 and cost[order].min() < 60.0


def test_hours_and_money_follow_from_the_price():
    price = Price(2.0, 4e14, 0.5)
    assert price.hours(7.2e20) == pytest.approx(1000.0) and price.money(7.2e20) == pytest.approx(2000.0)
    for wrong in ({"hour": 0}, {"hour": 2, "utilisation": 1.2}, {"hour": 2, "flop_per_second": float("inf")}):
        with pytest.raises(InputError, match="must be"):
            Price(**wrong)
