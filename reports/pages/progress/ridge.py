"""The ridge of the main specification: whether its data tell progress in parameters from progress in data."""

import numpy as np

from ....inference import intervals
from ....models.draws import flatten

LEAST, DIP = 0.05, 0.9  # share of draws on either side of a dip, and its height over the lower of its two peaks


def paper_coefficients(fit):
    """Return draws of the coefficients under the paper's names: intercepts are that of wt103, and offsets from it."""
    draws, coefficients = flatten(fit["posterior"].to_dataset()), {}
    for side, size in (("alpha", "param"), ("beta", "data")):
        base = draws[f"{side}_const[wt103]"]
        offsets = {f"{side}_const_{name}": draws[f"{side}_const[{name}]"] - base for name in ("ptb", "wt2")}
        slopes = {name: draws[name] for name in (f"{side}_year", f"{side}_{size}")}
        coefficients |= {f"{side}_const": base} | offsets | slopes
    return coefficients


def dip(values):
    """Return where to split draws, at the deepest dip of their density between two peaks; None for one peak."""
    from scipy.stats import gaussian_kde

    grid = np.linspace(*np.quantile(values, [0.001, 0.999]), 256)
    height = gaussian_kde(values)(grid)
    left, right = np.maximum.accumulate(height), np.maximum.accumulate(height[::-1])[::-1]
    depth = height / np.minimum(left, right)
    lowest = int(depth.argmin())
    share = (values <= grid[lowest]).mean()
    return grid[lowest] if depth[lowest] < DIP and LEAST < share < 1 - LEAST else None


def entry(fit, rate, paper, quantiles):
    """Return the entry of results.json: shares of draws near each end of the paper's estimator, and the peaks.

    `rate` are draws of the rate of progress, and `quantiles` turns them into quantiles of the doubling time. `paper` is
    the estimator as it stops, and converged. Distances are in posterior sds.
    """
    a, b = (fit["posterior"][name].values.ravel() for name in ("alpha_year", "beta_year"))
    ends = [(f["alpha_year"], f["beta_year"]) for f in paper]
    stops, converged = (np.hypot((a - x) / a.std(), (b - y) / b.std()) for x, y in ends)
    rate, second, split = np.ravel(rate), converged < stops, dip(a - b)
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
