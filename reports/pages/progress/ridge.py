"""The ridge of the main specification: whether its data tell progress in parameters from progress in data."""

import numpy as np

from ....inference import intervals
from ....models.draws import flatten

OFFSETS = {
    f"{side}_const_{b}": (f"{side}_const[{b}]", f"{side}_const[wt103]")
    for side in ("alpha", "beta")
    for b in ("ptb", "wt2")
}


def paper_coefficients(fit):
    """Return draws of the coefficients under the paper's names: intercepts are that of wt103, and offsets from it."""
    draws = flatten(fit["posterior"].to_dataset())
    named = {name: draws[name] for name in ("alpha_year", "alpha_param", "beta_year", "beta_data")}
    named |= {f"{side}_const": draws[f"{side}_const[wt103]"] for side in ("alpha", "beta")}
    named |= {name: draws[level] - draws[base] for name, (level, base) in OFFSETS.items()}
    order = ("const", "const_ptb", "const_wt2", "year", "param", "data")
    return {
        name: named[name]
        for name in (f"{side}_{stem}" for side in ("alpha", "beta") for stem in order)
        if name in named
    }


def year_slopes(fit):
    """Return draws of the yearly falls of both terms, two arrays of shape (sample,)."""
    posterior = fit["posterior"]
    return posterior["alpha_year"].values.ravel(), posterior["beta_year"].values.ravel()


def modes(values, *, least=0.05, dip=0.9):
    """Return where to split draws, at the deepest dip of their density between two peaks; None for one peak.

    Parameters
    ----------
    values : array_like
    least : float
        Share of draws that either side must hold.
    dip : float
        The dip must lie below this factor of the lower of the two peaks.
    """
    from scipy.stats import gaussian_kde

    values = np.ravel(values)
    grid = np.linspace(*np.quantile(values, [0.001, 0.999]), 256)
    height = gaussian_kde(values)(grid)
    left, right = np.maximum.accumulate(height), np.maximum.accumulate(height[::-1])[::-1]
    depth = height / np.minimum(left, right)
    lowest = int(depth.argmin())
    share = (values <= grid[lowest]).mean()
    return grid[lowest] if depth[lowest] < dip and least < share < 1 - least else None


def nearer(fit, paper):
    """Return which draws, (sample,), are nearer to the second than to the first end of the paper's estimator.

    Distances are in posterior sds.
    """
    a, b = year_slopes(fit)
    ends = [(f["alpha_year"], f["beta_year"]) for f in paper]
    stops, converged = (np.hypot((a - x) / a.std(), (b - y) / b.std()) for x, y in ends)
    return converged < stops


def entry(fit, rate, paper, quantiles):
    """Return the entry of results.json: shares of draws near each end of the paper's estimator, and the peaks.

    `rate` are draws of the rate of progress, and `quantiles` turns them into quantiles of the doubling time. `paper` is
    the estimator as it stops, and converged.
    """
    (a, b), rate, second = year_slopes(fit), np.ravel(rate), nearer(fit, paper)
    split = modes(a - b)
    sides = {} if split is None else {"more in data": a - b <= split, "more in parameters": a - b > split}
    return {
        "nearer_to_converged": {"share": float(second.mean()), "doubling_months": _months(rate, second, quantiles)},
        "nearer_to_stop": {"share": float((~second).mean()), "doubling_months": _months(rate, ~second, quantiles)},
        "peaks": {
            name: {
                "share": float(chosen.mean()),
                "alpha_year": float(np.median(a[chosen])),
                "beta_year": float(np.median(b[chosen])),
                "doubling_months": _months(rate, chosen, quantiles),
            }
            for name, chosen in sides.items()
        },
        "coefficients": {name: intervals.summary(draws) for name, draws in paper_coefficients(fit).items()},
    }


def _months(rate, chosen, quantiles):
    return quantiles(rate[chosen]) if chosen.any() else {"mean": None, "sd": None} | dict.fromkeys(intervals.QUANTILES)
