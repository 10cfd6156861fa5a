"""Leave-one-out of a fit: Pareto-smoothed importance sampling, mended where the Pareto k is too high.

References
----------
.. [1] Vehtari, A., Gelman, A. and Gabry, J. (2017). Practical Bayesian model evaluation using leave-one-out
       cross-validation and WAIC. https://doi.org/10.1007/s11222-016-9696-4
.. [2] Paananen, T. et al. (2021). Implicitly adaptive importance sampling. https://doi.org/10.1007/s11222-020-09982-2
"""

import warnings

import numpy as np

from ...datasets.wording import unknown
from ...errors import DiagnosticWarning, InputError
from ..diagnostics import PARETO_K_LIMIT
from ..storage import law_of
from .moment_matching import moment_match
from .refits import largest_k_left, resolve, unreliable, with_se

MENDS = ("moment_matching", "refit", "none")


def importance_sampling(fit):
    """Leave-one-out by Pareto-smoothed importance sampling alone, whatever the Pareto k."""
    import arviz_stats as azs

    with warnings.catch_warnings(), np.errstate(divide="ignore", invalid="ignore"):
        warnings.simplefilter("ignore", UserWarning)
        return with_se(azs.loo(fit, pointwise=True, var_name=law_of(fit).scale))


def loo(fit, *, mend=None, fitter=None, seed=1, **settings):
    """Estimate the expected log predictive density by Pareto-smoothed importance sampling leave-one-out.

    What is left out is a run, an evaluation or, of a law of counts, all counts of a run.

    Parameters
    ----------
    fit : DataTree
    mend : {"moment_matching", "refit", "none"}, optional
        What to do where the Pareto k is above 0.7: move the draws [2]_, fit again without the observation, or nothing.
        By default what the law's draws allow: refits where runs' own parameters are integrated out, else moment
        matching.
    fitter : Fitter, optional
        For refits, compiled before.
    seed : int
        Of refits.
    **settings
        Of refits; 4 x (500 + 500) by default.

    Returns
    -------
    arviz_stats.ELPDData
        ``elpd``, ``se``, ``p`` and, pointwise, ``elpd_i`` and ``pareto_k`` (of importance sampling, a refit or not), on
        the scale of the fit's residuals.

    Raises
    ------
    InputError
        If `mend` is unknown.

    Warns
    -----
    DiagnosticWarning
        If a Pareto k above 0.7 remains, or draws of a refit diverged. A refit whose draws hardly overlap those of the
        fit, even by way of a normal, mends nothing.

    Examples
    --------
    >>> import bayescaling as bs
    >>> fit = bs.fit(bs.Chinchilla(), bs.load("chinchilla_runs"), seed=1, draws=500, tune=500)
    >>> bool(bs.loo(fit).elpd > 840)
    True
    """
    law = law_of(fit)
    mend = law.mended_by if mend is None else mend
    if mend not in MENDS:
        raise InputError(unknown("mend", mend, MENDS))
    result = importance_sampling(fit)
    if mend == "refit":
        resolve(fit, result, fitter=fitter, seed=seed, **settings)
    elif mend == "moment_matching" and (result.pareto_k > PARETO_K_LIMIT).any():
        # Where moment matching leaves the draws as they are, ArviZ divides by the spread of equal weights; where it
        # moves them far, ratios of densities overflow, and what it finds is then not taken.
        with warnings.catch_warnings(), np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            warnings.simplefilter("ignore", UserWarning)
            result = with_se(moment_match(fit, result))
    high = int(unreliable(result).sum())
    if high:
        warnings.warn(
            f"{law.label}: Pareto k is above {PARETO_K_LIMIT} at {high} of {result.n_data_points} observations "
            f"(largest {largest_k_left(result):.2f}): their elpd is not reliable; refit without them",
            DiagnosticWarning,
            stacklevel=2,
        )
    return result
