"""Whether to promote a change, drop it or make one more run, by expected cost, and which run that is."""

import numpy as np
import pandas as pd
import xarray as xr

from ...datasets.deferred import special
from ...models.draws import DRAWS
from ...models.loss.budget import SIZES, training_flop
from ...models.loss.grouping import GROUP, labelled
from ..estimands.beyond import decades_beyond, drift_of, error_variance
from .candidates import candidate_means, noise_variance, on_scale
from .curves import DECADES, MOST
from .purchases import moments

ACTIONS = ("promote", "one more", "drop")
NODES = 15  # outcomes of a further run, of equal probability
LEAST_PAIRS = 10
LARGER = 2  # sizes between the largest run and the budget
COSTS = "expected_cost"
WORTHWHILE = 0.01  # share of the least cost of the others that one more run must save


def decided(fit, baseline, result, curves, switch):
    """Compute the expected cost of each action, the least, and the run that lowers it most: a Dataset, see `worth`.

    The fit is of a `Grouped` law. `result` has ``multiplier`` (chain, draw, group, compute), `curves` has a `LossCurve`
    by group, and `switch` is the FLOP of adopting a change.
    """
    parts = []
    for group in result[GROUP].values.tolist():
        for budget in result["compute"].values.tolist():
            log_m = np.log(result["multiplier"].sel({GROUP: group, "compute": budget}))
            draws = log_m.transpose(*DRAWS).values.ravel().clip(-MOST * DECADES, MOST * DECADES)
            runs = _candidates(fit, (group, baseline), curves, budget)
            parts.append(_one(draws, runs, *_outcomes(fit, runs, curves), fit.law.grouped_by, budget, switch))
    shape = result.sizes[GROUP], result.sizes["compute"]
    variables = {
        name: ((GROUP, "compute", "action")[: 2 + (name == COSTS)], np.array([part[name] for part in parts]))
        for name in parts[0]
    }
    variables = {name: (dims, x.reshape(*shape, *x.shape[1:])) for name, (dims, x) in variables.items()}
    coordinates = {name: result[name].values for name in (GROUP, "compute")}
    return xr.Dataset(variables, coordinates | {"action": list(ACTIONS)})


def _candidates(fit, groups, curves, budget):
    """Return runs that may be made next: each size of the runs in each group, and larger ones towards the budget."""
    law, by = fit.law, fit.law.grouped_by
    rows = fit.rows[np.isin(labelled(fit.rows[by]), groups)]
    sizes = rows.drop_duplicates(list(law.columns))
    parts = [sizes.assign(**{by: group}) for group in groups]
    for group in groups:
        largest = curves[group].greatest
        if budget > largest:
            larger = pd.DataFrame(curves[group].sizes(np.geomspace(largest, budget, LARGER + 2)[1:-1]))
            parts += [larger.assign(**{by: group})] if {*law.columns} <= {*larger} else []
    runs = pd.concat(parts, ignore_index=True)
    return runs.assign(training_flop=training_flop(runs))


def _outcomes(fit, runs, curves):
    """Return the mean loss of each run by draw, (sample, run), and its variance, on the scale of the residuals."""
    law = fit.law
    decades = decades_beyond(law, fit.rows, runs)
    slopes = np.concatenate([curves[group].slope for group in labelled(runs[law.grouped_by])], axis=1)
    above, below = decades.clip(min=0), decades.clip(max=0)
    mean, noise = candidate_means(fit.draws, runs, slopes * above), noise_variance(fit.draws, runs)
    # The error above the runs is common to them and to the target; the rest of it is noise.
    rest = error_variance(law, below) + (above > 0) * drift_of(law).step ** 2 if slopes.any() else 0.0
    return mean, noise + rest * on_scale(law, mean)


def _one(log_m, runs, mean, variance, by, budget, switch):
    left, flop = _variance_left(log_m, mean, variance), runs["training_flop"].to_numpy()
    costs = flop + np.array([_cost_after(log_m, share, budget, switch) for share in left])
    best = int(costs.argmin())
    promote, drop = _costs(log_m, budget, switch)
    least = min(promote, drop)
    waits = costs[best] < (1 - WORTHWHILE) * least
    return {
        COSTS: [float(promote), float(costs[best]), float(drop)],
        "decision": "one more" if waits else "promote" if promote < drop else "drop",
        "next_parameters": float(runs[next(column for column in SIZES if column in runs)][best]),
        "next_tokens": float(runs["tokens"][best]),
        "next_group": str(labelled(runs[by])[best]),
        "next_flop": float(flop[best]),
        "variance_left": float(left[best]),
    }


def _variance_left(log_m, mean, variance):
    """Compute the share of the variance of draws that one run of each mean, (sample, run), and scatter leaves."""
    before = moments(log_m, mean, variance)
    return np.clip(1 - before.gains / max(before.variance, np.finfo(float).tiny), 0.0, 1.0)


def _costs(log_m, budget, switch):
    """Compute the expected FLOP wasted by promoting and by dropping a change; the last axis is of draws."""
    worse, better = (np.maximum(-np.expm1(np.minimum(x, 0.0)), 0.0) for x in (log_m, -log_m))
    return budget * worse.mean(-1) + switch, budget * better.mean(-1)


def _cost_after(log_m, left, budget, switch):
    """Compute the expected cost of the better of both, once a run has left a share of the variance."""
    centre, sd = log_m.mean(), log_m.std()
    outcomes = special.ndtri((np.arange(NODES) + 0.5) / NODES) * np.sqrt(1 - left) * sd
    after = centre + outcomes[:, None] + np.sqrt(left) * (log_m - centre)
    return np.minimum(*_costs(after, budget, switch)).mean()


def pairing(fit, group, baseline):
    """Compare runs that differ by their group alone, in a dict; None where there is no pair.

    It has ``pairs`` and the ``correlation`` of their residuals, None for fewer than `LEAST_PAIRS`. Of the largest pair
    it has the ``compute`` in FLOP and the ``losses``, of the group and of the baseline.
    """
    law, rows = fit.law, fit.rows
    columns, mean = list(law.columns), fit.draws.mean().transpose(*DRAWS, "run").values
    residual = law.on_scale(rows[law.observed].to_numpy(float)) - law.on_scale(mean).mean((0, 1))
    table = rows[columns].assign(residual=residual, loss=rows[law.observed], flop=training_flop(rows))
    labels = labelled(rows[law.grouped_by])
    one, other = (table[labels == name].groupby(columns).mean() for name in (group, baseline))
    both = one.join(other.add_suffix("_baseline"), how="inner")
    if both.empty:
        return None
    largest = both.loc[both["flop"].idxmax()]
    correlation = both["residual"].corr(both["residual_baseline"]) if len(both) >= LEAST_PAIRS else None
    losses = [float(largest[name]) for name in ("loss", "loss_baseline")]
    return {"pairs": len(both), "correlation": correlation, "compute": float(largest["flop"]), "losses": losses}
