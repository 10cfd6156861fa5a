"""Decisions from a posterior: losses of runs not made, and the compute-optimal size, draw by draw."""

import numpy as np
import xarray as xr

from ...datasets import CHINCHILLA_VOCABULARY
from ...errors import InputError
from ...models.loss import embeddings
from ...models.loss.chinchilla import FLOP_PER_PARAMETER_TOKEN
from ...models.loss.embedding.configurations import chinchilla_configurations
from ...models.loss.embedding.sizes import estimates
from ..columns import positive_columns
from ..fitting import evaluate
from ..storage import metadata


def predict(fit, runs, *, noise=True, seed=None):
    """Posterior predictive losses of runs.

    Parameters
    ----------
    fit : DataTree
    runs : DataFrame
        Sizes of runs; the columns that the law needs (``parameters`` and ``tokens`` for Chinchilla's).
    noise : bool
        Losses of single runs (default), or the law's mean without the scatter of runs. A reading error is left out: the
        prediction is of the loss, not of its reading.
    seed : int, optional
        Seed of the noise; that of the fit by default.

    Returns
    -------
    Dataset
        ``loss`` in nats per token, dims (chain, draw, run), with the runs' sizes as coordinates.

    Raises
    ------
    InputError
        If a column is missing or a size is not a positive number.
    """
    law, _ = evaluate.law_and_reference(fit)
    positive_columns(runs, law.columns, purpose="a prediction")
    rng = np.random.default_rng(metadata(fit)["seed"] if seed is None else seed)
    loss = evaluate.replicated_loss(law.without_reading_error, evaluate.posterior_of(fit), runs, rng, noise=noise)
    sizes = {column: ("run", np.asarray(runs[column], float)) for column in law.columns}
    return loss.to_dataset(name="loss").assign_coords(run=np.arange(len(runs)), **sizes)


def allocate(fit, compute, *, vocabulary=None, aspect_ratio=None):
    """Compute-optimal parameters and tokens at a training budget, for each posterior draw.

    Parameters
    ----------
    fit : DataTree
    compute : float or array_like, shape (compute,)
        Budgets C = 6 N_T D in FLOP, N_T all parameters, whatever the law counts.
    vocabulary : float, optional
        Rows of the embedding of the models asked about (twice as many if untied); 32,000 by default.
    aspect_ratio : float, optional
        Their width over number of layers; that of Chinchilla's models by default.

    Returns
    -------
    Dataset
        ``parameters`` (N_T), ``parameters_nonembedding`` (N_x), ``tokens``, ``tokens_per_parameter`` and ``loss`` (mean
        loss in nats per token), dims (chain, draw, compute); ``extrapolation`` (compute), decades of compute by which
        the budget lies above (positive) or below (negative) the fitted runs, 0 within; ``outside`` (compute), whether
        it is not 0.

    Raises
    ------
    InputError
        If a budget, the vocabulary or the aspect ratio is not a positive number, or the law has no optimum.
    """
    budgets = _budgets(compute)
    law, _ = evaluate.law_and_reference(fit)
    if not hasattr(law, "optimum"):
        raise InputError(f"a fit of {law.name} has no compute-optimal size; use a law of the loss")
    gamma = family_constant(vocabulary, aspect_ratio)
    draws = evaluate.posterior_of(fit)
    at = xr.DataArray(budgets, dims="compute", coords={"compute": budgets})
    nonembedding, parameters, tokens = law.optimum(draws, at, gamma=gamma)
    result = xr.Dataset(
        {
            "parameters": parameters,
            "parameters_nonembedding": nonembedding,
            "tokens": tokens,
            "tokens_per_parameter": tokens / parameters,
            "loss": law.mean_of_sizes(draws, nonembedding, parameters, tokens),
        }
    )
    result["extrapolation"] = decades_outside(at, *compute_range(fit))
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


def family_constant(vocabulary=None, aspect_ratio=None):
    """Return gamma of ``N_E = gamma N_x**(1/3)`` for models of a vocabulary and shape, Chinchilla's where None.

    Raises
    ------
    InputError
        If either is not a positive number.
    """
    for name, value in (("vocabulary", vocabulary), ("aspect_ratio", aspect_ratio)):
        if value is not None and not (isinstance(value, (int, float)) and 0 < value < np.inf):
            raise InputError(f"{name} must be a positive number, not {value!r}")
    vocabulary = CHINCHILLA_VOCABULARY if vocabulary is None else vocabulary
    if aspect_ratio is None:
        found = estimates(chinchilla_configurations(), CHINCHILLA_VOCABULARY)
        aspect_ratio = found["proportional"]["aspect_ratio"]
    return float(embeddings.embedding_constant(vocabulary, aspect_ratio))


def stacked(allocations, weights, *, seed=0):
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
    """
    first = next(iter(allocations.values()))
    chains, draws = first.sizes["chain"], first.sizes["draw"]
    rng = np.random.default_rng(seed)
    share = np.array([weights[name] for name in allocations])
    counts = np.diff(np.rint(np.concatenate([[0], np.cumsum(share / share.sum())]) * chains * draws).astype(int))
    parts = []
    for (_, found), count in zip(allocations.items(), counts, strict=True):
        flat = found.stack(sample=evaluate.DRAWS).reset_index("sample", drop=True)
        total = flat.sizes["sample"]
        parts.append(flat.isel(sample=rng.choice(total, count, replace=count > total)))
    mixed = xr.concat(parts, dim="sample", data_vars="minimal").isel(sample=rng.permutation(chains * draws))
    shaped = {
        name: (evaluate.DRAWS + x.dims[:-1], np.moveaxis(x.values, -1, 0).reshape(chains, draws, *x.shape[:-1]))
        if "sample" in x.dims
        else x
        for name, x in mixed.data_vars.items()
    }
    return xr.Dataset(shaped, coords={name: first[name] for name in ("chain", "draw", "compute")})


def compute_range(fit):
    """Least and greatest training FLOP of the fitted runs."""
    data = fit["constant_data"]
    size = data["parameters"] if "parameters" in data else data["parameters_nonembedding"]
    flop = FLOP_PER_PARAMETER_TOKEN * size * data["tokens"]
    return float(flop.min()), float(flop.max())


def decades_outside(compute, least, greatest):
    """Decades by which a budget lies above (positive) or below (negative) a range; 0 within."""
    above = np.log10(compute / (greatest * (1 + 1e-9))).clip(min=0)
    below = np.log10(compute / (least * (1 - 1e-9))).clip(max=0)
    return above + below
