"""How growth rates depend on priors and on each paper."""

import numpy as np
import pandas as pd

from ...datasets.kinds.evaluations import EVALUATIONS
from ...models.progress.growth import doubling_quantiles
from ...models.progress.priors import JUDGED
from ..comparison.importance import smoothed as smoothed_weights
from ..fitted import of_kind
from ..workers import mapped
from .rate_at_optimum import first_rate, rate_summary
from .rate_at_rows import compute_equivalent_gain

SHARE_SPREADS = (0.1, 0.5, 2.0)
YEAR_SPREADS = (0.5, 1.0, 3.0)
# Where progress is measured: at the sizes of the evaluations, and at the compute-optimal ones.
RATES = {"rows": compute_equivalent_gain, "optimum": first_rate}


def prior_grid(fitter, law, *, share_spreads=SHARE_SPREADS, year_spreads=YEAR_SPREADS, seed=1, **settings):
    """Compute doubling times under other priors: of the spread of shares between benchmarks, and of the yearly falls.

    `share_spreads` are standard deviations of the benchmarks' logit shares about their common mean. `year_spreads` are
    factors on the default prior standard deviations of the yearly falls (total and split). The table has ``share_sd``,
    ``yearly_sd``, ``estimand`` (of `RATES`), ``p_progress`` and quantiles ``q2.5``, ``q50``, ``q97.5`` of the doubling
    time in months.
    """
    cells = [(share, factor) for share in share_spreads for factor in year_spreads]
    tables = mapped(_under_other_priors, (fitter, law, {"seed": seed, **settings}), cells)
    return pd.DataFrame([row for rows in tables for row in rows])


def _under_other_priors(shared, cell):
    """Return rows of `prior_grid` for one spread of shares and one factor."""
    (fitter, law, options), (share, factor) = shared, cell
    priors = {
        "share": (JUDGED["share"].location, share),
        "yearly_total": (0.0, factor * JUDGED["yearly_total"].spread),
        "yearly_split": (0.0, factor * JUDGED["yearly_split"].spread),
    }
    fit, rows = fitter.fit(law=law.with_options(priors={**law.priors, **priors}), **options), []
    for estimand, of in RATES.items():
        changed = {"share_sd": share, "yearly_sd": factor * JUDGED["yearly_total"].spread, "estimand": estimand}
        rows.append(changed | rate_summary(of(fit)))
    return rows


def paper_influence(fit, titles=None, *, rate=None):
    """Compute how the median doubling time moves when a paper is left out, by importance sampling.

    Titles are by ``paper_id``. The rate, draws of dims (chain, draw), is by default that at the evaluations' own sizes.
    The table has one row a paper, most influential first: ``paper_id``, ``title`` and ``rows``. Without the paper there
    are the ``median`` and its ``shift`` in months, and ``p_progress``. Where ``pareto_k`` is above 0.7 the row is not
    reliable.
    """
    draws = of_kind(fit, EVALUATIONS).draws
    rate = (compute_equivalent_gain(fit) if rate is None else rate).values
    rate = np.where(np.isfinite(rate), rate, np.nanmedian(rate))
    papers, counts = np.unique(draws.rows["paper_id"], return_counts=True)
    joint = draws.by_group("paper_id")
    smoothed, k = smoothed_weights(-joint.values, joint)
    whole = doubling_quantiles(rate, [0.5])[0]
    order = np.argsort(rate, axis=None)[::-1]
    sorted_rate = rate.ravel()[order]
    rows = []
    for i, paper in enumerate(papers):
        weights = np.exp(smoothed.sel(group=paper).values.ravel()[order])
        weights = weights / weights.sum()
        middle = sorted_rate[np.searchsorted(np.cumsum(weights), 0.5)]
        median = 12 * np.log(2) / middle if middle > 0 else np.inf
        rows.append(
            {
                "paper_id": int(paper),
                "title": (titles or {}).get(int(paper), str(paper)),
                "rows": int(counts[i]),
                "median": median,
                "shift": median - whole,
                "p_progress": float(weights[sorted_rate > 0].sum()),
                "pareto_k": float(k.sel(group=paper)),
            }
        )
    return pd.DataFrame(rows).sort_values("shift", key=np.abs, ascending=False, ignore_index=True)
