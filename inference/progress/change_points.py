"""When the rate of progress changed: the year of the change as an unknown, and the rate as a path over the years."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from scipy.special import softmax

from ...datasets.kinds.evaluations import EVALUATIONS
from ...errors import InputError
from ...models.laws import Progress, as_law
from ..comparison.bridge import log_normaliser
from ..comparison.importance import importance_sampling
from ..fitted import Fit, of_kind
from ..fitter import Fitter
from .compare import pooled_rates
from .fitting import new_fitter
from .rate_at_rows import compute_equivalent_gain

# Every half year; of the built-in evaluations a tenth are dated before 2016.7, a tenth after 2022.5.
CUTOFFS = tuple(2015 + 0.5 * i for i in range(15))
YEARS = tuple(range(2013, 2024))
NONE = "none"


@dataclass(frozen=True)
class Pace:
    """When progress became faster or slower, if it did, under one law.

    Attributes
    ----------
    table : DataFrame
        By cutoff, and ``none`` for no change. ``log_evidence`` is the logarithm of the marginal likelihood, with its
        Monte-Carlo standard error ``se`` and the ``overlap`` of its bridge. ``probability`` and the ``elpd`` of
        leave-one-out follow. ``p_faster`` is the probability of faster progress from the cutoff on (NaN for none).
    p_change : float
        Probability of a change, even odds beforehand. It depends on the prior of the change's size.
    p_faster : float
        Probability of faster progress after the change, if there is one, over all cutoffs.
    path : DataArray, dims (year, sample)
        Growth of effective compute in log units a year at the sizes of the evaluations, over all cutoffs and none.
    fits : dict of DataTree
        By cutoff, and ``none``.
    """

    table: pd.DataFrame
    p_change: float
    p_faster: float
    path: xr.DataArray
    fits: dict


def change_of_pace(
    law: Progress | str,
    *,
    fitter: Fitter | None = None,
    cutoffs: Sequence[float] = CUTOFFS,
    years: Sequence[float] = YEARS,
    seed: int = 1,
    **settings: Any,
) -> Pace:
    """Fit a law whose rate changes at each of several dates or never, and weigh the fits by marginal likelihood.

    The date of the change is an unknown with the same prior probability at each cutoff. Marginal likelihoods are those
    of a bridge to a normal (`bridge.log_normaliser`).

    Parameters
    ----------
    law : Progress or str
        A law, or its name such as ``"progress-7"``, without a cutoff; its ``cutoff_form`` is that of the change.
    fitter : Fitter, optional
        From `progress.new_fitter`.
    cutoffs, years : sequence of float
        Where the rate may change, and where the path is evaluated.
    seed : int
    **settings
        Of the sampler.

    Returns
    -------
    `Pace`

    Raises
    ------
    InputError
        If the law is not one of progress, has a cutoff, or no year slope that could change, or the evaluations lie on
        one side of a cutoff.

    Examples
    --------
    >>> import bayescaling as bs
    >>> cutoffs, years = (2016.0, 2019.0), (2015.0, 2021.0)
    >>> change = bs.progress.change_of_pace("progress-1", cutoffs=cutoffs, years=years, draws=500, tune=500)
    >>> list(change.table.index)
    ['none', 2016.0, 2019.0]
    """
    law = as_law(law)
    if not hasattr(law, "cutoff"):
        raise InputError(f'law is {law.label}; choose one of progress, such as "progress-7"')
    fitter = fitter or new_fitter()
    if law.cutoff is not None:
        raise InputError(f"{law.label}: its cutoff is an unknown here; give the law without one")
    dates = fitter.table["year"]
    for cutoff in cutoffs:
        if not dates.min() < cutoff < dates.max():
            raise InputError(
                f"cutoff {cutoff:g}: evaluations are of {dates.min():.1f} to {dates.max():.1f}; choose dates between"
            )
    laws = {NONE: law} | {float(c): law.with_options(cutoff=float(c)) for c in cutoffs}
    fits = {c: fitter.fit(law=changed, seed=seed, **settings) for c, changed in laws.items()}
    table = pd.DataFrame.from_dict({c: _entry(fit, c) for c, fit in fits.items()}, orient="index").rename_axis("cutoff")
    prior = np.where(table.index == NONE, 0.5, 0.5 / len(cutoffs))
    table["probability"] = softmax(table["log_evidence"].to_numpy() + np.log(prior))
    changed = table.drop(index=NONE)
    weights = table["probability"].to_dict()
    path = [
        pooled_rates({c: compute_equivalent_gain(f, year=y).values for c, f in fits.items()}, weights, seed=seed)
        for y in years
    ]
    return Pace(
        table,
        float(changed["probability"].sum()),
        float(np.average(changed["p_faster"], weights=changed["probability"])),
        xr.DataArray(path, dims=("year", "sample"), coords={"year": list(years)}),
        fits,
    )


def _entry(fit, cutoff):
    draws = fit.draws
    evidence = log_normaliser(draws)
    entry = {
        "log_evidence": evidence.log_density,
        "se": evidence.se,
        "overlap": evidence.overlap,
        "elpd": float(importance_sampling(fit).elpd),
    }
    return entry | {"p_faster": np.nan if cutoff == NONE else acceleration(fit)["p_faster"]}


def acceleration(fit):
    """Compute the growth of effective compute at the sizes of the evaluations before and after the cutoff of a law.

    In the dict, ``before`` and ``after`` are DataArrays (chain, draw) of the rate in log units a year, and ``p_faster``
    is the probability that it rose.
    """
    cutoff = of_kind(fit, EVALUATIONS).law.cutoff
    before, after = (compute_equivalent_gain(fit, year=year) for year in (cutoff - 1e-6, cutoff + 1e-6))
    return {"before": before, "after": after, "p_faster": float((after > before).mean())}


def pace_by_year(fit: Fit, years: Sequence[float] = YEARS) -> tuple[xr.DataArray, float]:
    """Return the rate of progress by year under a law whose rate is a random walk.

    Parameters
    ----------
    fit : Fit
        Of a `Progress` law with ``pace="random_walk"``.
    years : sequence of float
        The rate is the same from one of `specifications.KNOTS` to the next.

    Returns
    -------
    path : DataArray, dims (year, chain, draw)
        Growth of effective compute at the sizes of the evaluations, in log units a year.
    p_faster : float
        Probability that it is higher in the last of the years than it was on average over the evaluations' dates.

    Raises
    ------
    InputError
        If the rate of the law is constant.

    Examples
    --------
    >>> import bayescaling as bs
    >>> law = bs.laws.Progress(7, pace="random_walk")
    >>> fit = bs.progress.new_fitter().fit(law=law, seed=1, draws=500, tune=500)
    >>> path, p_faster = bs.progress.pace_by_year(fit)
    >>> 0 < p_faster < 1
    True
    """
    law: Any = of_kind(fit, EVALUATIONS).law
    if law.pace != "random_walk":
        raise InputError(f"{law.label}: its rate is no random walk; fit it with pace='random_walk'")
    paces = [compute_equivalent_gain(fit, year=year) for year in years]
    p_faster = float((paces[-1] > compute_equivalent_gain(fit)).mean())
    return xr.concat(paces, pd.Index(years, name="year"), coords="minimal", compat="override"), p_faster
