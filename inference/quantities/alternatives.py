"""Laws that may fit where one does not: fitted to the same rows, compared by leave-one-out, said in a sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..executor import mapped
from ..fitting.fit import fit as fit_law
from ..loo.compare import compare
from ..loo.loo import loo
from ..storage import diagnose, law_of, table_of
from .misfit import BY_COLUMN
from .verdict import EXPONENT, FITS, judge, verdict_sentence

if TYPE_CHECKING:
    import xarray as xr
    from arviz_stats import ELPDData

MOST_ROWS = 5000  # of a table to which other laws are fitted unasked
LEAST_GAIN = 4.0  # nats: smaller differences cannot be told from 0 (Sivula, Magnusson and Vehtari 2020, section 3)


def worth_trying(fit):
    """Whether to try others unasked: chains agree, the law does not fit, and they take seconds."""
    law = law_of(fit)
    quick = law.effort.quick and fit["observed_data"].sizes[law.unit] <= MOST_ROWS
    return quick and diagnose(fit)["ok"] and judge(fit)["verdict"] != FITS


def alternatives(
    fit: xr.DataTree,
    *,
    result: ELPDData | None = None,
    most: int | None = None,
    seed: int = 1,
    sampler: str | None = None,
    progress: bool = False,
    **settings: Any,
) -> list[dict[str, Any]]:
    """Fit the laws that this one's own verdict suggests, and compare them with it by leave-one-out.

    Parameters
    ----------
    fit : DataTree
    result : ELPDData, optional
        From `loo`, which is called if absent.
    most : int, optional
        Of the laws suggested, how many are tried, the widest mean first; all by default.
    seed : int
    sampler : str, optional
    progress : bool
        Show a bar for each fit.
    **settings
        As for `fit`; by default 500 draws after 500.

    Returns
    -------
    list of dict
        Best first: ``law`` (its label), ``name`` and ``options``, ``elpd_diff`` to the fit (above 0 where it predicts
        better), ``dse``, the ``verdict`` on it, and ``exponent_parameters``, its quantiles ``q2.5``, ``q50`` and
        ``q97.5`` where it has that; empty where the law names no others.

    Examples
    --------
    >>> import bayescaling as bs
    >>> fit = bs.fit(bs.Chinchilla(), bs.load("chinchilla_runs"), seed=1, draws=500, tune=500)
    >>> found = bs.alternatives(fit)
    >>> found[0]["name"], found[0]["elpd_diff"] > 10
    ('coupled', True)
    """
    settings = {"draws": 500, "tune": 500} | settings
    rows, found = table_of(fit), []
    own = loo(fit) if result is None else result
    laws = law_of(fit).alternatives(rows)[:most]
    options = {"seed": seed, "sampler": sampler, "progress": progress and len(laws) == 1, **settings}
    for law, other in zip(laws, mapped(_fitted, (rows, options), laws), strict=True):
        table = compare({"own": fit, "other": other}, results={"own": own, "other": loo(other)})
        best = table.index[0]
        difference = float(abs(table["elpd_diff"].iloc[-1])) * (1 if best == "other" else -1)
        found.append(
            {"law": law.label, "name": law.name, "options": law.options}
            | {"elpd_diff": difference, "dse": float(table["dse"].iloc[-1]), "verdict": judge(other)}
            | exponent_of(other)
        )
    return sorted(found, key=lambda each: -each["elpd_diff"])


def _fitted(shared, law):
    rows, options = shared
    return fit_law(law, rows, **options)


def exponent_of(fit):
    """Quantiles of the exponent of the optimal size, in a dict that is empty where a fit has none."""
    if EXPONENT not in fit["posterior"]:
        return {}
    values = np.quantile(fit["posterior"][EXPONENT], [0.025, 0.5, 0.975])
    return {EXPONENT: dict(zip(("q2.5", "q50", "q97.5"), map(float, values), strict=True))}


def suggestion(fit, others):
    """Say in a sentence which other law predicts the rows better and what it changes, "" where none does.

    Parameters
    ----------
    fit : DataTree
    others : list of dict
        From `alternatives`.
    """
    columns = [name for name in judge(fit)["rejected_by"] if name.startswith(BY_COLUMN)]
    apart = [
        f"groups that {name.removeprefix(BY_COLUMN)!r} names differ: choose among them with where" for name in columns
    ]
    better = [each for each in others if each["elpd_diff"] > max(LEAST_GAIN, each["dse"])]
    if not better:
        none = [f"none of {', '.join(each['law'] for each in others)} predicts the rows better"] if others else []
        return "; ".join([*apart, *none])
    best = better[0]
    said = "; ".join([*apart, ""]) + (
        f"try {best['law']}: it predicts the rows better by {best['elpd_diff']:.1f} nats (standard error "
        f"{best['dse']:.1f})"
    )
    own, theirs = exponent_of(fit).get(EXPONENT), best.get(EXPONENT)
    if own and theirs:
        said += f" and moves the exponent of N* from {_interval(own)} to {_interval(theirs)}"
    return f"{said}; there {verdict_sentence(best['verdict'])}"


def _interval(q):
    return f"{q['q50']:.3f} [{q['q2.5']:.3f}, {q['q97.5']:.3f}]"
