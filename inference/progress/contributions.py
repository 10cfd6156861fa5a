"""What contributed to progress, and what it amounts to in compute and at a fixed loss.

References
----------
.. [1] Ho, A. et al. (2024). Algorithmic progress in language models. arXiv:2403.05812.
"""

import numpy as np
import pandas as pd
import xarray as xr

from ...datasets import require
from ...datasets.kinds.evaluations import EVALUATIONS
from ...datasets.kinds.runs import RUNS
from ...datasets.wording import quoted
from ...errors import InputError
from ...models.draws import DRAWS
from ...models.loss import kaplan, rules
from ...models.loss.budget import log_slots
from ...models.progress import growth
from ..estimands.allocate import allocate
from ..fitted import of_kind
from .rate_at_optimum import GrowthAt, first_rate


def attribution(fit, systems, pairs=None):
    """Compute Shapley shares of parameters, data and the two terms' progress in the fall of loss between systems.

    The fit is of a `Progress` law of two terms. `systems` has the columns system, publication_date, parameters and
    dataset_tokens. Pairs of systems, from and to, are by default all in order of the table. In the Dataset ``share``
    (pair, move, chain, draw) sums to 1 over move: parameter_scaling, data_scaling, parameter_efficiency,
    data_efficiency; WT103, the transformer factor left out.

    Examples
    --------
    >>> import bayescaling as bs
    >>> fit = bs.progress.fit_all(specifications=[7], draws=500, tune=500)[7]
    >>> attribution(fit, bs.load("attribution_systems"))["share"].sizes["move"]
    4
    """
    draws = of_kind(fit, EVALUATIONS).draws
    require(systems, ("system", "publication_date", "parameters", "dataset_tokens"), purpose="attribution")
    if not draws.law.predictors[1]:
        raise InputError(f"{draws.law.label} has one term; parameters and data have no shares of their own")
    if absent := sorted({name for pair in pairs or () for name in pair} - set(systems["system"])):
        listed = ", ".join(map(quoted, absent))
        raise InputError(f"the table of systems lacks {listed}; name systems of its column 'system'")
    dates = pd.to_datetime(systems["publication_date"])
    year = (dates.dt.year + (dates.dt.day_of_year - 1) / 365).to_numpy()
    names = systems["system"].tolist()
    pairs = pairs or [(names[i], names[j]) for i in range(len(names)) for j in range(i + 1, len(names))]
    shares = []
    for start, end in pairs:
        i, j = names.index(start), names.index(end)
        before, after = GrowthAt(draws, year=year[i]), GrowthAt(draws, year=year[j])
        sizes = np.log(systems[["parameters", "dataset_tokens"]].to_numpy(float))

        def loss(flags, before=before, after=after, small=sizes[i], large=sizes[j]):
            first, second = (after if flags[2] else before), (after if flags[3] else before)
            n, d = (large if flags[0] else small)[0], (large if flags[1] else small)[1]
            return first.terms(n, d)[0] + second.terms(n, d)[1]

        gains = growth.shapley(loss, 4)
        shares.append(np.stack(gains) / sum(gains))
    moves = ["parameter_scaling", "data_scaling", "parameter_efficiency", "data_efficiency"]
    coords = {"pair": [f"{a}>{b}" for a, b in pairs], "move": moves}
    return xr.Dataset({"share": (("pair", "move", *DRAWS), np.stack(shares))}, coords)


def transformer_gain(fit, *, compute=(1e22, 1e25)):
    """Compute the factor that a transformer saves: a**2, ``L_T(N, D) = L_other(a N, a D)``, N = D = sqrt(C/6).

    The fit is of a law with a transformer factor. The Dataset has ``gain`` (compute, chain, draw) and
    ``loss_reduction_percent`` (chain, draw).
    """
    draws = of_kind(fit, EVALUATIONS).draws
    factor = np.exp(draws.c["log_factor"][..., 0])
    local = GrowthAt(draws)
    gains = []
    for budget in compute:
        size = 0.5 * log_slots(budget)
        first, second = local.terms(size, size)
        a, b = (2 * local.a, 2 * local.a) if local.single else (local.a, local.b)
        gains.append(np.exp(2 * growth.scale_to_match(first, second, a, b, factor * (first + second))))
    data = {"gain": (("compute", *DRAWS), np.stack(gains)), "loss_reduction_percent": (DRAWS, 100 * (1 - factor))}
    return xr.Dataset(data, {"compute": list(compute)})


def effective_compute(fit, years):
    """Compute the growth of effective compute from algorithms since 2014, in e-folds: (year, chain, draw)."""
    years = np.asarray(years, float)
    elapsed = xr.DataArray(years - 2014.0, dims="year", coords={"year": years})
    return (first_rate(fit) * elapsed).transpose("year", *DRAWS)


def chinchilla_over_kaplan(fit, compute):
    """Compute how much compute Chinchilla's rule saves over Kaplan's at training budgets in FLOP, draw by draw.

    See `models.rules.chinchilla_over_kaplan`; appendix B of Ho et al. (2024) [1]_. The fit is of the Chinchilla law. In
    the Dataset ``gain`` (chain, draw, compute) is a factor of compute. ``kaplan_parameters`` and ``kaplan_tokens``
    (compute) are the size by Kaplan's rule. ``extrapolation`` and ``outside`` (compute) are as of `allocate`.
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
