"""A law evaluated on posterior draws: means, log likelihoods, replicated losses. Nothing here compiles."""

import numpy as np
import xarray as xr

from ...errors import InputError
from ...models.loss.law import Law
from ..storage import law_of, metadata, place_of

DRAWS = ("chain", "draw")


def _columns(law, table):
    return {column: xr.DataArray(table[column].to_numpy(float), dims="run") for column in law.columns}


def derived(law, sampled, reference):
    """Named results of sampled draws, as a Dataset of the same dims."""
    values = {name: sampled[name] for name in sampled.data_vars}
    return xr.Dataset(law.derived(values, reference))


def mean_loss(law, draws, table):
    """Mean loss of each draw at each row of a table.

    Parameters
    ----------
    law : Law
    draws : Dataset
        The law's constants, of any dims.
    table : DataFrame
        Sizes of runs.

    Returns
    -------
    DataArray
        Nats per token, the dims of `draws` and ``run``.
    """
    return law.mean(draws, _columns(law, table))


def _arguments(law, draws):
    return [argument.values[..., None] for argument in law.residuals.arguments(draws)]


def log_likelihood(law, draws, table):
    """Log density of each observed loss, on the scale of the law's residuals.

    Returns
    -------
    DataArray
        The dims of `draws` and ``run``, named after the scale.
    """
    mean = mean_loss(law, draws, table).transpose(..., "run")
    observed = law.on_scale(table[law.observed].to_numpy(float))
    residual = observed - law.on_scale(mean).values
    halfwidth = law.halfwidth(table)
    if halfwidth is None:
        values = law.residuals.logp(residual, *_arguments(law, draws))
    else:
        values = np.empty_like(residual)
        arguments = _arguments(law, draws)
        for chain in range(residual.shape[0]):
            values[chain] = law.residuals.logp(residual[chain], *(a[chain] for a in arguments), halfwidth=halfwidth)
    return mean.copy(data=values).rename(law.scale)


def log_density_beside(law, values, reference):
    """Evaluate `law.beside` on draws: a DataArray of their dims, 0 where nothing but observations informs the law."""
    first = next(iter(values.data_vars.values()))
    found = law.beside({name: x.values[..., None] for name, x in values.items()}, reference)
    return xr.zeros_like(first) if found is None else first.copy(data=found)


def replicated_loss(law, draws, table, rng, *, noise=True):
    """Losses that each draw predicts for the rows of a table, with the noise of a new run or without.

    Returns
    -------
    DataArray
        Nats per token, the dims of `draws` and ``run``.
    """
    mean = mean_loss(law, draws, table).transpose(..., "run")
    if not noise:
        return mean.rename("loss")
    halfwidth = law.halfwidth(table)
    residual = law.residuals.draw(rng, mean.shape, *_arguments(law, draws), halfwidth=halfwidth)
    return law.from_scale(law.on_scale(mean) + residual).rename("loss")


def prior_draws(law, reference, draws, rng):
    """Draws of the prior, derived quantities included; dims (chain, draw) with one chain."""
    sampled = xr.Dataset(
        {name: (DRAWS, prior.frozen.rvs((1, draws), random_state=rng)) for name, prior in law.prior_of.items()},
        coords={"chain": [0], "draw": np.arange(draws)},
    )
    return sampled.merge(derived(law, sampled, reference))


def posterior_of(fit):
    """Posterior of a fit as a Dataset."""
    return fit["posterior"].to_dataset()


def law_and_reference(fit):
    """Return the law of N and D of a fit, and the reference of its sampled quantities.

    Raises
    ------
    InputError
        If the fit is of a law of algorithmic progress.
    """
    law = law_of(fit)
    if not isinstance(law, Law):
        raise InputError(
            f"{place_of(fit)} is a fit of {law.name}; sizes and losses of runs need a law such as chinchilla"
        )
    return law, metadata(fit)["law"]["reference"]
