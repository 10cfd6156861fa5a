"""Whether to promote a change, drop it or make one more run, by expected cost, and which run that is."""

import numpy as np
import xarray as xr
from scipy import special

from ...models.draws import DRAWS
from ...models.loss.budget import SIZES, training_flop
from ...models.loss.grouping import GROUP, labelled
from .curves import DECADES, MOST

ACTIONS = ("promote", "one more", "drop")
NODES = 15  # outcomes of a further run, of equal probability
LEAST_PAIRS = 10


def decided(fit, baseline, result, switch):
    """Compute the expected cost of each action, the least, and the run that lowers it most.

    Parameters
    ----------
    fit : Fit
        Of a `Grouped` law.
    baseline : str
    result : Dataset
        With ``multiplier`` (chain, draw, group, compute).
    switch : float
        FLOP of adopting a change.

    Returns
    -------
    Dataset
        See `worth`.
    """
    parts = []
    size = next(column for column in SIZES if column in fit.law.columns)
    for group in result[GROUP].values.tolist():
        runs, flop, mean, variance = _candidates(fit, group, baseline)
        for budget in result["compute"].values.tolist():
            log_m = np.log(result["multiplier"].sel({GROUP: group, "compute": budget}))
            draws = log_m.transpose(*DRAWS).values.ravel().clip(-MOST * DECADES, MOST * DECADES)
            left = _variance_left(draws, mean, variance)
            costs = flop + np.array([_cost_after(draws, share, budget, switch) for share in left])
            best = int(costs.argmin())
            promote, drop = _costs(draws, budget, switch)
            expected = [float(promote), float(costs[best]), float(drop)]
            parts.append(
                {
                    "expected_cost": expected,
                    "decision": ACTIONS[int(np.argmin(expected))],
                    "next_parameters": float(runs[size][best]),
                    "next_tokens": float(runs["tokens"][best]),
                    "next_group": str(runs[fit.law.grouping.by][best]),
                    "next_flop": float(flop[best]),
                    "variance_left": float(left[best]),
                }
            )
    shape = result.sizes[GROUP], result.sizes["compute"]
    coordinates = {GROUP: result[GROUP].values, "compute": result["compute"].values}
    variables = {
        name: ((GROUP, "compute"), np.array([part[name] for part in parts]).reshape(shape))
        for name in parts[0]
        if name != "expected_cost"
    }
    costs = np.array([part["expected_cost"] for part in parts]).reshape(*shape, len(ACTIONS))
    variables["expected_cost"] = ((GROUP, "compute", "action"), costs)
    return xr.Dataset(variables, coordinates | {"action": list(ACTIONS)})


def _candidates(fit, group, baseline):
    """Return runs that may be made once more, their FLOP, and draws of their mean with the variance of their scatter."""
    draws, law = fit.draws, fit.law
    rows = fit.rows[np.isin(labelled(fit.rows[law.grouping.by]), [group, baseline])]
    sizes = rows.drop_duplicates(list(law.columns)).reset_index(drop=True)
    runs = sizes.loc[np.tile(np.arange(len(sizes)), 2)].reset_index(drop=True)
    runs[law.grouping.by] = np.repeat([group, baseline], len(sizes))
    mean = law.on_scale(draws.mean(runs).transpose(*DRAWS, "run").values).reshape(-1, len(runs))
    variance = (draws.noise_arguments(runs)[0] ** 2).reshape(-1, len(runs)).mean(0)
    if law.effects_of:
        effect = draws.named()[law.residuals.effect_sd]
        variance = variance + float((effect**2).mean())  # a further run draws a new effect
    return runs, np.asarray(training_flop(runs), float), mean, variance


def _variance_left(log_m, mean, variance):
    """Compute the share of the variance of draws that one run of each mean, (sample, run), and scatter leaves."""
    spread = log_m - log_m.mean()
    covariance = spread @ (mean - mean.mean(0)) / (len(spread) - 1)
    total = max(spread.var(ddof=1), np.finfo(float).tiny)
    return np.clip(1 - covariance**2 / (mean.var(0, ddof=1) + variance) / total, 0.0, 1.0)


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
    """Compute the correlation of residuals of runs that differ by their group alone.

    Returns
    -------
    dict or None
        ``pairs`` and ``correlation``; None for fewer than `LEAST_PAIRS` pairs.
    """
    law, rows = fit.law, fit.rows
    labels = labelled(rows[law.grouping.by])
    residual = law.on_scale(rows[law.observed].to_numpy(float)) - law.on_scale(
        fit.draws.mean().transpose(*DRAWS, "run").values
    ).mean((0, 1))
    table = rows[list(law.columns)].assign(residual=residual, group=labels)
    one, other = (
        table[labels == name].groupby(list(law.columns))["residual"].mean() for name in (group, baseline)
    )
    both = one.to_frame("one").join(other.to_frame("other"), how="inner")
    if len(both) < LEAST_PAIRS:
        return None
    return {"pairs": len(both), "correlation": float(np.corrcoef(both["one"], both["other"])[0, 1])}
