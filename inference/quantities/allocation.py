"""The best size at a budget, or to reach a loss, draw by draw."""

from __future__ import annotations

import warnings
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from ...datasets.wording import unknown
from ...errors import DiagnosticWarning, InputError
from ...models.draws import DRAWS
from ...models.loss.budget import training_flop
from ...models.loss.plan import inference_compute, training_compute
from ..storage import draws_of, law_of, metadata, table_of
from .beyond import check_beyond, drift_of
from .planning import near_range, planned_sizes
from .robust import quotable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike

SIZES = ("parameters", "parameters_nonembedding")
MOST_DECADES, SECANTS, CLOSE = 12.0, 12, 1e-4  # of the search for the compute at which a drifting loss is reached


MUST = {"compute": "compute must be positive FLOP", "target": "loss must be positive nats per token"}


def allocate(
    fit: xr.DataTree,
    compute: ArrayLike | None = None,
    *,
    loss: ArrayLike | None = None,
    demand: ArrayLike | None = None,
    near_optimal: float | None = None,
    beyond: str = "drift",
    robust: bool = True,
    **planned: Any,
) -> xr.Dataset:
    """Compute the best parameters and tokens at a budget, or to reach a loss, for each draw.

    Without demand a budget is one for training, ``C = 6 N_T D``. With it, a budget is one for training and inference
    together, ``6 N_T D + 2 N_T D_inf <= C``, and the mean loss within it is the least; a target loss is reached with
    the least training and inference compute (equation 2 of Sardana et al. 2023 [1]_). N_T is all parameters, whatever
    the law counts.

    Parameters
    ----------
    fit : DataTree
    compute : float or array_like, shape (compute,), optional
        Budgets C in FLOP.
    loss : float or array_like, shape (target,), optional
        Target mean losses in nats per token, in place of a budget.
    demand : float or array_like, shape (demand,), optional
        D_inf, tokens that the model reads and writes over its life, at least 0.
    near_optimal : float, optional
        Give the range of sizes that are nearly as good too: whose loss at the same budget is at most so much above the
        best, relatively (0.001 is 0.1%), or whose compute to the same target is.
    beyond : {"drift", "none"}
        Whether budgets beyond the largest fitted run carry the drift of the law: errors of log N* and of the log loss
        that grow with the decades of compute beyond, as rollouts of ten public tables teach
        (``evidence/beyond.json``). To reach a loss beyond the runs takes the compute at which the law's loss and its
        drift do.
    robust : bool
        Where the rows reject the law, spread N* and the loss (or the compute that reaches a target) to their robust
        standard deviations before the drift is added; see `quotable`. Without either option the draws are those of the
        law alone.
    **planned
        What the law wants to know of the runs planned (`law.planned`). Of most laws ``vocabulary``, rows of the
        embedding of the models asked about (twice as many if untied; 32,000 by default), and ``aspect_ratio``, their
        width over number of layers (that of Chinchilla's models by default). Of a `Grouped` law ``group``, the name of
        the group that the runs planned are of, which is needed.

    Returns
    -------
    Dataset
        What the law's `plan` describes: ``parameters`` (N_T), ``tokens``, ``loss`` (mean loss in nats per token) and
        others, with ``tokens_per_parameter``, dims (chain, draw, compute or target) and, if asked, demand;
        ``extrapolation``, decades of training compute by which the answer lies above (positive) or below (negative) the
        fitted runs, 0 within; ``outside``, whether it is not 0. Both have the dim compute alone where the budget is one
        for training.

        With a demand or a target also ``training_compute``, ``inference_compute`` and ``total_compute`` in FLOP, and
        ``tokens_per_parameter_extrapolation``, decades by which tokens per parameter lie outside those of the runs.
        With a target ``floor``, the loss of endless size and tokens, and ``reached``, whether the target is above it:
        where it is not, sizes and compute are infinite and the loss is the floor. With both ``saved``, the share of
        the total compute saved over the model of least training compute that reaches the target and serves the demand.

        With `near_optimal` ``parameters_near_low``, ``parameters_near_high``, ``tokens_near_low`` and
        ``tokens_near_high`` by draw, and without chain and draw ``near_low`` and ``near_high``, between which sizes are
        nearly the best with a probability of at least 0.5 (NaN where no size is), ``near_parameters``, the size that
        is with the greatest probability, and ``near_probability``, that probability.

    Raises
    ------
    InputError
        If `beyond` is unknown, a budget, a target, a demand, the tolerance or something planned is not a positive
        number, both or neither
        of budget and target are given, the law does not know what is planned, it has no optimum, a budget does not
        serve a demand, or no draw reaches a target.

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
    >>> fit = bs.fit(bs.Chinchilla(), bs.load("chinchilla_runs"), seed=1, draws=500, tune=500)
    >>> at = bs.allocate(fit, [1e21, 1e24])
    >>> 1e9 < float(at["parameters"].sel(compute=1e21).median()) < 1e10
    True
    >>> served = bs.allocate(fit, loss=2.2, demand=[0, 1e13])
    >>> bool((served["parameters"].sel(demand=1e13) < served["parameters"].sel(demand=0)).all())
    True
    """
    if (compute is None) == (loss is None):
        which = "neither" if loss is None else "both"
        raise InputError(f"give compute, a budget in FLOP, or loss, a target in nats per token, not {which}")
    name, asked = ("compute", compute) if loss is None else ("target", loss)
    asked = _numbers(asked, MUST[name])
    demands = None if demand is None else _numbers(demand, "demand must be tokens, at least 0", least=0)
    if near_optimal is not None:
        near_optimal = float(_numbers(near_optimal, "near_optimal must be one positive tolerance", shape=(1,))[0])
    draws = draws_of(fit)
    law, known = draws.law, draws.law.planned
    planned = {key: x for key, x in planned.items() if x is not None}
    for key in planned:
        if key not in known:
            raise InputError(unknown(f"for a fit of {law.name}, what is planned,", key, known or ("nothing",)))
    if name == "compute" and demands is not None:
        _check_served(asked, demands)
    check_beyond(beyond)
    at = xr.DataArray(asked, dims=name, coords={name: asked})
    error = _drift(fit, draws) if beyond == "drift" else None

    def solved(targets):
        return planned_sizes(draws, targets, asked, name, demands, near_optimal, planned)

    if name == "compute" and demands is None and near_optimal is None:
        result = law.optimum(draws, at, **planned)
    elif name == "compute" or error is None:
        result = solved(asked[:, None])
    else:
        result = _to_drifting_target(solved, asked, error, compute_range(fit, **planned)[1])
    spent = result.get("training_compute", at)
    result["extrapolation"] = decades_outside(spent, *compute_range(fit, **planned))
    result["outside"] = result["extrapolation"] != 0
    if robust or error is not None:
        nonembedding = partial(_nonembedding, draws, planned)
        result = _quoted(fit, result, error, demands, robust=robust, nonembedding=nonembedding)
    if "parameters" in result:
        result["tokens_per_parameter"] = _ratio(result["tokens"], result["parameters"])
    if "training_compute" in result:
        result["tokens_per_parameter_extrapolation"] = _ratio_outside(result, fit, **planned)
    result.attrs |= {} if near_optimal is None else {"near_optimal": near_optimal}
    for key in result.data_vars:
        result[key].attrs["units"] = _unit(key)
    for key, unit in (("compute", "FLOP"), ("target", "nats/token"), ("demand", "tokens")):
        if key in result.coords:
            result[key].attrs["units"] = unit
    return result.transpose("chain", "draw", name, ...)


