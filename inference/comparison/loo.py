"""Leave-one-out of a fit: Pareto-smoothed importance sampling, with refits where the Pareto k is too high.

References
----------
.. [1] Vehtari, A., Gelman, A. and Gabry, J. (2017). Practical Bayesian model evaluation using leave-one-out
       cross-validation and WAIC. https://doi.org/10.1007/s11222-016-9696-4
.. [2] Paananen, T. et al. (2021). Implicitly adaptive importance sampling. https://doi.org/10.1007/s11222-020-09982-2
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from ...datasets.wording import unknown
from ...errors import DiagnosticWarning, InputError
from ..checks.chains import PARETO_K_LIMIT
from .importance import importance_sampling, with_se
from .moment_matching import moment_match
from .refits import largest_k_left, resolve, unreliable

if TYPE_CHECKING:
    from arviz_stats import ELPDData

    from ..fit import Fit

HIGH_K_WAYS = ("refit", "moment_matching", "none")


def loo(
    fit: Fit,
    *,
    high_k: str | None = None,
    seed: int = 1,
    progress: bool = False,
    **settings: Any,
) -> ELPDData:
    """Estimate the expected log predictive density by Pareto-smoothed importance sampling leave-one-out.

    What is left out is a run, an evaluation or, of a law of counts, all counts of a run.

    Parameters
    ----------
    fit : Fit
    high_k : {"refit", "moment_matching", "none"}, optional
        What to do where the Pareto k is above 0.7. ``"refit"`` fits again without the observation and bridges the two
        sets of draws. ``"moment_matching"`` shifts the draws [2]_ without a fit. Its errors were 0.1 to 0.4 nats a row
        in linear regressions with k above 1. ``"none"`` does nothing. The default is ``"refit"``, but ``"none"`` for a
        law that takes quantities from upstream and for `scores`, one refit of which takes a minute.
    seed : int
        Of refits.
    progress : bool
        Name what runs on standard error, with a bar for refits and for large tables.
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
        If `high_k` is unknown.

    Warns
    -----
    DiagnosticWarning
        If a Pareto k above 0.7 remains, or draws of a refit diverged. A refit whose draws barely overlap those of the
        fit, even by way of a normal, fixes nothing.

    Examples
    --------
    >>> import bayescaling as bs
    >>> fit = bs.fit(bs.laws.Chinchilla(), bs.load("chinchilla_runs"), seed=1, draws=500, tune=500)
    >>> bool(fit.loo().elpd > 840)
    True
    """
    law = fit.law
    usual = "none" if law.upstream else law.grouping.high_k
    high_k = usual if high_k is None else high_k
    if high_k not in HIGH_K_WAYS:
        raise InputError(unknown("high_k", high_k, HIGH_K_WAYS))
    if law.upstream and high_k != "none":
        raise InputError(
            f"high_k={high_k!r}: {law.name} takes {' and '.join(law.upstream)} from upstream and has no one posterior "
            'that could be shifted or fitted again without an observation; use high_k="none", or joint=True of the law'
        )
    result = importance_sampling(fit, progress=progress)
    if high_k == "refit":
        resolve(fit, result, seed=seed, progress=progress, **settings)
    elif high_k == "moment_matching" and (result.pareto_k > PARETO_K_LIMIT).any():
        # Where moment matching leaves the draws unchanged, ArviZ divides by the spread of equal weights. Where it
        # shifts them far, ratios of densities overflow, and its result is not taken.
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
    # They are as large as the log densities, and those of a fit with refits belong to other draws.
    result.log_weights = None
    return result
