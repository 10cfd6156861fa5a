"""The ablest model so far, predicted from models before a date, compared with the line that Ho et al. (2025) draw.

Their line goes through the capabilities of models that were the ablest at release. One least squares on all scores
gives the capabilities of all models, later ones too. The target is the capability of later models that were the ablest.
Here the law is fitted to scores before the date. Later models are drawn at their dates and computes, and each draw
yields the ablest model so far.
"""

import bayescaling as bs
import numpy as np
from bayescaling.inference.comparison.scoring import crps
from bayescaling.inference.points.item_response import fit_item_response
from scipy.stats import t as student

CUTOFF = "2024-09-01"
LEVEL = 0.9
SEED = 1
SCORED = 1000  # evenly spaced quantiles by which a density known in closed form is scored


def of_the_frontier(laws, options):
    """Compute errors of the line and of each law, in the unit of least squares on the scores of Ho et al. (2025).

    Capabilities of a law are put in that unit by the straight line through the models that it was fitted to.

    Returns
    -------
    dict
        ``cutoff``; ``models``, how many are ``fitted`` and ``later``; ``before`` and ``after``, how many were the
        ablest at release. ``forecasts`` has ``mae``, ``crps``, ``bias`` and ``coverage_90`` of the ``line`` and of each
        law, and ``ok`` of each law.
    """
    scores = bs.load("rosetta_scores")
    capability = fit_item_response(scores, benchmark="Winogrande")["capability"]
    models = scores.drop_duplicates("model").set_index("model").loc[capability.index]
    dates = models["date"]
    ablest = _ablest(capability, dates)
    before, after = (ablest[rows] for rows in (dates[ablest] < CUTOFF, dates[ablest] >= CUTOFF))
    observed = capability[after].to_numpy()
    past = scores[scores["date"] < CUTOFF].reset_index(drop=True)
    past.attrs = dict(scores.attrs)
    ahead = models[dates >= CUTOFF].reset_index()
    forecasts = {"line": _errors(_line(models["year"], capability, before, after), observed)}
    for name, law in laws.items():
        fit = bs.fit(law, past, **options)
        sample = _followed(fit, past, ahead, capability, dates[after])
        forecasts[name] = _errors(sample, observed) | {"ok": fit.diagnostics["ok"]}
    return {
        "cutoff": CUTOFF,
        "models": {"fitted": int(past["model"].nunique()), "later": len(ahead)},
        "before": len(before),
        "after": len(after),
        "forecasts": forecasts,
    }


def _ablest(capability, dates):
    """List the models that no model released until then exceeds, by date."""
    order = dates.sort_values(kind="stable").index
    return order[[capability[name] >= capability[dates <= dates[name]].max() for name in order]]


def _line(years, capability, before, after):
    """Compute quantiles of the predictive density of a least-squares line, shape (sample, model)."""
    x, y = years[before].to_numpy(), capability[before].to_numpy()
    middle = x.mean()
    (intercept, slope), *_ = np.linalg.lstsq(np.column_stack([np.ones(len(x)), x - middle]), y)
    free = len(x) - 2
    scatter = ((y - intercept - slope * (x - middle)) ** 2).sum() / free
    away = years[after].to_numpy() - middle
    sd = np.sqrt(scatter * (1 + 1 / len(x) + away**2 / ((x - middle) ** 2).sum()))
    levels = (np.arange(SCORED) + 0.5) / SCORED
    return intercept + slope * away + sd * student(free).ppf(levels)[:, None]


def _followed(fit, past, ahead, capability, dates):
    """Draw the capability of the ablest model until each date, shape (sample, date), in the unit of `capability`."""
    draws = fit.draws
    capabilities, names = draws.named()["capability"], draws.reference["models"]
    slope, intercept = np.polyfit(capabilities.mean(("chain", "draw")).values, capability[names], 1)
    # The benchmarks of later models are not used: only capabilities are drawn.
    ahead = ahead.assign(benchmark=past["benchmark"].iloc[0])
    unseen = draws.of_unseen(ahead, np.random.default_rng(SEED))
    largest = capabilities.values.max(-1)
    released = ahead.set_index("model")["date"].loc[unseen.reference["models"]].to_numpy()
    ablest = [np.maximum(largest, unseen.capability[..., released <= date].max(-1)) for date in dates]
    return intercept + slope * np.stack(ablest, -1).reshape(-1, len(ablest))


def _errors(sample, observed):
    middle, low, high = np.quantile(sample, [0.5, (1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0)
    error = middle - observed
    return {
        "mae": float(abs(error).mean()),
        "crps": float(crps(sample, observed).mean()),
        "bias": float(error.mean()),
        "coverage_90": float(((low <= observed) & (observed <= high)).mean()),
    }
