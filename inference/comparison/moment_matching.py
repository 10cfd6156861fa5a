"""Moment matching: draws shifted on the real line to where the posterior without an observation lies.

References
----------
.. [1] Paananen, T. et al. (2021). Implicitly adaptive importance sampling. https://doi.org/10.1007/s11222-020-09982-2
"""

import warnings

from ...errors import InputError
from .. import densities
from ..checks.chains import PARETO_K_LIMIT


def moment_match(fit, result):
    """Return leave-one-out with the Pareto k of observations above 0.7 lowered by moment matching [1]_."""
    import arviz_stats as azs

    if not densities.is_held(fit):
        raise InputError(
            'high_k="moment_matching" needs the log likelihood, which this fit was made without; fit again with '
            "log_likelihood=True"
        )
    draws = fit.draws
    with warnings.catch_warnings():
        # `loo` warns of the Pareto k that remain.
        warnings.filterwarnings("ignore", message="After Moment Matching", category=UserWarning)
        return azs.loo_moment_match(
            fit.tree,
            result,
            log_prob_upars_fn=lambda z: draws.from_real_line(z).log_density(),
            log_lik_i_upars_fn=lambda z, i: draws.from_real_line(z).unit_log_likelihood(i),
            upars=draws.real_line(),
            var_name=draws.law.scale,
            k_threshold=PARETO_K_LIMIT,
            pointwise=True,
        )
