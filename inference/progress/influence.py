"""How growth rates depend on priors."""

import pandas as pd

from ...models.progress.priors import JUDGED
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
