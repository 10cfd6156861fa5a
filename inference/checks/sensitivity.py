"""What a result depends on: the priors and the likelihood.

References
----------
.. [1] Kallioinen, N., Paananen, T., Bürkner, P.-C. and Vehtari, A. (2024). Detecting and diagnosing prior and
   likelihood sensitivity with power-scaling. Statistics and Computing 34.
"""

import numpy as np
import pandas as pd
import xarray as xr

from ...models.draws import DRAWS, flatten
from ..densities import selection, total
from ..diagnostics import convergence, smooth_weights
from .chains import TAILS

SENSITIVE = 0.05  # Kallioinen et al. (2024), section 3.4
POWERS = (0.99, 1.01)  # of a density: differences instead of derivatives
PRIOR_DRIVEN = 0.8  # our choice: the data barely informed a posterior no more than a fifth narrower than its prior


def power_scaling(fit, quantities):
    """Compute the sensitivity of quantities to the powers of prior and likelihood (Kallioinen et al. 2024).

    Quantities are draws by name, dims (chain, draw), of anything that follows from the posterior, such as a growth
    rate; those that are not finite take the median's place. Each has a dict of ``prior``, ``likelihood`` (cumulative
    Jensen-Shannon distance per doubling of the power; above 0.05 is sensitive) and ``diagnosis``; NaN of chains that
    stay where they are.

    Examples
    --------
    >>> import bayescaling as bs
    >>> fit = bs.fit(bs.laws.Chinchilla(), bs.load("chinchilla_runs"), seed=1, draws=500, tune=500)
    >>> power_scaling(fit, {"a": fit["posterior"]["exponent_parameters"]})["a"]["prior"] < 0.05
    True
    """
    some = selection(fit)
    log_prior = sum(x.sum([name for name in x.dims if name not in DRAWS]) for x in fit["log_prior"].data_vars.values())
    parts = {"prior": log_prior.isel(draw=some), "likelihood": total(fit)}
    weights = {name: _scaled(part.transpose(*DRAWS).values) for name, part in parts.items()}
    results = {}
    for name, x in quantities.items():
        draws = x.transpose(*DRAWS).isel(draw=some).values.ravel()
        finite = np.isfinite(draws)
        draws = np.where(finite, draws, np.median(draws[finite]))
        results[name] = _diagnosed({part: _sensitivity(draws, of) for part, of in weights.items()})
    return results


def _scaled(log_density):
    """Return the smoothed weights of draws where a density, (chain, draw), has each of the powers; they add up to 1."""
    efficiency = convergence(log_density, TAILS)[2] / log_density.size
    efficiency = efficiency if efficiency > 0 else 1.0
    return [np.exp(smooth_weights((power - 1) * log_density.ravel(), efficiency)[0]) for power in POWERS]


def _sensitivity(draws, weights):
    """Return how far the weights move a distribution for each doubling of a power, the mean of the powers."""
    from arviz_stats.base import array_stats

    if draws.std() == 0 or all(np.ptp(of) == 0 for of in weights):
        return np.nan
    return float(array_stats.power_scale_sense(*(x[None] for x in (draws, *weights)), *POWERS))


def _diagnosed(result):
    """Add to the sensitivities what they mean."""
    prior, likelihood = (result[name] for name in ("prior", "likelihood"))
    if np.isnan(prior) or np.isnan(likelihood):
        return {"prior": np.nan, "likelihood": np.nan, "diagnosis": "unknown: chains do not move"}
    conflict = (
        "potential prior-data conflict" if likelihood >= SENSITIVE else "potential strong prior / weak likelihood"
    )
    return result | {"diagnosis": conflict if prior >= SENSITIVE else "\u2713"}


def power_scalings(fit, names=None, most_levels=None):
    """Take `power_scaling` of named quantities of a posterior, each level as one, without those that do not vary.

    All are taken by default; names that the posterior lacks, and quantities with more than `most_levels`, are left out.
    """
    posterior = fit["posterior"].to_dataset()
    chosen = [name for name in (posterior if names is None else names) if name in posterior]
    draws = fit["posterior"].sizes["chain"] * fit["posterior"].sizes["draw"]
    if most_levels is not None:
        chosen = [name for name in chosen if posterior[name].size <= most_levels * draws]
    scalars = {name: x for name, x in flatten(posterior[chosen]).items() if x.std() > 0}
    return power_scaling(fit, {name: xr.DataArray(x, dims=DRAWS) for name, x in scalars.items()}) if scalars else {}


def prior_sensitive(fit, names):
    """Return the named quantities that move with the power of the prior by more than 0.05 per doubling, by how much."""
    sensitivities = power_scalings(fit, names).items()
    return {name: entry["prior"] for name, entry in sensitivities if entry["prior"] > SENSITIVE}


def prior_driven(fit, *, draws=4000):
    """Return coefficients that the data barely inform: half-widths of central 68% above 0.8 of the prior's.

    A row a coefficient has ``coefficient``, ``posterior``, ``prior`` (half-widths), ``ratio`` and ``prior_driven``.
    What the law takes from upstream, or holds at a value, has no prior here.
    """
    fitted = fit.draws
    law = fitted.law
    prior = flatten(law.prior_draws(np.random.default_rng(0), fitted.reference, fitted.rows, draws).named())
    rows = []
    for name, posterior in flatten(fitted.named().drop_vars(law.upstream, errors="ignore")).items():
        width, prior_width = (float(np.diff(np.quantile(x, [0.16, 0.84]))[0]) / 2 for x in (posterior, prior[name]))
        if not prior_width:
            continue
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