def _nonembedding(draws, planned, parameters):
    """N_x of models of N_T parameters."""
    draws, planned = draws.of_planned(**planned)
    finite = np.isfinite(parameters)
    size = draws.law.plan(draws.constants(), **planned).size(np.where(finite, parameters, 1.0))
    return np.where(finite, size, np.inf)


def _drift(fit, draws):
    """Draw errors a decade of log loss and of log N*, two DataArrays of dims (chain, draw), by the seed of the fit."""
    drift, rng = drift_of(draws.law), np.random.default_rng(metadata(fit)["seed"])
    coordinates = {dim: draws.named()[dim] for dim in DRAWS}
    shape = tuple(x.size for x in coordinates.values())
    return tuple(xr.DataArray(drift.slopes(rng, shape, of), coordinates, DRAWS) for of in ("loss", "size"))


def _to_drifting_target(solved, asked, error, greatest):
    """Solve for what reaches a target where the drift adds to the law's loss.

    The compute C of the answer has ``law(C) exp(b h(C)) = target``, h the decades of C beyond the runs; h is found by
    secants, for each draw.
    """
    slope = error[0].values.reshape(-1, 1, 1)

    def further(decades):
        """Compute the decades that the law needs where the drift is that of so many, minus these."""
        spent = solved(asked[:, None] * np.exp(-slope * decades))["training_compute"].values
        needed = np.log10(spent.reshape(len(slope), len(asked), -1) / greatest)
        return needed.clip(0, MOST_DECADES) - decades

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DiagnosticWarning)
        before = np.zeros_like(slope)
        excess = further(before)
        decades = before + excess
        for _ in range(SECANTS):
            now = further(decades)
            if not (np.abs(now) > CLOSE).any():
                break
            with np.errstate(all="ignore"):
                steepness = (now - excess) / (decades - before)
                # Where what is lacking grows with compute, none that is larger reaches the target.
                step = np.where(
                    steepness < 0, -now / steepness, np.where(now > 0, MOST_DECADES, (before - decades) / 2)
                )
                step = np.where(np.abs(now) <= CLOSE, 0.0, step)
            before, excess, decades = decades, now, (decades + step).clip(0, MOST_DECADES)
    return solved(asked[:, None] * np.exp(-slope * decades))


