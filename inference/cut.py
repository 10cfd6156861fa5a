"""Fit a law to quantities that other data inform: their uncertainty flows into the fit, nothing flows back.

The posterior of these quantities, from the other data alone, is thinned to a number of imputations. The law is sampled
once at the point estimate. At each imputation its draws are weighted by the ratio of likelihoods, smoothed
(Pareto-smoothed importance sampling), and resampled. Where the Pareto k of the weights is above 0.7 the law is sampled
again at that imputation.

References
----------
.. [1] Plummer, M. (2015). Cuts in Bayesian graphical models. https://doi.org/10.1007/s11222-014-9503-z
.. [2] Vehtari, A. et al. (2024). Pareto smoothed importance sampling. JMLR 25(72).
"""

import copy
import functools

import numpy as np
import xarray as xr

from ..models.draws import DRAWS
from . import densities
from .checks import chains
from .checks.chains import PARETO_K_LIMIT
from .diagnostics import smooth_weights
from .fitted import changed_fit
from .settings import settings_of

IMPUTATIONS = 100
LEAST_DRAWS = 1000


def fit_cut(fitter, table, *, law, seed, progress, log_likelihood, **options):
    """Fit a law that takes quantities from upstream (`law.upstream`); see `Fitter.fit` for parameters and result.

    The diagnostics are the worst of all fits that were sampled, of imputations refitted too. ``distinct_draws`` counts
    the draws of the law's quantities, which weights repeat and no ESS exceeds. ``imputation_k_max`` and
    ``imputations_refitted`` describe the weights. Predictive groups are those of the fit at the point estimate.
    """
    settings = {name: x for name, x in options.items() if not name.endswith("_predictive") and name != "least_ess"}
    fit_above = fitter.other(*law.upstream_fit()).fit(seed=seed, progress=progress, **settings)
    base = fitter.fit_at_point(table, law=law, seed=seed, progress=progress, log_likelihood=log_likelihood, **options)
    upstream = fit_above["posterior"].to_dataset()[list(law.upstream)].stack(sample=DRAWS)
    sampled = base["posterior"].to_dataset()[list(law.prior_of)]
    draws, ks, diagnoses = _imputed(fitter, base, sampled, upstream, np.random.default_rng(seed), seed, settings)
    groups = {"posterior": draws.named(), "unconstrained_posterior": draws.real_line().to_dataset(name="z")}
    if base.record[densities.GROUP] == densities.KEPT:
        groups[densities.GROUP], _ = densities.evaluated(draws, seed)
    record = copy.deepcopy(base.record)
    record["diagnostics"] = functools.reduce(
        _worse, [fit_above.record["diagnostics"], *diagnoses], record["diagnostics"]
    )
    quantities = draws.named()[list(law.prior_of)]
    record["diagnostics"] = chains.with_distinct(record["diagnostics"], quantities)
    record["diagnostics"] |= {"imputation_k_max": float(max(ks)), "imputations_refitted": len(diagnoses)}
    record["priors"] |= fit_above.record["priors"]
    return changed_fit(base, groups, record)


def _imputed(fitter, base, sampled, upstream, rng, seed, settings):
    """Return draws of a law with those of its upstream quantities, the Pareto k of imputations, refits' diagnostics."""
    law, rows, reference = base.law, base.draws.rows, base.draws.reference
    chain_count, draws = sampled.sizes["chain"], sampled.sizes["draw"]
    count = min(IMPUTATIONS, chain_count * draws)
    share = np.diff(np.linspace(0, chain_count * draws, count + 1).astype(int))
    chosen = rng.choice(upstream.sizes["sample"], count, replace=False)
    flat = sampled.stack(sample=DRAWS).reset_index("sample", drop=True)
    pool = flat.isel(sample=rng.permutation(chain_count * draws)[: max(LEAST_DRAWS, share.max())])
    at_point = _log_likelihood(law, pool, rows, reference)
    parts, ks, diagnoses = [], [], []
    for size, which in zip(share, chosen, strict=True):
        values = {name: float(upstream[name][which]) for name in law.upstream}
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            log_weights, k = smooth_weights(_log_likelihood(law, pool, rows, reference | values) - at_point)
        draws_of = pool
        if not k <= PARETO_K_LIMIT:
            again, stats, _ = fitter.draws(rows, law=law, settings=settings_of(settings), seed=seed, changed=values)
            draws_of = again.sampled.stack(sample=DRAWS).reset_index("sample", drop=True)
            log_weights = np.zeros(draws_of.sizes["sample"])
            diagnoses.append(chains.diagnose_chains(again.sampled, stats))
        weights = np.exp(log_weights - log_weights.max())
        picked = draws_of.isel(sample=systematic(weights / weights.sum(), size, rng))
        like = next(iter(picked.data_vars.values()))
        parts.append(picked.assign({name: xr.full_like(like, x) for name, x in values.items()}))
        ks.append(k)
    joined = xr.concat(parts, dim="sample").isel(sample=rng.permutation(chain_count * draws))
    shaped = {name: (DRAWS, x.values.reshape(chain_count, draws)) for name, x in joined.data_vars.items()}
    whole = xr.Dataset(shaped, coords={d: sampled[d] for d in DRAWS})
    return law.draws(whole, rows, reference), ks, diagnoses


def _log_likelihood(law, draws, rows, reference):
    return law.draws(draws, rows, reference).total_log_likelihood(rows).values


def systematic(weights, size, rng):
    """Draw indices with the given probabilities, as evenly as they allow."""
    return np.searchsorted(np.cumsum(weights), (rng.random() + np.arange(size)) / size * (1 - 1e-12))


def _worse(one, other):
    """Join two diagnoses: the larger r_hat, the smaller ESS, all warnings."""
    joined = {"warnings": list(dict.fromkeys(one["warnings"] + other["warnings"])), "ok": one["ok"] and other["ok"]}
    for name, choose in (("r_hat_max", max), ("ess_bulk_min", min), ("ess_tail_min", min)):
        joined[name] = None if one[name] is None or other[name] is None else choose(one[name], other[name])
    for name in ("divergences", "max_treedepth"):
        joined[name] = one[name] + other[name]
    return one | joined
