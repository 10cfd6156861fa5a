"""A law given quantities that other data inform: their uncertainty flows into the fit, nothing flows back.

The posterior of the quantities given, from the other data alone, is thinned to a number of imputations. The law is
sampled once at the point estimate; at each imputation its draws are weighted by the ratio of likelihoods, smoothed
(Pareto-smoothed importance sampling), and resampled. Where the Pareto k of the weights is above 0.7 the law is sampled
anew at that imputation.

References
----------
.. [1] Plummer, M. (2015). Cuts in Bayesian graphical models. https://doi.org/10.1007/s11222-014-9503-z
.. [2] Vehtari, A. et al. (2024). Pareto smoothed importance sampling. JMLR 25(72).
"""

import functools

import numpy as np
import xarray as xr

from .. import diagnostics
from ..diagnostics import PARETO_K_LIMIT
from ..storage import metadata, with_metadata
from . import evaluate
from .fit import Fitter, settings_of

IMPUTATIONS = 100
LEAST_DRAWS = 1000


def fit_cut(
    law, runs, *, seed, sampler=None, prior_predictive=False, posterior_predictive=False, progress=False, **settings
):
    """Fit a law of whose constants some (`law.given`) come of other data; see `fit` for parameters and result.

    The diagnostics are the worst of all fits that were sampled, of imputations refitted too; ``imputation_k_max`` and
    ``imputations_refitted`` say how the weights did. Predictive groups are those of the fit at the point estimate.
    """
    table = law.table_of_sizes
    sizes_fit = Fitter(law.sizes, table, sampler=sampler).fit(table, seed=seed, progress=progress, **settings)
    fitter = Fitter(law, runs, sampler=sampler)
    base = fitter.fit(
        runs,
        seed=seed,
        prior_predictive=prior_predictive,
        posterior_predictive=posterior_predictive,
        progress=progress,
        **settings,
    )
    given = sizes_fit["posterior"].to_dataset()[list(law.given)].stack(sample=evaluate.DRAWS)
    sampled = base["posterior"].to_dataset()[list(law.prior_of)]
    rng = np.random.default_rng(seed)
    posterior, ks, verdicts = _imputed(law, fitter, runs, sampled, given, rng, seed, settings)
    tree = base.to_dict()
    tree["/posterior"] = posterior
    likelihood = evaluate.log_likelihood(law, posterior, runs).to_dataset()
    tree["/log_likelihood"] = likelihood.assign_coords(run=np.arange(len(runs)))
    said = metadata(base)
    sampled_besides = [metadata(sizes_fit)["diagnostics"], *verdicts]
    said["diagnostics"] = functools.reduce(_worse, sampled_besides, said["diagnostics"])
    said["diagnostics"] |= {"imputation_k_max": float(max(ks)), "imputations_refitted": len(verdicts)}
    said["priors"] |= metadata(sizes_fit)["priors"]
    return with_metadata(xr.DataTree.from_dict(tree), said)


def _imputed(law, fitter, runs, sampled, given, rng, seed, settings):
    import arviz_stats.base as azb

    chains, draws = sampled.sizes["chain"], sampled.sizes["draw"]
    count = min(IMPUTATIONS, chains * draws)
    share = np.diff(np.linspace(0, chains * draws, count + 1).astype(int))
    chosen = rng.choice(given.sizes["sample"], count, replace=False)
    flat = sampled.stack(sample=evaluate.DRAWS).reset_index("sample", drop=True)
    pool = flat.isel(sample=rng.permutation(chains * draws)[: max(LEAST_DRAWS, share.max())])
    at_point = _log_likelihood(law, pool, fitter.reference, runs)
    parts, ks, verdicts = [], [], []
    for size, which in zip(share, chosen, strict=True):
        values = {name: float(given[name][which]) for name in law.given}
        reference = fitter.reference | values
        # Weights of draws that are far off overflow; their Pareto k is then not below the limit.
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            log_weights, k = azb.array_stats.psislw(at_point - _log_likelihood(law, pool, reference, runs))
        draws_of = pool
        if not float(k) <= PARETO_K_LIMIT:
            again, stats, _ = fitter.compiled.sample(settings_of(settings), seed, law.design(runs) | values)
            draws_of = again[list(sampled.data_vars)].stack(sample=evaluate.DRAWS)
            draws_of = draws_of.reset_index("sample", drop=True)
            log_weights = np.zeros(draws_of.sizes["sample"])
            verdicts.append(diagnostics.judge(again, stats))
        weights = np.exp(log_weights - log_weights.max())
        picked = draws_of.isel(sample=_systematic(weights / weights.sum(), size, rng))
        parts.append(picked.merge(evaluate.derived(law, picked, reference)))
        ks.append(float(k))
    joined = xr.concat(parts, dim="sample").isel(sample=rng.permutation(chains * draws))
    shaped = {name: (evaluate.DRAWS, x.values.reshape(chains, draws)) for name, x in joined.data_vars.items()}
    return xr.Dataset(shaped, coords={d: sampled[d] for d in evaluate.DRAWS}), ks, verdicts


def _log_likelihood(law, draws, reference, runs):
    values = draws.merge(evaluate.derived(law, draws, reference))
    return evaluate.log_likelihood(law, values, runs).sum("run").values


def _systematic(weights, size, rng):
    """Draw indices with the given probabilities, as evenly as they allow."""
    return np.searchsorted(np.cumsum(weights), (rng.random() + np.arange(size)) / size * (1 - 1e-12))


def _worse(one, other):
    """Join two verdicts: the larger r_hat, the smaller ESS, all warnings."""
    joined = {"warnings": list(dict.fromkeys(one["warnings"] + other["warnings"])), "ok": one["ok"] and other["ok"]}
    for name, choose in (("r_hat_max", max), ("ess_bulk_min", min), ("ess_tail_min", min)):
        joined[name] = choose(one[name], other[name])
    for name in ("divergences", "max_treedepth"):
        joined[name] = one[name] + other[name]
    return one | joined
