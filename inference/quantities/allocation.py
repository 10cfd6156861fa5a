"""The compute-optimal size at a training budget, draw by draw."""

import numpy as np
import xarray as xr

from ...datasets.wording import unknown
from ...errors import InputError
from ...models.draws import DRAWS
from ...models.loss.budget import FLOP_PER_PARAMETER_TOKEN
from ..storage import draws_of, law_of, table_of


def allocate(fit, compute, **planned):
    """Compute-optimal parameters and tokens at a training budget, for each posterior draw.

    Parameters
    ----------
    fit : DataTree
    compute : float or array_like, shape (compute,)
        Budgets C = 6 N_T D in FLOP, N_T all parameters, whatever the law counts.
    **planned
        What the law wants to know of the runs planned (`law.planned`). Of most laws ``vocabulary``, rows of the
        embedding of the models asked about (twice as many if untied; 32,000 by default), and ``aspect_ratio``, their
        width over number of layers (that of Chinchilla's models by default). Of a `Grouped` law ``group``, the name of
        the group that the runs planned are of, which is needed.

    Returns
    -------
    Dataset
        What the law's `optimum` gives: ``parameters`` (N_T), ``tokens``, ``loss`` (mean loss in nats per token) and
        others, with ``tokens_per_parameter``, dims (chain, draw, compute); ``extrapolation`` (compute), decades of
        compute by which the budget lies above (positive) or below (negative) the fitted runs, 0 within; ``outside``
        (compute), whether it is not 0.

    Raises
    ------
    InputError
        If a budget or something planned is not a positive number, the law does not know what is planned, or it has no
        optimum.

    Examples
    --------
    >>> import bayescaling as bs
    >>> fit = bs.fit(bs.Chinchilla(), bs.load("chinchilla_runs"), seed=1, draws=500, tune=500)
    >>> at = bs.allocate(fit, [1e21, 1e24])
    >>> 1e9 < float(at["parameters"].sel(compute=1e21).median()) < 1e10
    True
    """
    budgets = _budgets(compute)
    draws = draws_of(fit)
    law, known = draws.law, draws.law.planned
    planned = {name: x for name, x in planned.items() if x is not None}
    for name in planned:
        if name not in known:
            raise InputError(unknown(f"for a fit of {law.name}, what is planned,", name, known or ("nothing",)))
    at = xr.DataArray(budgets, dims="compute", coords={"compute": budgets})
    result = law.optimum(draws, at, **planned)
    if "parameters" in result:
        result["tokens_per_parameter"] = result["tokens"] / result["parameters"]
    result["extrapolation"] = decades_outside(at, *compute_range(fit, **planned))
    result["outside"] = result["extrapolation"] != 0
    for name in result.data_vars:
        result[name].attrs["units"] = {"loss": "nats/token", "extrapolation": "decades"}.get(name, "1")
    result["compute"].attrs["units"] = "FLOP"
    return result.transpose("chain", "draw", "compute")


def _budgets(compute):
    try:
        budgets = np.atleast_1d(np.asarray(compute, float))
    except (TypeError, ValueError):
        budgets = np.array([np.nan])
    if budgets.ndim != 1 or not (np.isfinite(budgets) & (budgets > 0)).all():
        raise InputError(f"compute must be positive FLOP, not {compute!r}")
    return budgets


def stack_allocations(allocations, weights, *, seed=0):
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
    return xr.Dataset(shaped, coords={name: first[name] for name in ("chain", "draw", "compute")})


def compute_range(fit, **planned):
    """Least and greatest training FLOP of the fitted runs that inform what is planned."""
    runs = law_of(fit).planned_rows(table_of(fit), **planned)
    sizes = [name for name in ("parameters", "parameters_nonembedding") if name in runs and "tokens" in runs]
    flop = FLOP_PER_PARAMETER_TOKEN * runs[sizes[0]] * runs["tokens"] if sizes else runs["training_flop"]
    return float(flop.min()), float(flop.max())


def decades_outside(compute, least, greatest):
    """Decades by which a budget lies above (positive) or below (negative) a range; 0 within."""
    above = np.log10(compute / (greatest * (1 + 1e-9))).clip(min=0)
    below = np.log10(compute / (least * (1 - 1e-9))).clip(max=0)
    return above + below
