"""Leave-one-out of a fit: Pareto-smoothed importance sampling, with refits where the Pareto k is too high.

References
----------
.. [1] Vehtari, A., Gelman, A. and Gabry, J. (2017). Practical Bayesian model evaluation using leave-one-out
       cross-validation and WAIC. https://doi.org/10.1007/s11222-016-9696-4
.. [2] Paananen, T. et al. (2021). Implicitly adaptive importance sampling. https://doi.org/10.1007/s11222-020-09982-2
"""

from __future__ import annotations

import json
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from ...datasets.wording import check_choice
from ...errors import DiagnosticWarning, InputError
from ..checks.chains import PARETO_K_LIMIT
from ..fitted import once
from ..settings import seed_of
from .groups import loo_by_group
from .importance import importance_sampling
from .moment_matching import moment_match
from .refits import largest_k_left, resolve, unreliable
from .weights import sum_error

if TYPE_CHECKING:
    from ..fitted import Fit

HIGH_K_WAYS = ("refit", "moment_matching", "none")


def loo(fit: Fit, by: str | None = None, *, seed: int | None = None, progress: bool = False, **options: Any) -> Any:
    """Estimate the expected log predictive density by leave-one-out, or by leave-one-group-out.

    Importance sampling, and refits bridged to the draws of the fit where the Pareto k is above 0.7. What is left out is
    a run, an evaluation, a score or, of a law of counts, all counts of a run.

    Parameters
    ----------
    fit : Fit
    by : str, optional
        Column whose rows of one value are left out together, such as ``"parameters"``; single units by default.
    seed : int, optional
        Of refits; that of the fit by default.
    progress : bool
        Name what runs on standard error, with a bar for refits and for large tables.
    **options
        ``high_k`` is what to do where the Pareto k is above 0.7. ``"refit"`` fits again without what is left out, and
        ``"none"`` does nothing. Of single units ``"moment_matching"`` shifts the draws [2]_ without a fit. Its errors
        were 0.1 to 0.4 nats a row in linear regressions with k above 1. The default is ``"refit"``, but ``"none"`` of
        single units for a law that takes quantities from upstream and for `scores`, one refit of which takes a minute.
        ``most`` limits how many groups are refitted, those of the highest values of the column. Other options are
        settings of refits, 4 x (500 + 500) by default.

    Returns
    -------
    arviz_stats.ELPDData, or DataFrame by group
        ``elpd``, ``se``, ``p`` and, pointwise, ``elpd_i`` and ``pareto_k``, on the scale of the fit's residuals. By
        group in order of the column's values ``elpd``, the log density of its rows together, ``pareto_k``, ``refitted``
        and, of refits, ``elpd_se`` and ``overlap``.

    Raises
    ------
    InputError
        If an option is unknown, the table lacks the column, a row has no value in it, or rows that share an effect have
        several values.

    Warns
    -----
    DiagnosticWarning
        If a Pareto k above 0.7 remains, or draws of a refit diverged. A refit whose draws barely overlap those of the
        fit, even by way of a normal, fixes nothing.

    Examples
    --------
    >>> import bayescaling as bs
    >>> fit = bs.fit(bs.laws.Chinchilla(), bs.load("chinchilla_runs"), seed=1, draws=500, tune=500)
    >>> bool(fit.loo().elpd > 840), bool(fit.loo(by="parameters")["elpd"].sum() < fit.loo().elpd)
    (True, True)
    """
    options, name = _asked(fit, by, seed, options)
    if by is None:
        return once(fit, name, lambda: _of_units(fit, progress=progress, **options))
    return once(fit, name, lambda: loo_by_group(fit, by, **options))


def _asked(fit, by, seed, options):
    """Return the options that are not the default ones, and the name of the result."""
    options = {name: x for name, x in options.items() if x is not None} | {"seed": seed_of(seed, fit)}
    return options, f"loo {by} {json.dumps(options, sort_keys=True, default=str)}"


def _of_units(fit, *, seed, progress, high_k=None, **settings):
    law = fit.law
    usual = "none" if law.upstream else law.high_k
    high_k = usual if high_k is None else high_k
    check_choice("high_k", high_k, HIGH_K_WAYS)
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
            result = moment_match(fit, result)
        result.se = float(sum_error(result.elpd_i.values))
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
