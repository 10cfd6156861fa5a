"""Sizes searched for draw by draw: on a budget for training and inference, to a target, and those nearly as good."""

import warnings

import numpy as np
import xarray as xr

from ...errors import DiagnosticWarning, InputError
from ...models.draws import DRAWS
from ...models.loss.plan import OnBudget, ToTarget, inference_compute, training_compute

PROBABILITY = 0.5  # with which sizes are nearly the best, to be called so


def planned_sizes(draws, wanted, asked, name, demand, near_optimal, planned):
    """Compute the best sizes for each draw, request and demand: a Dataset of dims (chain, draw, name, demand).

    Budgets in FLOP, or target losses in nats per token that the law must give, are `wanted`, (asked, 1) or (sample,
    asked, demand). They are `asked`, (asked,), as they were requested. The name, "compute" or "target", is which they
    are, and their dimension. The demand, (demand,), is tokens; without it, None, there is no such dimension.
    """
    draws, planned = draws.of_planned(**planned)
    law = draws.law
    plan = law.plan({name: x[:, None] for name, x in draws.constants().items()}, **planned)
    demands = np.zeros(1) if demand is None else demand
    spending = (OnBudget if name == "compute" else ToTarget)(plan, wanted, demands)
    if name == "compute" and demand is None:
        # The law may have a closed form.
        sizes, _ = plan.optimum(wanted)
        best = np.log(sizes.get("parameters_nonembedding", sizes["parameters"]))
    else:
        best = spending.best()
    model = plan.model(np.exp(best))
    tokens = spending.tokens(model)
    result = plan.described(model, tokens)
    if name == "target" or demand is not None:
        result |= _compute(model["parameters"], tokens, demands)
    if name == "target":
        result |= {"floor": spending.floor, "reached": spending.reached}
        if demand is not None:
            without = ToTarget(plan, wanted, np.zeros(1))  # models of least training compute
            least = plan.model(np.exp(without.best()))
            served = _compute(least["parameters"], without.tokens(least), demands)
            result["saved"] = 1 - result["total_compute"] / served["total_compute"]
    if near_optimal is not None:
        result |= _near(spending, best, near_optimal)
    if name == "target":
        result = _unreached(result, law, asked)
    sizes = draws.by_draw(result, {name: asked, "demand": demands})
    if near_optimal is not None:
        sizes = sizes.merge(near_range(sizes["parameters_near_low"], sizes["parameters_near_high"]))
    return sizes.isel(demand=0, drop=True) if demand is None else sizes


def _compute(parameters, tokens, demand):
    training, inference = training_compute(parameters, tokens), inference_compute(parameters, demand)
    return {"training_compute": training, "inference_compute": inference, "total_compute": training + inference}


def _near(spending, best, tolerance):
    low, high = (spending.plan.model(np.exp(end)) for end in spending.near(best, tolerance))
    return {
        "parameters_near_low": low["parameters"],
        "parameters_near_high": high["parameters"],
        "tokens_near_low": spending.tokens(high),
        "tokens_near_high": spending.tokens(low),
    }


FINITE = ("loss", "floor", "reached")


def _unreached(result, law, targets):
    """Make sizes and compute infinite in draws that no size takes to the target, and warn in how many."""
    reached = np.broadcast_to(result["reached"], result["parameters"].shape)
    for i, target in enumerate(targets):
        hits, floor = reached[:, i, 0], result["floor"][:, i, 0]
        if not hits.any():
            low, high = np.quantile(floor, [0.025, 0.975])
            raise InputError(
                f"loss {target:g} is at or below the floor of the {law.name} fit, the loss of endless size and tokens, "
                f"in every draw ({low:.4g} to {high:.4g}); ask for a higher loss"
            )
        if not hits.all():
            text = (
                f"{law.label}: a loss of {target:g} is at or below the floor in {(~hits).sum()} of {len(hits)} "
                "draws, which no size reaches: sizes and compute are infinite there"
            )
            warnings.warn(text, DiagnosticWarning, stacklevel=4)
    endless = {name: np.where(reached, x, np.inf) for name, x in result.items() if name not in (*FINITE, "saved")}
    finite = {name: result[name] for name in FINITE} | {"loss": np.where(reached, result["loss"], result["floor"])}
    # What a share of the infinite is has no answer; nothing is saved.
    saved = {"saved": np.where(reached, result["saved"], 0.0)} if "saved" in result else {}
    return endless | finite | saved


def near_range(low, high):
    """Return the sizes between the ends of what is nearly the best in at least a share `PROBABILITY` of the draws.

    The ends `low` and `high`, dims (chain, draw, ...), are infinite in draws with nothing between. Of the Dataset,
    ``near_low`` and ``near_high`` are the least and the greatest of these sizes (NaN where there are none).
    ``near_parameters`` is the middle of the sizes of greatest probability, and ``near_probability`` that probability.

    Examples
    --------
    >>> low = xr.DataArray([[1.0, 2.0, 4.0]], dims=("chain", "draw"))
    >>> sizes = near_range(low, 2 * low)
    >>> float(sizes["near_low"]), float(sizes["near_high"])
    (2.0, 4.0)
    """
    names = ("near_low", "near_high", "near_parameters", "near_probability")
    ends = xr.apply_ufunc(
        _shared,
        low.stack(sample=DRAWS, create_index=False),
        high.stack(sample=DRAWS, create_index=False),
        input_core_dims=[["sample"], ["sample"]],
        output_core_dims=[["end"]],
        vectorize=True,
    )
    return xr.Dataset({name: ends.isel(end=i, drop=True) for i, name in enumerate(names)})


def _shared(low, high):
    """Compute ends, middle and greatest share of draws, of arrays (sample,)."""
    finite = np.isfinite(low) & np.isfinite(high)
    ends = np.concatenate([low[finite], high[finite]])
    change = np.repeat([1, -1], finite.sum())
    order = np.lexsort((-change, ends))
    ends, share = ends[order], change[order].cumsum() / len(low)
    top = int(share.argmax())
    most, middle = share[top], np.sqrt(ends[top] * ends[top + 1])
    # Rounding must not lose a share of exactly so much.
    enough = np.append(share[:-1] >= PROBABILITY - 1e-12, False)
    if not enough[top]:
        return np.array([np.nan, np.nan, middle, most])
    inside = np.flatnonzero(enough)
    return np.array([ends[inside[0]], ends[inside[-1] + 1], middle, most])