def _quoted(fit, result, error, demands, *, robust, nonembedding):
    """Spread an allocation to its robust width, and add the drift where it lies beyond the runs.

    Parameters
    ----------
    result : Dataset
        From the law alone, with ``extrapolation``.
    error : tuple of DataArray, or None
        Errors of log loss and log N* a decade.
    demands : ndarray or None
    robust : bool
    nonembedding : callable
        Gives N_x of N_T.

    Returns
    -------
    Dataset
        Sizes nearly as good move as N* does; what a budget leaves for tokens follows from N*.
    """
    law, by = result, "training_compute" if "target" in result.dims else "loss"
    result = result.copy()
    if robust:
        result.update(_robust(fit, {name: law[name] for name in ("parameters", by) if name in law}))
    decades = result["extrapolation"].where(np.isfinite(result["extrapolation"]), 0.0).clip(min=0)
    if error is not None and by == "loss":
        result["loss"] = result["loss"] * np.exp(error[0] * decades)
    if "parameters" not in law:
        return result
    if error is not None:
        result["parameters"] = result["parameters"] * np.exp(error[1] * decades)
    if demands is not None and by == "loss":
        served = training_compute(1.0, 1.0) + inference_compute(1.0, result["demand"])
        result["parameters"] = np.minimum(result["parameters"], result["compute"] / served)
    with np.errstate(invalid="ignore"):
        moved = (result["parameters"] / law["parameters"]).fillna(1.0)  # infinite where no size does
        paid = (result[by] / law[by]).fillna(1.0) if by == "training_compute" else 1.0
    result["tokens"] = law["tokens"] * paid / moved
    for name in ("parameters_near_low", "parameters_near_high"):
        if name in law:
            result[name] = law[name] * moved
            # The least size has the most tokens.
            other = "tokens_near_high" if name.endswith("low") else "tokens_near_low"
            result[other] = law[other] * paid / moved
    if "near_low" in law:
        result.update(near_range(result["parameters_near_low"], result["parameters_near_high"]))
    if demands is not None and by == "loss":
        left = result["compute"] - inference_compute(result["parameters"], result["demand"])
        result["tokens"] = np.maximum(left / training_compute(result["parameters"], 1.0), 1.0)
    if "epochs" in law:
        result["epochs"] = np.maximum(law["epochs"] * result["tokens"] / law["tokens"], 1.0)
    if "parameters_nonembedding" in law:
        result["parameters_nonembedding"] = result["parameters"].copy(data=nonembedding(result["parameters"].values))
    if "training_compute" in law:
        for name, spent in (
            ("training_compute", training_compute(result["parameters"], result["tokens"])),
            (
                "inference_compute",
                inference_compute(result["parameters"], 0.0 if demands is None else result["demand"]),
            ),
        ):
            result[name] = spent.where(np.isfinite(law["training_compute"]), law[name])
        result["total_compute"] = result["training_compute"] + result["inference_compute"]
    return result


def _robust(fit, quantities):
    """Spread quantities of each thing asked to the widths that are quoted."""
    apart = {
        (name, place): x.isel(dict(zip(_asked_dims(x), place, strict=True)), drop=True)
        for name, x in quantities.items()
        for place in np.ndindex(*(x.sizes[dim] for dim in _asked_dims(x)))
    }
    quoted = quotable(fit, apart)
    made = {name: x.copy() for name, x in quantities.items()}
    for (name, place), x in quoted.items():
        made[name][dict(zip(_asked_dims(made[name]), place, strict=True))] = x
    return made


