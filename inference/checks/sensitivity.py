"""What a result depends on: the priors and the likelihood."""

import contextlib
import io
import logging
import warnings

import numpy as np
import pandas as pd
import xarray as xr

from ...models.draws import DRAWS, flatten
from ..densities import selection, total

SENSITIVE = 0.05  # Kallioinen et al. (2024), section 3.4
PRIOR_DRIVEN = 0.8  # our choice: the data barely informed a posterior no more than a fifth narrower than its prior


def power_scaling(fit, quantity, *, log_likelihood=None):
    """Compute the sensitivity of a quantity to the powers of prior and likelihood (Kallioinen et al. 2024).

    Parameters
    ----------
    fit : Fit
    quantity : DataArray, dims (chain, draw)
        Draws of anything that follows from the posterior, such as a growth rate; those that are not finite take the
        median's place.
    log_likelihood : DataArray, dims (chain, draw), optional
        Of all units together, from `densities.total`, which is called if absent.

    Returns
    -------
    dict
        ``prior``, ``likelihood`` (cumulative Jensen-Shannon distance per doubling of the power; above 0.05 is
        sensitive) and ``diagnosis``; NaN of chains that stay where they are.

    Examples
    --------
    >>> import bayescaling as bs
    >>> fit = bs.fit(bs.laws.Chinchilla(), bs.load("chinchilla_runs"), seed=1, draws=500, tune=500)
    >>> power_scaling(fit, fit["posterior"]["exponent_parameters"])["prior"] < 0.05
    True
    """
    (result,) = _power_scalings(fit, {"quantity": quantity}, log_likelihood).values()
    return result


def _power_scalings(fit, quantities, log_likelihood=None):
    """Take `power_scaling` of several quantities, by their names, whose draws are weighted alike."""
    import arviz_stats as azs

    finite = {
        name: x.where(np.isfinite(x), x.median()).drop_vars(list(x.coords)).variable for name, x in quantities.items()
    }
    coords = {name: fit["posterior"][name] for name in DRAWS}
    whole, some = (total(fit), selection(fit)) if log_likelihood is None else (log_likelihood, slice(None))
    tree = xr.DataTree.from_dict(
        {
            "posterior": xr.Dataset(finite, coords=coords).isel(draw=some),
            "log_likelihood": whole.expand_dims("all", -1).to_dataset(name="density"),
            "log_prior": fit["log_prior"].to_dataset().isel(draw=some),
        }
    )
    # What it prints and logs is for notebooks; the result is in the table.
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()), _unlogged("arviz_stats"):
        warnings.simplefilter("ignore", UserWarning)
        try:
            table = azs.psense_summary(tree, round_to=6)
        except ValueError:  # of the largest weights, which are all the same
            nothing = {"prior": np.nan, "likelihood": np.nan, "diagnosis": "unknown: chains do not move"}
            return dict.fromkeys(quantities, nothing)
    return {
        name: {
            "prior": float(row["prior"]),
            "likelihood": float(row["likelihood"]),
            "diagnosis": str(row["diagnosis"]),
        }
        for name, (_, row) in zip(quantities, table.iterrows(), strict=True)
    }


@contextlib.contextmanager
def _unlogged(name):
    """Log nothing below an error under a name."""
    logger = logging.getLogger(name)
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)


def power_scalings(fit, names=None, most_levels=None):
    """Take `power_scaling` of several quantities of a posterior.

    Parameters
    ----------
    fit : Fit
    names : sequence of str, optional
        Those that the posterior lacks are left out; all by default. Each level counts as a quantity.
    most_levels : int, optional
        Quantities with more levels are left out.

    Returns
    -------
    dict of str to dict
        What `power_scaling` returns, by name, without quantities that do not vary.
    """
    posterior = fit["posterior"].to_dataset()
    chosen = [name for name in (posterior if names is None else names) if name in posterior]
    draws = fit["posterior"].sizes["chain"] * fit["posterior"].sizes["draw"]
    if most_levels is not None:
        chosen = [name for name in chosen if posterior[name].size <= most_levels * draws]
    scalars = {name: x for name, x in flatten(posterior[chosen]).items() if x.std() > 0}
    return _power_scalings(fit, {name: xr.DataArray(x, dims=DRAWS) for name, x in scalars.items()}) if scalars else {}


def prior_sensitive(fit, names):
    """Return quantities of a posterior that move with the power of the prior, by more than 0.05 per doubling.

    Parameters
    ----------
    fit : Fit
    names : sequence of str
        As for `power_scalings`.

    Returns
    -------
    dict of str to float
        The distance of `power_scaling`, by name.
    """
    sensitivities = power_scalings(fit, names).items()
    return {name: entry["prior"] for name, entry in sensitivities if entry["prior"] > SENSITIVE}


def prior_driven(fit, *, draws=4000, seed=0):
    """Return coefficients that the data barely inform: half-widths of central 68% above 0.8 of the prior's.

    Returns
    -------
    DataFrame
        One row a coefficient: ``coefficient``, ``posterior``, ``prior`` (half-widths), ``ratio``, ``prior_driven``.
        What the law takes from upstream has no prior here.
    """
    fitted = fit.draws
    law = fitted.law
    prior = flatten(law.prior_draws(np.random.default_rng(seed), fitted.reference, fitted.rows, draws).named())
    rows = []
    for name, posterior in flatten(fitted.named().drop_vars(law.upstream, errors="ignore")).items():
        width, prior_width = (float(np.diff(np.quantile(x, [0.16, 0.84]))[0]) / 2 for x in (posterior, prior[name]))
        rows.append(
            {
                "coefficient": name,
                "posterior": width,
                "prior": prior_width,
                "ratio": width / prior_width,
                "prior_driven": width > PRIOR_DRIVEN * prior_width,
            }
        )
    return pd.DataFrame(rows)
