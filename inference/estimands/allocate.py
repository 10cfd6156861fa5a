"""The best size at a budget, or to reach a loss, draw by draw."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike

from ...datasets.units import NATS
from ...datasets.wording import check_choice
from ...errors import InputError
from ...models.loss.budget import SIZES, training_flop
from ...models.loss.plan import inference_compute, training_compute
from ..fitted import Fit, command_of, table_named
from ..standing import standing
from .allocation import Allocation
from .beyond import check_beyond, decades_outside
from .planning import planned_sizes
from .quoted_allocation import nonembedding_sizes, quoted, solve_with_drift

MUST = {"compute": "compute must be positive FLOP", "target": "loss must be positive nats per token"}


def allocate(
    fit: Fit,
    compute: ArrayLike | None = None,
    *,
    loss: ArrayLike | None = None,
    demand: ArrayLike | None = None,
    near_optimal: float | None = None,
    beyond: str = "drift",
    robust: bool = True,
    **planned: Any,
) -> Allocation:
    """Compute the best parameters and tokens at a budget, or to reach a loss, for each draw.

    Without demand a budget is one for training, ``C = 6 N_T D``. With it, a budget is one for training and inference
    together, ``6 N_T D + 2 N_T D_inf <= C``, and the mean loss within it is the least. A target loss is reached with
    the least training and inference compute (equation 2 of Sardana et al. 2023 [1]_). N_T is all parameters, whatever
    the law counts.

    Parameters
    ----------
    fit : Fit
    compute : float or array_like, shape (compute,), optional
        Budgets C in FLOP.
    loss : float or array_like, shape (target,), optional
        Target mean losses in nats per token, in place of a budget.
    demand : float or array_like, shape (demand,), optional
        D_inf, tokens that the model reads and writes over its life, at least 0.
    near_optimal : float, optional
        Also return the range of sizes that are nearly as good. Their loss at the same budget, or their compute to the
        same target, is at most so much above the best, relatively (0.001 is 0.1%).
    beyond : {"drift", "none"}
        Whether budgets outside those of the fitted runs carry the drift of the law. These are errors of log N* and of
        the log loss that grow with compute above the largest run or below the least, learned from rollouts of ten
        public tables (``evidence/beyond.json``). A loss beyond the runs takes the compute at which the law's loss with
        its drift reaches it.
    robust : bool
        Where the rows reject the law, spread N* and the loss to their robust (sandwich) standard deviations before the
        drift is added; see `quote_draws`. With a target this is the compute that reaches it, instead of the loss.
        Without either option the draws are those of the law alone.
    **planned
        What the law must know of the runs planned (`law.planned`). Most laws take ``vocabulary`` and
        ``aspect_ratio``. The first is the number of rows of the models' embedding (twice as many if untied; 32,000 by
        default). The second is their width over the number of layers (that of Chinchilla's models by default). A
        `Grouped` law needs ``group``, the name of the group that the runs planned are of.

    Returns
    -------
    Allocation
        A Dataset that prints a short table; ``.table()`` returns its numbers. It holds what the law's `plan`
        describes: ``parameters`` (N_T), ``tokens``, ``loss`` (mean loss in nats per token) and others, with
        ``tokens_per_parameter``. The dims are chain, draw, compute or target and, with a demand, demand.
        ``extrapolation`` is the decades of training compute by which the answer lies above (positive) or below
        (negative) the fitted runs, 0 within. ``outside`` is whether it is not 0. Both have the dim compute alone where
        the budget is one for training.

        With a demand or a target also ``training_compute``, ``inference_compute`` and ``total_compute`` in FLOP, and
        ``tokens_per_parameter_extrapolation``, decades by which tokens per parameter lie outside those of the runs.
        With a target ``floor`` is the loss of endless size and tokens, and ``reached`` whether the target is above it.
        Where it is not, sizes and compute are infinite and the loss is the floor. With both, ``saved`` is a share of
        the total compute, under the law alone. It compares with the model of least training compute that reaches the
        target and serves the demand.

        With `near_optimal` there are ``parameters_near_low``, ``parameters_near_high``, ``tokens_near_low`` and
        ``tokens_near_high`` by draw. ``near_low`` and ``near_high``, without chain and draw, are the ends of the sizes
        that are nearly the best with probability 0.5 or more (NaN where no size is). ``near_parameters`` is the
        size that is nearly the best with the greatest probability, and ``near_probability`` that probability.

    Raises
    ------
    InputError
        If `beyond` is unknown, or a budget, a target, a demand, the tolerance or something planned is not a positive
        number. If both or neither of budget and target are given, or the law does not know what is planned. If the law
        has no optimum, a budget does not serve a demand, or no draw reaches a target.

    Warns
    -----
    DiagnosticWarning
        If some draws do not reach a target.

    References
    ----------
    .. [1] Sardana, N., Portes, J., Doubov, S. and Frankle, J. (2023). Beyond Chinchilla-optimal: Accounting for
       inference in language model scaling laws. arXiv:2401.00448.

    Examples
    --------
    >>> import bayescaling as bs
    >>> fit = bs.fit(bs.laws.Chinchilla(), bs.load("chinchilla_runs"), seed=1, draws=500, tune=500)
    >>> at = fit.allocate([1e21, 1e24])
    >>> 1e9 < float(at["parameters"].sel(compute=1e21).median()) < 1e10
    True
    >>> served = fit.allocate(loss=2.2, demand=[0, 1e13])
    >>> bool((served["parameters"].sel(demand=1e13) < served["parameters"].sel(demand=0)).all())
    True
    """
    if (compute is None) == (loss is None):
        which = "neither" if loss is None else "both"
        raise InputError(f"give compute, a budget in FLOP, or loss, a target in nats per token, not {which}")
    name, asked = ("compute", compute) if loss is None else ("target", loss)
    asked = positive_numbers(asked, MUST[name])
    demands = None if demand is None else positive_numbers(demand, "demand must be tokens, at least 0", least=0)
    if near_optimal is not None:
        near_optimal = one_number(near_optimal, "near_optimal must be one positive tolerance")
    draws = fit.draws
    law, planned = draws.law, checked_plan(draws.law, planned)
    try:
        law.plan({})
        draws.of_planned(**planned)
    except InputError as refusal:
        raise InputError(f"{refusal}{command_of(fit)}") from None
    if name == "compute" and demands is not None:
        _check_served(asked, demands)
    check_beyond(beyond)
    at = xr.DataArray(asked, dims=name, coords={name: asked})
    drifts = beyond == "drift"

    def solved(targets):
        return planned_sizes(draws, targets, asked, name, demands, near_optimal, planned)

    if name == "compute" and demands is None and near_optimal is None:
        result = law.optimum(draws, at, **planned)
    elif name == "compute" or not drifts:
        result = solved(asked[:, None])
    else:
        result = solve_with_drift(fit, solved, asked, compute_range(fit, **planned))
    spent = result.get("training_compute", at)
    result["extrapolation"] = decades_outside(spent, *compute_range(fit, **planned))
    result["outside"] = result["extrapolation"] != 0
    if "training_compute" in result:
        result["tokens_per_parameter_extrapolation"] = _ratio_outside(result, fit, **planned)
    if robust or drifts:
        sizes = partial(nonembedding_sizes, draws, planned)
        # What reaches a target, or serves a demand, is compared between requests: its drift is not that of its size.
        counted = largest_sizes(fit, **planned) if name == "compute" and demands is None else {}
        largest = {column: x for column, x in counted.items() if column in result}
        result = quoted(fit, result, demands, beyond=beyond, robust=robust, nonembedding=sizes, largest=largest)
    if "parameters" in result:
        result["tokens_per_parameter"] = _ratio(result["tokens"], result["parameters"])
    if "training_compute" in result:
        result["tokens_per_parameter_extrapolation"] = _ratio_outside(result, fit, **planned)
    result.attrs |= {} if near_optimal is None else {"near_optimal": near_optimal}
    result.attrs |= {"law": law.label, "table": table_named(fit), "beyond": beyond}
    if robust or drifts:
        result.attrs["standing"] = standing(fit, robust=robust)
    for key in result.data_vars:
        result[key].attrs["units"] = _unit(key)
    for key, unit in (("compute", "FLOP"), ("target", NATS), ("demand", "tokens")):
        if key in result.coords:
            result[key].attrs["units"] = unit
    result = result.transpose("chain", "draw", name, ...)
    return Allocation(result.data_vars, result.coords, result.attrs)


def checked_plan(law, planned):
    """Return what is planned without what is None, refusing what a law does not know of runs."""
    options, planned = law.planned, {key: x for key, x in planned.items() if x is not None}
    for key in planned:
        check_choice(f"for a fit of {law.name}, what is planned,", key, options or ("nothing",))
    return planned


def _unit(name):
    if name.endswith("extrapolation"):
        return "decades"
    return "nats/token" if name in ("loss", "floor") else "FLOP" if name.endswith("_compute") else "1"


def one_number(value, must):
    """Return one number above 0 as a float; `must` begins the message of what is refused."""
    return float(positive_numbers(value, must, shape=(1,))[0])


def positive_numbers(values, must, *, least=None, shape=None):
    """Return numbers above 0, or of at least `least`, as an array of one axis.

    It refuses another value, or an array that is not of `shape`, in a message that begins with `must`.
    """
    try:
        raw = np.atleast_1d(np.asarray(values))
        numbers = raw.astype(float) if raw.dtype != bool else np.array([np.nan])
    except (TypeError, ValueError):
        numbers = np.array([np.nan])
    inside = numbers > 0 if least is None else numbers >= least
    if (
        numbers.ndim != 1
        or not numbers.size
        or not (np.isfinite(numbers) & inside).all()
        or numbers.shape != (shape or numbers.shape)
    ):
        raise InputError(f"{must}, not {values!r}")
    return numbers


def _check_served(budgets, demands):
    least, most = budgets.min(), demands.max()
    needed = training_compute(1.0, 1.0) + inference_compute(1.0, most)
    if least <= needed:
        raise InputError(
            f"a budget of {least:g} FLOP does not serve a demand of {most:g} tokens with one parameter ({needed:.3g} "
            "FLOP); give a larger budget or a smaller demand"
        )


def _ratio(tokens, parameters):
    """Return tokens per parameter; NaN where both are infinite."""
    with np.errstate(invalid="ignore"):
        return tokens / parameters


def _ratio_outside(result, fit, **planned):
    """Return decades by which tokens per parameter lie outside those of the fitted runs, counted as there."""
    runs = fit.law.planned_rows(fit.rows, **planned)
    size = next(column for column in SIZES if column in runs and column in result)
    fitted = runs["tokens"] / runs[size]
    return decades_outside(_ratio(result["tokens"], result[size]), float(fitted.min()), float(fitted.max()))


def compute_range(fit, **planned):
    """Return the least and the greatest training FLOP of the fitted runs that inform what is planned."""
    flop = training_flop(fit.law.planned_rows(fit.rows, **planned))
    if flop is None or not len(flop):  # without compute, or a group of which nothing was seen
        return float("nan"), float("nan")
    return float(flop.min()), float(flop.max())


def largest_sizes(fit, **planned):
    """Return the largest size and the most tokens of the fitted runs that inform what is planned, by column."""
    runs = fit.law.planned_rows(fit.rows, **planned)
    return {name: float(runs[name].max()) for name in (*SIZES, "tokens") if name in fit.law.columns and len(runs)}
