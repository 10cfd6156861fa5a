"""The groups of a fit in results.json: quantities by group, of the typical and a new one, and their differences."""

from itertools import combinations

import numpy as np

from ..inference import intervals
from ..inference.quoted import quote_draws
from ..models.loss.grouping import GROUP, labelled, population
from ..plots.groups import predict_unseen

EXPONENT = "exponent_parameters"
CLOSE = 0.05  # exponents that differ by less are called alike: the optimal size at 100 times the compute by 26%
TYPICAL, NEW = "typical", "new"


def group_entries(fit, *, seed=1):
    """Return the entry of results.json of the groups of a fit; None for a law without groups.

    Returns
    -------
    dict
        ``by`` is the column and ``rows`` the number of rows of each group. ``quantities`` are summaries by name and
        group, as they are quoted, and ``spread`` those of pooled quantities, with their priors. If the law has one
        exponent of N* in each group, ``exponent`` has it by group, and ``differences`` those between groups. If
        something is pooled, ``exponent`` has the ``typical`` group and a ``new`` one too.
    """
    law, posterior = fit.law, fit["posterior"]
    if law.grouped_by is None:
        return None
    names = [str(name) for name in posterior[GROUP].values]
    labels = labelled(fit.rows[law.grouped_by])
    entry = {
        "by": law.grouped_by,
        "rows": {name: int((labels == name).sum()) for name in names},
        "quantities": {name: by_group(fit, name) for name, x in posterior.data_vars.items() if GROUP in x.dims},
        "spread": {name: _spread(law, posterior, name) for name in law.pooled},
    }
    if EXPONENT not in entry["quantities"]:
        return entry
    unseen = {name: predict_unseen(fit, EXPONENT, name, seed=seed) for name in (TYPICAL, NEW) if law.pooled}
    unseen = {name: intervals.summary(x) for name, x in quote_draws(fit, unseen).items()}
    return entry | {
        "exponent": {"by_group": entry["quantities"][EXPONENT]} | unseen,
        "differences": _differences(posterior[EXPONENT], names),
    }


def by_group(fit, name):
    """Return summaries of a quantity by group, as they are quoted; one that groups share has the same for each."""
    draws = quote_draws(fit, fit["posterior"][name])
    names = [str(group) for group in fit["posterior"][GROUP].values]
    return {group: intervals.summary(draws.sel({GROUP: group}) if GROUP in draws.dims else draws) for group in names}


def _differences(exponents, names):
    pairs = {}
    for one, other in combinations(names, 2):
        difference = exponents.sel({GROUP: one}) - exponents.sel({GROUP: other})
        pairs[f"{one} less {other}"] = intervals.summary(difference) | {"p_above_0": float((difference > 0).mean())}
    apart = exponents.max(GROUP) - exponents.min(GROUP)
    return {"pairs": pairs, "range": intervals.summary(apart), "close": CLOSE, "p_close": float((apart < CLOSE).mean())}


def _spread(law, posterior, name):
    _, spread = population(name)
    prior = law.prior_of[spread].quantile(list(intervals.QUANTILES.values()))
    quantiles = dict(zip(intervals.QUANTILES, map(float, np.ravel(prior)), strict=True))
    return intervals.summary(posterior[spread]) | {"prior": quantiles}