def _asked_dims(x):
    return [dim for dim in x.dims if dim not in DRAWS]


def _unit(name):
    if name.endswith("extrapolation"):
        return "decades"
    return "nats/token" if name in ("loss", "floor") else "FLOP" if name.endswith("_compute") else "1"


def _numbers(given, must, *, least=None, shape=None):
    """Numbers above 0, or of at least `least`, as an array of one axis."""
    try:
        found = np.atleast_1d(np.asarray(given, float))
    except (TypeError, ValueError):
        found = np.array([np.nan])
    inside = found > 0 if least is None else found >= least
    if (
        found.ndim != 1
        or not found.size
        or not (np.isfinite(found) & inside).all()
        or found.shape != (shape or found.shape)
    ):
        raise InputError(f"{must}, not {given!r}")
    return found


def _check_served(budgets, demands):
    least, most = budgets.min(), demands.max()
    needed = training_compute(1.0, 1.0) + inference_compute(1.0, most)
    if least <= needed:
        raise InputError(
            f"a budget of {least:g} FLOP does not serve a demand of {most:g} tokens with one parameter ({needed:.3g} "
            "FLOP); give a larger budget or a smaller demand"
        )


def _ratio(tokens, parameters):
    """Tokens per parameter; NaN where both are infinite."""
    with np.errstate(invalid="ignore"):
        return tokens / parameters


def _ratio_outside(result, fit, **planned):
    """Decades by which tokens per parameter lie outside those of the fitted runs, counted as there."""
    runs = law_of(fit).planned_rows(table_of(fit), **planned)
    size = next(column for column in SIZES if column in runs and column in result)
    fitted = runs["tokens"] / runs[size]
    return decades_outside(_ratio(result["tokens"], result[size]), float(fitted.min()), float(fitted.max()))


def stack_allocations(
    allocations: Mapping[str, xr.Dataset], weights: Mapping[str, float], *, seed: int = 0
) -> xr.Dataset:
    """Mix allocations of several laws, each in proportion to its weight.

    Parameters
    ----------
    allocations : dict of str to Dataset
        From `allocate`, of the same budgets.
    weights : dict of str to float
        Such as the ``weight`` of `compare`.

    Returns
    -------
    Dataset
        As from `allocate`, of as many draws as the first.

    Examples
    --------
    >>> import bayescaling as bs
    >>> runs = bs.load("chinchilla_runs")
    >>> fit = bs.fit(bs.Chinchilla(), runs, seed=1, draws=500, tune=500)
    >>> at = bs.allocate(fit, 1e21)
    >>> bs.stack_allocations({"a": at, "b": at}, {"a": 0.3, "b": 0.7}).sizes["compute"]
    1
    """
    first = next(iter(allocations.values()))
    chains, draws = first.sizes["chain"], first.sizes["draw"]
    rng = np.random.default_rng(seed)
    share = np.array([weights[name] for name in allocations])
    counts = np.diff(np.rint(np.concatenate([[0], np.cumsum(share / share.sum())]) * chains * draws).astype(int))
    parts = []
    for (_, found), count in zip(allocations.items(), counts, strict=True):
        flat = found.stack(sample=DRAWS).reset_index("sample", drop=True)
        total = flat.sizes["sample"]
        parts.append(flat.isel(sample=rng.choice(total, count, replace=count > total)))
    mixed = xr.concat(parts, dim="sample", data_vars="minimal").isel(sample=rng.permutation(chains * draws))
    shaped = {
        name: (DRAWS + x.dims[:-1], np.moveaxis(x.values, -1, 0).reshape(chains, draws, *x.shape[:-1]))
        if "sample" in x.dims
        else x
        for name, x in mixed.data_vars.items()
    }
    return xr.Dataset(shaped, coords={name: first[name] for name in first.coords})


def compute_range(fit, **planned):
    """Return the least and the greatest training FLOP of the fitted runs that inform what is planned."""
    flop = training_flop(law_of(fit).planned_rows(table_of(fit), **planned))
    if not len(flop):  # a group of which nothing was seen
        return float("nan"), float("nan")
    return float(flop.min()), float(flop.max())


def decades_outside(compute, least, greatest):
    """Decades by which a budget lies above (positive) or below (negative) a range; 0 within."""
    above = np.log10(compute / (greatest * (1 + 1e-9))).clip(min=0)
    below = np.log10(compute / (least * (1 - 1e-9))).clip(max=0)
    return above + below
