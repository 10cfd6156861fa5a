"""Leave-one-out comparison of fits: PSIS-LOO, mended by moment matching where the Pareto k is too high.

References
----------
.. [1] Vehtari, A., Gelman, A. and Gabry, J. (2017). Practical Bayesian model evaluation using leave-one-out
       cross-validation and WAIC. https://doi.org/10.1007/s11222-016-9696-4
.. [2] Paananen, T. et al. (2021). Implicitly adaptive importance sampling. https://doi.org/10.1007/s11222-020-09982-2
.. [3] Yao, Y. et al. (2018). Using stacking to average Bayesian predictive distributions.
       https://doi.org/10.1214/17-BA1091
"""

import warnings

import numpy as np
import pandas as pd

from ...errors import DiagnosticWarning, InputError
from ...models import Lengths
from ...models.titles import title
from ..diagnostics import PARETO_K_LIMIT
from ..storage import law_of, metadata
from .moment_matching import unconstrained
from .weights import weigh


def loo(fit, *, moment_match=True):
    """Estimate the expected log predictive density by Pareto-smoothed importance sampling leave-one-out.

    Parameters
    ----------
    fit : DataTree
    moment_match : bool
        Mend observations with Pareto k above 0.7 by moment matching [2]_; of a law of lengths, whose observations are
        whole runs, by refits without them.

    Returns
    -------
    arviz_stats.ELPDData
        ``elpd``, ``se``, ``p`` and, pointwise over run, ``elpd_i`` and ``pareto_k``, on the scale of the fit's
        residuals.

    Warns
    -----
    DiagnosticWarning
        If a Pareto k above 0.7 remains.
    """
    import arviz_stats as azs

    if isinstance(law_of(fit), Lengths):
        from .lengths import leave_runs_out

        return leave_runs_out(fit, refit=moment_match)
    # Where moment matching leaves the draws as they are, ArviZ divides by the spread of equal weights.
    with warnings.catch_warnings(), np.errstate(divide="ignore", invalid="ignore"):
        warnings.simplefilter("ignore", UserWarning)
        result = azs.loo(fit, pointwise=True, var_name=law_of(fit).scale)
        if moment_match and (result.pareto_k > PARETO_K_LIMIT).any():
            result = _moment_match(fit, result)
    high = int((~(result.pareto_k <= PARETO_K_LIMIT)).sum())
    if high:
        warnings.warn(
            f"{title(law_of(fit))}: Pareto k is above {PARETO_K_LIMIT} at {high} of {result.n_data_points} "
            f"observations (largest {float(result.pareto_k.max()):.2f}): their elpd is not reliable; refit without "
            "them",
            DiagnosticWarning,
            stacklevel=2,
        )
    return result


def _moment_match(fit, result):
    import arviz_stats as azs

    draws, log_density, log_likelihood_i = unconstrained(fit)
    return azs.loo_moment_match(
        fit,
        result,
        log_prob_upars_fn=log_density,
        log_lik_i_upars_fn=log_likelihood_i,
        upars=draws,
        var_name=law_of(fit).scale,
        k_threshold=PARETO_K_LIMIT,
        pointwise=True,
    )


def check_comparable(fits):
    """Refuse fits that did not see the same observations on the same scale.

    Raises
    ------
    InputError
        Naming the two fits that differ and how.
    """
    if len(fits) < 2:
        raise InputError(f"a comparison needs at least two fits, not {len(fits)}")
    (first, reference), *others = fits.items()
    for name, fit in others:
        (scale,), (own,) = (list(f["observed_data"].data_vars) for f in (reference, fit))
        if scale != own:
            raise InputError(
                f"{first!r} is scored on the {scale} scale and {name!r} on the {own} scale; their densities have "
                "different units: fit both on one scale"
            )
        seen, theirs = (f["observed_data"][scale].values for f in (reference, fit))
        if seen.shape != theirs.shape or not np.array_equal(seen, theirs):
            where = (
                f"{len(seen)} and {len(theirs)} rows"
                if seen.shape != theirs.shape
                else f"from row {int(np.argmax(seen != theirs))} on"
            )
            raise InputError(
                f"{first!r} and {name!r} were fitted to different observations ({where}); fit both to the same rows"
            )


def compare(fits, *, weighting="stacking", results=None):
    """Compare fits of the same rows by leave-one-out.

    Parameters
    ----------
    fits : dict of str to DataTree
    weighting : {"stacking", "pseudo_bma", "equal"}
    results : dict of str to ELPDData, optional
        What `loo` said of the same fits, if it was called before.

    Returns
    -------
    DataFrame
        One row a fit, best first: ``rank`` (from 1), ``elpd``, ``se``, ``p``, ``elpd_diff`` (to the best, at most 0),
        ``dse``, ``weight``, ``pareto_k_max``, ``k_above_0.7``, ``r_hat_max``, ``ess_bulk_min``, ``divergences``.

    Raises
    ------
    InputError
        If the fits saw different rows or are scored on different scales.

    Warns
    -----
    DiagnosticWarning
        If a Pareto k above 0.7 remains.
    """
    check_comparable(fits)
    results = results or {name: loo(fit) for name, fit in fits.items()}
    pointwise = np.stack([r.elpd_i.values for r in results.values()], axis=1)
    weights = dict(zip(results, weigh(pointwise, weighting), strict=True))
    best = max(results.values(), key=lambda r: r.elpd)
    rows = {}
    for name, result in results.items():
        difference = (result.elpd_i - best.elpd_i).values
        verdict = metadata(fits[name])["diagnostics"]
        rows[name] = {
            "elpd": float(result.elpd),
            "se": float(result.se),
            "p": float(result.p),
            "elpd_diff": float(difference.sum()),
            "dse": float(np.sqrt(len(difference)) * difference.std(ddof=1)),
            "weight": float(weights[name]),
            "pareto_k_max": float(result.pareto_k.max()),
            "k_above_0.7": int((result.pareto_k > PARETO_K_LIMIT).sum()),
            **{key: verdict[key] for key in ("r_hat_max", "ess_bulk_min", "divergences")},
        }
    table = pd.DataFrame.from_dict(rows, orient="index").sort_values("elpd", ascending=False)
    table.insert(0, "rank", np.arange(1, len(table) + 1))
    return table
