"""What one rule of scaling saves over another, draw by draw."""

import xarray as xr

from ...datasets.kinds.runs import RUNS
from ...datasets.wording import quoted
from ...errors import InputError
from ...models.loss import kaplan, rules
from ..fitted import of_kind
from .allocate import allocate


def chinchilla_over_kaplan(fit, compute):
    """Compute how much compute Chinchilla's rule saves over Kaplan's at training budgets in FLOP, draw by draw.

    See `models.rules.chinchilla_over_kaplan`; appendix B of Ho et al. (2024) [1]_. The fit is of the Chinchilla law. In
    the Dataset ``gain`` (chain, draw, compute) is a factor of compute. ``kaplan_parameters`` and ``kaplan_tokens``
    (compute) are the size by Kaplan's rule. ``extrapolation`` and ``outside`` (compute) are as of `allocate`.

    References
    ----------
    .. [1] Ho, A. et al. (2024). Algorithmic progress in language models. arXiv:2403.05812.
    """
    law = of_kind(fit, RUNS).law
    if not (law.in_all_parameters and law.sum_of_terms):
        raise InputError(f"the gain over Kaplan's rule needs a fit of chinchilla, not of {quoted(law.name)}")
    result = allocate(fit, compute)[["extrapolation", "outside"]]
    draws = fit["posterior"].to_dataset()
    gain = rules.chinchilla_over_kaplan(
        result["compute"], **{name: draws[name] for name in ("A", "B", "alpha", "beta")}
    )
    parameters, tokens = kaplan.optimum(result["compute"], **kaplan.PUBLISHED)
    result = xr.Dataset({"gain": gain, "kaplan_parameters": parameters, "kaplan_tokens": tokens}).merge(result)
    for name in ("gain", "kaplan_parameters", "kaplan_tokens"):
        result[name].attrs["units"] = "1"
    return result.transpose("chain", "draw", "compute")
