"""What a change is worth: the compute that the baseline needs for the loss that a changed recipe reaches.

At one size, of which no law is, it is the gain in loss (`change`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike

from ...datasets.kinds.runs import RUNS
from ...datasets.reader import TableSource
from ...datasets.wording import listed, quoted, shown
from ...errors import InputError
from ...models.draws import DRAWS
from ...models.loss.grouping import GROUP, GROUPS
from ..checks.verdict import percent
from ..estimands.allocate import checked_plan, compute_range, one_number, positive_numbers
from ..estimands.beyond import check_beyond, difference_of, drift_of
from ..fitted import Fit, of_kind, place_of, table_named
from ..quoted import quote_draws
from ..standing import standing
from .change import Gains, compare_recipes
from .curves import LossCurve, crossing
from .next_run import decided, pairing
from .price import FLOP_PER_SECOND, UTILISATION, Price
from .worth_result import OPEN, Worth

BARELY = 4  # times its lower end, the upper one of an interval of how much sizes deviate
POINTS, FURTHER = 61, 1e3  # budgets among which the order may turn, and how far above the largest
SURE = 0.95  # probability from which a direction is claimed


def worth(
    fits: Fit | Mapping[str, Fit] | TableSource,
    baseline: str,
    compute: ArrayLike | None = None,
    *,
    group: str | None = None,
    until: float | None = None,
    schedule: str | None = None,
    tokens_per_parameter: float | None = None,
    within: tuple[float, float] | None = None,
    switch: float = 0.0,
    gpu_hour: float | None = None,
    flop_per_second: float = FLOP_PER_SECOND,
    utilisation: float = UTILISATION,
    beyond: str = "drift",
    robust: bool = True,
    **planned: Any,
) -> Worth | Gains:
    """Compute what a change of the recipe is worth, from a fit of the runs with it and without it, or at one size.

    The groups of a `Grouped` law are recipes, such as optimizers or corpora. The compute multiplier m of a group is the
    compute that the baseline needs for the loss of the group at C, over C. It is computed for each draw. By default
    each group has its best allocation of the compute.

    Of a table of runs at one size, which differ by recipe and seed, it is the gain in loss. A change is then claimed
    with an error of at most 5%, however often it is looked at.

    Parameters
    ----------
    fits : Fit, mapping of str to Fit, or table
        Of a `Grouped` law. Of several, such as one for each choice of what groups share, the first is reported. A
        direction is claimed only if all of them agree. A table is a frame or a file of runs of one size, or of logs.
        Recipes are named in a column, or have a column of losses each. Without losses the gain is that of a score.
    baseline : str
        Group with which the others are compared.
    compute : float or array_like, shape (compute,), optional
        Budgets C = 6 N_T D in FLOP, of fits.
    group : str, optional
        Column of a table that names the recipes; by default the one that holds the baseline, or names of logs up to
        their numbers.
    until : float, optional
        Where the runs of a table of logs end, in steps or tokens. Runs that have not come there are forecast.
    schedule : str, optional
        Of the learning rate of logs, as for `curves.losses`.
    tokens_per_parameter : float, optional
        Tokens per parameter of every run, in place of the best allocation of each group.
    within : tuple of float, optional
        Range of compute in which the order may turn. By default it is from the least compute of the runs to 1,000 times
        the largest run or budget.
    switch : float
        FLOP that adopting a changed recipe takes, in the decision.
    gpu_hour : float, optional
        Money for an hour of one GPU, in any currency: hours and money are then given next to FLOP.
    flop_per_second, utilisation : float
        Peak of one GPU, that of an H100 in bfloat16 by default, and the share of it that training reaches.
    beyond : {"drift", "none"}
        Whether losses beyond the largest run of a group carry the drift of the law, as in `allocate`. Most of it is
        common to all groups: their differences carry what rollouts of tables of groups show
        (``evidence/alike.json``).
    robust : bool
        Where the rows reject the law, spread the difference of log losses to its robust standard deviation.
    **planned
        As for `allocate`, without the group.

    Returns
    -------
    Worth
        A Dataset that prints a short table; ``.table()`` returns its numbers. The dims are chain, draw, group (those
        other than the baseline) and compute. ``multiplier`` is m, infinite where the baseline does not reach the loss
        with a million times the compute. ``gain`` is the loss of the baseline minus that of the group at C, in nats per
        token. ``saved`` is (m - 1) C in FLOP; with a price there are also ``gpu_hours`` and ``money``. ``turns`` is
        the compute at which the order of the two turns, the nearest to C, infinite where it does not in that range.

        Without chain and draw: ``p_better`` is the probability that m is above 1, by ``variant`` where there are
        several fits, and ``direction`` is "better", "worse" or "open". ``expected_cost``, by ``action``, is in FLOP:
        "promote" wastes C (1 - m) where the group is worse, "drop" wastes C (1 - 1/m) where it is better. "one more"
        first pays for one more run and then does the better of both. ``decision`` has the least cost.
        ``next_parameters``, ``next_tokens`` and ``next_group`` are the run that lowers the expected cost most, among
        the sizes of the fitted runs. ``variance_left`` is the share of the variance of log m that it leaves.
        ``extrapolation`` is in decades of compute beyond the smaller of the two groups' largest runs.

        Of a table a DataFrame with a row for each other group, which prints a short table: ``p_better``, ``p_worse``
        and ``p_same``; the gain ``q50`` in nats, with its ends ``q2.5`` and ``q97.5``, which hold the true gain at all
        looks together with a probability of 95%; ``direction``, also "no change"; ``more_seeds``, how many further
        runs of both would decide if the gain stays as it is.

    Raises
    ------
    InputError
        If a law has no groups or the baseline is none of them. If a budget, a ratio, a price or the range is not
        positive. If a table is of several sizes, of one recipe, or has no recipe with two runs.

    Notes
    -----
    The difference of log losses, group minus baseline, is quoted as any other quantity is: it is robust where the rows
    reject the law. Beyond the runs it carries the drift of each group. Multiplier, gain and order follow from this one
    difference and the curve of the baseline. The variance that a run leaves follows from the covariance over draws
    of log m with the mean log loss of the run, ``cov**2 / (var + scatter**2)``.

    At one size losses of a recipe are normal with one scatter. A change does nothing with probability 1/2; else its
    effect over the scatter has a Cauchy prior (Jeffreys 1961; Rouder et al. 2009). With the right-Haar prior of means
    and scatter the Bayes factor of a change that does nothing ever comes to 20 with a probability of at most 1/20
    (Hendriksen, de Heide and Grünwald 2021; Grünwald, de Heide and Koolen 2024). The interval holds the gains that this
    test does not reject.

    Examples
    --------
    >>> import bayescaling as bs
    >>> runs = bs.load("chinchilla_runs")
    >>> halves = runs.assign(half=["a", "b"] * 122 + ["a"])
    >>> law = bs.laws.Grouped(bs.laws.Chinchilla(noise="normal", scatter="one"), "half")
    >>> fit = bs.fit(law, halves, seed=1, draws=500, tune=500)
    >>> change = bs.worth(fit, "a", 1e22)
    >>> change["direction"].item()
    'open'
    """
    named: dict[str, Any] = {str(name): x for name, x in fits.items()} if isinstance(fits, Mapping) else {"": fits}
    if not named:
        raise InputError("no fit is given; pass a fit of a Grouped law, or a dict of fits by name")
    if not all(isinstance(fit, Fit) for fit in named.values()):
        if compute is not None:
            raise InputError("a table is compared at one size: leave out compute, or give a fit of a Grouped law")
        return compare_recipes(fits, str(baseline), group, until, schedule)
    if group is not None or until is not None or schedule is not None:
        raise InputError("worth compares all groups of a fit: leave out group, until and schedule, for tables alone")
    for fit in named.values():
        check_baseline(fit, baseline)
    budgets = positive_numbers(compute, "compute must be positive budgets in FLOP")
    costs = None if gpu_hour is None else Price(gpu_hour, flop_per_second, utilisation)
    if not (isinstance(switch, int | float) and 0 <= switch < float("inf")):
        raise InputError(f"switch must be FLOP, at least 0, not {shown(switch)}")
    must = "within must be a range of FLOP such as (1e19, 1e24)"
    ends = None if within is None else positive_numbers(within, must, shape=(2,))
    if ends is not None and not ends[0] < ends[1]:
        raise InputError(f"{must}, not {shown(within)}")
    options = {"tokens_per_parameter": tokens_per_parameter, "within": ends, "beyond": beyond, "robust": robust}
    results = {name: multipliers(fit, str(baseline), budgets, **options, **planned) for name, fit in named.items()}
    first, (result, curves) = next(iter(named.values())), next(iter(results.values()))
    law: Any = first.law
    result = result.merge(_agreement({name: one for name, (one, _) in results.items()}))
    result = result.merge(decided(first, str(baseline), result, curves, switch))
    if costs is not None:
        result["gpu_hours"], result["money"] = costs.hours(result["saved"]), costs.money(result["saved"])
    result.attrs |= {
        "law": law.label,
        "table": table_named(first),
        "baseline": str(baseline),
        "by": law.grouped_by,
        "standing": standing(first, robust=robust),
        "beyond": beyond,
        "price": costs,
        "variants": len(results),
        "paired": law.effects_of == "run",
        "sizes": _deviations(first),
        "pairing": {g: pairing(first, g, str(baseline)) for g in result[GROUP].values.tolist()},
    }
    for name, unit in (("gain", "nats/token"), ("saved", "FLOP"), ("turns", "FLOP"), ("multiplier", "1")):
        result[name].attrs["units"] = unit
    result["compute"].attrs["units"] = "FLOP"
    return Worth(result.data_vars, result.coords, result.attrs)


def _deviations(fit):
    """Return how much sizes deviate within a group, in a sentence, "" where the rows tell it or none may."""
    if not fit.law.size_effects:
        return ""
    scale = fit["posterior"][fit.law.residuals.effect_sd]
    low, middle, high = np.quantile(scale, [0.025, 0.5, 0.975])
    if high < BARELY * low:
        return ""
    return (
        f"The rows barely tell by how much sizes deviate from the law within a {fit.law.by}, {percent(middle)} "
        f"[{percent(low)}, {percent(high)}]: runs of more sizes narrow the intervals."
    )


def check_baseline(fit, baseline):
    """Refuse a fit without groups, and a baseline that is none of them."""
    law = of_kind(fit, RUNS).law
    if law.grouped_by is None:
        raise InputError(
            f"{place_of(fit)} is a fit of {law.label}, which has no groups to compare; fit a Grouped law "
            "(--group COLUMN)"
        )
    names = fit.draws.reference[GROUPS]
    if str(baseline) not in names:
        raise InputError(f"baseline {quoted(baseline)} is no group of column {law.grouped_by!r}: {listed(names)}")


def multipliers(
    fit, baseline, budgets, *, tokens_per_parameter=None, within=None, beyond="drift", robust=True, **planned
):
    """Compute multipliers, gains and where the order turns under one fit, and the curves of loss by group.

    Parameters are as for `worth`.
    """
    check_beyond(beyond)
    draws, ratio = fit.draws, None
    if tokens_per_parameter is not None:
        ratio = one_number(tokens_per_parameter, "tokens_per_parameter must be one positive ratio")
    planned = checked_plan(draws.law, planned)
    if GROUP in planned:
        raise InputError("worth compares all groups with the baseline; leave out group")
    names = draws.reference[GROUPS]
    others = [name for name in names if name != baseline]
    shape = draws.real_line().transpose(*DRAWS, ...).shape[:2]
    slopes = np.zeros((*shape, len(names)))
    if beyond == "drift":
        rng, difference = np.random.default_rng(fit.record["seed"]), difference_of(draws.law)
        slopes = drift_of(draws.law).slopes_of_groups(rng, shape, len(names), difference)
    slopes = dict(zip(names, np.moveaxis(slopes.reshape(-1, len(names), 1), 1, 0), strict=True))
    curves = {name: LossCurve(fit, name, planned, ratio, slopes[name]) for name in names}
    ends = within
    if ends is None:
        ranges = [compute_range(fit, group=name, **planned) for name in names]
        ends = min(np.nanmin(ranges), budgets.min()), FURTHER * max(np.nanmax(ranges), budgets.max())
    places = np.log(np.concatenate([budgets, np.geomspace(*ends, POINTS)]))
    at, base = places[: len(budgets)], curves[baseline]
    points = {"point": np.arange(len(places))}
    gaps = draws.by_draw({name: curves[name].law(places) - base.law(places) for name in others}, points)
    drift = draws.by_draw({name: curves[name].drift(places) - base.drift(places) for name in others}, points)
    gaps = quote_draws(fit, dict(gaps.data_vars), robust=robust, bounded=False, drift=drift)
    at_base, variables = base(at), {}
    for name in others:
        gap = gaps[name].transpose(*DRAWS, "point").values.reshape(-1, len(places))
        at_group = at_base + gap[:, : len(at)]
        needed = np.exp(base.reaches(at_group, at) - at)
        turns = np.stack([crossing(places[len(at) :], gap[:, len(at) :], budget) for budget in at], axis=-1)
        one = {"multiplier": needed, "gain": np.exp(at_base) - np.exp(at_group), "turns": np.exp(turns)}
        variables[name] = draws.by_draw(one, {"compute": budgets})
    result = xr.concat(list(variables.values()), dim=xr.Variable(GROUP, others)).transpose(*DRAWS, GROUP, "compute")
    result["saved"] = (result["multiplier"] - 1) * result["compute"]
    smallest = [min(curves[name].greatest, base.greatest) for name in others]
    beyond_by = np.log10(budgets / np.array(smallest)[:, None] / (1 + 1e-9)).clip(min=0)
    result["extrapolation"] = ((GROUP, "compute"), beyond_by)
    result.attrs = {"within": (float(ends[0]), float(ends[1]))}
    return result, curves


def _agreement(results):
    """Return the probability that each group is better, by fit where there are several, and the direction."""
    by_fit = xr.concat(
        [(one["multiplier"] > 1).mean(DRAWS) for one in results.values()], dim=xr.Variable("variant", [*results])
    )
    better, worse = (by_fit >= SURE).all("variant"), (by_fit <= 1 - SURE).all("variant")
    direction = xr.where(better, "better", xr.where(worse, "worse", OPEN))
    first = by_fit.isel(variant=0, drop=True)
    agreement = xr.Dataset({"p_better": first, "direction": direction})
    return agreement if len(results) == 1 else agreement.assign(p_better_by_variant=by_fit)
