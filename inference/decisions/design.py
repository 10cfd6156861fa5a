"""Which runs to make next, so as to learn the best size, a loss or an exponent where it matters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...datasets.kinds.runs import RUNS
from ...datasets.reader import TableSource
from ...errors import InputError
from ...models.loss.budget import training_flop
from ..estimands.allocate import checked_plan, one_number
from ..estimands.beyond import check_beyond, drift_of
from ..fitted import Fit, of_kind
from ..settings import seed_of
from ..standing import standing
from .candidates import COST, candidate_means, candidates_of, misfit_variance, noise_variance, off_ratio, on_scale
from .gate import label, through, warn
from .price import FLOP_PER_SECOND, UTILISATION, Price
from .purchases import best_plan, moments, spread_out
from .schedule import Schedule, scheduled
from .targets import target_of


def design(
    fits: Fit | Sequence[Fit],
    candidates: TableSource | None = None,
    budget: float | None = None,
    *,
    compute: float | None = None,
    target: str = "allocation",
    gate: bool = True,
    beyond: str = "drift",
    gpu_hour: float | None = None,
    flop_per_second: float = FLOP_PER_SECOND,
    utilisation: float = UTILISATION,
    seed: int | None = None,
    progress: bool = False,
    **planned: Any,
) -> Schedule:
    """Choose the next runs within a budget, in order of purchase.

    The covariance of the target with each candidate's mean loss over posterior draws gives what a run would teach,
    as in Bayesian linear design [1]_. Runs are added one by one, each to the covariances that the runs before it leave.
    Of five plans, whose gains are divided by different powers of the cost, the one that leaves the least variance is
    returned. Make its first batch, add it with `update` or a new fit, and ask again.

    A law that misses dearer runs must not choose the next ones: it may be worse than chance. Each law is therefore
    rolled out on the runs that it was fitted to. If its 90% intervals hold less than 80% of the dearer runs, it is left
    out. If no law is left, the laws that the check of the first suggests are fitted, until one passes. If none does,
    runs are spread by cost near the target's tokens per parameter.

    Parameters
    ----------
    fits : Fit or sequence of Fit
        Of laws of runs. Several fits count as equally probable laws.
    candidates : DataFrame, path, str or mapping, optional
        Runs that may be made, each once: the columns that the law needs and, optionally, ``cost`` in FLOP (6ND by
        default). By default a ladder of sizes is made from the range of the fitted runs, at costs up to the budget.
        Its tokens per parameter are within a factor of 30 of the target's.
    budget : float
        FLOP for all runs together.
    compute : float, optional
        Training FLOP that the target is about. Required.
    target : {"allocation", "loss", "exponent"}
        The best size at `compute`, the best loss there, or the exponent of the best size there.
    gate : bool
        Whether laws are rolled out. It takes three fits a law, and four of each other law that is tried.
    beyond : {"drift", "none"}
        Whether the drift of the law counts as noise of runs outside the compute of the fitted ones, and of runs off the
        target's tokens per parameter. What it adds to the excess loss is stated apart: no choice among smaller runs
        lowers that.
    gpu_hour : float, optional
        Money for an hour of one GPU, in any currency: hours and money are then stated next to FLOP.
    flop_per_second, utilisation : float
        Peak of one GPU, that of an H100 in bfloat16 by default, and the share of it that training reaches.
    seed : int, optional
        Of the rollouts; that of the fit by default.
    progress : bool
        Show a progress bar of rollouts on standard error.
    **planned
        What the law must know of the target, as for `Fit.allocate`.

    Returns
    -------
    Schedule
        A DataFrame that prints itself, one row a run in order of purchase. It has the columns of the law,
        ``candidate`` (row of the candidates, from 0), ``cost`` and ``cumulative_cost`` in FLOP, and ``batch`` (of
        about a tenth of the budget). ``variance_left`` is the share of the target's variance that is left. For the
        allocation, ``excess_loss`` (nats per token) and ``excess_flop`` are expected for the size that would be chosen,
        compared with the best one. ``pays`` is whether the run belongs to the first runs that together save more FLOP
        at the target than they cost, at best. With a price there are ``hours`` and ``money``, and ``saved_money`` for
        the allocation. All that a law gives is NaN where no law passed the gate. ``attrs`` has ``rule``, which is
        ``"draws"`` or ``"spread"``, ``gates``, ``target``, ``budget`` and ``now``, the first line, before any run. Of
        it ``drift_loss`` and ``drift_flop`` are the expected excess that the drift adds. With the drift, ``after`` has
        the upper over the lower end of the interval of the best size, now and after all runs. Its ``decades`` of
        compute are those that then lie between the largest run and the target.

    Raises
    ------
    InputError
        If the budget or a price is no positive number, the budget buys no candidate, or the target is unknown or lacks
        its compute. Also if candidates lack a column or hold what is no positive number.

    Warns
    -----
    DiagnosticWarning
        If a law did not pass the gate.

    References
    ----------
    .. [1] Chaloner, K. and Verdinelli, I. (1995). Bayesian experimental design: a review. Statistical Science 10(3).

    Examples
    --------
    >>> import bayescaling as bs
    >>> runs = bs.load("chinchilla_runs")
    >>> fit = bs.fit("coupled", runs[runs["training_flop"] < 1e20], seed=1, draws=500, tune=500)
    >>> plan = bs.design(fit, budget=1e21, compute=1e23, gate=False)
    >>> bool(plan["cost"].sum() <= 1e21), bool(plan["variance_left"].is_monotonic_decreasing)
    (True, True)
    """
    fits = [of_kind(one, RUNS) for one in (fits if isinstance(fits, Sequence) else [fits])]
    if not fits:
        raise InputError("no fit to design runs for; pass what fit() or open() returned")
    budget = one_number(budget, "budget must be positive FLOP such as 1e21")
    compute = None if compute is None else one_number(compute, "compute must be positive FLOP such as 1e24")
    check_beyond(beyond)
    price = None if gpu_hour is None else Price(gpu_hour, flop_per_second, utilisation)
    first = fits[0]
    planned = checked_plan(first.draws.law, planned)
    targets = [target_of(one.draws, target, compute, planned) for one in fits]
    ratio = float(np.median([one.ratio for one in targets]))
    table = candidates_of(first.law, first.rows, candidates, budget, ratio, planned)
    cost, gates, passed = table[COST].to_numpy(float), {}, fits
    if gate:
        passed, gates = through(fits, seed=seed_of(seed, first), progress=progress)
        warn(gates, passed)
    fitted = {name: first.rows[name].tolist() for name in ("parameters", "tokens") if name in first.rows}
    attrs = {"fitted": fitted, "budget": budget, "gates": gates, "target": targets[0].text, "price": price}
    attrs |= {"laws": [label(one, fits) for one in passed or fits]}
    attrs["standing"] = {label(one, fits): standing(one) for one in passed or fits}
    if not passed:
        order = spread_out(cost, off_ratio(table, ratio), budget)
        return scheduled(table.iloc[order], order, None, None, attrs)
    fits, targets = passed, [target_of(one.draws, target, compute, planned) for one in passed]
    before = _moments(fits, targets, table, beyond)
    plan = best_plan(before, cost, budget)
    if beyond == "drift" and targets[0].of == "size" and len(plan.order):
        now, then = (_decades(first, targets[0], largest) for largest in (0.0, cost[plan.order].max()))
        ends = (1.0, now), (plan.variances[-1] / before.variance, then)
        factors = [_factor(fits, targets, left, decades, seed_of(seed, first)) for left, decades in ends]
        attrs["after"] = {"width": factors, "decades": then}
    drift = _drift(fits, targets) if beyond == "drift" else 0.0
    return scheduled(table.iloc[plan.order], plan.order, before, plan.variances, attrs, targets, drift)


def _moments(fits, targets, table, beyond):
    count = min(len(one.draws) for one in targets)
    picks = [np.linspace(0, len(one.draws) - 1, count).astype(int) for one in targets]
    means = [candidate_means(fit.draws, table)[pick] for fit, pick in zip(fits, picks, strict=True)]
    draws = [one.draws[pick] for one, pick in zip(targets, picks, strict=True)]
    noise = np.mean([noise_variance(fit.draws, table) for fit in fits], axis=0)
    if beyond == "drift":
        more = [misfit_variance(fit.draws, target.ratio, table) for fit, target in zip(fits, targets, strict=True)]
        noise = noise + np.mean(more, axis=0) * on_scale(fits[0].law, means[0])
    return moments(np.concatenate(draws), np.concatenate(means), noise)


def _drift(fits, targets):
    pairs = [(fit, target) for fit, target in zip(fits, targets, strict=True) if target.of]
    variances = [drift_of(fit.law).mean_square(target.of) * _decades(fit, target) ** 2 for fit, target in pairs]
    return float(np.mean(variances)) if variances else 0.0


def _decades(fit, target, largest=0.0):
    """Compute how many decades of compute the target lies above the largest fitted run, or a larger one."""
    spent = training_flop(fit.rows)
    return 0.0 if spent is None else max(float(np.log10(target.compute / max(np.nanmax(spent), largest))), 0.0)


def _factor(fits, targets, left, decades, seed):
    """Compute the upper over the lower end of the 95% interval of the best size, with a share of the variance left."""
    rng, samples = np.random.default_rng(seed), []
    for fit, target in zip(fits, targets, strict=True):
        draws, drift = target.draws, drift_of(fit.law).slopes(rng, target.draws.shape, target.of)
        samples.append(draws.mean() + np.sqrt(left) * (draws - draws.mean()) + decades * drift)
    low, high = np.quantile(np.concatenate(samples), (0.025, 0.975))
    return float(np.exp(high - low))
